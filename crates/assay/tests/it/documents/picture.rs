//! Screens as pictures: the binary's output for recorded runs as SVG, with colors, light and dark.
//! `ASSAY_WRITE_DOCS=1` writes them.

use crate::documents::{read, top};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// A picture: its path, its subject, and for each screen the typed line and the recording.
struct Picture {
    place: &'static str,
    title: &'static str,
    screens: &'static [(&'static str, &'static str)],
}

const PICTURES: [Picture; 1] = [Picture {
    place: "docs/images/first-answers.svg",
    title: "Two runs of assay in a terminal",
    screens: &[
        (
            "assay run -n letters -n bytes 'LC_ALL=C.UTF-8 sort text' 'LC_ALL=C sort text'",
            "docs/images/sort.assay.gz",
        ),
        (
            "assay run --primary cpu -n default -n level-6 'gzip -c part' 'gzip -6 -c part'",
            "docs/images/gzip.assay.gz",
        ),
    ],
}];

/// Width of the terminal, in columns.
const COLUMNS: usize = 80;
/// Size of a character cell, and the margin around the text.
const CELL: (f64, f64) = (8.4, 19.0);
const MARGIN: f64 = 20.0;

/// The style of a run of letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Look {
    is_bold: bool,
    is_dim: bool,
    /// Number of the color on terminals.
    colour: Option<u8>,
}

impl Look {
    fn obey(&mut self, codes: &str) {
        for code in codes.split(';') {
            match code.parse().unwrap_or(0) {
                0 => *self = Self::default(),
                1 => self.is_bold = true,
                2 => self.is_dim = true,
                22 => (self.is_bold, self.is_dim) = (false, false),
                colour @ 30..=37 => self.colour = Some(colour - 30),
                colour @ 90..=97 => self.colour = Some(colour - 90),
                39 => self.colour = None,
                other => unreachable!("a picture of the style {other} was never drawn"),
            }
        }
    }

    fn classes(self) -> String {
        let mut classes = Vec::new();
        if self.is_bold {
            classes.push("b".to_owned());
        }
        match self.colour {
            Some(colour) => classes.push(format!("c{colour}")),
            None if self.is_dim => classes.push("d".to_owned()),
            None => {}
        }
        classes.join(" ")
    }
}

/// Returns the lines sent to a terminal, as letters with their styles.
fn cells(sent: &str) -> Vec<Vec<(char, Look)>> {
    let mut look = Look::default();
    let mut lines = vec![Vec::new()];
    let mut rest = sent;
    while let Some(letter) = rest.chars().next() {
        if let Some(sequence) = rest.strip_prefix("\u{1b}[") {
            let end = sequence.find(|c: char| c.is_ascii_alphabetic()).expect("an end");
            assert_eq!(&sequence[end..=end], "m", "only styles are drawn");
            look.obey(&sequence[..end]);
            rest = &sequence[end + 1..];
            continue;
        }
        rest = &rest[letter.len_utf8()..];
        match letter {
            '\n' => lines.push(Vec::new()),
            _ => lines.last_mut().expect("a line").push((letter, look)),
        }
    }
    while lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    lines
}

/// Splits a line into runs of one style, each with its column; runs do not begin or end with a
/// blank, and two blanks split a run.
fn runs(line: &[(char, Look)]) -> Vec<(usize, Look, String)> {
    let mut runs: Vec<(usize, Look, String)> = Vec::new();
    let mut begins = true;
    for (column, (letter, look)) in line.iter().enumerate() {
        let is_blank = *letter == ' ';
        let divides =
            is_blank && line.get(column + 1).is_none_or(|next| next.0 == ' ' || next.1 != *look);
        let starts = begins || runs.last().is_none_or(|(_, own, _)| own != look);
        if is_blank && (starts || divides) {
            begins = true;
            continue;
        }
        match runs.last_mut() {
            Some((_, own, text)) if !begins && own == look => text.push(*letter),
            _ => runs.push((column, *look, letter.to_string())),
        }
        begins = false;
    }
    runs
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

const STYLE: &str = "\
.frame{fill:#ffffff;stroke:#d1d9e0}
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre;fill:#1f2328}
.b{font-weight:700}.d{fill:#59636e}.c1{fill:#b3261e}.c2{fill:#0a6b2d}.c3{fill:#7d4e00}.c4{fill:#0550ae}.c5{fill:#6639ba}.c6{fill:#0b6073}
@media (prefers-color-scheme:dark){
.frame{fill:#0d1117;stroke:#3d444d}text{fill:#e6edf3}
.d{fill:#9198a1}.c1{fill:#ff8a80}.c2{fill:#56d364}.c3{fill:#e3b341}.c4{fill:#79c0ff}.c5{fill:#d2a8ff}.c6{fill:#76d9e6}
}
";

fn svg(title: &str, lines: &[Vec<(char, Look)>]) -> String {
    let longest = lines.iter().map(Vec::len).max().unwrap_or(0).max(COLUMNS);
    let width = longest as f64 * CELL.0 + 2.0 * MARGIN;
    let height = lines.len() as f64 * CELL.1 + 2.0 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n<rect class=\"frame\" x=\".5\" y=\".5\" width=\"{:.0}\" height=\"{:.0}\" rx=\"8\"/>\n",
        escaped(title),
        width - 1.0,
        height - 1.0,
    );
    for (row, line) in lines.iter().enumerate() {
        let y = MARGIN + row as f64 * CELL.1 + 14.0;
        for (column, look, text) in runs(line) {
            let x = MARGIN + column as f64 * CELL.0;
            let classes = match look.classes() {
                classes if classes.is_empty() => String::new(),
                classes => format!(" class=\"{classes}\""),
            };
            // Columns must stay in place whatever the font.
            let length = text.chars().count() as f64 * CELL.0;
            let text = escaped(&text);
            writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{y:.0}\" textLength=\"{length:.1}\" lengthAdjust=\"spacingAndGlyphs\"{classes}>{text}</text>"
            )
            .expect("text grows");
        }
    }
    svg + "</svg>\n"
}

/// Returns what the binary prints about a recording on a terminal with colors.
fn screen(recording: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["compare", "--color", "always"])
        .arg(top().join(recording))
        .env("COLUMNS", COLUMNS.to_string())
        .env("XDG_STATE_HOME", "/nowhere")
        .env("LC_ALL", "C.UTF-8")
        .env_remove("NO_COLOR")
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn the_pictures_of_screens_are_what_the_binary_prints() {
    for picture in PICTURES {
        let mut sent = String::new();
        for (line, recording) in picture.screens {
            let between = if sent.is_empty() { "" } else { "\n" };
            write!(sent, "{between}\u{1b}[2m$\u{1b}[0m {line}\n{}", screen(recording))
                .expect("text grows");
        }
        let drawn = svg(picture.title, &cells(&sent));
        if std::env::var_os("ASSAY_WRITE_DOCS").is_some() {
            std::fs::write(Path::new(&top()).join(picture.place), drawn).expect("it is written");
            continue;
        }
        assert!(
            drawn == read(picture.place),
            "{} has drifted from what the binary prints: make docs writes it",
            picture.place
        );
    }
}

#[test]
fn a_screen_keeps_its_columns_and_its_letters() {
    let lines =
        cells("\u{1b}[1m\u{1b}[32mfaster\u{1b}[0m by <3 %\n\n  a b  c\u{1b}[2md\u{1b}[0m\n\n");
    assert_eq!(lines.len(), 3);
    let bold = Look { is_bold: true, is_dim: false, colour: Some(2) };
    let first = runs(&lines[0]);
    assert_eq!(first[0], (0, bold, "faster".to_owned()));
    assert_eq!(first[1], (7, Look::default(), "by <3 %".to_owned()));
    let third: Vec<_> = runs(&lines[2]).into_iter().map(|(at, _, text)| (at, text)).collect();
    let expected = [(2, "a b"), (7, "c"), (8, "d")].map(|(at, text)| (at, text.to_owned()));
    assert_eq!(third, expected);
    let drawn = svg("x", &lines);
    assert!(drawn.contains("class=\"b c2\">faster<") && drawn.contains("by &lt;3 %"), "{drawn}");
}

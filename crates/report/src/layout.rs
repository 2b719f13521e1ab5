//! Lines for a terminal: styled text, wrapped at word boundaries to a given width.
//!
//! All terminal output passes through this module, which ensures that no line is too wide, that no
//! control characters are emitted, and that ASCII terminals receive only ASCII. The module knows
//! nothing about what the text means.

use crate::names::{self, clean, width};
use anstyle::{AnsiColor, Style};
use assay_analysis::{Comparison, Verdict};
use unicode_width::UnicodeWidthChar;

/// Non-breaking space.
pub(crate) const STICKY: char = '\u{a0}';

/// The meaning of a piece of text. It determines the color, but color is never the only way in
/// which the meaning is conveyed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Plain text.
    Plain,
    /// Most important.
    Strong,
    /// Better than the reference.
    Good,
    /// Worse than the reference.
    Bad,
    /// Unknown, or to be treated with care.
    Unsure,
    /// Secondary.
    Quiet,
}

impl Tone {
    fn style(self) -> Style {
        let colour = |colour: AnsiColor| Style::new().bold().fg_color(Some(colour.into()));
        match self {
            Self::Plain => Style::new(),
            Self::Strong => Style::new().bold(),
            Self::Good => colour(AnsiColor::Green),
            Self::Bad => colour(AnsiColor::Red),
            Self::Unsure => colour(AnsiColor::Yellow),
            Self::Quiet => Style::new().dimmed(),
        }
    }
}

/// A single line, as pieces of text with their tones.
pub(crate) type Line = Vec<(Tone, String)>;

/// Collects lines of at most `width` columns.
pub(crate) struct Page {
    screen: Screen,
    text: String,
    /// Length of the text up to the end of the answer, in bytes, or `None` if that end has not been
    /// marked.
    answered: Option<usize>,
}

impl Page {
    /// Returns an empty page. Widths below 20 are treated as 20.
    pub(crate) fn new(screen: &Screen) -> Self {
        let screen = Screen { width: screen.width.max(20), ..*screen };
        Self { screen, text: String::new(), answered: None }
    }

    /// Returns an empty page with the same settings, for trying out a layout.
    pub(crate) fn like(&self) -> Self {
        Self::new(&self.screen)
    }

    /// Returns an empty page with narrower lines, which leaves space for an ellipsis at the end of
    /// each.
    pub(crate) fn narrower(&self) -> Self {
        let width = self.screen.width - 3;
        Self { screen: Screen { width, ..self.screen }, text: String::new(), answered: None }
    }

    /// Returns the text width in columns.
    pub(crate) fn width(&self) -> usize {
        self.screen.width
    }

    /// Returns the maximum width of a table in columns. It is unlimited if names are shown in full.
    pub(crate) fn table_width(&self) -> usize {
        if self.screen.whole { usize::MAX / 2 } else { self.screen.width }
    }

    /// Returns distinct names of at most `limit` columns each, or the full names if this page shows
    /// names in full.
    pub(crate) fn fitted(&self, names: &[String], limit: usize) -> Vec<String> {
        if self.screen.whole {
            names.iter().map(|name| clean(name)).collect()
        } else {
            names::fitted(names, limit, self.ellipsis())
        }
    }

    /// Returns the prefix that [`Self::fitted`] removes from every name.
    pub(crate) fn beginning<'a>(&self, names: &'a [String], limit: usize) -> &'a str {
        if self.screen.whole { "" } else { names::beginning(names, limit) }
    }

    /// Returns a name of at most `limit` columns, or the full name if this page shows names in
    /// full.
    pub(crate) fn shortened(&self, name: &str, limit: usize) -> String {
        if self.screen.whole { clean(name) } else { names::shorten(name, limit, self.ellipsis()) }
    }

    /// Returns the number of lines written.
    pub(crate) fn lines(&self) -> usize {
        self.text.lines().count()
    }

    /// Marks the end of the answer. Everything that follows only explains it.
    pub(crate) fn end_answer(&mut self) {
        self.answered = Some(self.text.len());
    }

    /// Returns the number of nonempty lines after the answer, or 0 if its end has not been marked.
    pub(crate) fn lines_after_answer(&self) -> usize {
        let after = self.answered.map_or("", |end| &self.text[end..]);
        after.lines().filter(|line| !line.is_empty()).count()
    }

    /// Copies the first `most` lines of another page with the same settings; an ellipsis replaces
    /// the rest.
    pub(crate) fn take(&mut self, other: &Self, most: usize) {
        const RESET: &str = "\u{1b}[0m";
        for (place, line) in other.text.lines().take(most).enumerate() {
            if place + 1 == most && other.lines() > most {
                let text = line.strip_suffix(RESET).unwrap_or(line);
                let reset = &line[text.len()..];
                let text = text.trim_end_matches(['.', ',', ';', ' ', '·']);
                self.text += &format!("{text} {}{reset}", self.ellipsis());
            } else {
                self.text += line;
            }
            self.text.push('\n');
        }
    }

    /// Returns true if nothing may be shortened because the output is not a terminal.
    pub(crate) fn is_whole(&self) -> bool {
        self.screen.whole
    }

    /// Returns true if non-ASCII characters are allowed.
    pub(crate) fn unicode(&self) -> bool {
        self.screen.unicode
    }

    /// Returns the mark for omitted text.
    pub(crate) fn ellipsis(&self) -> &'static str {
        if self.screen.unicode { "…" } else { ".." }
    }

    /// Returns the text in the character set of this page.
    pub(crate) fn spelled(&self, text: &str) -> String {
        let clean = clean(text);
        if self.screen.unicode { clean } else { ascii(&clean) }
    }

    /// Adds an empty line, unless the page is empty or ends with one.
    pub(crate) fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    /// Adds a line that is expected to fit; it is wrapped if it does not.
    pub(crate) fn line(&mut self, line: &Line) {
        let wide: usize = line.iter().map(|(_, text)| width(text)).sum();
        if wide > self.table_width() {
            self.paragraph(0, line);
        } else {
            self.write(line);
        }
    }

    /// Wraps the pieces at words; continuation lines are indented by `indent` spaces.
    pub(crate) fn paragraph(&mut self, indent: usize, pieces: &[(Tone, String)]) {
        let indent = indent.min(self.width() / 8);
        let mut line: Line = Vec::new();
        let mut used = 0;
        let mut begun = false;
        // Spaces at the end of the previous piece.
        let mut carried = 0;
        for (tone, text) in pieces {
            let text = with_whole_commands(&self.spelled(text));
            // Outside of a terminal, commands are meant to be copied, so they are never split.
            let room = if self.screen.whole { usize::MAX } else { self.width() - indent };
            for (gap, word) in words(&text).flat_map(|(gap, word)| parts(gap, word, room)) {
                let gap = gap + std::mem::take(&mut carried);
                let fits = used + gap + width(word) <= self.width();
                if !fits && begun {
                    self.write(&line);
                    line = vec![(Tone::Plain, " ".repeat(indent))];
                    (used, begun) = (indent, false);
                }
                let gap = if begun || used == 0 { gap } else { 0 };
                let mut rest = word;
                let mut before = gap;
                loop {
                    let room = self.width().saturating_sub(used + before).max(2);
                    let is_copied = self.screen.whole && rest.contains(STICKY);
                    let cut = if is_copied { rest.len() } else { cut_at(rest, room) };
                    let (now, later) = rest.split_at(cut);
                    line.push((*tone, format!("{}{now}", " ".repeat(before))));
                    used += before + width(now);
                    begun = true;
                    if later.is_empty() {
                        break;
                    }
                    self.write(&line);
                    line = vec![(Tone::Plain, " ".repeat(indent))];
                    (used, before, rest) = (indent, 0, later);
                }
            }
            carried += text.len() - text.trim_end_matches(' ').len();
        }
        if begun {
            self.write(&line);
        }
    }

    /// Returns the page as text.
    pub(crate) fn finish(mut self) -> String {
        // Remove a trailing gap.
        while self.text.ends_with("\n\n") {
            self.text.pop();
        }
        self.text
    }

    fn write(&mut self, line: &Line) {
        let mut whole: Line = Vec::new();
        for (tone, text) in line {
            let text = &text.replace(STICKY, " ");
            match whole.last_mut() {
                Some((last, so_far)) if last == tone => *so_far += text,
                _ => whole.push((*tone, text.clone())),
            }
        }
        while let Some((_, text)) = whole.last_mut() {
            text.truncate(text.trim_end().len());
            if !text.is_empty() {
                break;
            }
            whole.pop();
        }
        for (tone, text) in whole {
            if self.screen.color && tone != Tone::Plain {
                let style = tone.style();
                self.text += &format!("{style}{text}{style:#}");
            } else {
                self.text += &text;
            }
        }
        self.text.push('\n');
    }
}

/// Splits a word that is wider than a line at its non-breaking spaces.
fn parts(gap: usize, word: &str, room: usize) -> Vec<(usize, &str)> {
    if width(word) <= room {
        return vec![(gap, word)];
    }
    let parts = word.split(STICKY).enumerate();
    parts.map(|(place, part)| (if place == 0 { gap } else { 1 }, part)).collect()
}

/// Joins the words of a command line with non-breaking spaces, so that it is not wrapped if it fits
/// on a line.
pub(crate) fn command(line: &str) -> String {
    line.replace(' ', &STICKY.to_string())
}

/// The strings that introduce a command within a sentence, each with the strings that end it.
const COMMANDS: [(&str, &[&str]); 2] =
    [("`assay ", &["`"]), (": assay ", &[", ", "; ", ". ", " (", ")"])];

/// Joins the words of every assay command in a text, as [`command`] does.
fn with_whole_commands(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    let mut rest = text;
    let next = |rest: &str| {
        let found = COMMANDS.iter().filter_map(|(begins, ends)| {
            let start = rest.find(begins)? + begins.len() - "assay ".len();
            let end = ends.iter().filter_map(|end| rest[start..].find(end)).min();
            Some((start, end.map_or(rest.len(), |end| start + end)))
        });
        found.min()
    };
    while let Some((start, end)) = next(rest) {
        joined += &rest[..start];
        joined += &command(rest[start..end].trim_end());
        rest = &rest[start + rest[start..end].trim_end().len()..];
    }
    joined + rest
}

/// Signs and units that stay with the preceding number.
const GLUED: [&str; 14] =
    ["%", "×", "x", "ns", "µs", "us", "ms", "s", "min", "h", "B", "KiB", "MiB", "GiB"];
/// Separators, which are kept at the end of a line.
const SEPARATORS: [&str; 2] = ["·", "|"];

/// Splits a text into words, each with the number of spaces before it. A number and its unit are
/// one word.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let word = rest.trim_start_matches(' ');
        let gap = rest.len() - word.len();
        let mut end = word.find(' ').unwrap_or(word.len());
        let next_of = |end: usize| {
            let next = word.get(end + 1..)?;
            Some(&next[..next.find(' ').unwrap_or(next.len())])
        };
        if let Some(unit) =
            next_of(end).filter(|_| word[..end].ends_with(|c: char| c.is_ascii_digit()))
            && GLUED.contains(&unit.trim_end_matches([',', ';', ')', ']', '.', ':']))
        {
            end += 1 + unit.len();
        }
        if let Some(separator) = next_of(end).filter(|next| SEPARATORS.contains(next)) {
            end += 1 + separator.len();
        }
        let (now, later) = word.split_at(end);
        rest = later;
        (!now.is_empty()).then_some((gap, now))
    })
}

/// Returns the number of bytes of the text that fit into `room` columns, but at least the first
/// character.
fn cut_at(text: &str, room: usize) -> usize {
    if width(text) <= room {
        return text.len();
    }
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > room && at > 0 {
            return at;
        }
    }
    text.len()
}

/// Converts the special characters used in reports to ASCII.
pub(crate) fn ascii(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            'µ' | 'μ' => plain.push('u'),
            '×' => plain.push('x'),
            '…' => plain.push_str(".."),
            '·' => plain.push('|'),
            '→' => plain.push_str("->"),
            '±' => plain.push_str("+/-"),
            '≥' => plain.push_str(">="),
            c => plain.push(c),
        }
    }
    plain
}

/// Capabilities of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Width in columns. Values below 20 are treated as 20.
    pub width: usize,
    /// Whether to use colors.
    pub color: bool,
    /// Whether to use non-ASCII characters.
    pub unicode: bool,
    /// Whether to show names and remarks in full regardless of the width. This is used when the
    /// output is not a terminal, so that names can be searched and whole sentences read.
    pub whole: bool,
}

/// Writes a claim followed by its certainty. The certainty starts on the next line if the claim
/// fits on one line but both together do not.
pub(crate) fn said(page: &mut Page, tone: Tone, claim: String, sureness: &str) {
    let mut pieces = vec![(tone, claim)];
    if !sureness.is_empty() {
        let behind = format!("   ({sureness})");
        let (claimed, more) = (width(&page.spelled(&pieces[0].1)), width(&page.spelled(&behind)));
        if claimed <= page.width() && claimed + more > page.width() {
            page.paragraph(2, &pieces);
            pieces.clear();
        }
        let sureness = if pieces.is_empty() { format!("  ({sureness})") } else { behind };
        pieces.push((Tone::Quiet, sureness));
    }
    page.paragraph(2, &pieces);
}

pub(crate) fn tone_of(c: &Comparison) -> Tone {
    match c.decision.verdict {
        Verdict::Faster => Tone::Good,
        Verdict::Slower => Tone::Bad,
        Verdict::Equivalent => Tone::Strong,
        Verdict::Inconclusive => Tone::Unsure,
    }
}

/// Returns the tone of a verdict in a table, where finding no difference is the normal case.
pub(crate) fn tone_in_table(c: &Comparison) -> Tone {
    if c.decision.verdict == Verdict::Equivalent { Tone::Plain } else { tone_of(c) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(width: usize, pieces: &[(Tone, &str)]) -> String {
        let mut page = Page::new(&Screen { width, color: false, unicode: true, whole: false });
        let pieces: Vec<_> =
            pieces.iter().map(|(tone, text)| (*tone, (*text).to_owned())).collect();
        page.paragraph(2, &pieces);
        page.finish()
    }

    #[test]
    fn text_is_wrapped_at_words_and_hangs() {
        let found = page(20, &[(Tone::Plain, "new takes 2.6 % less time than old")]);
        assert_eq!(found, "new takes 2.6 % less\n  time than old\n");
    }

    #[test]
    fn a_word_wider_than_the_page_is_cut() {
        let found = page(20, &[(Tone::Plain, "a aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b")]);
        assert!(found.lines().all(|line| width(line) <= 20), "{found}");
        assert_eq!(found.matches('a').count(), 31);
    }

    #[test]
    fn a_command_is_not_wrapped_if_it_fits_on_a_line() {
        let text = [(Tone::Plain, "measure again: assay run A B, or later")];
        let found = page(20, &text);
        assert_eq!(found, "measure again:\n  assay run A B, or\n  later\n");
        let found = page(22, &[(Tone::Plain, "see `assay help drift`: why")]);
        assert_eq!(found, "see\n  `assay help drift`:\n  why\n");
    }

    #[test]
    fn a_command_wider_than_the_page_is_wrapped_on_a_terminal_only() {
        let text = "again: assay run --no-save --runs 100 A B";
        let found = page(20, &[(Tone::Plain, text)]);
        assert!(found.lines().all(|line| width(line) <= 20), "{found}");
        let mut page = Page::new(&Screen { width: 20, color: false, unicode: true, whole: true });
        page.paragraph(2, &[(Tone::Plain, text.to_owned())]);
        assert_eq!(page.finish(), "again:\n  assay run --no-save --runs 100 A B\n");
    }

    #[test]
    fn spaces_between_pieces_survive_within_a_line_and_vanish_at_its_end() {
        let found =
            page(24, &[(Tone::Plain, "new is faster   "), (Tone::Quiet, "(95 % confidence)")]);
        assert_eq!(found, "new is faster   (95 %\n  confidence)\n");
    }
}

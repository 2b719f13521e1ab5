//! Remarks that follow the result on the terminal: checks, noise, warnings and notes.
//!
//! By default, at most five lines follow the answer. Remarks fill the lines that the table leaves
//! free, most important first, and one line counts the omitted remarks. Warnings about the result
//! are shown even below a long table, one line each. `--verbose` shows all remarks, and `--quiet`
//! shows one line per warning. The caller decides which remarks exist, and output for programs
//! always contains all of them.

use crate::charts::capital;
use crate::findings;
use crate::layout::{Page, STICKY, Tone};
use crate::words::counted;
use assay_data::code::{Topic, topic};
use assay_data::list;
use assay_data::{Finding, Severity};

/// How many remarks are shown after the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Remarks {
    /// Only warnings, each on one line.
    Few,
    /// As many as fit into five lines after the answer, most important first.
    #[default]
    Usual,
    /// All remarks, in full.
    All,
}

impl Remarks {
    /// Returns the setting selected by the options `--quiet` and `--verbose`.
    pub fn wanted(quiet: bool, verbose: bool) -> Self {
        match (quiet, verbose) {
            (true, _) => Self::Few,
            (_, true) => Self::All,
            _ => Self::Usual,
        }
    }
}

/// Maximum number of lines after the answer, including the line that counts omitted remarks.
const MOST_LINES: usize = 5;

/// Kind of remark, in decreasing importance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// A caveat about the design that the answer mentions.
    Caveat,
    Warning,
    Hint,
    /// A result of secondary importance.
    Result,
    Check,
    /// A warning about the machine. It affects every run, and blocks are designed to cope with it.
    Machine,
    Note,
}

impl Kind {
    fn is_warning(self) -> bool {
        matches!(self, Self::Warning | Self::Machine)
    }
}

/// A remark laid out for the page.
struct Remark {
    kind: Kind,
    /// The full text of the remark.
    whole: Page,
    /// The shortest form of the remark.
    short: Page,
}

/// The remarks, in the order in which they are shown.
pub(crate) struct List {
    how_much: Remarks,
    remarks: Vec<Remark>,
}

impl List {
    /// Creates an empty list.
    pub(crate) fn new(how_much: Remarks) -> Self {
        Self { how_much, remarks: Vec::new() }
    }

    /// Returns true if no remark is left out.
    pub(crate) fn shows_all(&self) -> bool {
        self.how_much == Remarks::All
    }

    /// Creates a list of these findings in display order, warnings before notes.
    pub(crate) fn of<'f>(
        how_much: Remarks,
        page: &Page,
        found: impl Iterator<Item = &'f Finding> + Clone,
    ) -> Self {
        let mut list = Self::new(how_much);
        for notes in [false, true] {
            let wanted = found.clone().filter(|f| (f.severity == Severity::Note) == notes);
            let told = findings::by_text(wanted);
            told.iter().for_each(|(finding, more)| list.finding(page, finding, more));
        }
        list
    }

    /// Draws the list after an empty line, unless there is nothing to draw.
    pub(crate) fn draw_apart(self, page: &mut Page) {
        let draws = |r: &Remark| self.how_much != Remarks::Few || r.kind.is_warning();
        if self.remarks.iter().any(draws) {
            page.gap();
        }
        self.draw(page);
    }

    /// Adds a caveat about the design, with its advice.
    pub(crate) fn caveat(&mut self, page: &Page, message: String, advice: Option<String>) {
        let (mut whole, mut short) = (page.like(), page.narrower());
        let advice = advice.map_or_else(String::new, |advice| format!(". {}", capital(&advice)));
        whole.paragraph(2, &[(Tone::Plain, format!("{message}{advice}"))]);
        short.paragraph(2, &[(Tone::Plain, message)]);
        self.add(Kind::Caveat, whole, short);
    }

    /// Adds a result of secondary importance.
    pub(crate) fn result(&mut self, page: &Page, indent: usize, pieces: &[(Tone, String)]) {
        self.pieces(Kind::Result, page, indent, pieces);
    }

    /// Adds a line about a check.
    pub(crate) fn check(&mut self, page: &Page, indent: usize, line: String) {
        self.pieces(Kind::Check, page, indent, &[(Tone::Quiet, line)]);
    }

    /// Adds the results of all checks, with a summary that is shown if they do not fit.
    pub(crate) fn checks(&mut self, page: &Page, line: String, summary: String) {
        let (mut whole, mut short) = (page.like(), page.narrower());
        whole.paragraph(8, &[(Tone::Quiet, line)]);
        short.paragraph(8, &[(Tone::Quiet, summary)]);
        self.add(Kind::Check, whole, short);
    }

    /// Adds a note.
    pub(crate) fn note(&mut self, page: &Page, line: String) {
        self.pieces(Kind::Note, page, 6, &[(Tone::Quiet, line)]);
    }

    fn pieces(&mut self, kind: Kind, page: &Page, indent: usize, pieces: &[(Tone, String)]) {
        let (mut whole, mut short) = (page.like(), page.narrower());
        whole.paragraph(indent, pieces);
        short.paragraph(indent, pieces);
        self.add(kind, whole, short);
    }

    /// Adds a finding; `more` follows its message.
    pub(crate) fn finding(&mut self, page: &Page, finding: &Finding, more: &str) {
        let (mut whole, mut short) = (page.like(), page.narrower());
        findings::draw(&mut whole, finding, more);
        if finding.severity == Severity::Note {
            findings::draw(&mut short, finding, more);
            self.add(Kind::Note, whole, short);
        } else {
            findings::draw_message(&mut short, finding, more);
            let of_machine = topic(&finding.code) == Topic::Machine;
            self.add(if of_machine { Kind::Machine } else { Kind::Warning }, whole, short);
        }
    }

    /// Adds the advice on a finding whose message is already part of the result.
    pub(crate) fn hint(&mut self, page: &Page, finding: &Finding) {
        let mut whole = page.like();
        findings::draw_hint(&mut whole, finding);
        self.add(Kind::Hint, whole, page.like());
    }

    fn add(&mut self, kind: Kind, whole: Page, short: Page) {
        if whole.lines() > 0 {
            self.remarks.push(Remark { kind, whole, short });
        }
    }

    /// Draws as much of the list as requested.
    pub(crate) fn draw(self, page: &mut Page) {
        match self.how_much {
            Remarks::All => self.remarks.iter().for_each(|r| page.take(&r.whole, usize::MAX)),
            Remarks::Few => {
                let lines = if page.is_whole() { usize::MAX } else { 1 };
                let warnings = self.remarks.iter().filter(|r| r.kind.is_warning());
                warnings.for_each(|r| page.take(&r.short, lines));
            }
            Remarks::Usual => {
                // However long the table is, one remark and the line that counts the others follow
                // it.
                let warnings = self.remarks.iter().filter(|r| r.kind <= Kind::Warning).count();
                let least = (warnings + 1).clamp(2, MOST_LINES);
                let most = MOST_LINES.saturating_sub(page.lines_after_answer()).max(least);
                let mut lines = self.fitted(page, most);
                let mut pointer = self.pointer(&lines);
                if pointer.is_some() {
                    lines = self.fitted(page, most - 1);
                    pointer = self.pointer(&lines);
                }
                for (Remark { whole, short, .. }, lines) in self.remarks.iter().zip(&lines) {
                    let wanted = if *lines == whole.lines() { whole } else { short };
                    page.take(wanted, *lines);
                }
                if let Some(pointer) = pointer {
                    page.paragraph(2, &[(Tone::Quiet, pointer)]);
                }
            }
        }
    }

    /// Returns the number of lines for each remark, given that all remarks together may take `room`
    /// lines.
    fn fitted(&self, page: &Page, mut room: usize) -> Vec<usize> {
        let mut by_weight: Vec<usize> = (0..self.remarks.len()).collect();
        by_weight.sort_by_key(|&place| self.remarks[place].kind);
        // Every warning gets one line before any gets a second.
        let mut reserved = self.remarks.iter().filter(|r| r.kind <= Kind::Warning).count();
        let mut lines = vec![0; self.remarks.len()];
        for place in by_weight {
            let Remark { kind, whole, short } = &self.remarks[place];
            reserved -= usize::from(*kind <= Kind::Warning);
            // If there are more warnings than lines, the first warnings are shown.
            let free = room.saturating_sub(reserved).max(room.min(1));
            let shown = match whole.lines() {
                n if n <= free => n,
                // If the output is not a terminal, a remark is shown with all its sentences or not
                // at all.
                _ if page.is_whole() && *kind <= Kind::Warning && free > 0 => short.lines(),
                _ if page.is_whole() && short.lines() > free => 0,
                _ => short.lines().min(free),
            };
            lines[place] = shown;
            room = room.saturating_sub(shown);
        }
        lines
    }

    /// Returns the line that counts the omitted remarks and names the option that shows them, or
    /// `None` if nothing is omitted. Omitted notes are not counted if the summary of the checks is
    /// shown.
    fn pointer(&self, lines: &[usize]) -> Option<String> {
        let left_out = |kind: Kind| {
            let untold = self.remarks.iter().zip(lines);
            untold.filter(|(r, lines)| r.kind == kind && **lines == 0).count()
        };
        // The summary of the checks also names the option that shows the notes.
        let is_summary = |(r, n): (&Remark, &usize)| {
            r.kind == Kind::Check && *n > 0 && *n < r.whole.lines() && *n == r.short.lines()
        };
        let summarized = self.remarks.iter().zip(lines).any(is_summary);
        let kinds = [
            (Kind::Warning, "warning", ""),
            (Kind::Machine, "warning", " about the machine"),
            (Kind::Hint, "hint", ""),
            (Kind::Result, "result", ""),
            (Kind::Check, "check", ""),
            (Kind::Note, "note", ""),
        ];
        let more: Vec<String> = kinds
            .into_iter()
            .filter_map(|(kind, noun, about)| match left_out(kind) {
                0 => None,
                _ if kind == Kind::Note && summarized => None,
                n => Some(format!("{}{about}", counted(n, &format!("more{STICKY}{noun}")))),
            })
            .collect();
        let is_cut = |pair: (&Remark, &usize)| {
            *pair.1 > 0 && *pair.1 < pair.0.whole.lines() && !is_summary(pair)
        };
        if !more.is_empty() {
            Some(format!("{}: --verbose", list::all(&more)))
        } else if self.remarks.iter().zip(lines).any(is_cut) {
            Some("in full: --verbose".to_owned())
        } else {
            None
        }
    }
}

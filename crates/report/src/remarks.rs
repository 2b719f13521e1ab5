//! Remarks that follow the result on a screen: checks, noise, warnings, notes.
//!
//! By default they take five lines, most important first, and a line with the number of others;
//! `--verbose` shows all, and `--quiet` one line per warning. The caller decides which remarks
//! there are, and programs always get all of them.

use crate::findings;
use crate::layout::{Page, STICKY, Tone};
use crate::words::counted;
use assay_data::code::{Topic, topic};
use assay_data::list;
use assay_data::{Finding, Severity};

/// Length of the remarks after the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Remarks {
    /// Warnings, each on one line.
    Few,
    /// As many as fit into five lines, most important first.
    #[default]
    Usual,
    /// Everything.
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

/// Maximum number of lines after the result.
const MOST_LINES: usize = 5;

/// Kind of remark, in decreasing importance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Warning,
    Hint,
    Check,
    /// A warning about the machine: it affects every run, and blocks are designed for it.
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
    /// Full text.
    whole: Page,
    /// Shortest form.
    short: Page,
}

/// Remarks in display order.
pub(crate) struct List {
    how_much: Remarks,
    /// Maximum number of lines by default, including the line that counts omitted remarks.
    most_lines: usize,
    remarks: Vec<Remark>,
}

impl List {
    /// Creates an empty list.
    pub(crate) fn new(how_much: Remarks) -> Self {
        Self { how_much, most_lines: MOST_LINES, remarks: Vec::new() }
    }

    /// Leaves out what does not fit below that many lines of the result itself.
    pub(crate) fn below(&mut self, lines: usize) {
        self.most_lines = MOST_LINES.saturating_sub(lines).max(1);
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
            wanted.for_each(|finding| list.finding(page, finding, ""));
        }
        list
    }

    /// Draws the list with a gap before it, unless nothing is drawn.
    pub(crate) fn draw_apart(self, page: &mut Page) {
        let draws = |r: &Remark| self.how_much != Remarks::Few || r.kind.is_warning();
        if self.remarks.iter().any(draws) {
            page.gap();
        }
        self.draw(page);
    }

    /// Adds a line about a check.
    pub(crate) fn check(&mut self, page: &Page, indent: usize, line: String) {
        self.line(Kind::Check, page, indent, line);
    }

    /// Adds an informative line.
    pub(crate) fn note(&mut self, page: &Page, line: String) {
        self.line(Kind::Note, page, 6, line);
    }

    fn line(&mut self, kind: Kind, page: &Page, indent: usize, line: String) {
        let (mut whole, mut short) = (page.like(), page.narrower());
        let pieces = [(Tone::Quiet, line)];
        whole.paragraph(indent, &pieces);
        short.paragraph(indent, &pieces);
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

    /// Adds the advice on a finding that the result has shown.
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
                let all: usize = self.remarks.iter().map(|r| r.whole.lines()).sum();
                let most = self.most_lines;
                let room = if all > most { most - 1 } else { most };
                self.draw_within(page, room);
            }
        }
    }

    fn draw_within(&self, page: &mut Page, mut room: usize) {
        let mut by_weight: Vec<usize> = (0..self.remarks.len()).collect();
        by_weight.sort_by_key(|&place| self.remarks[place].kind);
        // Every warning gets a line before any gets two.
        let mut reserved = self.remarks.iter().filter(|r| r.kind == Kind::Warning).count();
        let mut lines = vec![0; self.remarks.len()];
        for place in by_weight {
            let Remark { kind, whole, short } = &self.remarks[place];
            reserved -= usize::from(*kind == Kind::Warning);
            // If there are more warnings than lines, the first warnings are shown.
            let free = room.saturating_sub(reserved).max(room.min(1));
            let shown = match whole.lines() {
                n if n <= free => n,
                // Without a terminal, a remark is shown with all its sentences or not at all.
                _ if page.is_whole() && *kind == Kind::Warning && free > 0 => short.lines(),
                _ if page.is_whole() && short.lines() > free => 0,
                _ => short.lines().min(free),
            };
            lines[place] = shown;
            room = room.saturating_sub(shown);
        }
        for (Remark { whole, short, .. }, lines) in self.remarks.iter().zip(&lines) {
            let wanted = if *lines == whole.lines() { whole } else { short };
            page.take(wanted, *lines);
        }
        let left_out = |kind: Kind| {
            let untold = self.remarks.iter().zip(&lines);
            untold.filter(|(r, lines)| r.kind == kind && **lines == 0).count()
        };
        let kinds = [
            (Kind::Warning, "warning", ""),
            (Kind::Machine, "warning", " about the machine"),
            (Kind::Hint, "hint", ""),
            (Kind::Check, "check", ""),
            (Kind::Note, "note", ""),
        ];
        let more: Vec<String> = kinds
            .into_iter()
            .filter_map(|(kind, noun, about)| match left_out(kind) {
                0 => None,
                n => Some(format!("{}{about}", counted(n, &format!("more{STICKY}{noun}")))),
            })
            .collect();
        let is_cut = self.remarks.iter().zip(&lines).any(|(r, n)| *n > 0 && *n < r.whole.lines());
        if !more.is_empty() {
            page.paragraph(2, &[(Tone::Quiet, format!("{}: --verbose", list::all(&more)))]);
        } else if is_cut {
            page.paragraph(2, &[(Tone::Quiet, "in full: --verbose".to_owned())]);
        }
    }
}

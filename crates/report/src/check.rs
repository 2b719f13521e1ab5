//! The result of checking a change: a paragraph, a table of the benchmarks that differ, and a
//! comment for a pull request. The first line of the comment is an invisible mark by which the next
//! run finds it.

use crate::benchmarks::{DisplayOptions, words};
use crate::escape::{code, escaped};
use crate::label::label;
use crate::layout::Screen;
use crate::markdown;
use crate::number;
use crate::words::counted;
use assay_analysis::check::{Answer, CheckedProgram, CheckedRow, OPEN, Second, Standing, answer};
use assay_analysis::{NoInterval, Verdict};
use assay_data::list;
use assay_data::{Threshold, Unit};

/// First line of every comment.
pub const MARK: &str = "<!-- assay-check -->";
/// Maximum number of alarms named in the paragraph. The table lists all.
const MOST_NAMED: usize = 3;
/// Maximum number of rows in the terminal output.
const MOST_ROWS: usize = 20;
/// Maximum number of programs named in a line.
const MOST_NAMES: usize = 5;
/// Maximum length of a comment, in bytes. Forges accept 65,536 characters.
const LONGEST: usize = 60_000;

/// The compared revisions.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    /// Full hash of the base commit.
    pub base: String,
    /// The branch from which the base was determined.
    pub branch: String,
    /// Where the name of the branch comes from.
    pub source: String,
    /// Full hash of the commit that was measured. For a working tree with changes, this is a commit
    /// that is on no branch.
    pub head: String,
    /// True if the working tree has uncommitted changes.
    pub is_changed: bool,
    /// Paths of the files that differ, relative to the root of the working tree.
    pub files: Vec<String>,
}

/// A program that was not measured, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmeasured {
    /// Name of the program.
    pub program: String,
    /// The reason why the program was not measured.
    pub why: String,
    /// True if building or measuring the program failed; false if measuring it was unnecessary.
    pub is_failure: bool,
}

/// The result of checking a change, with its context.
#[derive(Clone, Debug)]
pub struct CheckReport<'a> {
    /// The revisions.
    pub compared: &'a Compared,
    /// The measured programs.
    pub programs: &'a [CheckedProgram],
    /// Programs that were not measured.
    pub unmeasured: &'a [Unmeasured],
    /// The reason why nothing was measured at all; empty if something was.
    pub nothing: &'a str,
    /// Smallest difference that matters.
    pub threshold: &'a Threshold,
    /// Confidence level of the result as a whole.
    pub confidence: f64,
    /// Time allowed for measuring, in seconds.
    pub budget: f64,
    /// Benchmark files that differ between the revisions.
    pub changed_benchmarks: &'a [String],
    /// True if the second builds were linked in shuffled order.
    pub is_shuffled: bool,
}

impl CheckReport<'_> {
    fn rows(&self) -> impl Iterator<Item = (&CheckedProgram, &CheckedRow)> {
        self.programs.iter().flat_map(|program| program.rows.iter().map(move |row| (program, row)))
    }

    fn of(&self, standing: Standing) -> Vec<(&CheckedProgram, &CheckedRow)> {
        self.rows().filter(|(_, row)| row.standing == standing).collect()
    }

    /// Returns the number of benchmarks that the change does not reach.
    fn unreached(&self) -> usize {
        self.programs.iter().map(|program| program.unreached.len()).sum()
    }

    /// Returns the number of benchmarks without a result.
    fn missing(&self) -> usize {
        self.programs.iter().map(|program| program.missing.len()).sum()
    }

    /// Returns the name of a benchmark, preceded by the name of its program if there are several
    /// programs.
    pub fn name(&self, program: &CheckedProgram, row: &CheckedRow) -> String {
        let own = program.benchmark(row);
        match (self.programs.len() > 1, own.is_empty()) {
            (_, true) => program.name.clone(),
            (true, false) => format!("{}: {own}", program.name),
            (false, false) => own.to_owned(),
        }
    }

    /// Returns the programs that could not be measured.
    fn failed(&self) -> impl Iterator<Item = &Unmeasured> {
        self.unmeasured.iter().filter(|own| own.is_failure)
    }

    /// Returns the result as one paragraph.
    pub fn paragraph(&self) -> String {
        if !self.nothing.is_empty() {
            return self.nothing.to_owned();
        }
        let all = self.rows().count() + self.unreached() + self.missing();
        let mut said = Vec::new();
        match answer(self.programs) {
            Answer::Slower => said.extend(self.alarms(all)),
            Answer::Inconclusive if !self.of(Standing::Undecided).is_empty() => {
                said.push(self.undecided(all));
            }
            Answer::Inconclusive => {
                let found = self.rows().any(|(_, row)| row.standing != Standing::Inconclusive);
                let known = if found || self.unreached() > 0 { "not all are" } else { "none is" };
                said.push(format!(
                    "No slowdown of {} or more was found in {}, but {known} known.",
                    number::threshold(self.threshold),
                    counted(all, "benchmark")
                ));
            }
            Answer::Unreached => said.push("No benchmark was measured.".to_owned()),
            Answer::Faster | Answer::Equivalent => said.push(match all {
                1 => format!(
                    "The only benchmark is not slower by {} or more.",
                    number::threshold(self.threshold)
                ),
                _ => format!(
                    "None of {all} benchmarks is slower by {} or more.",
                    number::threshold(self.threshold)
                ),
            }),
        }
        said.extend(self.others());
        said.extend(self.bound());
        said.extend(self.too_few());
        let failed = self.failed().count();
        if failed > 0 {
            said.push(format!("{} could not be measured.", counted(failed, "program")));
        }
        if !self.changed_benchmarks.is_empty() {
            said.push(format!(
                "The benchmarks themselves also changed ({}), so they may cause a difference.",
                list::all(&some(self.changed_benchmarks))
            ));
        }
        said.join(" ")
    }

    /// Returns the sentence about benchmarks whose second measurement was inconclusive.
    fn undecided(&self, all: usize) -> String {
        let open = self.of(Standing::Undecided);
        let of = match all {
            1 => "The only benchmark may be slower".to_owned(),
            _ => format!("{} of {all} benchmarks may be slower", open.len()),
        };
        let named = self.effects(&open);
        format!(
            "{of}: {named}. A second build neither confirms nor refutes it; more time (--budget) may."
        )
    }

    /// Returns the effects of rows, with names. After the first few, rows are only counted.
    fn effects(&self, rows: &[(&CheckedProgram, &CheckedRow)]) -> String {
        let named: Vec<String> = rows
            .iter()
            .take(MOST_NAMED)
            .map(|(program, row)| {
                let effect = words::effect(&program.analysis, program.comparison(row), true);
                format!("{} {effect}", self.name(program, row))
            })
            .collect();
        let more = rows.len() - named.len();
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        format!("{}{more}", named.join("; "))
    }

    /// Returns the sentences about the alarms and their confirmation.
    fn alarms(&self, all: usize) -> Vec<String> {
        let alarms = self.of(Standing::Slower);
        let is = if alarms.len() == 1 { "is" } else { "are" };
        let of = if all == 1 {
            "The only benchmark is slower".to_owned()
        } else {
            format!("{} of {all} benchmarks {is} slower", alarms.len())
        };
        let mut said = vec![format!("{of}: {}.", self.effects(&alarms))];
        let missing: Vec<&str> = alarms
            .iter()
            .filter_map(|(_, row)| match &row.second {
                Some(Second::Missing(why)) => Some(why.as_str()),
                None => Some("it was not measured again"),
                Some(Second::Measured { .. }) => None,
            })
            .collect();
        let how = if self.is_shuffled { ", linked in other orders," } else { "" };
        said.push(match (missing.first(), missing.len() == alarms.len()) {
            (None, _) => format!("A second build{how} confirms it."),
            (Some(why), true) => format!("This was not confirmed by a second build: {why}."),
            (Some(why), false) => {
                format!("A second build{how} confirms {} of them; the others were not confirmed: {why}.", alarms.len() - missing.len())
            }
        });
        said
    }

    /// Returns the sentence about all benchmarks except the alarms.
    fn others(&self) -> Option<String> {
        let n = |standing| self.of(standing).len();
        let threshold = number::threshold(self.threshold);
        // Without an alarm, the first sentence names the undecided benchmarks.
        let undecided = if n(Standing::Slower) > 0 { n(Standing::Undecided) } else { 0 };
        let parts = [
            (n(Standing::Equivalent), format!("differ by less than {threshold}")),
            // Placement in memory alone can cause this in compiled programs.
            (n(Standing::Faster), "are faster in this build".to_owned()),
            (n(Standing::SlightlySlower), format!("are slower, perhaps by less than {threshold}")),
            (
                n(Standing::NotConfirmed),
                "were slower at first, but not in a second build".to_owned(),
            ),
            (undecided, "may be slower, which a second build did not settle".to_owned()),
            (n(Standing::Inconclusive), "are not known".to_owned()),
            (self.missing(), "have no result".to_owned()),
            (self.unreached(), "are not reached by the change".to_owned()),
        ];
        let said: Vec<String> = parts
            .into_iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, what)| format!("{n} {}", if n == 1 { singular(&what) } else { what }))
            .collect();
        // The first sentence says that all of them are equivalent, or that none is known.
        let all = [Standing::Equivalent, Standing::Inconclusive];
        let is_only =
            said.len() == 1 && n(Standing::Slower) == 0 && all.iter().any(|own| n(*own) > 0);
        if said.is_empty() || is_only {
            return None;
        }
        let has_named = n(Standing::Slower) + n(Standing::Undecided) > 0;
        let which = if has_named { "Of the others, " } else { "Of these, " };
        Some(format!("{which}{}.", list::all(&said)))
    }

    /// Returns the sentence about how much slower the benchmarks with an open standing ([`OPEN`])
    /// may be. Their intervals hold simultaneously, so the sentence is as certain as the result as
    /// a whole.
    fn bound(&self) -> Option<String> {
        if self.missing() > 0 {
            return None;
        }
        let rows = self.rows().filter(|(_, row)| OPEN.contains(&row.standing));
        let worst: Option<Vec<f64>> = rows.map(|(program, row)| program.at_worst(row)).collect();
        let worst = worst?.into_iter().reduce(f64::max)?;
        // A bound of more than twice the time is uninformative.
        (worst <= 1.0).then(|| {
            let most = number::percent(worst);
            format!("No benchmark without an answer is slower by more than {most}.")
        })
    }

    /// Returns the sentence about benchmarks that had too little time for any result.
    fn too_few(&self) -> Option<String> {
        let is_short = |(program, row): &(&CheckedProgram, &CheckedRow)| {
            matches!(program.comparison(row).no_interval(), Some(NoInterval::TooFew { .. }))
        };
        let n = self.rows().filter(is_short).count();
        (n > 0).then(|| {
            format!(
                "The time was too short for any answer about {}: allow more with --budget, or measure fewer (bench in assay.toml).",
                counted(n, "benchmark")
            )
        })
    }

    /// Returns a statement of how certain the answer is.
    pub fn sureness(&self) -> String {
        format!(
            "If nothing had changed, the whole answer would be wrong with a probability of at most {} (Holm within a program, Bonferroni between programs).",
            number::chosen_percent(1.0 - self.confidence)
        )
    }

    /// Returns one line about the revisions.
    pub fn about(&self) -> String {
        self.about_with(str::to_owned)
    }

    /// Returns the line about the revisions, with the name of the branch as formatted by `name`.
    fn about_with(&self, name: fn(&str) -> String) -> String {
        let own = self.compared;
        let short = |commit: &str| commit.get(..12).unwrap_or(commit).to_owned();
        let head = match own.is_changed {
            true => "the working tree".to_owned(),
            false => format!("HEAD ({})", short(&own.head)),
        };
        let measured = match self.programs.is_empty() {
            true => String::new(),
            false => format!("; measured for up to {}", number::duration(self.budget)),
        };
        format!(
            "{head} against {}, where it diverged from {}; {} changed{measured}",
            short(&own.base),
            name(&own.branch),
            counted(own.files.len(), "file"),
        )
    }
}

fn singular(plural: &str) -> String {
    let known = [("differ ", "differs "), ("are ", "is "), ("were ", "was "), ("have ", "has ")];
    let found =
        known.iter().find_map(|(many, one)| Some(format!("{one}{}", plural.strip_prefix(many)?)));
    found.unwrap_or_else(|| plural.to_owned())
}

fn some(names: &[String]) -> Vec<String> {
    let mut named: Vec<String> = names.iter().take(MOST_NAMED).cloned().collect();
    if names.len() > MOST_NAMED {
        named.push(format!("{} more", names.len() - MOST_NAMED));
    }
    named
}

fn standing(row: &CheckedRow) -> &'static str {
    match (row.standing, &row.second) {
        (Standing::Slower, Some(Second::Measured { .. })) => "slower, confirmed",
        (Standing::Slower, _) => "slower, not confirmed",
        (Standing::NotConfirmed, _) => "not in a second build",
        (Standing::Undecided, _) => "slower, second build undecided",
        (Standing::SlightlySlower, _) => "slower*",
        (Standing::Faster, _) => "faster, not confirmed",
        (Standing::Equivalent, _) => "equivalent",
        (Standing::Inconclusive, _) => "not known",
    }
}

fn second(row: &CheckedRow) -> String {
    match &row.second {
        Some(Second::Measured { verdict, ratio: Some(ratio) }) => {
            let ends = ratio.interval.map(|i| (i.lower, i.upper));
            let open = if *verdict == Verdict::Inconclusive { "?" } else { "" };
            format!("{}{open}", number::change(ratio.estimate, ends))
        }
        Some(Second::Missing(why)) => why.clone(),
        _ => String::new(),
    }
}

/// Returns the rows in the order in which they are shown: alarms, inconclusive results, gains.
/// Equivalent benchmarks are left out.
fn ordered<'a>(report: &'a CheckReport<'_>) -> Vec<(&'a CheckedProgram, &'a CheckedRow)> {
    let order = [
        Standing::Slower,
        Standing::Undecided,
        Standing::NotConfirmed,
        Standing::SlightlySlower,
        Standing::Inconclusive,
        Standing::Faster,
    ];
    order.into_iter().flat_map(|standing| report.of(standing)).collect()
}

/// Returns the programs that were not measured, grouped by reason.
fn by_reason<'r>(all: impl Iterator<Item = &'r Unmeasured>) -> Vec<(Vec<&'r str>, &'r str)> {
    let mut found: Vec<(Vec<&str>, &str)> = Vec::new();
    for own in all {
        match found.iter_mut().find(|(_, why)| *why == own.why) {
            Some((names, _)) => names.push(&own.program),
            None => found.push((vec![&own.program], &own.why)),
        }
    }
    found
}

/// Renders the report for the terminal.
pub fn screen(report: &CheckReport<'_>, screen: &Screen) -> String {
    let mut text = wrapped(&report.paragraph(), screen.width);
    let not_measured = |(names, why): (Vec<&str>, &str)| {
        let names = list::first(&names, MOST_NAMES);
        wrapped(&format!("\n{names}: not measured: {why}"), screen.width)
    };
    if !report.nothing.is_empty() {
        text.extend(by_reason(report.failed()).into_iter().map(not_measured));
        return text;
    }
    let rows = ordered(report);
    let cells: Vec<[String; 3]> = rows
        .iter()
        .take(MOST_ROWS)
        .map(|(program, row)| {
            let effect = words::effect(&program.analysis, program.comparison(row), true);
            [report.name(program, row), effect, standing(row).to_owned()]
        })
        .collect();
    let width = |column: usize| {
        cells.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let (first, middle) = (width(0), width(1));
    if !cells.is_empty() {
        text.push('\n');
    }
    for [name, effect, told] in &cells {
        text += &format!("  {name:first$}  {effect:middle$}  {told}\n");
    }
    if rows.len() > MOST_ROWS {
        text += &format!("  … and {} more\n", rows.len() - MOST_ROWS);
    }
    text.extend(by_reason(report.unmeasured.iter()).into_iter().map(not_measured));
    text.push('\n');
    text += &wrapped(&format!("{}.", report.about()), screen.width);
    text + &wrapped(&report.sureness(), screen.width)
}

/// Wraps lines at spaces. Continuation lines keep the indentation of their line.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines = String::new();
    for line in text.split('\n') {
        let indent = line.len() - line.trim_start_matches(' ').len();
        lines += &line[..indent];
        let mut length = indent;
        for (place, word) in line[indent..].split(' ').enumerate() {
            let own = word.chars().count();
            if place > 0 && length + 1 + own > width {
                lines.push('\n');
                lines += &" ".repeat(indent);
                length = indent;
            } else if place > 0 {
                lines.push(' ');
                length += 1;
            }
            lines += word;
            length += own;
        }
        lines.push('\n');
    }
    lines
}

/// Renders the comment as Markdown: the paragraph, the benchmarks that may have changed, and the
/// full result of every program in a collapsed section.
pub fn markdown(report: &CheckReport<'_>) -> String {
    let sign = match answer(report.programs) {
        Answer::Slower => "❌",
        // A program that could not be measured may be slower.
        _ if report.failed().next().is_some() => "❔",
        _ if !report.nothing.is_empty() => "✅",
        Answer::Inconclusive => "❔",
        Answer::Faster | Answer::Equivalent | Answer::Unreached => "✅",
    };
    let mut text = format!("{MARK}\n{sign} **assay check**: {}\n\n", escaped(&report.paragraph()));
    let rows = ordered(report);
    if !rows.is_empty() {
        text += "| benchmark | metric | change | second build | |\n|:--|:--|:--|:--|:--|\n";
    }
    for (program, row) in rows.iter().take(MOST_ROWS) {
        let comparison = program.comparison(row);
        text += &format!(
            "| {} | {} | {} | {} | {} |\n",
            code(&report.name(program, row)),
            escaped(&label(&program.analysis.metrics[comparison.metric])),
            escaped(&words::effect(&program.analysis, comparison, true)),
            escaped(&second(row)),
            escaped(standing(row)),
        );
    }
    if rows.len() > MOST_ROWS {
        text += &format!("\n… and {} more.\n", rows.len() - MOST_ROWS);
    }
    if !rows.is_empty() {
        text.push('\n');
    }
    for (names, why) in by_reason(report.unmeasured.iter()) {
        let names: Vec<String> = names.into_iter().map(code).collect();
        let names = list::first(&names, MOST_NAMES);
        text += &format!("- {names}: not measured: {}\n", escaped(why));
    }
    if !report.unmeasured.is_empty() {
        text.push('\n');
    }
    text += &format!("{}.\n", report.about_with(code));
    if report.nothing.is_empty() {
        text += &format!("{}\n", escaped(&report.sureness()));
    }
    for program in report.programs {
        let own = markdown::render(&program.analysis, DisplayOptions::default());
        let own = format!(
            "\n<details><summary>{}: all {}</summary>\n\n{own}\n</details>\n",
            escaped(&program.name),
            counted(program.rows.len(), "benchmark")
        );
        if text.len() + own.len() > LONGEST {
            text += "\nThe other programs do not fit into a comment.\n";
            break;
        }
        text += &own;
    }
    text
}

/// A project's benchmarks and settings, before anything is measured.
#[derive(Clone, Debug, Default)]
pub struct Explained {
    /// The revisions that would be compared; `None` if there is no base.
    pub compared: Option<Compared>,
    /// The reason why there is no base; empty if there is one.
    pub no_base: String,
    /// The command line that builds a revision; empty if nothing is built.
    pub build: String,
    /// The programs that would be measured.
    pub programs: Vec<ExplainedProgram>,
    /// The searches for benchmarks, one per build system.
    pub searches: Vec<Search>,
    /// The settings, each with its value and its origin.
    pub settings: Vec<(String, String, String)>,
}

/// A program that would be measured.
#[derive(Clone, Debug, Default)]
pub struct ExplainedProgram {
    /// Name of the program.
    pub name: String,
    /// The build system through which the program was found.
    pub tool: String,
    /// The file that shows that the program has benchmarks.
    pub evidence: String,
    /// Command line of the program.
    pub command: String,
    /// The command that measures the program: `bench` or `run`.
    pub verb: String,
    /// The directory in which the program runs, relative to the root of the working tree; empty for
    /// the root itself.
    pub directory: String,
    /// Environment variables set for the program, as name and value.
    pub variables: Vec<(String, String)>,
    /// Files with the program's benchmarks.
    pub sources: Vec<String>,
}

/// A search for benchmarks of one build system.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// The build system.
    pub tool: String,
    /// The files and contents that were searched for.
    pub sought: String,
    /// Missing files, and benchmarks that were left out.
    pub notes: Vec<String>,
    /// Number of programs found.
    pub programs: usize,
}

/// Renders the explanation for the terminal.
pub fn explained(found: &Explained, width: usize) -> String {
    let mut text = String::new();
    match &found.compared {
        Some(compared) => {
            let report = CheckReport {
                compared,
                programs: &[],
                unmeasured: &[],
                nothing: "",
                threshold: &Threshold::Absolute { value: 0.0, unit: Unit::One },
                confidence: 0.0,
                budget: 0.0,
                changed_benchmarks: &[],
                is_shuffled: false,
            };
            let about = report.about();
            text += &wrapped(&format!("compares: {about} ({})", compared.source), width);
        }
        None => text += &wrapped(&format!("compares: nothing: {}", found.no_base), width),
    }
    for (name, value, source) in &found.settings {
        text += &format!("{name}: {value} ({source})\n");
    }
    if !found.build.is_empty() {
        text += "builds each revision with:\n";
    }
    for line in found.build.lines() {
        text += &format!("  {line}\n");
    }
    for (index, program) in found.programs.iter().enumerate() {
        let directory = match program.directory.as_str() {
            "" => String::new(),
            directory => format!(" in {directory}"),
        };
        let set: String =
            program.variables.iter().map(|(name, value)| format!("{name}={value} ")).collect();
        text +=
            &format!("measures with assay {}: {set}{}{directory}\n", program.verb, program.command);
        // Programs with the same evidence share a line.
        let found_by = |own: &ExplainedProgram| (own.tool.clone(), own.evidence.clone());
        if found.programs.get(index + 1).map(found_by) != Some(found_by(program)) {
            text += &wrapped(&format!("  found by {}: {}", program.tool, program.evidence), width);
        }
    }
    let is_empty = found.programs.is_empty();
    for search in &found.searches {
        if search.programs > 0 && !search.notes.is_empty() {
            text += &format!("left out by {}:\n", search.tool);
        } else if is_empty {
            let line = format!("{}: nothing found. Looked for: {}", search.tool, search.sought);
            text += &wrapped(&line, width);
        } else {
            continue;
        }
        for note in &search.notes {
            text += &wrapped(&format!("  {note}"), width);
        }
    }
    text
}

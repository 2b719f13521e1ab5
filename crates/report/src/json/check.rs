//! The answer about a change, and the explanation that precedes measuring, as JSON.

use super::Head;
use super::plan::Threshold;
use super::values::{Estimate, NamedValues, Verdict, view, words};
use crate::check::{
    CheckReport, Compared, Explained, ExplainedProgram, Search, Unmeasured as NotMeasured,
};
use assay_analysis::check::{Answer, CheckedProgram, CheckedRow, Second, Standing, answer};

view! {
    /// Answer about a change: whether benchmarks became slower.
    Checked of (report: &CheckReport<'_>) {
        /// Layout version and verb.
        #[serde(flatten)]
        head: Head = Head::of("check"),
        /// The answer about all benchmarks together.
        verdict: CheckVerdict = (&answer(report.programs)).into(),
        /// The answer in one paragraph. For people.
        sentence: String = report.paragraph(),
        /// The compared revisions.
        compared: ComparedRevisions,
        /// Smallest difference that matters.
        threshold: Threshold,
        /// 1 − the probability that the answer as a whole is wrong if nothing changed.
        confidence: f64,
        /// How the benchmarks share that probability. For people.
        adjustment: String = "Holm within a program, Bonferroni between programs".to_owned(),
        /// Seconds for measuring.
        budget_seconds: f64 => report.budget,
        /// The measured programs.
        programs: Vec<CheckedBenchmarks>,
        /// Programs that were not measured.
        unmeasured: Vec<UnmeasuredProgram>,
        /// Files with benchmarks that differ between the revisions.
        changed_benchmarks: Vec<String>,
    }
}

words! {
    /// Answer about all benchmarks.
    CheckVerdict from Answer {
        /// At least one benchmark is worse by more than the threshold.
        Source::Slower => Slower,
        /// No benchmark is known to be worse, but for at least one this is uncertain.
        Source::Inconclusive => Inconclusive,
        /// No benchmark is worse, and at least one is better.
        Source::Faster => Faster,
        /// No benchmark changed by the threshold.
        Source::Equivalent => Equivalent,
        /// No benchmark was measured, because none reaches the change.
        Source::Unreached => Unreached,
    }
}

view! {
    /// The revisions that were compared.
    ComparedRevisions of (compared: &Compared) {
        /// The base commit: the point at which the branch forked from its target branch.
        base: String,
        /// The branch from which the base was determined.
        branch: String,
        /// The source of the branch's name. For people.
        source: String,
        /// The measured commit. For a working tree with changes, it is a commit that is on no
        /// branch.
        head: String,
        /// True if the working tree has uncommitted changes.
        working_tree_changed: bool => compared.is_changed,
        /// The files that differ.
        changed_files: Vec<String> => compared.files,
    }
}

view! {
    /// A program with its benchmarks.
    CheckedBenchmarks of (program: &CheckedProgram) {
        /// Name of the program.
        program: String => program.name,
        /// Confidence of the answers about this program together.
        confidence: f64 => program.analysis.plan.confidence,
        /// Benchmarks whose code is the same on both sides; they were not measured.
        unreached: Vec<String>,
        /// Benchmarks without a result: they failed, or the time ended before them.
        missing: Vec<String>,
        /// The measured benchmarks.
        benchmarks: Vec<CheckedBenchmark> = program.rows.iter().map(|row| CheckedBenchmark::of(row, program)).collect(),
    }
}

view! {
    /// Result of a benchmark.
    CheckedBenchmark of (row: &CheckedRow, program: &CheckedProgram) {
        /// Name of the benchmark; empty for a command that is timed as a whole.
        benchmark: String => program.benchmark(row),
        /// The metric that decides.
        metric: String = program.analysis.metrics[program.comparison(row).metric].name.clone(),
        /// Result of the benchmark.
        standing: CheckStanding,
        /// The verdict of the first measurement.
        verdict: Verdict => program.comparison(row).decision.verdict,
        /// Head / base; `null` if a value is zero or negative.
        ratio: Option<Estimate> => program.comparison(row).ratio,
        /// Head − base, in the unit of the metric.
        shift: Estimate => program.comparison(row).shift,
        /// Verdict of the second build; `null` if it was not measured.
        second_verdict: Option<Verdict> = second(row).map(|(verdict, _)| verdict),
        /// Head / base of the second build.
        second_ratio: Option<Estimate> = second(row).and_then(|(_, ratio)| ratio),
        /// The reason why an alarm was not measured a second time; `null` otherwise. For people.
        not_confirmed_because: Option<String> = match &row.second {
            Some(Second::Missing(why)) => Some(why.clone()),
            _ => None,
        },
    }
}

fn second(row: &CheckedRow) -> Option<(Verdict, Option<Estimate>)> {
    match &row.second {
        Some(Second::Measured { verdict, ratio }) => {
            Some((verdict.into(), ratio.map(Estimate::from)))
        }
        _ => None,
    }
}

words! {
    /// Result of a benchmark after both measurements.
    CheckStanding from Standing {
        /// Worse by more than the threshold, also in a second build if that was measured.
        Source::Slower => Slower,
        /// Worse at first, but not in a second build.
        Source::NotConfirmed => NotConfirmed,
        /// Worse at first, and the second build decided nothing.
        Source::Undecided => Undecided,
        /// Worse, perhaps by less than the threshold.
        Source::SlightlySlower => SlightlySlower,
        /// Better.
        Source::Faster => Faster,
        /// Any difference is below the threshold.
        Source::Equivalent => Equivalent,
        /// Unknown.
        Source::Inconclusive => Inconclusive,
    }
}

view! {
    /// A program that was not measured.
    UnmeasuredProgram of (own: &NotMeasured) {
        /// Name of the program.
        program: String,
        /// The reason. For people.
        why: String,
        /// True if it failed; false if measuring it was unnecessary.
        failed: bool => own.is_failure,
    }
}

view! {
    /// A project's benchmarks and settings; nothing was measured.
    Explanation of (found: &Explained) {
        /// Layout version and verb.
        #[serde(flatten)]
        head: Head = Head::of("check"),
        /// The revisions that would be compared; `null` without a base.
        compared: Option<ComparedRevisions>,
        /// The reason for a missing base; `null` otherwise. For people.
        no_base: Option<String> = Some(found.no_base.clone()).filter(|why| !why.is_empty()),
        /// The shell lines that build a revision; `null` if nothing is built.
        build: Option<String> = Some(found.build.clone()).filter(|line| !line.is_empty()),
        /// The programs that would be measured.
        programs: Vec<FoundProgram>,
        /// The files and contents that were sought.
        searches: Vec<BenchmarkSearch>,
        /// The settings.
        settings: Vec<CheckSetting>,
    }
}

view! {
    /// A program that would be measured.
    FoundProgram of (program: &ExplainedProgram) {
        /// Name of the program.
        program: String => program.name,
        /// The build system by which it was found, or `assay.toml`.
        tool: String,
        /// The file that shows that it has benchmarks. For people.
        evidence: String,
        /// Command line of the program.
        command: String,
        /// The verb that measures it: `bench` or `run`.
        measured_by: String => program.verb,
        /// The directory in which it runs, relative to the top; empty for the top.
        directory: String,
        /// The environment variables that are set.
        variables: NamedValues<String>,
        /// Files with benchmarks, relative to the top.
        sources: Vec<String>,
    }
}

view! {
    /// A search for the benchmarks of one build system.
    BenchmarkSearch of (search: &Search) {
        /// The build system.
        tool: String,
        /// The files and contents that were sought. For people.
        sought: String,
        /// Number of programs found.
        programs: usize,
        /// Missing files, and benchmarks that were left out. For people.
        notes: Vec<String>,
    }
}

view! {
    /// A setting.
    CheckSetting of (setting: &(String, String, String)) {
        /// Name of the setting.
        name: String => setting.0,
        /// Value of the setting, as typed.
        value: String => setting.1,
        /// Source of the value: `option`, `assay.toml` or `default`.
        source: String => setting.2,
    }
}

//! The answer about a change, and the explanation of a check without measuring, as JSON.

use super::Head;
use super::plan::Threshold;
use super::values::{Estimate, NamedValues, Verdict, view, words};
use crate::check::{
    CheckReport, Compared, Explained, ExplainedProgram, Search, Unmeasured as NotMeasured,
};
use assay_analysis::check::{Answer, CheckedProgram, CheckedRow, Second, Standing, answer};

view! {
    /// The answer about a change: whether benchmarks became slower.
    Checked of (report: &CheckReport<'_>) {
        /// Version of the JSON layout, and the verb that wrote it.
        #[serde(flatten)]
        head: Head = Head::of("check"),
        /// The answer about all benchmarks together.
        verdict: CheckVerdict = (&answer(report.programs)).into(),
        /// The answer in one paragraph, for human readers.
        sentence: String = report.paragraph(),
        /// The revisions that were compared.
        compared: ComparedRevisions,
        /// Smallest difference that counts as relevant.
        threshold: Threshold,
        /// One minus the probability of a wrong answer if nothing changed. It applies to all
        /// benchmarks together.
        confidence: f64,
        /// The way in which the benchmarks share the allowed error probability, for human readers.
        adjustment: String = "Holm within a program, Bonferroni between programs".to_owned(),
        /// Time budget for measuring, in seconds.
        budget_seconds: f64 => report.budget,
        /// The programs that were measured.
        programs: Vec<CheckedBenchmarks>,
        /// Programs that were not measured.
        unmeasured: Vec<UnmeasuredProgram>,
        /// Files with benchmarks that differ between the revisions.
        changed_benchmarks: Vec<String>,
    }
}

words! {
    /// The answer about all benchmarks together.
    CheckVerdict from Answer {
        /// At least one benchmark is worse by more than the threshold.
        Source::Slower => Slower,
        /// No benchmark is known to be worse, but it is uncertain for at least one.
        Source::Inconclusive => Inconclusive,
        /// No benchmark is worse, and at least one is better.
        Source::Faster => Faster,
        /// No benchmark changed by the threshold or more.
        Source::Equivalent => Equivalent,
        /// No benchmark was measured, because none executes changed code.
        Source::Unreached => Unreached,
    }
}

view! {
    /// The revisions that were compared.
    ComparedRevisions of (compared: &Compared) {
        /// The base commit: the point at which the branch forked from its target branch.
        base: String,
        /// The target branch from which the base was determined.
        branch: String,
        /// Description of how the branch name was determined, for human readers.
        source: String,
        /// The measured commit. For a working tree with uncommitted changes, it is a commit that is
        /// on no branch.
        head: String,
        /// True if the working tree has uncommitted changes.
        working_tree_changed: bool => compared.is_changed,
        /// Paths of the files that differ between the revisions.
        changed_files: Vec<String> => compared.files,
    }
}

view! {
    /// A measured program with its benchmarks.
    CheckedBenchmarks of (program: &CheckedProgram) {
        /// Name of the program.
        program: String => program.name,
        /// Confidence that applies to all answers about this program together.
        confidence: f64 => program.analysis.plan.confidence,
        /// Names of the benchmarks whose code is equal on both sides. They were not measured.
        unreached: Vec<String>,
        /// Names of the benchmarks without a result. They failed, or the time budget ended before
        /// them.
        missing: Vec<String>,
        /// The measured benchmarks.
        benchmarks: Vec<CheckedBenchmark> = program.rows.iter().map(|row| CheckedBenchmark::of(row, program)).collect(),
    }
}

view! {
    /// Result of one benchmark.
    CheckedBenchmark of (row: &CheckedRow, program: &CheckedProgram) {
        /// Name of the benchmark; empty for a command that is timed as a whole.
        benchmark: String => program.benchmark(row),
        /// Name of the metric that decides.
        metric: String = program.analysis.metrics[program.comparison(row).metric].name.clone(),
        /// Result of the benchmark after both measurements.
        standing: CheckStanding,
        /// Verdict of the first measurement.
        verdict: Verdict => program.comparison(row).decision.verdict,
        /// Ratio of head to base; `null` if a value is zero or negative.
        ratio: Option<Estimate> => program.comparison(row).ratio,
        /// Difference of head minus base, in the unit of the metric.
        shift: Estimate => program.comparison(row).shift,
        /// Verdict of the measurement of a second build; `null` if there was no second build.
        second_verdict: Option<Verdict> = second(row).map(|(verdict, _)| verdict),
        /// Ratio of head to base in the second build; `null` if there is none.
        second_ratio: Option<Estimate> = second(row).and_then(|(_, ratio)| ratio),
        /// The reason why an alarm was not measured a second time, for human readers; otherwise
        /// `null`.
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
        /// Worse by more than the threshold, and also in a second build if one was measured.
        Source::Slower => Slower,
        /// Worse in the first measurement, but not in a second build.
        Source::NotConfirmed => NotConfirmed,
        /// Worse in the first measurement; the measurement of a second build was inconclusive.
        Source::Undecided => Undecided,
        /// Worse, but possibly by less than the threshold.
        Source::SlightlySlower => SlightlySlower,
        /// Known to be better.
        Source::Faster => Faster,
        /// Known to differ by less than the threshold, if at all.
        Source::Equivalent => Equivalent,
        /// Unknown whether the benchmark changed.
        Source::Inconclusive => Inconclusive,
    }
}

view! {
    /// A program that was not measured.
    UnmeasuredProgram of (own: &NotMeasured) {
        /// Name of the program.
        program: String,
        /// The reason why the program was not measured, for human readers.
        why: String,
        /// True if measuring the program failed; false if it was unnecessary.
        failed: bool => own.is_failure,
    }
}

view! {
    /// The benchmarks and settings that were found in a project. Nothing was measured.
    Explanation of (found: &Explained) {
        /// Version of the JSON layout, and the verb that wrote it.
        #[serde(flatten)]
        head: Head = Head::of("check"),
        /// The revisions that would be compared; `null` if no base was found.
        compared: Option<ComparedRevisions>,
        /// The reason why there is no base, for human readers; otherwise `null`.
        no_base: Option<String> = Some(found.no_base.clone()).filter(|why| !why.is_empty()),
        /// The shell lines that build a revision; `null` if nothing is built.
        build: Option<String> = Some(found.build.clone()).filter(|line| !line.is_empty()),
        /// The programs that would be measured.
        programs: Vec<FoundProgram>,
        /// The searches for benchmarks, one per build system.
        searches: Vec<BenchmarkSearch>,
        /// The settings of the check.
        settings: Vec<CheckSetting>,
    }
}

view! {
    /// A program that would be measured.
    FoundProgram of (program: &ExplainedProgram) {
        /// Name of the program.
        program: String => program.name,
        /// The build system by which the program was found, or `assay.toml`.
        tool: String,
        /// The file that shows that the program has benchmarks, for human readers.
        evidence: String,
        /// Command line of the program.
        command: String,
        /// The verb that measures it: `bench` or `run`.
        measured_by: String => program.verb,
        /// Directory in which the program runs, relative to the top of the project; empty for the
        /// top.
        directory: String,
        /// The environment variables that are set for the program.
        variables: NamedValues<String>,
        /// Paths of the files with benchmarks, relative to the top of the project.
        sources: Vec<String>,
    }
}

view! {
    /// A search for the benchmarks of one build system.
    BenchmarkSearch of (search: &Search) {
        /// Name of the build system.
        tool: String,
        /// Description of the files and contents searched for, for human readers.
        sought: String,
        /// Number of programs found.
        programs: usize,
        /// Notes on missing files, and on benchmarks that were left out, for human readers.
        notes: Vec<String>,
    }
}

view! {
    /// A setting of the check.
    CheckSetting of (setting: &(String, String, String)) {
        /// Name of the setting.
        name: String => setting.0,
        /// Value of the setting, as typed.
        value: String => setting.1,
        /// Source of the value: `option`, `assay.toml` or `default`.
        source: String => setting.2,
    }
}

//! What became of a project's mutants, as JSON.

use super::Head;
use super::values::{Interval, view, words};
use assay_analysis::mutation::Scores;
use assay_data::mutation::{Fate as Became, MutantResult, Mutation, Place};

view! {
    /// What became of the mutants of a project.
    Mutated of (mutation: &Mutation, scores: &Scores) {
        /// Layout and verb.
        #[serde(flatten)]
        head: Head = Head::of("mutate"),
        /// The framework of the tests, with its version.
        framework: String = mutation.framework.clone(),
        /// How long the whole suite takes without a change, s.
        suite_seconds: f64 = mutation.suite_seconds,
        /// How long it took, s.
        seconds: f64 = mutation.seconds,
        /// How many fates were known from a run before.
        known_before: usize = mutation.known_before,
        /// The revision from which lines had to differ to be changed; `null`: all lines were.
        since: Option<String> = mutation.since.clone(),
        /// Whether those that were tried, beside those without a body, are a random sample of all.
        is_sample: bool = mutation.is_sample,
        /// Of everything.
        score: MutationScore = MutationScore::of(&scores.whole),
        /// The files that were changed.
        files: Vec<MutatedFile> = mutation.files.iter().zip(&scores.files).map(|(file, score)| MutatedFile::of(file, score)).collect(),
        /// Their functions and methods.
        units: Vec<MutatedUnit> = mutation.units.iter().zip(&scores.units).map(|(unit, score)| MutatedUnit::of(unit, score)).collect(),
        /// The mutants, unit by unit.
        mutants: Vec<Mutant> = mutation.mutants.iter().map(Mutant::of).collect(),
        /// The tests that they were tried with.
        tests: Vec<MutationTest> = mutation.tests.iter().map(MutationTest::of).collect(),
        /// Tests that failed in some runs without any change; they were left out.
        flaky: Vec<String> = mutation.flaky.clone(),
        /// What should be known of it.
        notes: Vec<String> = mutation.notes.clone(),
    }
}

view! {
    /// Which share of some mutants the tests notice.
    MutationScore of (score: &assay_analysis::mutation::Score) {
        /// Mutants that count, tried or not.
        counted: usize = score.counted,
        /// Those whose fate is known.
        known: usize = score.known,
        /// Those that the tests noticed.
        detected: usize = score.detected,
        /// Those that they did not.
        missed: usize = score.missed,
        /// The share that is noticed, 0 to 1, estimated where not all are known; `null`: nothing counts.
        share: Option<f64> = score.share,
        /// Where the share of all lies, with 95 % confidence; both ends are the share where all are known, and `null` where nothing counts.
        interval: Interval = Interval::ends(score.interval),
    }
}

view! {
    /// A file that was changed.
    MutatedFile of (file: &assay_data::mutation::MutatedFile, score: &assay_analysis::mutation::Score) {
        /// Its path, from the top of the project.
        path: String = file.path.clone(),
        /// Its language.
        language: String = file.language.clone(),
        /// What the tests notice of it.
        score: MutationScore = MutationScore::of(score),
    }
}

view! {
    /// A function or method.
    MutatedUnit of (unit: &assay_data::mutation::MutatedUnit, score: &assay_analysis::mutation::Score) {
        /// Index of its file.
        file: usize = unit.file,
        /// Its name.
        name: String = unit.name.clone(),
        /// Its first line.
        begin: u32 = unit.begin,
        /// Its last line.
        end: u32 = unit.end,
        /// What the tests notice of it.
        score: MutationScore = MutationScore::of(score),
    }
}

words! {
    /// What became of a mutant.
    Fate from Became {
        /// A test failed that passes without it.
        Source::Killed => Killed,
        /// The tests took much longer than without it, and were ended.
        Source::TimedOut => TimedOut,
        /// All tests passed that may use it.
        Source::Survived => Survived,
        /// It was not tried: a harsher change of the same code survived.
        Source::Implied => Implied,
        /// No test uses its code.
        Source::Uncovered => Uncovered,
        /// The tests could not be run with it.
        Source::Unviable => Unviable,
        /// A comment accepts that it survives; it was not tried.
        Source::Kept => Kept,
        /// It was not tried.
        Source::Pending => Pending,
    }
}

view! {
    /// A mutant.
    Mutant of (own: &MutantResult) {
        /// By what it is known, in the next run too.
        id: String = own.id.clone(),
        /// Index of its unit.
        unit: usize = own.unit,
        /// Name of the kind of change.
        operator: String = own.operator.clone(),
        /// Where the change begins.
        begin: MutationPlace = MutationPlace::of(&own.begin),
        /// Where it ends.
        end: MutationPlace = MutationPlace::of(&own.end),
        /// What stands there instead.
        replacement: String = own.replacement.clone(),
        /// The change in its lines, as `diff -u` has it.
        diff: String = own.diff.clone(),
        /// What became of it.
        fate: Fate = Fate::from(&own.fate),
        /// Indices of the tests that may use it; `null`: not known, all were run.
        covered_by: Option<Vec<usize>> = own.covered_by.clone(),
        /// Indices of the tests that failed with it.
        killed_by: Vec<usize> = own.killed_by.clone(),
        /// How many tests ended with it.
        tests_run: usize = own.tests_run,
        /// How long they took, s; `null`: none was run.
        seconds: Option<f64> = own.seconds,
        /// Why: the reason of a comment, what a run said; `null`: nothing.
        reason: Option<String> = own.reason.clone(),
    }
}

view! {
    /// A place in a file.
    MutationPlace of (place: &Place) {
        /// The line, from 1.
        line: u32 = place.line,
        /// The column in characters, from 1.
        column: u32 = place.column,
    }
}

view! {
    /// A test that mutants were tried with.
    MutationTest of (test: &assay_data::mutation::MutationTest) {
        /// Its name.
        name: String = test.name.clone(),
        /// Its file; `null`: not known.
        file: Option<String> = test.file.clone(),
        /// How long it takes without a change, s; `null`: not known.
        seconds: Option<f64> = test.seconds,
    }
}

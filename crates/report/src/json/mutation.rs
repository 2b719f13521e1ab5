//! Results of mutation testing, as JSON.

use super::Head;
use super::values::{Estimate, Interval, NamedValues, view, words};
use assay_analysis::coupling::{Coupling, Quadrant};
use assay_analysis::mutation::Scores;
use assay_data::mutation::{Fate as Became, LineColumn, MutantResult, Mutation};

view! {
    /// Results of mutating a project.
    Mutated of (mutation: &Mutation, scores: &Scores) {
        /// Layout version and verb.
        #[serde(flatten)]
        head: Head = Head::of("mutate"),
        /// The test framework, with its version.
        framework: String,
        /// Time of the whole suite without a change, s.
        suite_seconds: f64,
        /// Total time, s.
        seconds: f64,
        /// Number of results known from an earlier run.
        known_before: usize,
        /// The base revision, if only lines changed since it were mutated; `null` for all lines.
        since: Option<String>,
        /// True if the tried mutants, apart from removed bodies, are a random sample of all.
        is_sample: bool,
        /// The score of the whole project.
        score: MutationScore => scores.whole,
        /// The files with mutants.
        files: Vec<MutatedFile> = mutation.files.iter().enumerate().map(|(index, file)| MutatedFile::of(file, &scores.files[index], scores.couplings.as_ref().map(|all| &all.files[index]))).collect(),
        /// The functions and methods with mutants.
        units: Vec<MutatedUnit> = mutation.units.iter().enumerate().map(|(index, unit)| MutatedUnit::of(unit, &scores.units[index], scores.couplings.as_ref().map(|all| &all.units[index]))).collect(),
        /// Coupling of the whole project and its tests; `null` without `--coupling`.
        coupling: Option<MutationCoupling> = scores.couplings.as_ref().map(|all| MutationCoupling::of(&all.whole)),
        /// Classes and modules with several functions, with `--coupling`.
        classes: Vec<MutatedClass> = scores.couplings.iter().flat_map(|all| &all.classes).map(MutatedClass::of).collect(),
        /// The mutants, in the order of their units.
        mutants: Vec<Mutant>,
        /// The rewrites, which do not change behavior, in the order of their units. A `killed`
        /// rewrite failed a test that depends on how the code is written.
        rewrites: Vec<Mutant>,
        /// The tests used to try the mutants.
        tests: Vec<MutationTest>,
        /// Tests that failed in some runs without any change, and were left out.
        flaky: Vec<String>,
        /// Remarks about the results.
        notes: Vec<String>,
    }
}

view! {
    /// The share of mutants that the tests notice.
    MutationScore of (score: &assay_analysis::mutation::Score) {
        /// Number of mutants included in the score, tried or not.
        counted: usize,
        /// Number of mutants with a known result.
        known: usize,
        /// Number of mutants that the tests noticed.
        detected: usize,
        /// Number of mutants that the tests did not notice.
        missed: usize,
        /// The share noticed, 0 to 1, estimated if not all results are known; `null` if the score
        /// includes no mutants.
        share: Option<f64>,
        /// 95 % confidence interval of the share. Both ends equal the share if all results are
        /// known, and are `null` if the score includes no mutants.
        interval: Interval,
    }
}

view! {
    /// A file with mutants.
    MutatedFile of (file: &assay_data::mutation::MutatedFile, score: &assay_analysis::mutation::Score, coupling: Option<&Coupling>) {
        /// Path of the file, relative to the root of the project.
        path: String,
        /// Language of the file.
        language: String,
        /// The score of the file.
        score: MutationScore => score,
        /// Coupling of the file and its tests; `null` without `--coupling`.
        coupling: Option<MutationCoupling> => coupling,
    }
}

view! {
    /// A function or method.
    MutatedUnit of (unit: &assay_data::mutation::MutatedUnit, score: &assay_analysis::mutation::Score, coupling: Option<&Coupling>) {
        /// Index of the file.
        file: usize,
        /// Name of the function or method.
        name: String,
        /// First line of the unit.
        begin: u32,
        /// Last line of the unit.
        end: u32,
        /// The score of the unit.
        score: MutationScore => score,
        /// Coupling of the unit and its tests; `null` without `--coupling`.
        coupling: Option<MutationCoupling> => coupling,
    }
}

view! {
    /// A class or module with several functions.
    MutatedClass of (class: &assay_analysis::coupling::Class) {
        /// Index of the file.
        file: usize,
        /// Name of the class or module.
        name: String,
        /// Coupling of the class and its tests.
        coupling: MutationCoupling,
    }
}

view! {
    /// The coupling of code and tests: code is well tested, or so tangled that tests of other code
    /// also notice its changes.
    MutationCoupling of (own: &Coupling) {
        /// The quadrant of the code; `null` if there is too little data.
        quadrant: Option<CouplingQuadrant>,
        /// True if the intervals leave no doubt about the quadrant.
        is_clear: bool,
        /// The share of changes that the tests notice.
        share: Option<f64> => own.score.share,
        /// Number of changes that failed a test and were tried with all tests. The following
        /// members refer to these.
        complete: usize,
        /// The mean share of failing tests that belong to the code; `null` if this cannot be
        /// determined.
        focus: Option<Estimate> = own.focus.map(|own| Estimate::new(own.mean, own.interval)),
        /// The mean number of test files that fail with a change.
        blast_radius: Option<Estimate> = own.radius.map(|own| Estimate::new(own.mean, own.interval)),
        /// Locality of failures: focus divided by the number of failing test files, where all test
        /// files of the code itself count as one.
        locality: Option<Estimate> = own.locality.map(|own| Estimate::new(own.mean, own.interval)),
        /// Failing test files of other code, with the number of changes, most frequent first.
        foreign: NamedValues<usize>,
        /// Number of rewrites that were tried.
        rewrites: usize,
        /// Number of rewrites that failed a test.
        failing_rewrites: usize => own.failing,
        /// The share of rewrites that failed a test.
        brittleness: Option<Estimate> = own.brittleness.map(|own| Estimate::new(own.mean, own.interval)),
        /// Indices of the tests that failed with rewrites, most frequent first.
        brittle_tests: Vec<usize>,
    }
}

words! {
    /// Kinds of code, by its tests.
    CouplingQuadrant from Quadrant {
        /// Most of its changes, or too many of them, are not noticed.
        Source::Untested => Untested,
        /// Changes are noticed, but by tests all over the project.
        Source::Tangled => Tangled,
        /// Changes are noticed by the right tests, but so are rewrites that do not change behavior.
        Source::Brittle => Brittle,
        /// Changes are noticed by the code's own tests and by few others.
        Source::WellTested => WellTested,
    }
}

words! {
    /// Results of a mutant.
    Fate from Became {
        /// A test failed that passes without the change.
        Source::Killed => Killed,
        /// The tests took much longer than without the change, and were stopped.
        Source::TimedOut => TimedOut,
        /// All tests that may use the code passed.
        Source::Survived => Survived,
        /// Not tried, because it is the same program as another mutant, which survived.
        Source::Implied => Implied,
        /// No test uses the code.
        Source::Uncovered => Uncovered,
        /// All tests passed, as expected: according to the compiler, it is the same program. It
        /// does not count.
        Source::Equivalent => Equivalent,
        /// The tests could not be run with the change.
        Source::Unviable => Unviable,
        /// Not tried, because a comment accepts its survival.
        Source::Kept => Kept,
        /// The code is not part of the program that the tests run here: it belongs to another
        /// platform or to a disabled feature. It does not count.
        Source::Absent => Absent,
        /// Not tried.
        Source::Pending => Pending,
    }
}

view! {
    /// A mutant.
    Mutant of (own: &MutantResult) {
        /// An identifier that is the same in the next run.
        id: String,
        /// Index of the unit.
        unit: usize,
        /// Name of the operator, the kind of change.
        operator: String,
        /// Start of the change.
        begin: MutationPlace,
        /// End of the change.
        end: MutationPlace,
        /// The replacement text.
        replacement: String,
        /// The change as a diff, in the format of `diff -u`.
        diff: String,
        /// The result.
        fate: Fate,
        /// Indices of the tests that may use the code; `null` if unknown, in which case all were
        /// run.
        covered_by: Option<Vec<usize>>,
        /// Indices of the tests that failed with the change.
        killed_by: Vec<usize>,
        /// True if `killed_by` lists all tests that fail; otherwise testing stopped at the first
        /// failure.
        is_complete: bool,
        /// Number of tests that ended with the change.
        tests_run: usize,
        /// Time of these tests, s; `null` if none was run.
        seconds: Option<f64>,
        /// The reason for the result: the text of a comment, or the message of a run; `null` if
        /// there is none.
        reason: Option<String>,
        /// A reason to suspect that the change has no effect, so that no test could notice it;
        /// otherwise `null`.
        doubt: Option<String>,
    }
}

view! {
    /// A place in a file.
    MutationPlace of (place: &LineColumn) {
        /// The line, from 1.
        line: u32,
        /// The column in characters, from 1.
        column: u32,
    }
}

view! {
    /// A test used to try the mutants.
    MutationTest of (test: &assay_data::mutation::MutationTest) {
        /// Name of the test.
        name: String,
        /// File of the test; `null` if unknown.
        file: Option<String>,
        /// Duration of the test without a change, s; `null` if unknown.
        seconds: Option<f64>,
    }
}

//! Results of mutation testing, as JSON.

use super::Head;
use super::values::{Estimate, Interval, Named, view, words};
use assay_analysis::coupling::{Coupling, Quadrant};
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
        files: Vec<MutatedFile> = mutation.files.iter().enumerate().map(|(index, file)| MutatedFile::of(file, &scores.files[index], scores.couplings.as_ref().map(|all| &all.files[index]))).collect(),
        /// Their functions and methods.
        units: Vec<MutatedUnit> = mutation.units.iter().enumerate().map(|(index, unit)| MutatedUnit::of(unit, &scores.units[index], scores.couplings.as_ref().map(|all| &all.units[index]))).collect(),
        /// How all of it and the tests are coupled; `null`: it was not asked (`--coupling`).
        coupling: Option<MutationCoupling> = scores.couplings.as_ref().map(|all| MutationCoupling::of(&all.whole)),
        /// Its classes and modules of several functions, where that was asked.
        classes: Vec<MutatedClass> = scores.couplings.iter().flat_map(|all| &all.classes).map(MutatedClass::of).collect(),
        /// The mutants, unit by unit.
        mutants: Vec<Mutant> = mutation.mutants.iter().map(Mutant::of).collect(),
        /// The rewrites, unit by unit: changes that mean the same. One that is `killed` failed a test that holds on to how the code is written.
        rewrites: Vec<Mutant> = mutation.rewrites.iter().map(Mutant::of).collect(),
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
    MutatedFile of (file: &assay_data::mutation::MutatedFile, score: &assay_analysis::mutation::Score, coupling: Option<&Coupling>) {
        /// Its path, from the top of the project.
        path: String = file.path.clone(),
        /// Its language.
        language: String = file.language.clone(),
        /// What the tests notice of it.
        score: MutationScore = MutationScore::of(score),
        /// How it and the tests are coupled; `null`: it was not asked.
        coupling: Option<MutationCoupling> = coupling.map(MutationCoupling::of),
    }
}

view! {
    /// A function or method.
    MutatedUnit of (unit: &assay_data::mutation::MutatedUnit, score: &assay_analysis::mutation::Score, coupling: Option<&Coupling>) {
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
        /// How it and the tests are coupled; `null`: it was not asked.
        coupling: Option<MutationCoupling> = coupling.map(MutationCoupling::of),
    }
}

view! {
    /// A class or module of several functions.
    MutatedClass of (class: &assay_analysis::coupling::Class) {
        /// Index of its file.
        file: usize = class.file,
        /// Its name.
        name: String = class.name.clone(),
        /// How it and the tests are coupled.
        coupling: MutationCoupling = MutationCoupling::of(&class.coupling),
    }
}

view! {
    /// Whether code is well tested, or so entangled with everything that any change is noticed anywhere.
    MutationCoupling of (own: &Coupling) {
        /// What the code is; `null`: there is too little to say.
        quadrant: Option<CouplingQuadrant> = own.quadrant.as_ref().map(CouplingQuadrant::from),
        /// Whether the intervals leave no doubt about that.
        is_clear: bool = own.is_clear,
        /// The share of changes that the tests notice.
        share: Option<f64> = own.score.share,
        /// Changes that failed a test, and with which all tests ran: what follows is of them.
        complete: usize = own.complete,
        /// The share of the failing tests that are the code's own, in the mean; `null`: it can't be told whose tests are whose.
        focus: Option<Estimate> = own.focus.map(|own| Estimate::new(own.mean, own.interval)),
        /// How many test files fail with a change, in the mean.
        blast_radius: Option<Estimate> = own.radius.map(|own| Estimate::new(own.mean, own.interval)),
        /// How local failures are: focus over the number of test files that fail, all of its own counted as one.
        locality: Option<Estimate> = own.locality.map(|own| Estimate::new(own.mean, own.interval)),
        /// Test files of others that fail, with how many of the changes, the most frequent first.
        foreign: Named<usize> = own.foreign.iter().cloned().collect(),
        /// Rewrites that were tried.
        rewrites: usize = own.rewrites,
        /// Those of them that failed a test.
        failing_rewrites: usize = own.failing,
        /// Their share.
        brittleness: Option<Estimate> = own.brittleness.map(|own| Estimate::new(own.mean, own.interval)),
        /// Indices of the tests that failed with rewrites, the most frequent first.
        brittle_tests: Vec<usize> = own.brittle_tests.clone(),
    }
}

words! {
    /// What code is, by its tests.
    CouplingQuadrant from Quadrant {
        /// Most of its changes are noticed by nobody, or too many are not.
        Source::Untested => Untested,
        /// Changes are noticed, but all over the place.
        Source::Tangled => Tangled,
        /// Changes are noticed where they belong, but so are rewrites that mean the same.
        Source::Brittle => Brittle,
        /// Changes are noticed by the code's own tests and by few others.
        Source::WellTested => WellTested,
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
        /// It was not tried: it is the same program as another change, which survived.
        Source::Implied => Implied,
        /// No test uses its code.
        Source::Uncovered => Uncovered,
        /// All tests passed, as they must: it is the same program, as its compiler says. It does not count.
        Source::Equivalent => Equivalent,
        /// The tests could not be run with it.
        Source::Unviable => Unviable,
        /// A comment accepts that it survives; it was not tried.
        Source::Kept => Kept,
        /// Its code is not part of the program that the tests run here: another platform's, or of a feature that is off. It does not count.
        Source::Absent => Absent,
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
        /// Whether these are all that fail; else the first failure ended it.
        is_complete: bool = own.is_complete,
        /// How many tests ended with it.
        tests_run: usize = own.tests_run,
        /// How long they took, s; `null`: none was run.
        seconds: Option<f64> = own.seconds,
        /// Why: the reason of a comment, what a run said; `null`: nothing.
        reason: Option<String> = own.reason.clone(),
        /// Why it may mean the same as what was there, so that no test could notice it; `null`: nothing speaks for that.
        doubt: Option<String> = own.doubt.clone(),
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

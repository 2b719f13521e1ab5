//! Results of mutation testing: small changes to a project's source, each of which its tests should
//! detect. A mutant belongs to a unit (a function or method), and a unit to a file. Nothing is
//! decided here.

/// Result of a mutant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// A test failed that passes without the mutant, or the test run ended abnormally.
    Killed,
    /// The tests took much longer than without the mutant and were stopped.
    TimedOut,
    /// All tests that may use the mutant's code passed.
    Survived,
    /// Not tried: the program is the same as with another mutant, which survived.
    Implied,
    /// No test uses the mutant's code.
    Uncovered,
    /// All tests passed, as they must: according to the compiler the program is unchanged.
    Equivalent,
    /// The tests could not be run because the mutant cannot be built or loaded.
    Unviable,
    /// Not tried: a comment in the source accepts that the mutant survives.
    Kept,
    /// Not tried: the code is not part of the program under test because it belongs to another
    /// platform or to a disabled feature.
    Absent,
    /// Not tried.
    #[default]
    Pending,
}

impl Fate {
    /// All fates.
    pub const ALL: [Self; 10] = [
        Self::Killed,
        Self::TimedOut,
        Self::Survived,
        Self::Implied,
        Self::Uncovered,
        Self::Equivalent,
        Self::Unviable,
        Self::Kept,
        Self::Absent,
        Self::Pending,
    ];

    /// Returns the name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Killed => "killed",
            Self::TimedOut => "timed-out",
            Self::Survived => "survived",
            Self::Implied => "implied",
            Self::Uncovered => "uncovered",
            Self::Equivalent => "equivalent",
            Self::Unviable => "unviable",
            Self::Kept => "kept",
            Self::Absent => "absent",
            Self::Pending => "pending",
        }
    }

    /// Returns the fate with this name in files.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|own| own.name() == name)
    }

    /// Returns true if the tests noticed the mutant.
    pub fn is_detected(self) -> bool {
        matches!(self, Self::Killed | Self::TimedOut)
    }

    /// Returns true if the tests did not notice the mutant.
    pub fn is_missed(self) -> bool {
        matches!(self, Self::Survived | Self::Implied | Self::Uncovered)
    }
}

/// A file with mutants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MutatedFile {
    /// Path relative to the project's root directory.
    pub path: String,
    /// Usual name of the programming language.
    pub language: String,
    /// The unmodified text of the file.
    pub source: String,
}

/// A function or method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MutatedUnit {
    /// Index of the file that contains it.
    pub file: usize,
    /// Name of the function or method.
    pub name: String,
    /// First line, from 1.
    pub begin: u32,
    /// Last line, from 1.
    pub end: u32,
}

/// A position in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// Line, counted from 1.
    pub line: u32,
    /// Column in characters, counted from 1.
    pub column: u32,
}

/// A mutant or a rewrite, with its result. A rewrite keeps the meaning of the program, so no test
/// should notice it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MutantResult {
    /// Identifier of the mutant or rewrite.
    pub id: String,
    /// Index of the unit that it changes.
    pub unit: usize,
    /// Name of the mutation operator.
    pub operator: String,
    /// Description of the change, as the end of a sentence.
    pub what: String,
    /// Start of the change.
    pub begin: LineColumn,
    /// End of the change.
    pub end: LineColumn,
    /// The text that replaces the original.
    pub replacement: String,
    /// The change as a diff of its lines.
    pub diff: String,
    /// Result.
    pub fate: Fate,
    /// Indices of the tests that run the mutant's code, whether or not the mutant was tried. `None`
    /// if unknown.
    pub covered_by: Option<Vec<usize>>,
    /// Indices of the tests that failed.
    pub killed_by: Vec<usize>,
    /// True if `killed_by` is known to list every test that fails with the mutant. Otherwise, the
    /// run may have ended at the first failure or timed out.
    pub is_complete: bool,
    /// Number of tests that finished.
    pub tests_run: usize,
    /// Duration of the tests, in seconds.
    pub seconds: Option<f64>,
    /// Explanation: the reason given in a comment, or the output of a run.
    pub reason: Option<String>,
    /// The reason why the mutant may be equivalent to the original, in which case no test could
    /// detect it. `None` if nothing suggests that.
    pub doubt: Option<String>,
}

/// A test of the suite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MutationTest {
    /// Name of the test.
    pub name: String,
    /// Path of the file that contains the test, if known.
    pub file: Option<String>,
    /// Duration of the test without any mutant, in seconds.
    pub seconds: Option<f64>,
}

/// Results of all mutants.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mutation {
    /// The test framework, with its version.
    pub framework: String,
    /// The mutated files.
    pub files: Vec<MutatedFile>,
    /// The units, ordered by file.
    pub units: Vec<MutatedUnit>,
    /// The mutants, ordered by unit.
    pub mutants: Vec<MutantResult>,
    /// The rewrites, ordered by unit. A rewrite preserves the meaning of the program, so a test
    /// that fails because of one (*killed* here) depends on how the code is written.
    pub rewrites: Vec<MutantResult>,
    /// True if the coupling between tests and code was examined: all tests were run with a sample
    /// of the mutants, and rewrites were tried.
    pub has_coupling: bool,
    /// Tests that the mutants were tried with.
    pub tests: Vec<MutationTest>,
    /// Names of tests that did not pass in every run without a mutant. They are not in `tests`.
    pub flaky: Vec<String>,
    /// The revision since which a line must have changed to be mutated. `None` if there is no such
    /// condition.
    pub since: Option<String>,
    /// Duration of a run of the whole suite without any mutant, in seconds.
    pub suite_seconds: f64,
    /// True if the mutants that were tried, apart from extreme ones (operator `body`), are a random
    /// sample of all mutants.
    pub is_sample: bool,
    /// Total duration, in seconds.
    pub seconds: f64,
    /// Number of mutants and rewrites whose result was known from an earlier run.
    pub known_before: usize,
    /// Remarks shown with the results.
    pub notes: Vec<String>,
}

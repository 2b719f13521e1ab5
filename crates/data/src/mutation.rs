//! What became of the mutants of a project: small changes of its source, each of which its tests should notice. A mutant belongs to a unit (a
//! function or method), a unit to a file. Nothing is decided here.

/// What became of a mutant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// A test failed that passes without it.
    Killed,
    /// The tests took much longer than they do without it, and were ended.
    TimedOut,
    /// All tests passed that may use it.
    Survived,
    /// It was not tried: it is the same program as another change, which survived.
    Implied,
    /// No test uses its code.
    Uncovered,
    /// All tests passed, as they must: it is the same program, as its compiler says.
    Equivalent,
    /// The tests could not be run with it: it can't be built or loaded at all.
    Unviable,
    /// A comment accepts that it survives; it was not tried.
    Kept,
    /// Its code is not part of the program that the tests run here: another platform's, or of a feature that is off. It was not tried.
    Absent,
    /// It was not tried.
    #[default]
    Pending,
}

impl Fate {
    /// All.
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

    /// Its name, for files.
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

    /// The one of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|own| own.name() == name)
    }

    /// Whether the tests noticed it.
    pub fn is_detected(self) -> bool {
        matches!(self, Self::Killed | Self::TimedOut)
    }

    /// Whether they did not.
    pub fn is_missed(self) -> bool {
        matches!(self, Self::Survived | Self::Implied | Self::Uncovered)
    }
}

/// A file that was changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MutatedFile {
    /// Its path, from the top of the project.
    pub path: String,
    /// Its language, as people call it.
    pub language: String,
    /// Its text.
    pub source: String,
}

/// A function or method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MutatedUnit {
    /// Index of its file.
    pub file: usize,
    /// Its name.
    pub name: String,
    /// Its first line, from 1,
    pub begin: u32,
    /// and its last one.
    pub end: u32,
}

/// A place in a text: line and column, in characters, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// A mutant, and what became of it; or a rewrite, which is a change that means the same, and which no test should notice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MutantResult {
    /// By what it is known.
    pub id: String,
    /// Index of its unit.
    pub unit: usize,
    /// Name of the kind of change.
    pub operator: String,
    /// The same in words, as the end of a sentence.
    pub what: String,
    /// Where the change begins
    pub begin: Place,
    /// and ends.
    pub end: Place,
    /// What stands there instead.
    pub replacement: String,
    /// The change in its lines.
    pub diff: String,
    /// What became of it.
    pub fate: Fate,
    /// Indices of the tests that ran over it, or would have; `None`: not known.
    pub covered_by: Option<Vec<usize>>,
    /// Indices of those that failed.
    pub killed_by: Vec<usize>,
    /// Whether all of the tests ran that may use it, so that these are all that fail; else the first failure ended it.
    pub is_complete: bool,
    /// How many of the tests ended.
    pub tests_run: usize,
    /// How long the tests took, s.
    pub seconds: Option<f64>,
    /// Why: the reason of a comment, what a run said.
    pub reason: Option<String>,
    /// Why it may mean the same as what was there, so that no test could notice it; `None`: nothing speaks for that.
    pub doubt: Option<String>,
}

/// A test of the suite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MutationTest {
    /// Its name.
    pub name: String,
    /// Its file, where that is known.
    pub file: Option<String>,
    /// How long it takes without any change, s.
    pub seconds: Option<f64>,
}

/// What became of all mutants.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mutation {
    /// The framework of the tests, with its version.
    pub framework: String,
    /// The files.
    pub files: Vec<MutatedFile>,
    /// Their units, file by file.
    pub units: Vec<MutatedUnit>,
    /// The mutants, unit by unit.
    pub mutants: Vec<MutantResult>,
    /// The rewrites, unit by unit: changes that mean the same. A test that fails with one, which is *killed* here, holds on to how the code is
    /// written.
    pub rewrites: Vec<MutantResult>,
    /// Whether it was asked how tests and code are coupled: of a sample of the mutants all tests ran, and rewrites were tried.
    pub has_coupling: bool,
    /// The tests that mutants were tried with.
    pub tests: Vec<MutationTest>,
    /// Names of tests that failed in some runs without any change; they were left out.
    pub flaky: Vec<String>,
    /// The revision from which lines had to differ to be changed; `None`: all lines.
    pub since: Option<String>,
    /// How long the whole suite takes, s.
    pub suite_seconds: f64,
    /// Whether those that were tried, beside the extreme ones, are a random sample of all.
    pub is_sample: bool,
    /// How long it took, s.
    pub seconds: f64,
    /// How many of these were known from before.
    pub known_before: usize,
    /// What should be known of it.
    pub notes: Vec<String>,
}

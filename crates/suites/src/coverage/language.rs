//! The languages whose files are divided into blocks, and their file extensions. The grammars are
//! elsewhere (crate `assay-mutate`).

use std::path::Path;

/// A supported language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// Ruby
    Ruby,
    /// Python
    Python,
    /// JavaScript, with JSX
    JavaScript,
    /// TypeScript
    TypeScript,
    /// TypeScript with JSX
    Tsx,
    /// Go
    Go,
    /// Rust
    Rust,
    /// C
    C,
    /// C++
    Cpp,
    /// Java
    Java,
}

/// Names of Ruby files that lack the usual extension.
const RUBY_FILES: [&str; 5] = ["Rakefile", "Gemfile", "Guardfile", "Capfile", "config.ru"];

impl Language {
    /// All languages.
    pub const ALL: [Self; 10] = [
        Self::Ruby,
        Self::Python,
        Self::JavaScript,
        Self::TypeScript,
        Self::Tsx,
        Self::Go,
        Self::Rust,
        Self::C,
        Self::Cpp,
        Self::Java,
    ];

    /// Returns the display name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ruby => "Ruby",
            Self::Python => "Python",
            Self::JavaScript => "JavaScript",
            Self::TypeScript | Self::Tsx => "TypeScript",
            Self::Go => "Go",
            Self::Rust => "Rust",
            Self::C => "C",
            Self::Cpp => "C++",
            Self::Java => "Java",
        }
    }

    /// Returns the language of a file, judging by its name. This includes languages whose use by
    /// tests can't be observed: for test selection, C and Java files are not sources.
    pub fn of_source(path: &Path) -> Option<Self> {
        let ending = path.extension().and_then(|ending| ending.to_str());
        match ending {
            Some("c" | "h") => Some(Self::C),
            Some("cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx") => Some(Self::Cpp),
            Some("java") => Some(Self::Java),
            _ => Self::of(path),
        }
    }

    /// Returns the language of a file, judging by its name, if its use by tests can be observed.
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        if RUBY_FILES.contains(&name) {
            return Some(Self::Ruby);
        }
        match path.extension()?.to_str()? {
            "rb" | "rake" | "gemspec" => Some(Self::Ruby),
            "py" => Some(Self::Python),
            "js" | "jsx" | "mjs" | "cjs" => Some(Self::JavaScript),
            "ts" | "mts" | "cts" => Some(Self::TypeScript),
            "tsx" => Some(Self::Tsx),
            "go" => Some(Self::Go),
            "rs" => Some(Self::Rust),
            _ => None,
        }
    }
}

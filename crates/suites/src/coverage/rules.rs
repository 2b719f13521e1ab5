//! Rules based on file names: which files are tests, which source belongs to which test, and which
//! files affect everything. They apply to files that no test was observed to use.
//!
//! The rules follow autotest and the conventions of the frameworks.

use crate::coverage::language::Language;
use std::path::Path;

/// Files whose change may affect every test because they list dependencies or configure the
/// framework or the language.
const EVERYTHING: [&str; 40] = [
    ".mocharc.json",
    ".python-version",
    ".rspec",
    ".ruby-version",
    ".tool-versions",
    "Cargo.lock",
    "Cargo.toml",
    "Gemfile",
    "Gemfile.lock",
    "Pipfile",
    "Pipfile.lock",
    "Rakefile",
    "babel.config.js",
    "build.rs",
    "bun.lock",
    "config.ru",
    "go.mod",
    "go.sum",
    "go.work",
    "jest.config.js",
    "jest.config.ts",
    "mise.toml",
    "noxfile.py",
    "package-lock.json",
    "package.json",
    "pdm.lock",
    "pnpm-lock.yaml",
    "poetry.lock",
    "pyproject.toml",
    "pytest.ini",
    "requirements.txt",
    "rust-toolchain.toml",
    "setup.cfg",
    "setup.py",
    "tox.ini",
    "tsconfig.json",
    "uv.lock",
    "vitest.config.js",
    "vitest.config.ts",
    "yarn.lock",
];

/// Names of directories that contain tests.
const TEST_DIRECTORIES: [&str; 6] = ["test", "tests", "spec", "specs", "__tests__", "features"];

/// Names of directories that contain third-party code.
const THIRD_PARTY: [&str; 7] = [
    "bower_components",
    "extern",
    "node_modules",
    "site-packages",
    "third_party",
    "vendor",
    "venv",
];

/// Returns true if a directory of this name contains third-party code.
pub fn is_third_party(directory: &str) -> bool {
    THIRD_PARTY.contains(&directory)
}

/// Returns true if, judging by its name, a change of this file affects everything.
pub fn changes_everything(path: &str) -> bool {
    let name = base(path);
    EVERYTHING.contains(&name)
        || (name.starts_with("requirements") && name.ends_with(".txt"))
        || name.ends_with(".gemspec")
        || path.starts_with(".cargo/")
}

/// Returns true if, judging by its name, a file contains tests.
pub fn is_test(path: &str) -> bool {
    Language::of(Path::new(path)).is_some_and(|language| holds_tests(language, path))
}

/// Returns true if, judging by its name, a file of this language contains tests.
pub fn holds_tests(language: Language, path: &str) -> bool {
    let stem = stem(path);
    match language {
        Language::Ruby => {
            stem.ends_with("_spec") || stem.ends_with("_test") || stem.starts_with("test_")
        }
        Language::Python => stem.starts_with("test_") || stem.ends_with("_test") || stem == "tests",
        Language::Go => stem.ends_with("_test"),
        Language::Rust => path.starts_with("tests/") || path.contains("/tests/"),
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            stem.ends_with(".test") || stem.ends_with(".spec") || path.contains("__tests__/")
        }
        Language::C | Language::Cpp => stem.starts_with("test_") || stem.ends_with("_test"),
        Language::Java => {
            stem.ends_with("Test") || stem.ends_with("Tests") || stem.starts_with("Test")
        }
    }
}

/// Returns true if, judging by their names, a test file belongs to this source: `test/user_test.rb`
/// to `lib/user.rb`, `spec/models/user_spec.rb` to `app/models/user.rb`, `tests/test_user.py` to
/// `pkg/user.py`.
pub fn belongs(test: &str, source: &str) -> bool {
    let bare = |stem: &str| {
        let stem = stem.strip_prefix("test_").unwrap_or(stem);
        let ends = ["_spec", "_test", ".test", ".spec"];
        let stem = ends.iter().find_map(|end| stem.strip_suffix(end)).unwrap_or(stem);
        // As in autotest: `foo_bar` may test `foobar`.
        stem.replace('_', "").to_lowercase()
    };
    Language::of(Path::new(test)) == Language::of(Path::new(source))
        && is_test(test)
        && bare(stem(test)) == bare(stem(source))
}

/// Returns true if a file is in a directory of tests, as a shared helper is (`spec_helper.rb`).
pub fn is_beside_tests(path: &str) -> bool {
    let directories = Path::new(path).parent();
    directories.is_some_and(|above| {
        above.iter().any(|name| TEST_DIRECTORIES.iter().any(|known| name == *known))
    })
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn stem(path: &str) -> &str {
    let name = base(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_tests_and_what_they_are_about() {
        for (test, source) in [
            ("test/user_test.rb", "lib/user.rb"),
            ("test/test_user.rb", "lib/user.rb"),
            ("spec/models/user_spec.rb", "app/models/user.rb"),
            ("test/test_foo_bar.rb", "lib/foobar.rb"),
            ("tests/test_user.py", "pkg/user.py"),
            ("src/user.test.ts", "src/user.ts"),
            ("user_test.go", "user.go"),
        ] {
            assert!(is_test(test) && !is_test(source) && belongs(test, source), "{test} {source}");
        }
        assert!(!belongs("test/user_test.rb", "lib/users.rb"));
        assert!(!belongs("tests/test_user.py", "lib/user.rb"));
    }

    #[test]
    fn what_is_installed_and_set_changes_everything() {
        for path in ["Gemfile.lock", "sub/package.json", "requirements-dev.txt", "a.gemspec"] {
            assert!(changes_everything(path), "{path}");
        }
        for path in ["lib/a.rb", "README.md", "data/requirements.md"] {
            assert!(!changes_everything(path), "{path}");
        }
    }
}

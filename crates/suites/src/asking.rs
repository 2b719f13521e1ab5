//! The requirements for a run of a suite, the additions to the user's command that follow from
//! them, and the outcome of the run.

use assay_data::private;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The order in which tests run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The framework's own order.
    #[default]
    Given,
    /// A random order with this seed, which is below 65536 because some frameworks accept no larger
    /// ones.
    Random(u64),
}

/// Requirements for a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunRequirements {
    /// The order of tests.
    pub order: Order,
    /// Run only the tests with these names, in this order if the framework supports it; `None` for
    /// all tests.
    pub only: Option<Vec<String>>,
    /// Count what causes each test's work (log lines, SQL statements).
    pub causes: bool,
    /// Run each test below a stack frame of its own, for samplers.
    pub frames: bool,
    /// Record what each test uses of the project with this root directory.
    pub coverage: Option<PathBuf>,
    /// Directory in which test programs are recorded so that they can be rerun
    /// ([`programs`](crate::programs)).
    pub keep: Option<PathBuf>,
}

/// A file that must exist when the run starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Path of the file.
    pub path: PathBuf,
    /// Contents of the file.
    pub content: Vec<u8>,
    /// Whether the file is executable.
    pub runs: bool,
}

/// The user's command with the additions for one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// All words of the command.
    pub argv: Vec<OsString>,
    /// Environment variables, which replace inherited ones.
    pub env: Vec<(String, String)>,
    /// Variables that hold options (`RUBYOPT`), appended to the user's value after a space.
    pub options: Vec<(String, String)>,
    /// Variables that hold directories (`PYTHONPATH`), prepended to the user's value with a colon.
    pub paths: Vec<(String, String)>,
    /// Files to write, in the directory of the run or, if they are the same for all runs, next to
    /// it.
    pub files: Vec<Text>,
    /// Directories to create.
    pub directories: Vec<PathBuf>,
}

impl Request {
    /// Creates a request with these words and no additions.
    pub fn words(argv: Vec<OsString>) -> Self {
        Self { argv, ..Self::default() }
    }

    /// Adds an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// Adds a file.
    #[must_use]
    pub fn file(mut self, path: PathBuf, content: impl Into<Vec<u8>>) -> Self {
        self.files.push(Text { path, content: content.into(), runs: false });
        self
    }

    /// Writes the files and directories that the run needs, readable by any user that the command
    /// may run as.
    ///
    /// # Errors
    /// Returns the path and the error if a file or directory cannot be written.
    pub fn write(&self) -> Result<(), (PathBuf, io::Error)> {
        self.written(|path| fs::create_dir_all(path), |path, text| fs::write(path, text))
    }

    /// Like [`write`](Self::write), but accessible only to the current user.
    ///
    /// # Errors
    /// Returns the same errors as [`write`](Self::write).
    pub fn write_privately(&self) -> Result<(), (PathBuf, io::Error)> {
        // Permissions of an existing directory are not changed.
        let make = |path: &Path| if path.is_dir() { Ok(()) } else { private::directory(path) };
        self.written(make, private::replace)
    }

    fn written(
        &self,
        make: impl Fn(&Path) -> io::Result<()>,
        put: impl Fn(&Path, &[u8]) -> io::Result<()>,
    ) -> Result<(), (PathBuf, io::Error)> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| (path, error)
        };
        for directory in &self.directories {
            make(directory).map_err(failed(directory))?;
        }
        for file in &self.files {
            if let Some(above) = file.path.parent() {
                make(above).map_err(failed(above))?;
            }
            // Unchanged files are not rewritten, so files compiled from them stay up to date.
            if fs::read(&file.path).is_ok_and(|known| known == file.content) {
                continue;
            }
            put(&file.path, &file.content).map_err(failed(&file.path))?;
            if file.runs {
                let mode = fs::Permissions::from_mode(0o700);
                fs::set_permissions(&file.path, mode).map_err(failed(&file.path))?;
            }
        }
        Ok(())
    }
}

/// Adds the variables that runs need to an environment. `plain` variables replace existing ones.
/// `options` are appended to the value in `env` or, if there is none, to this process's own value;
/// `paths` are prepended in the same way.
pub fn add_to_environment<'a>(
    env: &mut BTreeMap<String, String>,
    plain: impl IntoIterator<Item = &'a (String, String)>,
    options: impl IntoIterator<Item = &'a (String, String)>,
    paths: impl IntoIterator<Item = &'a (String, String)>,
) {
    let known = |env: &BTreeMap<String, String>, name: &str| {
        env.get(name).cloned().or_else(|| std::env::var(name).ok()).filter(|own| !own.is_empty())
    };
    env.extend(plain.into_iter().cloned());
    for (name, value) in options {
        let own = known(env, name).map_or(value.clone(), |own| format!("{own} {value}"));
        env.insert(name.clone(), own);
    }
    for (name, value) in paths {
        let own = known(env, name).map_or(value.clone(), |own| format!("{value}:{own}"));
        env.insert(name.clone(), own);
    }
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The directory for the run's reports.
    pub room: &'a Path,
    /// The directory in which the command ran.
    pub directory: &'a Path,
    /// Standard output of the command.
    pub output: &'a [u8],
    /// Standard error of the command.
    pub errors: &'a [u8],
    /// Start time, in seconds on a monotonic clock.
    pub began: f64,
    /// End time, in seconds of the same clock.
    pub ended: f64,
    /// Offset that converts times of that clock to seconds since 1970 when added to them.
    pub since_1970: f64,
}

impl Answer<'_> {
    /// Returns the most informative line of the command's output, for messages.
    pub fn message(&self) -> Option<String> {
        crate::error::message(self.errors, self.output)
    }
}

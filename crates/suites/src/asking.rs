//! What is wanted of a run of a suite, what is added to the user's command for it, and what came of it.

use assay_data::private;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// In which order tests are to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As the framework has them by itself.
    #[default]
    Given,
    /// In the random order of this seed, below 65536: some frameworks take no larger ones.
    Random(u64),
}

/// What is wanted of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The order.
    pub order: Order,
    /// Only these tests, by their names, in this order where the framework can; `None`: all.
    pub only: Option<Vec<String>>,
    /// Whether causes are counted (log lines, SQL statements).
    pub causes: bool,
    /// Whether each test runs beneath a frame of its own, for samplers.
    pub frames: bool,
    /// Whether it is noted what each test uses of the project, whose top this is.
    pub coverage: Option<PathBuf>,
    /// Where its test programs are recorded, so that they can run again ([`programs`](crate::programs)).
    pub keep: Option<PathBuf>,
}

/// A file that the run finds when it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Where.
    pub path: PathBuf,
    /// What is in it.
    pub content: Vec<u8>,
    /// Whether it can be run.
    pub runs: bool,
}

/// The user's command with what is added for one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// All words.
    pub argv: Vec<OsString>,
    /// Variables; they replace those of the same name.
    pub env: Vec<(String, String)>,
    /// Variables that hold options (`RUBYOPT`): behind what the user has in them, with a blank between.
    pub options: Vec<(String, String)>,
    /// Variables that hold directories (`PYTHONPATH`): before what the user has in them, with a colon between.
    pub paths: Vec<(String, String)>,
    /// Files, in the room of the run or, if they are the same for all runs, beside it.
    pub files: Vec<Text>,
    /// Directories there, which have to exist.
    pub directories: Vec<PathBuf>,
}

impl Request {
    /// These words and nothing more.
    pub fn words(argv: Vec<OsString>) -> Self {
        Self { argv, ..Self::default() }
    }

    /// The same with one more variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.push((name.to_owned(), value.into()));
        self
    }

    /// The same with one more file.
    #[must_use]
    pub fn file(mut self, path: PathBuf, content: impl Into<Vec<u8>>) -> Self {
        self.files.push(Text { path, content: content.into(), runs: false });
        self
    }

    /// Writes what the run finds when it starts, for whatever user it runs as.
    ///
    /// # Errors
    /// When something can't be written: which, and why.
    pub fn write(&self) -> Result<(), (PathBuf, io::Error)> {
        self.written(|path| fs::create_dir_all(path), |path, text| fs::write(path, text))
    }

    /// The same for a run of this user's, where nobody else may look.
    ///
    /// # Errors
    /// As of [`write`](Self::write).
    pub fn write_privately(&self) -> Result<(), (PathBuf, io::Error)> {
        // One that is there is not ours to close.
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
            // What an earlier run found stays as it is, and what was made of it is not out of date.
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

/// Adds to an environment what runs need beside it: variables that replace others; such as hold options, behind what is in them there, or else what we
/// were given ourselves; and such as hold directories, before that.
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

/// What came of a run.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The room of the run: the directory in which it was asked to leave its reports.
    pub room: &'a Path,
    /// The directory in which the command ran.
    pub directory: &'a Path,
    /// What it wrote to standard output,
    pub output: &'a [u8],
    /// and to standard error.
    pub errors: &'a [u8],
    /// When it began, s of a monotonic clock,
    pub began: f64,
    /// when it ended,
    pub ended: f64,
    /// and what that clock lags behind the seconds since 1970.
    pub since_1970: f64,
}

impl Answer<'_> {
    /// What it said that tells most, for messages.
    pub fn said(&self) -> Option<String> {
        crate::error::said(self.errors, self.output)
    }
}

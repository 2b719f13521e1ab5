//! The sides of a comparison of suites: a command with its environment and directory, and the
//! settings applied before each of its runs and undone afterwards.

use crate::run_error::RunError;
use assay_data::list;
use assay_suites::toggles::sides::EnvironmentAdditions;
use std::cell::RefCell;
use std::ffi::OsString;
use std::path::PathBuf;
use std::rc::Rc;

/// A server setting or a shell line that is in effect during the runs of a side.
pub(crate) trait Setting {
    /// Applies the setting before a run.
    ///
    /// # Errors
    /// If the setting cannot be applied; in that case nothing more is measured.
    fn apply(&mut self) -> Result<(), RunError>;

    /// Undoes the setting after a run, however the run ended.
    ///
    /// # Errors
    /// If it cannot be undone.
    fn undo(&mut self) -> Result<(), RunError>;
}

/// One side.
#[derive(Clone)]
pub(crate) struct Side {
    /// Name shown to the user, unique among the sides.
    pub name: String,
    /// The command of the suite, as typed.
    pub argv: Vec<OsString>,
    /// Variables added to the environment.
    pub env: Vec<(String, String)>,
    /// Additions to the environment that give access to servers and enable settings. They contain
    /// paths and passwords of this run alone, and are never recorded.
    pub added: EnvironmentAdditions,
    /// True if every run of this side has to be a fork of a preloaded process.
    pub warm: bool,
    /// Working directory; `None` for the current one.
    pub directory: Option<PathBuf>,
    /// Settings applied before each of its runs in this order, and undone afterwards in reverse.
    pub settings: Vec<Rc<RefCell<dyn Setting>>>,
}

impl Side {
    /// Creates a side with an unchanged command in the current directory.
    pub fn new(name: impl Into<String>, argv: Vec<OsString>) -> Self {
        Self {
            name: name.into(),
            argv,
            env: Vec::new(),
            added: EnvironmentAdditions::default(),
            warm: false,
            directory: None,
            settings: Vec::new(),
        }
    }

    /// Returns the command on one line.
    pub fn line(&self) -> String {
        list::line(&self.argv)
    }

    /// Calls `run` under the side's settings, which are undone whatever happens.
    ///
    /// # Errors
    /// Errors of the settings, and of `run`.
    pub fn under<T>(&self, run: impl FnOnce() -> Result<T, RunError>) -> Result<T, RunError> {
        let mut set = 0;
        let applied = self.settings.iter().try_for_each(|setting| {
            set += 1;
            setting.borrow_mut().apply()
        });
        let ran = applied.and_then(|()| run());
        // A setting that was applied in part has to be undone as well.
        let undone = self.settings[..set].iter().rev().map(|setting| setting.borrow_mut().undo());
        let undone: Result<Vec<()>, RunError> = undone.collect::<Vec<_>>().into_iter().collect();
        let ran = ran?;
        undone.map(|_| ran)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Noted(&'static str, Rc<RefCell<Vec<String>>>);

    impl Setting for Noted {
        fn apply(&mut self) -> Result<(), RunError> {
            self.1.borrow_mut().push(format!("set {}", self.0));
            if self.0 == "bad" { Err(RunError::Reading("no".to_owned())) } else { Ok(()) }
        }

        fn undo(&mut self) -> Result<(), RunError> {
            self.1.borrow_mut().push(format!("undo {}", self.0));
            Ok(())
        }
    }

    #[test]
    fn settings_are_undone_in_the_other_order_whatever_happens() {
        let notes = Rc::new(RefCell::new(Vec::new()));
        let side = |names: &[&'static str]| {
            let setting = |name: &&'static str| -> Rc<RefCell<dyn Setting>> {
                Rc::new(RefCell::new(Noted(name, Rc::clone(&notes))))
            };
            Side { settings: names.iter().map(setting).collect(), ..Side::new("x", Vec::new()) }
        };
        assert!(side(&["a", "b"]).under(|| Ok(())).is_ok());
        assert_eq!(notes.take(), ["set a", "set b", "undo b", "undo a"]);
        let failed: Result<(), _> = side(&["a"]).under(|| Err(RunError::Failed("x".to_owned())));
        assert!(failed.is_err());
        assert_eq!(notes.take(), ["set a", "undo a"]);
        assert!(side(&["a", "bad", "b"]).under(|| Ok(())).is_err());
        assert_eq!(notes.take(), ["set a", "set bad", "undo bad", "undo a"]);
    }
}

//! The sides of a comparison of settings: none, each alone, all together.

use super::{PYTHON_FILE, RUBY_FILE, ServerKind, Toggle, ToggleEffect};
use std::path::Path;

/// Name of the side without settings.
pub const NONE: &str = "none";
/// Name of the side with all settings.
pub const ALL: &str = "all";

/// One side: a set of active toggles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// The displayed name.
    pub name: String,
    /// Toggles of the side, in the order in which they were given.
    pub on: Vec<Toggle>,
}

/// Returns the sides: none, each alone, and all together if there are several. If a setting is
/// given with several values, which cannot be combined, the last one is used for all. Duplicates
/// count once.
pub fn sides(toggles: &[Toggle]) -> Vec<Side> {
    let mut different: Vec<&Toggle> = Vec::new();
    for toggle in toggles {
        if !different.contains(&toggle) {
            different.push(toggle);
        }
    }
    let mut found = vec![Side { name: NONE.to_owned(), on: Vec::new() }];
    let alone = |toggle: &&Toggle| Side { name: toggle.to_string(), on: vec![(*toggle).clone()] };
    found.extend(different.iter().map(alone));
    let is_last =
        |at: usize| different[at + 1..].iter().all(|later| later.setting != different[at].setting);
    let together: Vec<Toggle> =
        (0..different.len()).filter(|&at| is_last(at)).map(|at| different[at].clone()).collect();
    if together.len() > 1 {
        found.push(Side { name: ALL.to_owned(), on: together });
    }
    found
}

/// The additions of a side to the environment of a suite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentAdditions {
    /// Variables, which replace inherited ones.
    pub env: Vec<(String, String)>,
    /// Variables that hold options (`RUBYOPT`), appended to the user's value after a space.
    pub options: Vec<(String, String)>,
    /// Variables that hold directories (`PYTHONPATH`), prepended to the user's value with a colon.
    pub paths: Vec<(String, String)>,
}

impl EnvironmentAdditions {
    fn option(&mut self, name: &str, word: &str) {
        match self.options.iter_mut().find(|(known, _)| known == name) {
            Some((_, words)) => *words = format!("{words} {word}"),
            None => self.options.push((name.to_owned(), word.to_owned())),
        }
    }
}

impl Side {
    /// Returns the variables that the side adds to the environment; `files` is the directory with
    /// [`super::FILES`].
    pub fn added(&self, files: &Path) -> EnvironmentAdditions {
        let mut found = EnvironmentAdditions::default();
        let mut hooks = Vec::new();
        for part in self.parts() {
            match part {
                ToggleEffect::Variable { name, value } => {
                    found.env.push((name.clone(), value.clone()))
                }
                ToggleEffect::Word { name, word } => found.option(name, word),
                ToggleEffect::Hook(hook) => hooks.push(*hook),
                _ => {}
            }
        }
        if !hooks.is_empty() {
            found.env.push(("ASSAY_TOGGLES".to_owned(), hooks.join(",")));
            found.option("RUBYOPT", &format!("-r{}", files.join(RUBY_FILE).display()));
            debug_assert_eq!(PYTHON_FILE, "sitecustomize.py", "the name by which Python finds it");
            found.paths.push(("PYTHONPATH".to_owned(), files.display().to_string()));
        }
        found
    }

    /// Returns the settings that a kind of server has while this side runs, as names and values.
    pub fn settings(&self, kind: ServerKind) -> Vec<(String, String)> {
        let own = |part: &ToggleEffect| match (kind, part) {
            (ServerKind::Postgres, ToggleEffect::Postgres { setting, value })
            | (ServerKind::Redis, ToggleEffect::Redis { setting, value }) => {
                Some((setting.clone(), value.clone()))
            }
            _ => None,
        };
        self.parts().filter_map(own).collect()
    }

    /// Returns true if the side's PostgreSQL server keeps its data in memory.
    pub fn is_in_memory(&self) -> bool {
        self.parts().any(|part| *part == ToggleEffect::PostgresInMemory)
    }

    /// Returns true if the side's runs are forks of a process that has the suite loaded.
    pub fn is_preloaded(&self) -> bool {
        self.parts().any(|part| *part == ToggleEffect::Preloaded)
    }

    /// Returns the side's pairs of shell lines, on and off, in the order in which they are switched
    /// on.
    pub fn lines(&self) -> Vec<(&str, &str)> {
        self.parts()
            .filter_map(|part| match part {
                ToggleEffect::Lines { on, off } => Some((on.as_str(), off.as_str())),
                _ => None,
            })
            .collect()
    }

    fn parts(&self) -> impl Iterator<Item = &ToggleEffect> {
        self.on.iter().flat_map(|toggle| &toggle.parts)
    }
}

//! Finds the benchmarks of a project by its files: how to build them, and which programs to run.
//! Nothing is run here.
//!
//! Each build system has a module that looks for its manifest, and for sources that use a library
//! that `assay bench` can drive. What was found and what was sought is reported, so that users can
//! see why their benchmarks are missing.

mod cargo;
mod cmake;
mod go;
mod javascript;
mod python;
mod ruby;
mod tree;

use super::config::Config;
use assay_data::list;
use std::path::Path;
use tree::{Tree, directory_of, matches, within};

/// Directory of the programs that assay's build lines produce, below a revision's root directory.
const OURS: &str = ".assay";
/// A program to measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// Display name of the program, unique in the project, which distinguishes the benchmarks of
    /// several programs.
    pub name: String,
    /// Command line of the program, for `assay bench` or `assay run`.
    pub command: String,
    /// Directory in which the program runs, relative to the project's root; `None` for the root
    /// itself.
    pub directory: Option<String>,
    /// Environment variables to set, before the user's values are appended.
    pub variables: Vec<(String, String)>,
    /// True if the command is timed as a whole by `assay run`.
    pub is_timed: bool,
    /// Files that contain the program's benchmarks, relative to the project's root.
    pub sources: Vec<String>,
    /// True if the build line links the program, so that it can be linked again in another order.
    pub is_linked: bool,
}

/// Programs of one build system that are built together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProgramGroup {
    /// Name of the build system.
    pub tool: &'static str,
    /// The file that shows that the programs exist, with what it contains.
    pub evidence: String,
    /// Lines that build the programs, run by `/bin/sh` in the project's root directory; empty if
    /// nothing is built.
    pub build: Vec<String>,
    /// The programs; never empty.
    pub programs: Vec<Program>,
}

/// Outcome of the search of one build system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Looked {
    /// Name of the build system.
    pub tool: &'static str,
    /// The files and contents that were sought.
    pub sought: &'static str,
    /// Notes on why nothing was found or on what was left out; empty if there was no problem.
    pub notes: Vec<String>,
}

/// The benchmarks of a project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProjectBenchmarks {
    pub ways: Vec<ProgramGroup>,
    pub looked: Vec<Looked>,
}

impl Program {
    /// Returns the variables to set. If the user has set one of them, the user's directories follow
    /// those of the revision.
    pub fn variables(&self) -> Vec<(String, String)> {
        let with_own = |(name, value): &(String, String)| {
            let own = std::env::var(name).ok().filter(|own| !own.is_empty());
            let value = own.map_or_else(|| value.clone(), |own| format!("{value}:{own}"));
            (name.clone(), value)
        };
        self.variables.iter().map(with_own).collect()
    }
}

impl ProjectBenchmarks {
    /// Finds the benchmarks among the files of a revision, which are below `top`. If the settings
    /// name programs, returns these instead.
    pub fn of(top: &Path, files: Vec<String>, config: &Config) -> Self {
        if config.names_programs() {
            return Self { ways: vec![configured(config)], looked: Vec::new() };
        }
        let tree = Tree::of(top, files);
        let searches =
            [cargo::find, go::find, cmake::find, python::find, javascript::find, ruby::find];
        let mut found = Self::default();
        for search in searches {
            let (ways, looked) = search(&tree);
            found.ways.extend(ways);
            found.looked.push(looked);
        }
        found
    }

    /// Returns all programs.
    pub fn programs(&self) -> impl Iterator<Item = &Program> {
        self.ways.iter().flat_map(|way| &way.programs)
    }

    /// Returns the line that builds everything; `None` if nothing is built.
    pub fn line(&self) -> Option<String> {
        line_of(&self.ways)
    }

    /// Keeps only the programs that `other` also has, and returns the names of the rest.
    pub fn keep_common(&mut self, other: &Self) -> Vec<String> {
        let mut left_out = Vec::new();
        for way in &mut self.ways {
            way.programs.retain(|own| {
                let is_common = other.programs().any(|program| program.name == own.name);
                if !is_common {
                    left_out.push(own.name.clone());
                }
                is_common
            });
        }
        self.ways.retain(|way| !way.programs.is_empty());
        left_out
    }
}

/// Returns the line that builds the programs of these groups; `None` if nothing is built.
pub(crate) fn line_of(ways: &[ProgramGroup]) -> Option<String> {
    let mut lines: Vec<&str> = Vec::new();
    for line in ways.iter().flat_map(|way| &way.build) {
        // Several groups may need the same step.
        if !lines.contains(&line.as_str()) {
            lines.push(line);
        }
    }
    (!lines.is_empty()).then(|| match lines.as_slice() {
        [one] => (*one).to_owned(),
        lines => format!("set -e\n{}", lines.join("\n")),
    })
}

/// Returns the programs that the settings name.
fn configured(config: &Config) -> ProgramGroup {
    let program = |command: &String, is_timed| Program {
        name: command.clone(),
        command: command.clone(),
        directory: None,
        variables: Vec::new(),
        is_timed,
        sources: Vec::new(),
        is_linked: config.build.is_some() && !is_timed,
    };
    let benched = config.bench.iter().map(|command| program(command, false));
    let timed = config.run.iter().map(|command| program(command, true));
    ProgramGroup {
        tool: "assay.toml",
        evidence: "assay.toml names the programs".to_owned(),
        build: config.build.iter().cloned().collect(),
        programs: benched.chain(timed).collect(),
    }
}

/// Returns the name in a form that is valid for a file.
fn slug(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let text: String = name.chars().map(plain).collect();
    text.trim_matches(['-', '.']).to_owned()
}

/// Quotes a word for a shell if necessary.
fn word(text: &str) -> String {
    shell_words::quote(text).into_owned()
}

/// Lists the files, at most three of them by name.
fn some(files: &[String]) -> String {
    list::first(files, 3)
}

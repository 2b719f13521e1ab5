//! The sides of a suite: programs with their arguments, variables and directories, and their names.

use assay_data::list;
use assay_harness::{Program, Request};
use assay_measure::Command;
use regex::Regex;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Name used to match a benchmark whose whole name matches the pattern of its side.
const WITHOUT_REST: &str = "(alone)";

/// One of the programs that are compared.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    /// Name shown to the user, unique among the sides.
    pub name: String,
    /// The command: the program with the user's arguments, variables and directory.
    pub command: Command,
    /// Matches the part of a benchmark's name that is specific to this side, which is ignored when
    /// benchmarks are matched across sides.
    pub versus: Option<Regex>,
    /// Libraries in which this side differs from another side with the same program, as absolute
    /// paths with digests.
    pub libraries: Vec<(String, String)>,
    /// All builds, if several builds of one source are run alternately, in which case `command` is
    /// the first; otherwise empty.
    pub builds: Vec<Build>,
}

/// One of the builds of a side.
#[derive(Clone, Debug)]
pub(crate) struct Build {
    /// Displayed name of the build's file.
    pub name: String,
    /// Command of the build.
    pub command: Command,
}

impl Side {
    /// Returns the side with one of its builds.
    pub fn of_build(&self, build: usize) -> Self {
        match self.builds.get(build) {
            Some(own) => Self { command: own.command.clone(), ..self.clone() },
            None => self.clone(),
        }
    }

    /// Returns the facts about the side's program that are known without running it.
    ///
    /// # Errors
    ///
    /// Fails if the program does not exist.
    pub fn program(&self) -> anyhow::Result<Program> {
        let words = self.command.argv.iter().map(|word| self.seen_from_here(word));
        Ok(Program::look(&words.collect::<Vec<_>>(), &self.command.resolve()?))
    }

    /// Converts a word that names a file relative to the command's directory to a path that is
    /// valid from the current directory; returns any other word unchanged.
    fn seen_from_here(&self, word: &OsString) -> OsString {
        let there = self.command.cwd.as_ref().map(|cwd| cwd.join(word));
        match there.filter(|path| path.is_file()) {
            Some(path) => path.into_os_string(),
            None => word.clone(),
        }
    }

    /// Returns the value of a variable that the side's program sees; `None` if it is unset or
    /// empty.
    pub fn variable(&self, name: &str) -> Option<String> {
        let own = self.command.env.iter().rev().find(|(known, _)| known == name);
        let own = own.map(|(_, value)| value.clone()).or_else(|| std::env::var(name).ok());
        own.filter(|value| !value.is_empty())
    }

    /// Returns the command that carries out a request, with its output captured.
    pub fn asking(&self, request: &Request) -> Command {
        let own = &self.command.argv;
        let (program, arguments) = own.split_at(1.min(own.len()));
        let argv: Vec<OsString> = [program, &request.before, arguments, &request.args].concat();
        let mut env = [self.command.env.clone(), request.env.clone()].concat();
        for (name, value) in &request.options {
            let all = self.variable(name).into_iter().chain([value.clone()]);
            env.push((name.clone(), all.collect::<Vec<_>>().join(" ")));
        }
        for (name, _) in &request.directories {
            let ours = request.directories.iter().filter(|(own, _)| own == name);
            let ours = ours.map(|(_, directory)| directory.display().to_string());
            let all: Vec<String> = ours.chain(self.variable(name)).collect();
            env.push((name.clone(), all.join(":")));
        }
        Command { argv, env, keep_output: true, keep_errors: true, ..self.command.clone() }
    }

    /// Returns the name by which a benchmark of this side is matched with benchmarks of other
    /// sides.
    pub fn matched(&self, benchmark: &str) -> String {
        match &self.versus {
            Some(pattern) => match pattern.replace(benchmark, "") {
                rest if rest.is_empty() => WITHOUT_REST.to_owned(),
                rest => rest.into_owned(),
            },
            None => benchmark.to_owned(),
        }
    }
}

/// Returns short distinct names for commands: as many trailing components of their paths as
/// necessary, else the words in which the commands differ, else numbered names.
pub(crate) fn named(commands: &[Command]) -> Vec<String> {
    let paths: Vec<Vec<String>> = commands.iter().map(parts).collect();
    let longest = paths.iter().map(Vec::len).max().unwrap_or(1);
    for depth in 1..=longest {
        let names: Vec<String> = paths
            .iter()
            .map(|parts| parts[parts.len().saturating_sub(depth)..].join("/"))
            .collect();
        if all_differ(&names) {
            return names;
        }
    }
    if let Some(names) = by_words(commands) {
        return names;
    }
    let last = |parts: &Vec<String>| parts.last().cloned().unwrap_or_default();
    numbered(paths.iter().map(last))
}

/// Returns each command without the words that are the same at the beginning and the end of all
/// commands; `None` if the results are not distinct.
fn by_words(commands: &[Command]) -> Option<Vec<String>> {
    let word = |command: &Command, back: bool, at: usize| {
        let words = &command.argv;
        let at = if back { words.len().checked_sub(at + 1)? } else { at };
        words.get(at).map(|word| word.to_string_lossy().into_owned())
    };
    let shortest = commands.iter().map(|command| command.argv.len()).min()?;
    let shared = |back: bool, most: usize| {
        let same = |at: &usize| {
            let first = word(&commands[0], back, *at);
            commands.iter().all(|command| word(command, back, *at) == first)
        };
        (0..most).take_while(same).count()
    };
    let before = shared(false, shortest);
    let after = shared(true, shortest - before);
    let rest = |command: &Command| list::line(&command.argv[before..command.argv.len() - after]);
    let names: Vec<String> = commands.iter().map(rest).collect();
    (names.iter().all(|name| !name.is_empty()) && all_differ(&names)).then_some(names)
}

/// Appends numbers to names, so that they are distinct.
pub(crate) fn numbered(names: impl Iterator<Item = String>) -> Vec<String> {
    names.enumerate().map(|(index, name)| format!("{name} #{}", index + 1)).collect()
}

/// Returns the components of the path that identifies a command: its first argument that is a file
/// (the script of an interpreter), otherwise its program.
fn parts(command: &Command) -> Vec<String> {
    let words = &command.argv;
    let file = words
        .iter()
        .skip(1)
        .find(|word| !word.to_string_lossy().starts_with('-') && Path::new(word).is_file());
    let word = file.or(words.first()).map(PathBuf::from).unwrap_or_default();
    word.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
}

pub(crate) fn all_differ(names: &[String]) -> bool {
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    sorted.windows(2).all(|two| two[0] != two[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(texts: &[&str]) -> Vec<Command> {
        texts.iter().map(|text| Command::parse(text, false).expect("a command")).collect()
    }

    #[test]
    fn names_are_as_short_as_they_can_be_and_differ() {
        assert_eq!(named(&commands(&["build/old", "build/new"])), ["old", "new"]);
        assert_eq!(named(&commands(&["a/bm", "b/bm"])), ["a/bm", "b/bm"]);
        assert_eq!(named(&commands(&["x/a/bm", "y/a/bm"])), ["x/a/bm", "y/a/bm"]);
        assert_eq!(named(&commands(&["./bm", "./bm"])), ["bm #1", "bm #2"]);
        assert_eq!(named(&commands(&["./bm", "./bm -x"])), ["bm #1", "bm #2"]);
    }

    #[test]
    fn one_program_is_told_apart_by_the_words_that_differ() {
        let vitest = ["npx vitest bench --root old", "npx vitest bench --root new"];
        assert_eq!(named(&commands(&vitest)), ["old", "new"]);
        let switched = ["npx vitest --root=old bench", "npx vitest --pool forks --root=new bench"];
        assert_eq!(named(&commands(&switched)), ["--root=old", "--pool forks --root=new"]);
    }
}

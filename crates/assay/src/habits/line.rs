//! The command line as it was typed: which words are options with their values, and which are not.

use crate::system::is_program;
use assay_measure::text_of;
use assay_report::shell::quoted;
use clap::{Arg, Command};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// A command line, with the definition of the assay command that it calls.
pub(super) struct Line<'a> {
    /// All words, beginning with the program's name.
    pub words: Vec<String>,
    verb: Option<&'a Command>,
    /// Indices of the words before `--` that are neither options nor their values, without the
    /// program and the command.
    pub positionals: Vec<usize>,
}

impl<'a> Line<'a> {
    /// Classifies these words according to the definition of the program.
    pub fn of(typed: &[OsString], command: &'a Command) -> Self {
        let words: Vec<String> = typed.iter().map(|word| text_of(word)).collect();
        let verb = words.get(1).and_then(|name| command.find_subcommand(name));
        let mut line = Self { words, verb, positionals: Vec::new() };
        let mut at = 2;
        while at < line.end() {
            match line.words[at].starts_with('-') && line.words[at].len() > 1 {
                true => at += line.values_behind(at),
                false => line.positionals.push(at),
            }
            at += 1;
        }
        line
    }

    /// Returns assay's command as typed, such as `run`; empty if there is none.
    pub fn verb(&self) -> &str {
        self.words.get(1).map_or("", String::as_str)
    }

    /// Returns the index of `--`, or the number of words.
    pub fn end(&self) -> usize {
        self.words.iter().position(|word| word == "--").unwrap_or(self.words.len())
    }

    /// Returns the words in `positionals`.
    pub fn own(&self) -> Vec<&str> {
        self.positionals.iter().map(|&at| self.words[at].as_str()).collect()
    }

    /// Returns the index of the word that the parser rejected. For `-abc`, the parser reports only
    /// `-a`.
    pub fn index_of(&self, rejected: &str) -> Option<usize> {
        let words = || self.words.iter().take(self.end()).enumerate().skip(2);
        let exact = words().find(|(_, word)| word.split('=').next() == Some(rejected));
        exact.or_else(|| words().find(|(_, word)| word.starts_with(rejected))).map(|(at, _)| at)
    }

    /// Returns the words with a rejected value such as `-3` joined to the option before it, if that
    /// option takes a value.
    pub fn with_value_joined(&self, rejected: &str) -> Option<Vec<OsString>> {
        let is_number = rejected
            .strip_prefix('-')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '.'));
        let at = self.index_of(rejected).filter(|_| is_number)?;
        let takes_value = self.words[at - 1].starts_with('-') && self.values_behind(at - 1) == 1;
        let mut joined: Vec<OsString> = self.words.iter().map(OsString::from).collect();
        let value = takes_value.then(|| joined.remove(at))?;
        joined[at - 1].push("=");
        joined[at - 1].push(value);
        Some(joined)
    }

    /// Returns advice for an option with several letters after a single dash, as in Go programs and
    /// traditional compilers.
    pub fn single_dash(&self) -> Option<String> {
        self.words.iter().take(self.end()).find_map(|word| {
            let name = word.strip_prefix('-').filter(|name| !name.starts_with('-'))?;
            let name = name.split('=').next().filter(|name| name.chars().count() > 2)?;
            let long = format!("--{name}");
            let habit = super::options::advice(self.verb(), &long).map(str::to_owned);
            let known = || format!("options of several letters have two dashes: -{word}");
            habit.or_else(|| self.arg(&long).map(|_| known()))
        })
    }

    /// Returns true if the word is an option of the command, with or without a value joined to it.
    pub fn has(&self, word: &str) -> bool {
        self.arg(word.split('=').next().unwrap_or_default()).is_some()
    }

    /// Returns true if the word at `at` is an option of one letter, and the word after it is its
    /// value.
    pub fn is_short_with_value(&self, at: usize) -> bool {
        let is_short = self.words.get(at).is_some_and(|word| {
            word.starts_with('-') && !word.starts_with("--") && word.chars().count() == 2
        });
        is_short && self.values_behind(at) == 1
    }

    fn arg(&self, option: &str) -> Option<&'a Arg> {
        self.verb?.get_arguments().find(|arg| match option.strip_prefix("--") {
            Some(long) => arg.get_long_and_visible_aliases().is_some_and(|own| own.contains(&long)),
            None => {
                let short = option.chars().nth(1);
                short.is_some_and(|short| {
                    arg.get_short_and_visible_aliases().is_some_and(|own| own.contains(&short))
                })
            }
        })
    }

    /// Returns the number of words after an option that are its values.
    fn values_behind(&self, at: usize) -> usize {
        let option = &self.words[at];
        let is_joined = option.contains('=') || !option.starts_with("--") && option.len() > 2;
        match self.arg(option).filter(|arg| !is_joined && arg.get_action().takes_values()) {
            Some(arg) if arg.is_require_equals_set() => 0,
            Some(arg) => arg.get_num_args().map_or(1, |range| range.min_values()),
            None => 0,
        }
    }
}

/// Returns the words as a line to copy into a shell.
pub(super) fn shown<S: AsRef<OsStr>>(words: &[S]) -> String {
    let words: Vec<String> = words.iter().map(|word| text_of(word.as_ref())).collect();
    let own = std::iter::once("assay").chain(words.iter().skip(1).map(String::as_str));
    quoted(own)
}

/// Returns true if this word is a program: a path of one, or a name in PATH.
pub(super) fn names_program(word: &str) -> bool {
    if word.contains('/') {
        return is_program(Path::new(word));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    !word.is_empty() && std::env::split_paths(&path).any(|entry| is_program(&entry.join(word)))
}

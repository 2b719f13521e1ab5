//! Adds to the shell completions what clap does not generate: file names where files are expected,
//! and the names of existing metrics and benchmarks.
//!
//! The scripts get those names from `assay completions --names`, which reads the files on the
//! command line, or otherwise the newest recorded run. It measures nothing and skips what it cannot
//! read, since a completion cannot report errors.

use crate::store;
use assay_data::import::{self, ImportOptions};
use assay_data::samples::OF_EVERY_RUN;
use clap::{Command, ValueEnum, ValueHint};
use clap_complete::Shell;
use regex::{Captures, Regex};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What is asked for by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Names {
    /// Metrics
    Metrics,
    /// Benchmarks
    Benchmarks,
}

/// Options whose values are such names.
const NAMED: [(&str, Names); 4] = [
    ("primary", Names::Metrics),
    ("secondary", Names::Metrics),
    ("filter", Names::Benchmarks),
    ("exclude", Names::Benchmarks),
];

/// Names of the metrics or benchmarks in those of these words that are files, or else in the newest recorded run; sorted.
pub(crate) fn names(what: Names, words: &[String]) -> BTreeSet<String> {
    let mut files: Vec<PathBuf> =
        words.iter().map(PathBuf::from).filter(|path| path.is_file()).collect();
    if files.is_empty() {
        files.extend(store::newest());
    }
    let mut names = BTreeSet::new();
    if what == Names::Metrics {
        names.extend(OF_EVERY_RUN.iter().map(|&name| name.to_owned()));
    }
    for path in files {
        names.extend(names_in(&path, what).unwrap_or_default());
    }
    names
}

/// Those in one file; nothing from a program or from what is no file of samples.
fn names_in(path: &Path, what: Names) -> Option<Vec<String>> {
    let samples = import::load(&[path.to_owned()], &ImportOptions::default()).ok()?;
    Some(match what {
        Names::Metrics => samples.metrics.into_iter().map(|metric| metric.name).collect(),
        Names::Benchmarks => samples.rows.into_iter().map(|row| row.name).collect(),
    })
}

/// The verb, whose options that take neither a file nor a directory say so, and those of its own verbs.
pub(crate) fn hinted(verb: Command) -> Command {
    verb.mut_subcommands(hinted).mut_args(|argument| {
        let names = argument.get_value_names().unwrap_or_default();
        let is_path =
            |name: &str| ["FILE", "DIR", "PROGRAM"].iter().any(|word| name.contains(word));
        let takes_file = argument.is_positional() || names.iter().any(|name| is_path(name));
        let takes_nothing = !argument.get_action().takes_values();
        if takes_file || takes_nothing || argument.get_value_hint() != ValueHint::Unknown {
            argument
        } else {
            argument.value_hint(ValueHint::Other)
        }
    })
}

/// The script as clap wrote it, with names, and in bash with files before options where nothing is typed.
pub(crate) fn improved(shell: Shell, script: &str) -> String {
    match shell {
        Shell::Bash => in_bash(script),
        Shell::Zsh => in_zsh(script),
        Shell::Fish => in_fish(script),
        _ => script.to_owned(),
    }
}

fn word(what: Names) -> String {
    what.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

fn replaced(script: &str, pattern: &str, with: impl Fn(&Captures<'_>) -> String) -> String {
    // The patterns are constants below.
    Regex::new(pattern).map_or_else(
        |_| script.to_owned(),
        |pattern| pattern.replace_all(script, |found: &Captures<'_>| with(found)).into_owned(),
    )
}

fn in_bash(script: &str) -> String {
    let mut script = script.to_owned();
    for (option, what) in NAMED {
        let ask = format!("assay completions --names {} -- \"${{COMP_WORDS[@]:2}}\"", word(what));
        let case = format!(r#"(--{option}\)\n\s*)COMPREPLY=\([^\n]*\)"#);
        script = replaced(&script, &case, |found| {
            let ask = format!("$(compgen -W \"$({ask} 2>/dev/null)\" -- \"${{cur}}\")");
            format!("{}local IFS=$'\\n'; COMPREPLY=( {ask} )", &found[1])
        });
    }
    // Options are offered only after a typed dash. With no other candidates, bash offers files.
    let mut in_verb = false;
    let with_files = |line: &str| {
        if let Some(label) = line.strip_prefix("        assay__subcmd__") {
            in_verb =
                !["completions)", "help", "schema)"].iter().any(|verb| label.starts_with(verb));
        }
        match line {
            _ if !in_verb => line.to_owned(),
            "            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then" => {
                "            if [[ ${cur} == -* ]] ; then".to_owned()
            }
            "            COMPREPLY=( $(compgen -W \"${opts}\" -- \"${cur}\") )" => {
                "            COMPREPLY=()".to_owned()
            }
            line => line.to_owned(),
        }
    };
    script.lines().map(with_files).collect::<Vec<_>>().join("\n") + "\n"
}

fn in_zsh(script: &str) -> String {
    // With two colons the argument would take the rest of the line, and zsh would offer no options
    // after the first file.
    let script = replaced(script, r"(?m)^'\*::(\w+ -- )", |found| format!("'*:{}", &found[1]));
    NAMED.iter().fold(script, |script, &(option, what)| {
        let ask = format!("assay completions --names {} -- ${{words[2,-1]}}", word(what));
        let line = format!(r"('\*?--{option}=\[[^\n]*\]:[A-Z]+:)[^'\n]*'");
        replaced(&script, &line, |found| {
            format!("{}{{compadd -- ${{(f)\"$({ask} 2>/dev/null)\"}}}}'", &found[1])
        })
    })
}

fn in_fish(script: &str) -> String {
    NAMED.iter().fold(script.to_owned(), |script, &(option, what)| {
        let ask = format!("assay completions --names {} -- (commandline -opc)[3..]", word(what));
        let line = format!(r"(?m)^(complete -c assay [^\n]* -l {option} [^\n]* -r)( -f)?$");
        replaced(&script, &line, |found| format!("{} -f -a \"({ask} 2>/dev/null)\"", &found[1]))
    })
}

//! Commands and programs of other tools, and what does the same here.

use super::line::{Line, names_program};
use assay_report::shell::quoted;
use std::path::Path;

const RUN: &str =
    "commands are measured by `assay run`, each in quotes: assay run './old data' './new data'";
const PROFILE: &str = "programs are profiled by `assay profile`: assay profile -- COMMAND";
const COMPARE: &str = "recorded numbers are compared by `assay compare`: assay compare OLD NEW";
const LOAD: &str = "servers are loaded by `assay load`: assay load URL";
const TESTS: &str = "test suites are run by `assay tests`: assay tests -- COMMAND";
const MUTATE: &str = "changes to the source are tried by `assay mutate`: assay mutate -- COMMAND";
const HISTORY: &str =
    "kept runs are listed by `assay history log`, and shown by `assay history show`";
const PAGE: &str =
    "pages are written by --report, plots by --plots: assay compare OLD NEW --report page.html";

const VERBS: &[(&str, &str)] = &[
    ("stat", RUN),
    ("time", RUN),
    ("timeit", RUN),
    ("measure", RUN),
    ("exec", RUN),
    ("hyperfine", RUN),
    ("benchmark", "commands are measured by `assay run`, benchmark programs by `assay bench`"),
    ("record", PROFILE),
    ("top", PROFILE),
    ("trace", PROFILE),
    ("flamegraph", PROFILE),
    ("py-spy", PROFILE),
    ("perf", PROFILE),
    ("diff", COMPARE),
    ("cmp", COMPARE),
    ("benchstat", COMPARE),
    ("compare.py", COMPARE),
    ("attack", LOAD),
    ("wrk", LOAD),
    ("ab", LOAD),
    ("oha", LOAD),
    ("hey", LOAD),
    ("vegeta", LOAD),
    ("k6", LOAD),
    ("test", TESTS),
    ("mutmut", MUTATE),
    ("mutants", MUTATE),
    ("report", PAGE),
    ("plot", PAGE),
    ("log", HISTORY),
    ("list", HISTORY),
    ("ls", HISTORY),
    ("show", HISTORY),
    ("results", HISTORY),
    ("export", "formats are converted by `assay convert`: assay convert FILE -o OTHER"),
    ("import", "formats are converted by `assay convert`: assay convert FILE -o OTHER"),
    ("version", "the version is printed by: assay --version"),
    ("start", "commits are searched by `assay bisect`: assay bisect GOOD..BAD -- COMMAND"),
];

/// Returns advice for a first word that is not a command; `None` if it can only be a misspelling.
pub(super) fn instead(line: &Line<'_>) -> Option<String> {
    let words: Vec<&str> = line.words.iter().skip(1).map(String::as_str).collect();
    let word = *words.first()?;
    if let Some((_, advice)) = VERBS.iter().find(|(verb, _)| *verb == word) {
        return Some((*advice).to_owned());
    }
    if word.contains("://") {
        return Some(format!("servers are loaded by: assay load {}", quoted(&words)));
    }
    let program = word.split_whitespace().next().unwrap_or_default();
    if is_framework(program) {
        return Some(format!("test suites are run by: assay tests -- {}", words.join(" ")));
    }
    let is_path = |word: &&str| word.contains('/') && !word.contains(' ');
    let are_paths = words.iter().all(is_path);
    if are_paths && (words.iter().all(|word| names_program(word)) || !Path::new(word).exists()) {
        let missing = words.iter().find(|word| !Path::new(word).exists());
        let missing = missing.map_or(String::new(), |word| format!("there is no file `{word}`; "));
        return Some(format!("{missing}commands are measured by: assay run {}", quoted(&words)));
    }
    if names_program(program) {
        // Words that contain spaces are commands, each in its own quotes.
        let commands = match words.iter().any(|word| word.contains(' ')) {
            true => quoted(&words),
            false => quoted([words.join(" ").as_str()]),
        };
        return Some(format!("commands are measured by: assay run {commands}"));
    }
    let is_file = Path::new(word).is_file();
    is_file.then(|| format!("recorded numbers are compared by: assay compare {}", quoted(&words)))
}

/// Returns the command of `assay history` to use instead of one that does not exist.
pub(super) fn of_history(line: &Line<'_>) -> Option<&'static str> {
    match line.words.get(2).map(String::as_str)? {
        "list" | "ls" | "runs" => Some("runs are listed by: assay history log"),
        "diff" | "compare" => Some("two files are compared by: assay compare OLD NEW"),
        "delete" | "remove" => Some("runs are removed by: assay history rm RUN"),
        "plot" | "graph" | "chart" => Some("changes are shown by: assay history trend"),
        _ => None,
    }
}

/// Returns true if this is the program of a test framework.
pub(super) fn is_framework(program: &str) -> bool {
    matches!(program, "pytest" | "rspec" | "jest" | "vitest" | "mocha" | "ctest" | "unittest")
}

/// Returns true for a program that, without arguments, reads a program from standard input.
pub(crate) fn is_interpreter(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or_default();
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(
        name,
        "sh" | "bash"
            | "dash"
            | "zsh"
            | "ksh"
            | "fish"
            | "python"
            | "ruby"
            | "node"
            | "perl"
            | "php"
            | "lua"
            | "Rscript"
    )
}

/// Returns true for a program that runs the command given as its arguments.
pub(crate) fn is_wrapper(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or_default();
    matches!(name, "env" | "time" | "nice" | "sudo" | "timeout" | "nohup" | "xargs" | "taskset")
}

//! Words in the wrong place: commands without quotes or `--`, files after the wrong option.

use super::line::{Line, names_program, shown};
use super::verbs::is_framework;
use crate::args::threshold;
use crate::verbs::convert::form_of;
use assay_report::shell::quoted;
use std::path::Path;

/// Verbs whose command follows `--` as separate words.
const BEHIND_DASHES: [&str; 5] = ["tests", "watch", "warm", "doctor", "calibrate"];
/// Verbs whose commands are one word each.
const IN_QUOTES: [&str; 3] = ["run", "bench", "profile"];

/// Units of time as separate words.
const UNITS: [&str; 4] = ["minutes", "minute", "seconds", "second"];

/// Subcommands of other tools that a verb does not need.
const NEEDLESS: [(&str, &str); 7] = [
    ("load", "attack"),
    ("profile", "record"),
    ("profile", "top"),
    ("profile", "stat"),
    ("compare", "benchmarks"),
    ("compare", "filters"),
    ("compare", "benchmarksfiltered"),
];

/// Returns advice for a word, or an option, that the verb does not have. An option `has_similar` if
/// the parser suggests one.
pub(super) fn misplaced(line: &Line<'_>, word: &str, has_similar: bool) -> Option<String> {
    if line.verb().starts_with('-') && line.words.len() > 2 {
        return Some("name a verb first, as in: assay run 'COMMAND'".to_owned());
    }
    let at = line.index_of(word)?;
    match (line.verb(), word.starts_with('-')) {
        (verb, true) if BEHIND_DASHES.contains(&verb) => Some(behind_command(line, at)),
        (verb, false) if BEHIND_DASHES.contains(&verb) => Some(behind_dashes(line, at)),
        (verb, true) if IN_QUOTES.contains(&verb) && !has_similar => unquoted(line, line.end()),
        ("plan", false) => Some(format!(
            "recorded runs are given by --pilot: assay plan --pilot {} --threshold 1%",
            quoted(line.own())
        )),
        ("bisect", false) => Some(match line.own().as_slice() {
            [good, bad] if !good.contains("..") && !names_program(bad) => {
                format!("both commits are one word: assay bisect {good}..{bad} -- COMMAND")
            }
            _ => dashes_at(line, at),
        }),
        ("simulate", false) => Some(
            "the distribution is an option: assay simulate --distribution 'normal(10, 1)'"
                .to_owned(),
        ),
        ("man", false) => Some(format!("the help of a verb: assay help {word}")),
        _ => None,
    }
}

/// Returns advice for a verb that was called correctly and failed.
pub(super) fn hint(line: &Line<'_>) -> Option<String> {
    let own = line.own();
    let verb = line.verb();
    let Some(&first) = own.first() else {
        return (verb == "run").then(|| unquoted(line, line.end())).flatten();
    };
    if NEEDLESS.contains(&(verb, first)) && !Path::new(first).exists() {
        return Some(format!("assay {verb} needs no `{first}`: leave it out"));
    }
    if let Some(unit) = own.iter().find(|word| UNITS.contains(*word)) {
        let short = if unit.starts_with('m') { "min" } else { "s" };
        return Some(format!("a time is one word with its unit: --time 5{short}"));
    }
    match (verb, first.split(' ').next().unwrap_or_default()) {
        ("bench", "go") => Some(
            "benchmarks of Go are run by their test program: go test -c -o new.test, then: assay bench ./old.test ./new.test"
                .to_owned(),
        ),
        ("bench", "cargo") => Some(
            "benchmarks of Cargo are run by their program, whose path `cargo bench --no-run` prints: assay bench OLD NEW"
                .to_owned(),
        ),
        _ => in_place(line),
    }
}

/// Returns advice on the words of a verb that failed.
fn in_place(line: &Line<'_>) -> Option<String> {
    let own = line.own();
    match line.verb() {
        verb if IN_QUOTES.contains(&verb) => {
            unquoted(line, line.positionals.last().map_or(0, |at| at + 1))
        }
        "load" => own.iter().find(|word| word.parse::<f64>().is_ok()).map(|word| {
            format!("`{word}` is taken for a server; requests per second are --rate {word}, connections --connections {word}")
        }),
        "convert" => output(line),
        "compare" | "describe" | "gate" | "repeat" => files(line),
        _ => None,
    }
}

/// Advice for a command whose words are not quoted, up to the word `end`.
fn unquoted(line: &Line<'_>, end: usize) -> Option<String> {
    let first = line.positionals.first().copied();
    // All words after `--` are commands.
    let (first, end, before) = match first {
        Some(first) => (first, end, first),
        None => (line.end() + 1, line.words.len(), line.end()),
    };
    let command: Vec<&str> = line.words.get(first..end)?.iter().map(String::as_str).collect();
    let (program, others) = command.split_first()?;
    let is_typo = |word: &&str| word.contains('/') && !Path::new(word).exists();
    let is_one = names_program(program)
        && command.iter().all(|word| !word.contains(' '))
        && !others.iter().any(is_typo);
    let argument = others.iter().find(|word| !names_program(word)).filter(|_| is_one)?;
    let mut words: Vec<String> = line.words[..before].to_vec();
    words.push(command.join(" "));
    words.extend(line.words[end..].iter().cloned());
    Some(format!(
        "if `{argument}` is an argument of `{program}`, quote the whole command: {}",
        shown(&words)
    ))
}

/// Advice for a command without `--` before it.
fn behind_dashes(line: &Line<'_>, at: usize) -> String {
    // The first word of `calibrate` may be a command of one word.
    let start = line.positionals.first().copied().unwrap_or(at).min(at);
    let word = line.words[start].as_str();
    if names_program(word) || is_framework(word) {
        return dashes_at(line, start);
    }
    let verb = line.verb();
    format!("the command goes behind `--`: assay {verb} -- COMMAND {word}")
}

fn dashes_at(line: &Line<'_>, at: usize) -> String {
    let mut words = line.words.clone();
    words.retain(|word| word != "--");
    words.insert(at, "--".to_owned());
    format!("the command goes behind `--`: {}", shown(&words))
}

/// Advice for an option of the command that is typed before `--`.
fn behind_command(line: &Line<'_>, at: usize) -> String {
    if let Some(&first) = line.positionals.first().filter(|&&first| first < at) {
        return behind_dashes(line, first);
    }
    let end = line.end();
    let command = line.words.get(end + 1..).filter(|command| !command.is_empty());
    let mut words = line.words[..at].to_vec();
    words.push("--".to_owned());
    words.extend(command.map_or_else(|| vec!["COMMAND".to_owned()], <[String]>::to_vec));
    words.extend(line.words[at..end].iter().cloned());
    format!("options of the command follow it: {}", shown(&words))
}

/// Advice for a file that is to be written, and not read.
fn output(line: &Line<'_>) -> Option<String> {
    let own = line.own();
    let (to, from) = own.split_last().filter(|(_, from)| !from.is_empty())?;
    let is_new = !Path::new(to).exists() && form_of(Path::new(to)).is_some();
    is_new.then(|| {
        format!(
            "a file to write is given by -o: assay convert {} -o {}",
            quoted(from),
            quoted([*to])
        )
    })
}

/// Advice for words that are not files.
fn files(line: &Line<'_>) -> Option<String> {
    let own = line.own();
    let missing = *own.iter().find(|word| !Path::new(word).exists() && **word != "-")?;
    if threshold(missing).is_ok() {
        return Some(format!(
            "the smallest difference that matters is an option: --threshold {missing}"
        ));
    }
    let is_side =
        |word: &&str| word.split_once('=').is_some_and(|(_, file)| Path::new(file).exists());
    if line.verb() == "compare" && own.iter().all(is_side) {
        let sides: Vec<&str> = own.iter().flat_map(|side| ["--side", *side]).collect();
        return Some(format!("names are given by --side: assay compare {}", quoted(&sides)));
    }
    let parts: Vec<&str> = missing.split([' ', ',']).filter(|part| !part.is_empty()).collect();
    if parts.len() > 1 && parts.iter().all(|part| Path::new(part).is_file()) {
        return Some(format!(
            "every file is a word of its own: assay {} {}",
            line.verb(),
            parts.join(" ")
        ));
    }
    let is_command = names_program(missing.split_whitespace().next().unwrap_or_default());
    is_command.then(|| {
        let commands = match own.iter().any(|word| word.contains(' ')) {
            true => quoted(&own),
            false => quoted([own.join(" ").as_str()]),
        };
        format!("commands are measured by: assay run {commands}")
    })
}

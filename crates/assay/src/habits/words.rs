//! Words in the wrong place: commands without quotes or `--`, files after the wrong option.

use super::line::{Line, names_program, shown};
use super::verbs::{is_framework, is_interpreter};
use crate::args::threshold;
use crate::system::is_program;
use crate::verbs::convert::form_of;
use assay_data::unit::parse_quantity;
use assay_report::shell::quoted;
use std::io::Read;
use std::path::Path;

/// Commands that take the command to run after `--`, as separate words.
const BEHIND_DASHES: [&str; 5] = ["tests", "watch", "warm", "doctor", "calibrate"];
/// Commands that take each command to run as one word.
const IN_QUOTES: [&str; 3] = ["run", "bench", "profile"];

/// Commands that print JSON but cannot export it to a file.
const PRINTING: [&str; 3] = ["describe", "doctor", "plan"];

/// Units of time as separate words.
const UNITS: [&str; 4] = ["minutes", "minute", "seconds", "second"];

/// Commands with which the command to run is often typed without quotes, before the options of
/// assay.
const WITHOUT_QUOTES: [&str; 2] = ["run", "profile"];

/// Subcommands of other tools that are not needed here, each with assay's command.
const NEEDLESS: [(&str, &str); 7] = [
    ("load", "attack"),
    ("profile", "record"),
    ("profile", "top"),
    ("profile", "stat"),
    ("compare", "benchmarks"),
    ("compare", "filters"),
    ("compare", "benchmarksfiltered"),
];

/// Returns advice for a word or an option that the command does not have. `has_similar` is true if
/// the parser suggests a similar option.
pub(super) fn misplaced(line: &Line<'_>, word: &str, has_similar: bool) -> Option<String> {
    if line.verb().starts_with('-') && line.words.len() > 2 {
        return Some("name a verb first, as in: assay run 'COMMAND'".to_owned());
    }
    let at = line.index_of(word)?;
    if word == "--export"
        && PRINTING.contains(&line.verb())
        && let Some(advice) = printed(line, at)
    {
        return Some(advice);
    }
    match (line.verb(), word.starts_with('-')) {
        (verb, true) if BEHIND_DASHES.contains(&verb) => Some(behind_command(line, at)),
        (verb, false) if BEHIND_DASHES.contains(&verb) => Some(behind_dashes(line, at)),
        (verb, true) if IN_QUOTES.contains(&verb) && !has_similar => unquoted(line, line.end()),
        ("plan", false) => Some(planned(&line.own())),
        ("check", false) => {
            Some(format!("the revision to compare with is an option: assay check --base {word}"))
        }
        ("gate", false) => {
            Some(format!("files are compared by: assay compare {}", quoted(line.own())))
        }
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

/// Returns advice for an unknown one-letter option that is typed after the only command to run.
pub(super) fn unknown_letter(line: &Line<'_>, word: &str) -> Option<String> {
    let at = line.index_of(word)?;
    if !word.starts_with('-') || word.starts_with("--") {
        return None;
    }
    let command = command_before(line, at)?;
    Some(quote_whole(line, &line.words[at], command, at))
}

/// Returns advice for a value that an option rejects, if the option may be an argument of the
/// command to run before it.
pub(super) fn refused_value(line: &Line<'_>, value: &str) -> Option<String> {
    let first = *line.positionals.first()?;
    let has_value = |at: usize| line.words.get(at + 1).is_some_and(|word| word == value);
    let at = (first + 1..line.end()).find(|&at| line.is_short_with_value(at) && has_value(at))?;
    let command = command_before(line, at)?;
    Some(quote_whole(line, &line.words[at], command, at + 1))
}

/// Returns the error about an argument of an unquoted command that was taken for an option of
/// `assay run`: a one-letter option after the only command whose value is a data file, or `-c`
/// directly after an interpreter.
pub(super) fn taken_for_option(line: &Line<'_>) -> Option<String> {
    let [first] = line.positionals[..] else { return None };
    if line.verb() != "run" {
        return None;
    }
    let is_data = |value: &String| {
        let path = Path::new(value);
        path.is_file() && !is_program(path) && value.parse::<f64>().is_err()
    };
    let runs_text =
        |at: usize| at == first + 1 && line.words[at] == "-c" && is_interpreter(&line.words[first]);
    let mut letters = (first + 1..line.end()).take_while(|&at| !line.words[at].starts_with("--"));
    let at = letters.find(|&at| {
        line.is_short_with_value(at)
            && line.words.get(at + 1).is_some_and(|value| is_data(value) || runs_text(at))
    })?;
    let command = command_before(line, at)?;
    let (option, value) = (&line.words[at], line.words.get(at + 1)?);
    let mut words = line.words[..first].to_vec();
    words.extend([option.clone(), value.clone()]);
    words.extend(line.words[first..at].iter().cloned());
    words.extend(line.words[at + 2..].iter().cloned());
    Some(format!(
        "{option} {value}: after a command without quotes, it is not clear whose option that is\nhint: {}\nhint: if it is an option of `assay run`, put it before the command: {}",
        quote_whole(line, option, command, at + 1),
        shown(&words)
    ))
}

/// Returns the program of an unquoted command if the option at `at` is typed after it, with no
/// other command in between.
fn command_before<'a>(line: &'a Line<'_>, at: usize) -> Option<&'a str> {
    if !WITHOUT_QUOTES.contains(&line.verb()) {
        return None;
    }
    let mut before = line.positionals.iter().filter(|&&own| own < at);
    let program = line.words[*before.next()?].as_str();
    let is_one = before.next().is_none() && names_program(program);
    is_one.then_some(program)
}

/// Returns the advice to quote a command with its arguments, up to at least the word `last`.
fn quote_whole(line: &Line<'_>, argument: &str, program: &str, last: usize) -> String {
    let first = line.positionals.first().copied().unwrap_or(last);
    let rest = line.words.iter().skip(last + 1).take(line.end().saturating_sub(last + 1));
    let others = rest.take_while(|word| !(word.starts_with("--") && line.has(word)));
    let end = last + 1 + others.count();
    let mut words: Vec<String> = line.words[..first].to_vec();
    words.push(quoted(&line.words[first..end]));
    words.extend(line.words[end..].iter().cloned());
    format!(
        "if `{argument}` is an argument of `{program}`, quote the whole command: {}",
        shown(&words)
    )
}

/// Returns advice for a command that was parsed but failed.
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
    of_program(line).or_else(|| in_place(line))
}

/// Returns advice for `bench` with a build tool's command instead of benchmark programs.
pub(super) fn of_program(line: &Line<'_>) -> Option<String> {
    let first = line.own().first()?.split(' ').next()?.to_owned();
    let advice = match (line.verb(), first.as_str()) {
        ("bench", "go") => {
            "benchmarks of Go are run by their test program: go test -c -o new.test, then: assay bench ./old.test ./new.test"
        }
        ("bench", "cargo") => {
            "benchmarks of Cargo are run by their program, whose path `cargo bench --no-run` prints: assay bench OLD NEW"
        }
        _ => return None,
    };
    Some(advice.to_owned())
}

/// Returns advice for a command that lacks a required word.
pub(super) fn missing(line: &Line<'_>) -> Option<String> {
    let own = line.own();
    match (line.verb(), own.as_slice()) {
        ("bisect", ["start" | "good" | "bad" | "run" | "reset", ..]) => {
            Some("a search is one command: assay bisect GOOD..BAD -- COMMAND".to_owned())
        }
        ("bench", []) => {
            let after = line.words.get(line.end() + 1..)?;
            let is_path = after.first().is_some_and(|word| word.contains('/'));
            is_path.then(|| {
                format!(
                    "programs go before `--`, their arguments after it: assay bench {}",
                    quoted(after)
                )
            })
        }
        _ => None,
    }
}

/// Returns advice for a value that is not valid for a command's option.
pub(super) fn form(line: &Line<'_>, option: &str, value: &str) -> Option<String> {
    let is_json = line.verb() == "convert" && option.starts_with("--to") && value == "json";
    is_json.then(|| {
        "JSON is printed by --json of other verbs, as in: assay describe --json FILE".to_owned()
    })
}

/// Returns advice for `--export FILE.json`, at the index `at`, with a command that prints JSON.
fn printed(line: &Line<'_>, at: usize) -> Option<String> {
    let (file, end) = match line.words[at].split_once('=') {
        Some((_, file)) => (file, at + 1),
        None => (line.words.get(at + 1)?.as_str(), at + 2),
    };
    if Path::new(file).extension().is_none_or(|extension| extension != "json") {
        return None;
    }
    let mut words = line.words[..2].to_vec();
    words.push("--json".to_owned());
    let others = line.words[2..at].iter().chain(&line.words[end..]);
    words.extend(others.filter(|word| *word != "--json").cloned());
    Some(format!("JSON is printed: {} > {}", shown(&words), quoted([file])))
}

/// Returns advice for words after `plan`, which may be numbers or recorded runs.
fn planned(own: &[&str]) -> String {
    let is_size = |word: &&str| parse_quantity(word).is_ok() && !Path::new(word).exists();
    let is_count = own.first().is_some_and(|word| word.parse::<u32>().is_ok());
    let options: &[&str] =
        if is_count { &["--n", "--delta", "--sd"] } else { &["--delta", "--sd", "--power"] };
    if own.iter().all(is_size) && own.len() <= options.len() {
        let pairs = options.iter().zip(own).flat_map(|(option, word)| [*option, *word]);
        let words: Vec<&str> = pairs.collect();
        return format!("every number has its option: assay plan {}", quoted(words));
    }
    format!("recorded runs are given by --pilot: assay plan --pilot {} --threshold 1%", quoted(own))
}

/// Returns true if a file begins like a program, either a script or a Linux executable. Unlike
/// [`is_program`], this ignores permissions, because some file systems make every file executable.
fn begins_as_program(word: &str) -> bool {
    // Opening a pipe could wait forever.
    if !Path::new(word).is_file() {
        return false;
    }
    let mut start = Vec::new();
    let read = std::fs::File::open(word).and_then(|file| file.take(4).read_to_end(&mut start));
    read.is_ok() && (start.starts_with(b"#!/") || start == b"\x7fELF")
}

/// Returns advice about the words of a command that failed.
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
        "compare" | "describe" | "gate" | "repeat" | "why" => files(line),
        _ => None,
    }
}

/// Returns advice for a command to run whose words are not quoted, up to the index `end`.
fn unquoted(line: &Line<'_>, end: usize) -> Option<String> {
    let first = line.positionals.first().copied();
    // Without words before `--`, all words after it are commands.
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

/// Returns advice for a command to run that lacks `--` before it.
fn behind_dashes(line: &Line<'_>, at: usize) -> String {
    // The first word after `calibrate` may be a quoted command.
    let start = line.positionals.first().copied().unwrap_or(at).min(at);
    let word = line.words[start].as_str();
    let verb = line.verb();
    if verb == "calibrate" && line.positionals.len() > 1 && divided(word).is_some() {
        return format!("only one command is calibrated: assay calibrate {}", quoted([word]));
    }
    if names_program(word) || is_framework(word) || divided(word).is_some() {
        return dashes_at(line, start);
    }
    format!("the command goes after `--`: assay {verb} -- COMMAND {word}")
}

/// Returns advice to insert `--` before the word at index `at`, which is the first word of a
/// command or all of it.
fn dashes_at(line: &Line<'_>, at: usize) -> String {
    let mut words = line.words[..at].to_vec();
    words.push("--".to_owned());
    words.extend(divided(&line.words[at]).unwrap_or_else(|| vec![line.words[at].clone()]));
    words.extend(line.words[at + 1..].iter().filter(|word| *word != "--").cloned());
    format!("the command goes after `--`: {}", shown(&words))
}

/// Returns the words of a command that is quoted as a whole; `None` if the text is not such a
/// command.
fn divided(text: &str) -> Option<Vec<String>> {
    let words = shell_words::split(text).ok().filter(|words| words.len() > 1)?;
    let program = words.first()?;
    (names_program(program) || is_framework(program)).then_some(words)
}

/// Returns advice for an option of the command to run that is typed before `--`.
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

/// Returns advice for a program that is given to `assay bench` in addition to revisions or several
/// builds.
pub(super) fn beside_revisions(line: &Line<'_>) -> Option<String> {
    let own = line.own();
    let program = own.first().filter(|_| line.verb() == "bench")?;
    let is_given = |option: &str| {
        let mut words = line.words.iter().take(line.end());
        words.any(|word| word.split('=').next() == Some(option))
    };
    let program = quoted([*program]);
    if is_given("--rev") {
        return Some(format!("with --rev, the program is given by --program {program}"));
    }
    is_given("--builds").then(|| {
        format!("several builds are made of revisions, whose program is given by --program: assay bench --rev OLD --rev NEW --builds 3 --program {program}")
    })
}

/// Returns advice for a file that is to be written, not read.
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

/// Returns advice for words that are not files.
fn files(line: &Line<'_>) -> Option<String> {
    let own = line.own();
    if own.iter().any(|word| begins_as_program(word)) {
        // A path without `/` would be searched for in PATH.
        let path = |word: &&str| match word.contains('/') {
            true => (*word).to_owned(),
            false => format!("./{word}"),
        };
        let programs: Vec<String> = own.iter().map(path).collect();
        return Some(format!("programs are measured by: assay run {}", quoted(programs)));
    }
    let missing = *own.iter().find(|word| !Path::new(word).exists() && **word != "-")?;
    if line.verb() != "why" && threshold(missing).is_ok() {
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
        let why = if line.verb() == "why" { " --why" } else { "" };
        format!("commands are measured by: assay run{why} {commands}")
    })
}

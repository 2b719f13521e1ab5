//! External verbs: `assay NAME` runs the program `assay-NAME`, which is looked up in the directory
//! of this program and on PATH, as with git and cargo.
//!
//! Such a program replaces this process, so it controls arguments, status and signals. ASSAY in its
//! environment is the path of this program. It answers two queries: `--assay-about` with one line
//! for the help, and `--assay-completions SHELL` with a script that completes `assay-NAME`. Nothing
//! else is known about it here. Verbs of this program are never looked up elsewhere.

use crate::completing;
use crate::system::{become_program, is_program};
use anyhow::Context;
use assay_data::threads;
use clap::Command as Arguments;
use clap_complete::Shell;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Programs distributed with this one, with their descriptions. The help lists them whether or not
/// they are installed.
pub(crate) const SHIPPED: [(&str, &str); 2] = [
    ("mutate", "Make small changes to the source, and report those that no test notices"),
    ("farm", "Test and measure every version of a project on many machines"),
];
/// Prefix of the file names of external verbs.
pub(crate) const PREFIX: &str = "assay-";
/// Maximum time for all programs together to answer a query.
const PATIENCE: Duration = Duration::from_secs(1);

/// Replaces this process with the program that the command line names. Returns only if that fails:
/// an error if the program cannot be run, or `None` if there is no such program or the name is a
/// verb of this program.
pub(crate) fn hand_over(
    words: &[OsString],
    is_verb: impl Fn(&OsStr) -> bool,
) -> Option<anyhow::Error> {
    let (name, rest) = match words {
        [_, help, name] if help == "help" => (name, &[OsString::from("--help")][..]),
        [_, name, rest @ ..] => (name, rest),
        _ => return None,
    };
    if is_verb(name) || !is_name(name) {
        return None;
    }
    let Some(path) = program(name) else {
        return SHIPPED.iter().find(|(own, _)| name == *own).map(|(own, _)| missing(own));
    };
    let mut command = Command::new(&path);
    if let Ok(own) = std::env::current_exe() {
        command.env("ASSAY", own);
    }
    let error = become_program(command.args(rest));
    Some(anyhow::Error::new(error).context(path.display().to_string()))
}

/// Returns the path of the program for the external verb `name`.
pub(crate) fn program(name: impl AsRef<OsStr>) -> Option<PathBuf> {
    let file = file_of(name.as_ref());
    let path = directories().into_iter().map(|directory| directory.join(&file));
    path.into_iter().find(|path| is_program(path))
}

/// Returns the error for a program that comes with this one but is not installed.
pub(crate) fn missing(name: &str) -> anyhow::Error {
    anyhow::anyhow!(
        "assay {name} is a separate program, {PREFIX}{name}, which is neither next to this one nor on PATH; install it as well (from source: `cargo install --path crates/{name}`)"
    )
}

/// Finds third-party programs by name. If two directories have a program of the same name, the
/// first is used, as in [`hand_over`].
fn found(is_verb: impl Fn(&OsStr) -> bool) -> BTreeMap<String, PathBuf> {
    let mut found = installed(is_verb);
    found.retain(|name, _| SHIPPED.iter().all(|(own, _)| name != own));
    found
}

/// Like [`found`], but includes the programs distributed with this one.
fn installed(is_verb: impl Fn(&OsStr) -> bool) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    let entries = directories().into_iter().filter_map(|directory| directory.read_dir().ok());
    for entry in entries.flatten().flatten() {
        let file = entry.file_name();
        let Some(name) = file.to_str().and_then(|file| file.strip_prefix(PREFIX)) else { continue };
        let is_other = is_name(name.as_ref()) && !is_verb(name.as_ref());
        if is_other && is_program(&entry.path()) {
            found.entry(name.to_owned()).or_insert_with(|| entry.path());
        }
    }
    found
}

/// Adds the names of third-party programs to the verbs, so that a misspelled name can be
/// recognized.
pub(crate) fn named(arguments: Arguments, is_verb: impl Fn(&OsStr) -> bool) -> Arguments {
    arguments.subcommands(found(is_verb).into_keys().map(verb))
}

/// Adds a list of third-party programs to the end of the help.
pub(crate) fn listed(arguments: Arguments, is_verb: impl Fn(&OsStr) -> bool) -> Arguments {
    let programs = found(is_verb);
    if programs.is_empty() {
        return arguments;
    }
    let heading = arguments.get_styles().get_header();
    let mut list = format!("{heading}Other commands:{heading:#}\n");
    let width = programs.keys().map(String::len).max().unwrap_or(0);
    let literal = arguments.get_styles().get_literal();
    for (name, about) in programs.keys().zip(asked(programs.values(), &["--assay-about"])) {
        let about = first_line(about.as_deref());
        let blanks = if about.is_empty() { 0 } else { width - name.len() + 2 };
        let _never_fails = writeln!(list, "  {literal}{name}{literal:#}{:blanks$}{about}", "");
    }
    let after = arguments.get_after_help().map(|after| after.ansi().to_string());
    arguments.after_help(list + "\n" + &after.unwrap_or_default())
}

/// Returns the completion script for all verbs, including external ones.
pub(crate) fn completions(
    shell: Shell,
    arguments: Arguments,
    is_verb: impl Fn(&OsStr) -> bool,
) -> anyhow::Result<String> {
    let programs = found(&is_verb);
    let abouts = asked(programs.values(), &["--assay-about"]);
    let others = programs
        .keys()
        .zip(abouts)
        .map(|(name, about)| verb(name.clone()).about(first_line(about.as_deref()).to_owned()));
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut arguments.subcommands(others), "assay", &mut script);
    let script = String::from_utf8(script).context("the completions are text")?;
    let script = completing::improved(shell, &script);
    let programs = installed(is_verb);
    let scripts = asked(programs.values(), &["--assay-completions", &shell.to_string()]);
    let scripts: Vec<_> = programs.keys().zip(scripts).filter_map(|(n, s)| Some((n, s?))).collect();
    if scripts.is_empty() {
        return Ok(script);
    }
    let own: String =
        scripts.iter().map(|(_, script)| script.trim_end().to_owned() + "\n").collect();
    Ok(match shell {
        Shell::Bash => {
            own + &script.replacen("_assay() {\n", &format!("_assay() {{\n{IN_BASH}"), 1)
        }
        Shell::Zsh => {
            let script = script.replacen("_assay() {\n", &format!("_assay() {{\n{IN_ZSH}"), 1);
            let (first, rest) = script.split_once('\n').unwrap_or((&script, ""));
            format!("{first}\n{own}{rest}")
        }
        Shell::Fish => {
            let handed = scripts.iter().map(|(name, _)| IN_FISH.replace("NAME", name));
            own + &script + &handed.collect::<String>()
        }
        _ => script,
    })
}

/// Inserted at the top of the completion function. It completes the words after the verb as the
/// external program's own completions would.
const IN_BASH: &str = r#"    local other
    if [[ $COMP_CWORD -gt 1 ]] && other=$(complete -p "assay-${COMP_WORDS[1]}" 2>/dev/null) && [[ $other =~ -F\ ([^ ]+) ]]; then
        COMP_WORDS=("assay-${COMP_WORDS[1]}" "${COMP_WORDS[@]:2}")
        COMP_CWORD=$((COMP_CWORD - 1))
        "${BASH_REMATCH[1]}" "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        return
    fi
"#;
const IN_ZSH: &str = r#"    if (( CURRENT > 2 )) && (( ${+_comps[assay-$words[2]]} )); then
        words=("assay-$words[2]" "${(@)words[3,-1]}")
        (( CURRENT-- ))
        _normal
        return
    fi
"#;
const IN_FISH: &str = r#"complete -c assay -n "__fish_seen_subcommand_from NAME" -a "(complete -C (string join -- ' ' (string escape -- assay-NAME (commandline -opc)[3..]) (commandline -ct)))"
"#;

fn first_line(text: Option<&str>) -> &str {
    text.and_then(|text| text.lines().next()).unwrap_or_default().trim()
}

/// Returns a subcommand whose arguments are unknown.
fn verb(name: String) -> Arguments {
    // Leaking is fine, because there are few names, and the process ends after the help or the
    // error that needs them.
    Arguments::new(&*name.leak())
}

/// Queries all programs in parallel and returns their answers, or `None` for a program that fails
/// or takes too long.
fn asked<'a>(
    programs: impl Iterator<Item = &'a PathBuf>,
    question: &[&str],
) -> Vec<Option<String>> {
    let deadline = Instant::now() + PATIENCE;
    let asked = programs.map(|program| {
        let mut command = Command::new(program);
        command.args(question).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        let output = child.stdout.take()?;
        let (sender, answer) = std::sync::mpsc::channel();
        // Do not wait for a process that keeps the pipe open. If no thread can be started there is
        // no answer, and the program is killed.
        let _reads = threads::start(move || sender.send(std::io::read_to_string(output)));
        Some((child, answer))
    });
    let asked: Vec<_> = asked.collect();
    let answers = asked.into_iter().map(|asked| {
        let (mut child, answer) = asked?;
        let answer = answer.recv_timeout(deadline.saturating_duration_since(Instant::now()));
        if answer.is_err() {
            child.kill().ok()?;
        }
        let ended = child.wait().ok()?;
        answer.ok()?.ok().filter(|_| ended.success())
    });
    answers.collect()
}

/// Returns the directory of this program, followed by the directories on PATH.
fn directories() -> Vec<PathBuf> {
    let own = std::env::current_exe().ok().and_then(|path| Some(path.parent()?.to_owned()));
    let path = std::env::var_os("PATH").unwrap_or_default();
    own.into_iter().chain(std::env::split_paths(&path)).collect()
}

fn file_of(name: &OsStr) -> OsString {
    let mut file = OsString::from(PREFIX);
    file.push(name);
    file
}

/// Returns true if an external verb may have this name, which must start with a lower-case letter
/// and consist of lower-case letters, digits and dashes.
fn is_name(name: &OsStr) -> bool {
    let is_of = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let name = name.as_encoded_bytes();
    name.first().is_some_and(u8::is_ascii_lowercase) && name.iter().copied().all(is_of)
}

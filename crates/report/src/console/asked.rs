//! Queries that `assay` sends to the programs to which it delegates commands: for a one-line
//! description, and for completions. Each program defines its own arguments.

use clap::Command;
use clap_complete::Shell;
use std::ffi::OsString;

/// Returns the answer if `words` is one of the two queries, otherwise `None`. `own` defines the
/// program's command line, and `program` is its file name, `assay-NAME`.
#[must_use]
pub fn answer(words: &[OsString], own: Command, program: &'static str) -> Option<String> {
    let words: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
    match words?[..] {
        ["--assay-about"] => {
            Some(own.get_about().map(ToString::to_string).unwrap_or_default() + "\n")
        }
        ["--assay-completions", shell] => completions(shell.parse().ok()?, own, program),
        _ => None,
    }
}

fn completions(shell: Shell, own: Command, program: &'static str) -> Option<String> {
    let mut script = Vec::new();
    let mut own = own.name(program).bin_name(program);
    clap_complete::generate(shell, &mut own, program, &mut script);
    // In zsh two colons would take the rest of the line, including options.
    String::from_utf8(script).ok().map(|script| script.replace("\n'*::", "\n'*:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_questions_are_answered_and_nothing_else() {
        let own = || Command::new("assay own").about("What it does").arg(clap::arg!(--strict));
        let asked = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            answer(&words, own(), "assay-own")
        };
        assert_eq!(asked(&["--assay-about"]).unwrap_or_default(), "What it does\n");
        let script = asked(&["--assay-completions", "bash"]).unwrap_or_default();
        assert!(script.contains("assay-own") && script.contains("--strict"), "{script}");
        for words in [&["--assay-completions", "none"][..], &["--assay-about", "x"], &["run"], &[]]
        {
            assert_eq!(asked(words), None, "{words:?}");
        }
    }
}

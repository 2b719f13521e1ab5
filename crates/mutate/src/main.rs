//! The program behind `assay mutate`: arguments in, what became of the mutants out. `assay` finds it beside itself and hands the process over.
//!
//! Exit codes: 0 fine · 1 what `--fail-if` names came true · 2 usage or input error · 4 the tests fail without any change · 130 interrupted.

mod arena;
mod args;
mod baseline;
mod copies;
mod coupling;
mod equivalent;
mod forked;
mod journal;
mod policy;
mod proof;
mod rounds;
mod showing;
mod sources;
mod suite;
mod switched;
mod switches;
mod trying;
mod verb;
mod walls;

use args::Args;
use assay_console::output;
use clap::FromArgMatches;
use clap_complete::Shell;
use std::process::ExitCode;
use verb::Ending;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    // The two questions that `assay` asks of such programs.
    let answer = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--assay-about"] => {
            let about = Args::asked().get_about().map(ToString::to_string);
            Some(about.unwrap_or_default() + "\n")
        }
        ["--assay-completions", shell] => completions(shell),
        _ => None,
    };
    if let Some(answer) = answer {
        return ending_of(output::print(&answer).map(|()| Ending::Fine));
    }
    let parsed = Args::asked().try_get_matches();
    match parsed.and_then(|found| Args::from_arg_matches(&found)) {
        Ok(args) => ending_of(verb::run(&args)),
        Err(told) => output::clap_ending(&told),
    }
}

fn completions(shell: &str) -> Option<String> {
    let shell: Shell = shell.parse().ok()?;
    let mut script = Vec::new();
    clap_complete::generate(
        shell,
        &mut Args::asked().name("assay-mutate"),
        "assay-mutate",
        &mut script,
    );
    // In zsh two colons would take the whole rest of the line, options and all.
    String::from_utf8(script).ok().map(|script| script.replace("\n'*::", "\n'*:"))
}

fn ending_of(ended: anyhow::Result<Ending>) -> ExitCode {
    ExitCode::from(match ended {
        Ok(Ending::Fine) => 0,
        Ok(Ending::FailIfCameTrue) => 1,
        Ok(Ending::Red) => 4,
        Ok(Ending::Interrupted) => 130,
        Err(error) => {
            output::error(&error);
            2
        }
    })
}

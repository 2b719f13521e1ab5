//! The `assay mutate` program, which parses arguments, tries the mutants and reports the results.
//! `assay` finds it in its own directory and execs it.
//!
//! Nothing is changed except in copies of the project. The report crate renders the terminal
//! output, and the analysis crate computes the scores.
//!
//! Exit codes: 0 success · 1 a `--fail-if` condition is met · 2 usage or input error · 4 the tests
//! fail without any change · 130 interrupted.

mod arena;
mod args;
mod baseline;
mod built;
mod copies;
mod coupling;
mod driven;
mod driving;
mod equivalent;
mod forked;
mod guard;
mod installed;
mod journal;
mod layout;
mod macros;
mod policy;
mod proof;
mod rounds;
mod settings;
mod showing;
mod singly;
mod sources;
mod status;
mod suite;
mod switched;
mod switches;
mod trying;
mod verb;
mod walls;

use args::Args;
use assay_report::console::{asked, output};
use clap::FromArgMatches;
use std::io::{self, BufReader, BufWriter, ErrorKind};
use std::process::ExitCode;
use verb::Ending;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    if words.first().is_some_and(|word| word == "blocks") {
        return ending_of(serve_blocks());
    }
    let answer = asked::answer(&words, Args::asked(), "assay-mutate");
    if let Some(answer) = answer {
        return ending_of(output::print(&answer).map(|()| Ending::Fine));
    }
    let parsed = Args::asked().try_get_matches();
    match parsed.and_then(|found| Args::from_arg_matches(&found)) {
        Ok(args) => ending_of(verb::run(&args)),
        Err(told) => output::clap_ending(told),
    }
}

/// Divides source files into blocks for `assay tests --changed` and `assay watch` until they close
/// the pipe. These commands contain no grammars themselves, because grammars make up most of this
/// program's size.
fn serve_blocks() -> anyhow::Result<Ending> {
    let mut input = BufReader::with_capacity(1 << 16, io::stdin().lock());
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    match assay_mutate::blocks::serve(&mut input, &mut out) {
        // The client may close the pipe at any time.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(Ending::Fine),
    }
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

//! `assay-blocks`: divides source files into blocks for `assay tests --changed` and `assay watch`,
//! which start it, send it requests, and end it.

use std::io::{self, BufReader, BufWriter, ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

const ABOUT: &str = "\
assay-blocks is a part of assay. `assay tests --changed` and `assay watch` start it to divide source files into functions.
There is no need to run it yourself: it reads requests from standard input, and writes answers to standard output.
";

fn main() -> ExitCode {
    let word = std::env::args_os().nth(1);
    let (text, status) = match word.as_ref().map(|word| word.to_str().unwrap_or_default()) {
        Some("--version" | "-V") => (concat!("assay-blocks ", env!("CARGO_PKG_VERSION"), "\n"), 0),
        Some("--help" | "-h") => (ABOUT, 0),
        None if !io::stdin().is_terminal() => return serve(),
        _ => (ABOUT, 2),
    };
    let said = match status {
        0 => io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()),
        _ => io::stderr().write_all(text.as_bytes()),
    };
    match said {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => failed(&error),
        _ => ExitCode::from(status),
    }
}

fn serve() -> ExitCode {
    let mut input = BufReader::with_capacity(1 << 16, io::stdin().lock());
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    match assay_blocks::serve(&mut input, &mut out) {
        Ok(()) => ExitCode::SUCCESS,
        // The client has gone.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

fn failed(error: &io::Error) -> ExitCode {
    let _nobody_listens = writeln!(io::stderr(), "assay-blocks: {error}");
    ExitCode::from(2)
}

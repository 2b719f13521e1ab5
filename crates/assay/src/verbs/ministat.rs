//! `assay ministat`, and the same program invoked as `ministat`: byte-compatible with the original
//! ministat.
//!
//! Its arguments bypass the parser of the other commands, which would accept and print other
//! things. This file determines the environment of the run (flavor, terminal, variables), opens
//! files, and prints. Everything else is in `assay_ministat`.

use crate::{Ending, output};
use assay_measure::terminal;
use assay_ministat::{Flavour, Opened, Source, Surroundings, Terminal};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

/// Name of the environment variable that selects the flavor.
const VARIABLE: &str = "ASSAY_MINISTAT";

/// Size of the output buffer, in bytes.
const AT_ONCE: usize = 1 << 16;

/// Arguments of `assay ministat`, for the help and the man page. They are parsed elsewhere.
#[derive(clap::Args, Debug)]
#[command(
    disable_help_flag = true,
    disable_version_flag = true,
    override_usage = "assay ministat [--flavour=2015|2025] [-Anqs] [-C COLUMN] [-c CONFIDENCE] [-d DELIMITERS] [-w WIDTH] [FILE]...",
    after_help = "Options of the classic ministat:
  -A        print no plot
  -n        print neither plot nor comparison
  -q        print neither names nor header (flavour 2025)
  -s        print a line of bars for every set
  -C N      read column N, from 1
  -c LEVEL  confidence level: 80, 90, 95 (default), 98, 99 or 99.5
  -d CHARS  characters that separate columns (default: space and tab)
  -w N      width of the plot in columns (default: the terminal's width less 2, or 74)

Up to seven files are compared with the first; - or no file means standard input. Output, errors and exit status are \
byte for byte those of ministat, so --help is also an error. Two versions of ministat are in use: 2025 (FreeBSD, Debian sid, \
Ubuntu 26.04; the default) and 2015 (Debian up to 13, Ubuntu up to 25.10). Select one with --flavour as the first argument, or with \
the environment variable ASSAY_MINISTAT.

Invoked as ministat (ln -s assay ministat), the binary does the same.

Examples:
  assay ministat old.txt new.txt
  assay ministat --flavour=2015 -s -w 60 old.txt new.txt
  assay compare old.txt new.txt      answer the same question with a verdict"
)]
pub(crate) struct Args {
    /// Arguments of the classic ministat
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Returns the arguments if the program is invoked as `ministat`, or if `ministat` is the first
/// argument.
pub(crate) fn asked(mut line: impl Iterator<Item = OsString>) -> Option<Args> {
    let program = line.next()?;
    let is_named = Path::new(&program).file_name() == Some(OsStr::new("ministat"));
    if is_named || line.next()? == "ministat" {
        return Some(Args { arguments: line.collect() });
    }
    None
}

/// Returns the flavor, from `--flavour` or the environment variable, and the remaining arguments.
fn flavour(arguments: &[OsString]) -> anyhow::Result<(Flavour, &[OsString])> {
    let first = arguments.first().and_then(|first| first.to_str());
    let (said, rest) = match first.and_then(|first| first.strip_prefix("--flavour=")) {
        Some(year) => (Some(("--flavour", OsString::from(year))), &arguments[1..]),
        None => (std::env::var_os(VARIABLE).map(|year| (VARIABLE, year)), arguments),
    };
    let Some((place, year)) = said.filter(|(_, year)| !year.is_empty()) else {
        return Ok((Flavour::default(), rest));
    };
    match Flavour::from_year(&year) {
        Some(flavour) => Ok((flavour, rest)),
        None => anyhow::bail!(
            "{place}={}: there is no such flavour of ministat; write 2015 or 2025",
            year.to_string_lossy()
        ),
    }
}

fn open(source: Source<'_>) -> io::Result<Opened> {
    match source {
        Source::StandardInput => Ok(Opened { reader: Box::new(io::stdin()), is_regular: false }),
        Source::File(name) => {
            let file = File::open(name)?;
            let is_regular = file.metadata().is_ok_and(|facts| facts.is_file());
            Ok(Opened { reader: Box::new(file), is_regular })
        }
    }
}

/// Reads, decides and prints as the original does.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let (flavour, arguments) = flavour(&args.arguments)?;
    let surroundings = Surroundings {
        flavour,
        posixly_correct: std::env::var_os("POSIXLY_CORRECT").is_some(),
        terminal: terminal::columns_of(io::stdout())
            .map(|columns| Terminal { columns_variable: std::env::var_os("COLUMNS"), columns }),
        open: &open,
    };
    let mut out = BufWriter::with_capacity(AT_ONCE, io::stdout().lock());
    let ran = assay_ministat::run(arguments, &surroundings, &mut out);
    // Discard the unwritten bytes, so that dropping `out` does not write them.
    drop(out.into_parts());
    match ran {
        Ok(ending) => {
            output::say_bytes(&ending.stderr);
            Ok(Ending::Of(ending.status))
        }
        // A reader that closed the pipe has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Ending::Fine),
        Err(error) => Err(anyhow::Error::new(error).context("standard output")),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]

    use super::*;

    fn arguments(line: &[&str]) -> Option<Vec<OsString>> {
        asked(line.iter().map(OsString::from)).map(|args| args.arguments)
    }

    #[test]
    fn it_is_asked_for_as_a_verb_or_by_its_name() {
        assert_eq!(arguments(&["/usr/bin/ministat", "--help"]), Some(vec!["--help".into()]));
        assert_eq!(arguments(&["assay", "ministat", "-n"]), Some(vec!["-n".into()]));
        assert_eq!(arguments(&["ministat", "ministat"]), Some(vec!["ministat".into()]));
        assert_eq!(arguments(&["assay", "compare", "ministat"]), None);
        assert_eq!(arguments(&["assay"]), None);
        assert_eq!(arguments(&[]), None);
    }

    #[test]
    fn the_flavour_is_the_first_argument_or_none() {
        let line = ["--flavour=2015".into(), "--flavour=2025".into()];
        let (found, rest) = flavour(&line).unwrap();
        assert_eq!((found, rest), (Flavour::Of2015, &line[1..]));
        assert!(flavour(&["--flavour=2019".into()]).unwrap_err().to_string().contains("2025"));
    }
}

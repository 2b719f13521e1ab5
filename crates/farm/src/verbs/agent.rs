//! `assay farm agent`: the arguments of the agent, which is implemented in `crate::agent`.

use crate::Ending;
use crate::agent::{self, Settings};
use assay_farm::builds::model::Kind;
use assay_farm::client::{Client, Token};
use assay_measure::directories::state_directory;
use clap::ValueEnum;
use std::path::PathBuf;
use std::time::Duration;

/// The arguments of `assay farm agent`.
#[derive(clap::Args, Debug)]
#[command(
    about = "Build, test and measure on this machine for a server",
    long_about = "Build, test and measure on this machine for a server

The agent asks the server for jobs, does them in a sandbox, and submits the results. While the server cannot be reached, results wait in the agent's \
directory. Each runtime that the agent finds on PATH (ruby, python3.x, node, go, rustc) is a separate target.",
    after_help = "\
The token comes from a file that only you can read (--token-file) or from ASSAY_FARM_TOKEN, never from the command line.

Examples:
  assay farm agent --server https://farm.example --name lab-1 --token-file token
  assay farm agent --server http://127.0.0.1:8040 --name lab-1 --once       do one job, then stop
  assay farm agent --server https://farm.example --name lab-1 --runtime ruby --kind test"
)]
pub(crate) struct Args {
    /// Address of the server, as in https://farm.example
    #[arg(long, value_name = "URL")]
    server: String,
    /// Name of this machine on the server
    #[arg(long, value_name = "NODE")]
    name: String,
    /// File with the agent's token [default: the token in ASSAY_FARM_TOKEN]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Stop after one job; with a number, do only that job
    #[arg(long, value_name = "JOB", num_args = 0..=1, require_equals = true)]
    once: Option<Option<i64>>,
    /// Directory of this agent, outside of home directories [default: /var/lib/assay-farm/agent for
    /// root, otherwise in the state directory]
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Use only this runtime, such as ruby or python3.12; may be repeated
    #[arg(long, value_name = "NAME")]
    runtime: Vec<String>,
    /// Take only jobs of this kind
    #[arg(long, value_name = "KIND", value_enum)]
    kind: Option<JobKind>,
    /// Maximum number of bytes that a job may write, as in 500MB or 8GiB
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "8GiB")]
    disk: u64,
    /// Hours between calibrations of this machine (assay calibrate), starting immediately; 0
    /// disables them
    #[arg(long, value_name = "HOURS", default_value_t = 24)]
    calibrate: u32,
    /// Also look for new versions at the projects' origins, at this interval in minutes [default:
    /// 20]
    #[arg(long, value_name = "MINUTES", num_args = 0..=1, require_equals = true, default_missing_value = "20", value_parser = clap::value_parser!(u32).range(1..))]
    discover: Option<u32>,
    /// Allow projects whose repositories are on this machine (file:)
    #[arg(long)]
    local_repositories: bool,
}

/// Kinds of jobs.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum JobKind {
    /// Run the tests of a version
    Test,
    /// Compare the speed of a version with its base
    Bench,
}

/// Parses a size in bytes from a number with an optional unit, such as `500MB` or `8GiB`.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim() {
        "" | "B" => 1,
        "kB" => 1000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err("a size is a number with B, kB, MB, GB, KiB, MiB or GiB".to_owned()),
    };
    let bytes = number.parse::<u64>().ok().and_then(|own| own.checked_mul(factor));
    bytes.ok_or_else(|| "not a number of bytes".to_owned())
}

/// Returns the default directory of an agent, which depends on whether the user is root.
fn usual() -> PathBuf {
    if rustix::process::geteuid().is_root() {
        return PathBuf::from("/var/lib/assay-farm/agent");
    }
    let state = state_directory();
    state.unwrap_or_else(|| std::env::temp_dir().join(".local/state/assay")).join("farm-agent")
}

/// Runs the agent until it is interrupted.
///
/// # Errors
/// If the server refuses the agent, or nothing can be run on this machine.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    assay_farm::builds::check_name("a node", &args.name)?;
    let token = Token::find(args.token_file.as_deref())?;
    let client = Client::new(&args.server, token)?;
    let directory = args.directory.clone().unwrap_or_else(usual);
    let hours = u64::from(args.calibrate);
    agent::run(
        &Settings {
            name: args.name.clone(),
            once: args.once,
            directory: std::path::absolute(&directory)?,
            runtimes: args.runtime.clone(),
            kinds: match args.kind {
                Some(JobKind::Test) => vec![Kind::Test],
                Some(JobKind::Bench) => vec![Kind::Bench],
                None => vec![Kind::Test, Kind::Bench],
            },
            disk: args.disk,
            calibrates: (hours > 0).then(|| Duration::from_secs(hours * 3600)),
            discovers: args.discover.map(|own| Duration::from_secs(u64::from(own) * 60)),
            allows_files: args.local_repositories,
        },
        client,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!((size("8GiB"), size("500MB"), size("7")), (Ok(8 << 30), Ok(500_000_000), Ok(7)));
        assert!(size("8 parsecs").is_err() && size("GB").is_err());
    }
}

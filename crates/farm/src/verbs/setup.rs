//! `assay farm setup`: sets up a farm on this machine, or on another one over SSH. Running it again
//! with the same options changes nothing.

use crate::deploy::StepResult;
use crate::deploy::host::Host;
use crate::deploy::steps::{Farm, PROGRAMS, set_up};
use crate::{Ending, given};
use anyhow::{Context, ensure};
use assay_history::{StoreLocation, without_password};
use assay_report::console::output;
use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Set up a farm on a machine; running it again changes nothing
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  assay farm setup --directory /srv/farm                              set up this machine
  assay farm setup --directory /srv/farm --host root@farm.example     set up another machine over ssh
  assay farm setup … --step 'cache=mkdir -p /var/cache/gems && chown assay-farm: /var/cache/gems'
  assay farm setup … --store postgres:///farm --step 'postgres=runuser -u postgres -- sh -c \"createuser $FARM_USER; createdb -O $FARM_USER farm\"'

Each step reports whether it changed something. A second run changes nothing.")]
pub(crate) struct Args {
    /// Directory of the farm, for its programs, settings and data
    #[arg(long, value_name = "DIR")]
    directory: String,

    /// User that runs the server, created if missing
    #[arg(long, value_name = "USER", default_value = "assay-farm")]
    user: String,

    /// Machine to set up, as a host name for ssh [default: this machine]
    #[arg(long, value_name = "HOST")]
    host: Option<String>,

    /// Command that connects to the machine
    #[arg(long, value_name = "COMMAND", default_value = "ssh -o BatchMode=yes", requires = "host")]
    ssh: String,

    /// Become root on the machine with sudo, which must not ask for a password
    #[arg(long)]
    sudo: bool,

    /// Address and port that the server is to listen on
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8040", value_parser = given::listen)]
    listen: SocketAddr,

    /// PostgreSQL database for the store, as in postgres:///farm [default: a file in the directory]
    ///
    /// Set its password with --env PGPASSWORD=…
    #[arg(long, value_name = "URL")]
    store: Option<String>,

    /// Environment variable of the server; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = variable)]
    env: Vec<(String, String)>,

    /// Your own setup step, a command that runs in the directory; may be repeated
    ///
    /// It runs once as the user that sets up the farm, and again if the command changes.
    #[arg(long, value_name = "NAME=COMMAND", value_parser = step)]
    step: Vec<(String, String)>,

    /// Directory with assay-farm and assay for that machine [default: the directory of this
    /// program]
    #[arg(long, value_name = "DIR")]
    programs: Option<PathBuf>,

    /// Directory of systemd units
    #[arg(long, value_name = "DIR", default_value = "/etc/systemd/system")]
    units: String,
}

fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("a variable is NAME=VALUE")?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty()
        || !name.chars().all(is_name)
        || name.starts_with(|c: char| c.is_ascii_digit())
    {
        return Err(format!("`{name}` is not a valid name of a variable"));
    }
    if value.contains(|c: char| c.is_control()) {
        return Err("a variable's value has no line breaks".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}

fn step(text: &str) -> Result<(String, String), String> {
    let (name, command) = text.split_once('=').ok_or("a step is NAME=COMMAND")?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || !name.chars().all(is_name) || command.trim().is_empty() {
        return Err("a step is NAME=COMMAND; its name has letters, digits, `-` and `_`".to_owned());
    }
    Ok((name.to_owned(), command.to_owned()))
}

/// Runs all steps and prints the result of each.
///
/// # Errors
/// If an option is invalid. Otherwise the error of the first step that fails.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let directory = args.directory.trim_end_matches('/');
    // Plain text has the same meaning in a shell, in a systemd unit and in a database address.
    let is_plain = |text: &str| !text.contains(|c: char| c.is_control() || "\"\\$".contains(c));
    ensure!(
        directory.starts_with('/')
            && is_plain(directory)
            && !directory.split('/').any(|part| part == ".."),
        "--directory {}: must be an absolute path of a directory below the root",
        args.directory
    );
    ensure!(
        args.units.starts_with('/') && is_plain(&args.units),
        "--units {}: must be an absolute path",
        args.units
    );
    let is_user = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    ensure!(
        args.user.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && args.user.chars().all(is_user),
        "--user {}: not a valid user name",
        args.user
    );
    for (number, (name, _)) in args.step.iter().enumerate() {
        ensure!(
            args.step[..number].iter().all(|(other, _)| other != name),
            "--step {name}: this name is used twice"
        );
    }
    let host = match &args.host {
        None => Host::here(args.sudo),
        Some(name) => {
            ensure!(!name.is_empty() && !name.starts_with('-'), "--host {name}: not a valid host");
            let ssh =
                shell_words::split(&args.ssh).with_context(|| format!("--ssh {}", args.ssh))?;
            ensure!(!ssh.is_empty(), "--ssh: the command is empty");
            Host::over(&ssh, name, args.sudo)
        }
    };
    let programs = match &args.programs {
        Some(programs) => programs.clone(),
        None => {
            std::env::current_exe()?.parent().context("a program without a directory")?.to_owned()
        }
    };
    let store = args.store.as_deref().unwrap_or_default();
    ensure!(is_plain(store), "--store: must not contain control characters or any of \" \\ $");
    ensure!(
        without_password(store) == store,
        "--store: a password would be visible in the list of processes; pass it with --env PGPASSWORD=…"
    );
    if let Some(store) = &args.store {
        let place = StoreLocation::read(OsStr::new(store), None).context("--store")?;
        ensure!(
            matches!(place, StoreLocation::Server(_)),
            "--store {store}: must be a PostgreSQL database, as in postgres:///farm; without --store, the store is a file in {directory}/data"
        );
    }
    for program in PROGRAMS {
        let path = programs.join(program);
        ensure!(
            path.is_file(),
            "{}: no such program; name a directory that has it with --programs DIR",
            path.display()
        );
    }
    let farm = Farm {
        directory,
        user: &args.user,
        listen: &args.listen.to_string(),
        programs: &programs,
        environment: args.env.clone(),
        store,
        own: args.step.clone(),
        units: args.units.trim_end_matches('/'),
    };
    let (mut changed, mut as_it_was) = (0, 0);
    set_up(&host, &farm, &mut |step, came| {
        let said = match came {
            StepResult::Changed => "changed",
            StepResult::AsItWas => "unchanged",
            StepResult::LeftOut(why) => &format!("left out: {why}"),
        };
        changed += usize::from(*came == StepResult::Changed);
        as_it_was += usize::from(*came == StepResult::AsItWas);
        // A closed standard output must not stop the setup.
        let _nobody_reads = output::print(&format!("{step:<24} {said}\n"));
    })?;
    output::print(&format!("{}: {changed} changed, {as_it_was} unchanged\n", host.name()))?;
    output::say(&format!("A token of scope admin is in {directory}/data/admin-token there."));
    Ok(Ending::Fine)
}

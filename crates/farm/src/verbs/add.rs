//! `assay farm add`: adds a project, or a version of a project, to a server through its API. An
//! existing project or version is updated.

use crate::client::{Client, Token};
use crate::{Ending, given};
use assay_farm::builds::model::{Facts, VersionKind, meets};
use assay_farm::builds::wire::{NewProject, NewVersion, Origin, Recipe};
use assay_report::console::output;
use clap::ArgGroup;
use std::path::PathBuf;

/// Add a project, or a version of a project
#[derive(clap::Args, Debug)]
#[command(
    group = ArgGroup::new("origin").args(["git", "gem", "pypi", "list"]),
    after_help = "\
Examples:
  assay farm add alice/tidy --git https://git.example/tidy --test 'rake test' --token-file farm/admin-token
  assay farm add pallets/itsdangerous --pypi itsdangerous --need runtime.python=3
  assay farm add alice/tidy --version 1.2.0             add a version that no agent discovers

Agents with --discover find the versions of a project that has an origin. Adding a project again changes its settings, and keeps its results."
)]
pub(crate) struct Args {
    /// Project to add; its owner is added if missing
    #[arg(value_name = "OWNER/PROJECT")]
    project: String,

    /// Take the versions from the branches and tags of a git repository
    #[arg(long, value_name = "URL", value_parser = given::words)]
    git: Option<String>,

    /// Take the versions from a Ruby gem
    #[arg(long, value_name = "NAME", value_parser = given::words)]
    gem: Option<String>,

    /// Take the versions from a Python distribution
    #[arg(long, value_name = "NAME", value_parser = given::words)]
    pypi: Option<String>,

    /// Take the versions from a command that prints `VERSION [ADDRESS]` lines
    #[arg(long, value_name = "COMMAND", requires = "get", value_parser = given::words)]
    list: Option<String>,

    /// With --list: command that fetches $VERSION from $ADDRESS
    #[arg(long, value_name = "COMMAND", requires = "list", value_parser = given::words)]
    get: Option<String>,

    /// Package index, with --gem or --pypi [default: the public one]
    #[arg(long, value_name = "URL", conflicts_with_all = ["git", "list"], requires = "origin", value_parser = given::web)]
    index: Option<String>,

    /// Command that installs the dependencies; may be repeated [default: derived from the project's
    /// files]
    #[arg(long, value_name = "COMMAND", value_parser = given::words)]
    install: Vec<String>,

    /// Command that runs the tests [default: derived from the project's files]
    #[arg(long, value_name = "COMMAND", value_parser = given::words)]
    test: Option<String>,

    /// Benchmark to measure, as arguments of `assay bench`
    #[arg(long, value_name = "ARGUMENTS", value_parser = arguments, allow_hyphen_values = true)]
    bench: Option<String>,

    /// Let the tests use the network
    #[arg(long)]
    network: bool,

    /// Maximum time of a job, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,

    /// Required property of a platform, as in runtime.ruby=3.4; may be repeated
    #[arg(long, value_name = "FACT=VALUE", value_parser = fact)]
    need: Vec<(String, String)>,

    /// Add this version of an existing project
    #[arg(
        long,
        value_name = "VERSION",
        value_parser = given::words,
        conflicts_with_all = ["origin", "install", "test", "bench", "network", "timeout", "need"]
    )]
    version: Option<String>,

    /// Treat the version as a commit, not as a release
    #[arg(long, requires = "version")]
    commit: bool,

    /// Address to fetch the version from
    #[arg(long, value_name = "URL", requires = "version", value_parser = given::web)]
    address: Option<String>,

    /// SHA-256 of the file at --address
    #[arg(long, value_name = "DIGITS", requires = "address", value_parser = given::sha256)]
    sha256: Option<String>,

    /// Address of the server
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8040")]
    server: String,

    /// File with a token of scope `submit` [default: the token in ASSAY_FARM_TOKEN]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

fn fact(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok((name.to_owned(), value.to_owned()))
        }
        _ => Err("a fact is NAME=VALUE, as in runtime.ruby=3.4".to_owned()),
    }
}

fn arguments(text: &str) -> Result<String, String> {
    shell_words::split(text).map_err(|error| error.to_string())?;
    given::words(text)
}

impl Args {
    fn origin(&self) -> Option<Origin> {
        let index = self.index.clone();
        let git = self.git.clone().map(|url| Origin::Git { url });
        let gem = || Some(Origin::Gem { name: self.gem.clone()?, index: index.clone() });
        let pypi = || Some(Origin::PyPi { name: self.pypi.clone()?, index: index.clone() });
        let command = || Some(Origin::Command { list: self.list.clone()?, get: self.get.clone()? });
        git.or_else(gem).or_else(pypi).or_else(command)
    }

    fn new_project(&self) -> NewProject {
        NewProject {
            origin: self.origin(),
            recipe: Recipe {
                install: self.install.clone(),
                test: self.test.clone(),
                bench: self.bench.clone(),
                network: self.network,
                timeout: self.timeout,
                ..Recipe::default()
            },
            needs: self.need.iter().cloned().collect::<Facts>(),
        }
    }

    fn new_version(&self) -> NewVersion {
        NewVersion {
            kind: if self.commit { VersionKind::Commit } else { VersionKind::Release },
            published: None,
            ordinal: None,
            address: self.address.clone(),
            sha256: self.sha256.clone(),
        }
    }
}

/// Adds the project or version, and prints the address of its page.
///
/// # Errors
/// If the server refuses the request or cannot be reached.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    let (owner, name) = given::project(&args.project)?;
    assay_farm::builds::has_pages(owner)?;
    let client = Client::new(&args.server, Token::find(args.token_file.as_deref())?)?.once();
    let mut waits = None;
    let (json, told) = match &args.version {
        Some(version) => {
            let added = client.add_version((owner, name), version, &args.new_version())?;
            waits = waits_for(&client, (owner, name))?;
            (serde_json::to_string_pretty(&added)?, format!("{owner}/{name} {version}"))
        }
        None => {
            client.add_owner(owner)?;
            let added = client.add_project(owner, name, &args.new_project())?;
            (serde_json::to_string_pretty(&added)?, format!("{owner}/{name}"))
        }
    };
    let page = format!("{}/{owner}/{name}", client.address().trim_end_matches('/'));
    output::print(&match args.json {
        true => json + "\n",
        false => format!("{told}: {page}\n"),
    })?;
    if let Some(why) = waits {
        output::say(&why);
    }
    Ok(Ending::Fine)
}

/// Returns the reason why no version of a project can be built yet, or `None` if a registered
/// target meets the project's needs.
fn waits_for(client: &Client, (owner, name): (&str, &str)) -> anyhow::Result<Option<String>> {
    let targets = client.targets()?;
    let own = client.projects(owner)?.into_iter().find(|own| own.name == name);
    let needs = own.map(|own| own.of.needs).unwrap_or_default();
    if targets.iter().any(|target| meets(&target.of.facts, &needs)) {
        return Ok(None);
    }
    let needs: Vec<String> = needs.iter().map(|(fact, value)| format!("{fact}={value}")).collect();
    Ok(Some(match needs.is_empty() {
        true => "no agent has registered yet: it will be built once one does".to_owned(),
        false => format!(
            "no registered target meets {}: it will be built once one does",
            needs.join(", ")
        ),
    }))
}

//! `assay farm token`: creates, lists, replaces and revokes tokens directly in the store. The
//! server need not be running. If it is, changes take effect immediately.

use crate::Ending;
use crate::data::DataArgs;
use assay_farm::builds::model::Scope;
use assay_farm::builds::policy::LARGEST_PAGE;
use assay_farm::builds::wire::{MadeToken, NewToken, Token};
use assay_farm::builds::{Store, when};
use assay_history::Access;
use assay_report::console::output;
use clap::{Subcommand, ValueEnum};
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;

/// Create, list, replace and revoke the tokens of agents and programs
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay farm token add --data farm --scope agent --node arm1 arm1    a token for the agent of the node arm1
  assay farm token add --data farm --scope submit --owner rails ci   a token for a program that adds versions of rails
  assay farm token list --data farm                                  all tokens, with their numbers
  assay farm token rotate --data farm 3                              a new secret for token 3
  assay farm token remove --data farm 3                              token 3 stops working")]
pub(crate) struct Args {
    #[command(subcommand)]
    does: TokenCommand,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    /// Create a token, and print its secret, which is not shown again
    #[command(after_help = "Examples:
  assay farm token add --data farm --scope agent --node arm1 arm1
  assay farm token add --data farm --scope read --lasts 720h dashboard")]
    Add(Add),
    /// List the tokens, without their secrets
    #[command(after_help = "Examples:
  assay farm token list --data farm")]
    List(List),
    /// Give a token a new secret, and print it; the old one stops working
    #[command(after_help = "Examples:
  assay farm token rotate --data farm 3")]
    Rotate(TokenNumber),
    /// Revoke a token
    #[command(after_help = "Examples:
  assay farm token remove --data farm 3")]
    Remove(TokenNumber),
}

#[derive(clap::Args, Debug)]
struct Add {
    #[command(flatten)]
    of: DataArgs,

    /// Name of the token, which identifies its user in the audit log
    #[arg(value_name = "NAME")]
    name: String,

    /// Scope of the token
    #[arg(long, value_name = "SCOPE")]
    scope: TokenScope,

    /// Node of the agent that uses it, with --scope agent
    #[arg(long, value_name = "NODE", required_if_eq("scope", "agent"))]
    node: Option<String>,

    /// Owner whose projects it may change [default: all owners]
    #[arg(long, value_name = "OWNER")]
    owner: Option<String>,

    /// Lifetime, as in 720h [default: until it is revoked]
    #[arg(long, value_name = "TIME", value_parser = crate::durations::read)]
    lasts: Option<Duration>,
}

#[derive(clap::Args, Debug)]
struct List {
    #[command(flatten)]
    of: DataArgs,

    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

#[derive(clap::Args, Debug)]
struct TokenNumber {
    #[command(flatten)]
    of: DataArgs,

    /// Number of the token, as listed by `assay farm token list`
    #[arg(value_name = "ID")]
    id: i64,
}

/// Scopes of tokens. Each includes reading.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum TokenScope {
    /// Read
    Read,
    /// Add owners, projects, versions, targets, builds and jobs
    Submit,
    /// Take jobs for one node, and submit their results
    Agent,
    /// Create and revoke tokens, drain nodes, delete
    Admin,
}

impl TokenScope {
    fn scope(self) -> Scope {
        match self {
            Self::Read => Scope::Read,
            Self::Submit => Scope::Submit,
            Self::Agent => Scope::Agent,
            Self::Admin => Scope::Admin,
        }
    }
}

/// Runs the subcommand.
pub(super) fn run(args: &Args) -> anyhow::Result<Ending> {
    match &args.does {
        TokenCommand::Add(add) => {
            let now = Timestamp::now();
            let until = add.lasts.and_then(|lasts| SignedDuration::try_from(lasts).ok());
            let until = until.map(|lasts| now.checked_add(lasts)).transpose()?;
            let new = NewToken {
                name: add.name.clone(),
                scope: add.scope.scope(),
                node: add.node.clone(),
                owner: add.owner.clone(),
                until: until.map(|until| when::text(until.as_millisecond())),
            };
            let made = open(&add.of)?.add_token(&new, now.as_millisecond())?;
            made_known(&made)?;
        }
        TokenCommand::List(list) => {
            let tokens = open(&list.of)?.tokens(None, LARGEST_PAGE)?.items;
            output::print(&listed(&tokens, list.json)?)?;
        }
        TokenCommand::Rotate(one) => made_known(&open(&one.of)?.rotate_token(one.id)?)?,
        TokenCommand::Remove(one) => {
            let token = open(&one.of)?.remove_token(one.id)?;
            output::say(&format!("token {} ({}) is revoked", token.id, token.of.name));
        }
    }
    Ok(Ending::Fine)
}

fn open(of: &DataArgs) -> anyhow::Result<Store> {
    let place = of.find()?.place;
    // Opening for reading fails if there is no store. Opening for writing would create one,
    // although the directory is probably wrong.
    drop(Store::open(&place, Access::Read)?);
    Ok(Store::open(&place, Access::Write)?)
}

/// Prints a new token. The secret goes to standard output and everything else to standard error, so
/// that a redirected file contains only the secret.
fn made_known(made: &MadeToken) -> anyhow::Result<()> {
    let Token { id, of, .. } = &made.token;
    output::say(&format!("token {id} ({}): save it now, it is not shown again", of.name));
    output::print(&format!("{}\n", made.secret))
}

fn listed(tokens: &[Token], json: bool) -> anyhow::Result<String> {
    if json {
        return Ok(serde_json::to_string_pretty(tokens)? + "\n");
    }
    let rows = tokens.iter().map(|token| {
        let of = &token.of;
        let bound = of.node.as_ref().map(|node| format!("node {node}"));
        let bound = bound.or(of.owner.as_ref().map(|owner| format!("owner {owner}")));
        [
            token.id.to_string(),
            of.name.clone(),
            format!("{:?}", of.scope).to_lowercase(),
            bound.unwrap_or_default(),
            of.until.clone().unwrap_or_else(|| "forever".to_owned()),
            token.used.clone().unwrap_or_else(|| "never".to_owned()),
        ]
    });
    let head = ["ID", "NAME", "SCOPE", "BOUND TO", "UNTIL", "LAST USED"].map(str::to_owned);
    Ok(super::table(std::iter::once(head).chain(rows)))
}

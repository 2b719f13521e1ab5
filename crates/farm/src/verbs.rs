//! The subcommands of `assay farm`. Each file contains a subcommand's arguments and its
//! implementation.

mod add;
mod agent;
mod backup;
mod doctor;
mod place;
mod restore;
mod retry;
mod serve;
mod setup;
mod status;
mod token;
mod upgrade;

use crate::Ending;
use clap::Subcommand;

/// The subcommands of `assay farm`.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Serve(serve::Args),
    Add(add::Args),
    Retry(retry::Args),
    Agent(agent::Args),
    Status(status::Args),
    Token(token::Args),
    Place(place::Args),
    Setup(setup::Args),
    Doctor(doctor::Args),
    Backup(backup::Args),
    Restore(restore::Args),
    Upgrade(upgrade::Args),
}

/// Runs a subcommand.
///
/// # Errors
/// The errors of the subcommand.
pub(crate) fn run(verb: &Verb) -> anyhow::Result<Ending> {
    match verb {
        Verb::Serve(args) => serve::run(args),
        Verb::Add(args) => add::run(args),
        Verb::Retry(args) => retry::run(args),
        Verb::Agent(args) => agent::run(args),
        Verb::Status(args) => status::run(args),
        Verb::Token(args) => token::run(args),
        Verb::Place(args) => place::run(args),
        Verb::Setup(args) => setup::run(args),
        Verb::Doctor(args) => doctor::run(args),
        Verb::Backup(args) => backup::run(args),
        Verb::Restore(args) => restore::run(args),
        Verb::Upgrade(args) => upgrade::run(args),
    }
}

/// Formats rows as a table with two spaces between columns. Control characters are replaced, so
/// that untrusted text cannot move the cursor of a terminal.
fn table<const N: usize>(rows: impl Iterator<Item = [String; N]>) -> String {
    let plain = |text: String| {
        text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect::<String>()
    };
    let rows: Vec<[String; N]> = rows.map(|row| row.map(plain)).collect();
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let widths: [usize; N] = std::array::from_fn(width);
    let mut table = String::new();
    for row in &rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        table += cells.collect::<Vec<_>>().join("  ").trim_end();
        table.push('\n');
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_what_stands_in_them_and_move_no_cursor() {
        let rows = [["a", "b"], ["long", "\u{1b}[2J"]].map(|row| row.map(str::to_owned));
        assert_eq!(table(rows.into_iter()), "a     b\nlong  \u{fffd}[2J\n");
    }
}

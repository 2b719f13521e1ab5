//! `assay completions` and `assay man`: both are generated from the argument definitions, so they
//! always match what is accepted.

use crate::completing::{self, Names};
use crate::{Ending, others, output};
use anyhow::Context;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `assay completions`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay completions bash > ~/.local/share/bash-completion/completions/assay
  assay completions zsh > ~/.zfunc/_assay
  assay completions fish > ~/.config/fish/completions/assay.fish")]
pub(crate) struct CompletionsArgs {
    /// Shell to complete in
    #[arg(value_enum, required_unless_present = "names")]
    shell: Option<clap_complete::Shell>,

    /// Print the metrics or benchmarks in the files named by the words, one per line, for the
    /// completion scripts
    #[arg(long, value_enum, value_name = "WHAT", hide = true)]
    names: Option<Names>,

    /// Words of the command line so far
    #[arg(last = true, requires = "names", hide = true, value_hint = clap::ValueHint::Other)]
    words: Vec<String>,
}

/// Arguments of `assay man`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay man | man -l -                      read the page
  assay man --out ~/.local/share/man/man1   install all pages")]
pub(crate) struct ManArgs {
    /// Write assay.1 and the page of every verb into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints completions, or names for completion scripts.
pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<Ending> {
    if let Some(what) = args.names {
        let names = completing::names(what, &args.words);
        output::print(&names.into_iter().map(|name| name + "\n").collect::<String>())?;
    } else if let Some(shell) = args.shell {
        output::print(&others::completions(shell, crate::command(), crate::is_verb)?)?;
    }
    Ok(Ending::Fine)
}

/// Prints or writes man pages.
pub(crate) fn man(args: &ManArgs) -> anyhow::Result<Ending> {
    let command = crate::command();
    if let Some(directory) = &args.out {
        let place = || directory.display().to_string();
        std::fs::create_dir_all(directory).with_context(place)?;
        let mut command = command;
        command.build();
        for verb in with_verbs(&command) {
            // Leaking is fine, because there are few names, and the process ends after printing
            // them.
            let named = verb.get_display_name().unwrap_or(verb.get_name()).to_owned();
            let page = page(verb.clone().name(&*named.clone().leak()))?;
            std::fs::write(directory.join(format!("{named}.1")), page).with_context(place)?;
        }
    } else {
        output::print(&String::from_utf8_lossy(&page(command)?))?;
    }
    Ok(Ending::Fine)
}

/// Returns a command and all its subcommands, recursively.
fn with_verbs(command: &clap::Command) -> Vec<&clap::Command> {
    let verbs = command.get_subcommands().filter(|verb| verb.get_name() != "help");
    std::iter::once(command).chain(verbs.flat_map(with_verbs)).collect()
}

/// Returns one man page. Its synopsis is the usage line, since a list of fifty options in brackets
/// is not useful.
fn page(mut command: clap::Command) -> anyhow::Result<Vec<u8>> {
    let usage = command.render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim().replace('-', "\\-");
    // Unlike the short help, the page lists every option.
    let command = command.mut_args(|argument| argument.hide_short_help(false));
    let man = clap_mangen::Man::new(command.clone());
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    writeln!(page, ".SH SYNOPSIS\n{usage}")?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    man.render_extra_section(&mut page)?;
    man.render_version_section(&mut page)?;
    let page = String::from_utf8_lossy(&page).replace(" (see a summary with \\*(Aq\\-h\\*(Aq)", "");
    Ok(page.into_bytes())
}

//! `assay completions` and `assay man`: both come from the arguments themselves, so they cannot drift from what is accepted.

use crate::{Ending, others, output};
use anyhow::Context;
use std::path::PathBuf;

/// Arguments of `assay completions`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay completions bash > ~/.local/share/bash-completion/completions/assay
  assay completions zsh > ~/.zfunc/_assay
  assay completions fish > ~/.config/fish/completions/assay.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

/// Arguments of `assay man`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay man | man -l -                      read it
  assay man --out ~/.local/share/man/man1   install all pages")]
pub(crate) struct ManArgs {
    /// Write assay.1 and the page of every verb into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints completions.
pub(crate) fn completions(args: &CompletionsArgs) -> anyhow::Result<Ending> {
    output::print(&others::completions(args.shell, crate::command(), crate::is_verb)?)?;
    Ok(Ending::Fine)
}

/// Prints or writes man pages.
pub(crate) fn man(args: &ManArgs) -> anyhow::Result<Ending> {
    let command = crate::command();
    if let Some(directory) = &args.out {
        let place = || directory.display().to_string();
        std::fs::create_dir_all(directory).with_context(place)?;
        clap_mangen::generate_to(command, directory).with_context(place)?;
    } else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command).render(&mut page)?;
        output::print(&String::from_utf8_lossy(&page))?;
    }
    Ok(Ending::Fine)
}

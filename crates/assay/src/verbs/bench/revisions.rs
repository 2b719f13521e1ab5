//! `assay bench --rev`: the sides are git revisions, each built separately before anything is
//! measured.

use crate::args::any_words;
use crate::bench::Side;
use crate::builds::{Builds, any_builds};
use crate::revisions::{self, Prepared, Wanted};
use anyhow::bail;
use assay_measure::Command;
use assay_measure::revisions::{Linker, Links, SEED};
use std::path::{Component, Path, PathBuf};

/// Options for comparing git revisions.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Git revisions")]
pub(super) struct RevisionArgs {
    /// Build and measure this git revision; repeat it for each side, the first is the reference;
    /// `.` is the working tree
    #[arg(long, value_name = "REVISION", requires_all = ["build", "program"], conflicts_with = "programs", value_parser = any_words())]
    pub rev: Vec<String>,

    /// Shell line that builds a revision, run at the root of its working tree, once per commit
    #[arg(long, value_name = "LINE", requires = "rev", value_parser = any_words())]
    build: Option<String>,

    /// Program that the build produces, in quotes if it has arguments
    ///
    /// The path is relative to the root of the working tree, and the program runs there.
    #[arg(long, value_name = "PROGRAM", requires = "rev")]
    program: Option<String>,

    /// Run the program in this directory below the root of its working tree [default: the root]
    #[arg(long, value_name = "DIR", requires = "program")]
    directory: Option<PathBuf>,

    /// Measure several builds per side, so that effects of the linker's placement are not mistaken
    /// for a change
    ///
    /// With --rev: the number of links per side, in shuffled order. Otherwise: the files of each
    /// side, as in 'old-*,new-*' (docs/guides/layout.md).
    #[arg(long, value_name = "N|FILES", conflicts_with_all = ["programs", "old_filter", "old_env", "new_env", "aa"], value_parser = any_builds())]
    pub builds: Option<Builds>,
}

impl RevisionArgs {
    /// Checks that `--builds` fits the kind of sides.
    ///
    /// # Errors
    /// If it does not.
    pub fn check(&self) -> anyhow::Result<()> {
        match (&self.builds, self.rev.is_empty()) {
            (Some(Builds::Links(_)), true) => bail!(
                "--builds N links revisions: name them with --rev, or name the files of both sides, as in --builds 'old-*,new-*'"
            ),
            (Some(Builds::Files(_)), false) => bail!(
                "--builds with files needs no --rev; with --rev it is the number of links of each"
            ),
            _ => Ok(()),
        }
    }

    /// The programs of all revisions, before they are built; `None` if there are no revisions.
    ///
    /// # Errors
    /// If the program is not a command.
    pub fn commands(&self) -> anyhow::Result<Option<Vec<Command>>> {
        let Some(text) = &self.program else { return Ok(None) };
        let program = Command::parse(text, false)?;
        Ok(Some(vec![program; self.rev.len()]))
    }

    /// Builds all revisions; `None` if there are none. Unless `same` is set, revisions that are the
    /// same are rejected.
    ///
    /// # Errors
    /// If a revision does not exist, it or its program cannot be built, or the user interrupts
    /// ([`RunError::Interrupted`](crate::run_error::RunError)).
    pub fn prepare(&self, same: bool, quiet: bool) -> anyhow::Result<Option<Prepared>> {
        let (Some(line), Some(program)) = (&self.build, &self.program) else { return Ok(None) };
        let program = Command::parse(program, false)?;
        let links = self.links(&program)?;
        let if_same = (!same).then_some("--aa");
        if let Some(directory) = self.directory.as_ref().filter(|own| !is_below(own)) {
            bail!(
                "--directory {}: name it from the top of the working tree, for each revision has one of its own",
                directory.display()
            );
        }
        let wanted = Wanted {
            revisions: &self.rev,
            line,
            program: &program,
            directory: self.directory.as_deref(),
            links,
            if_same,
            quiet,
        };
        revisions::prepare(&wanted).map(Some)
    }
}

impl RevisionArgs {
    /// Number of times to link every revision; `None` means once, as the build line does.
    fn links(&self, program: &Command) -> anyhow::Result<Option<Links>> {
        let Some(Builds::Links(count)) = self.builds else { return Ok(None) };
        if self.rev.iter().any(|written| written == ".") {
            bail!(
                "--builds links a revision anew several times, and `.` is your working tree, in which nothing is left behind: commit it, and name the commit"
            );
        }
        let linker = Linker::installed();
        if linker.is_none() && !self.build.as_ref().is_some_and(|line| line.contains(SEED)) {
            bail!(
                "--builds {count} shuffles with mold or lld, and neither is installed: apt install mold (or lld); or let the build line use ${SEED}"
            );
        }
        Ok(Some(Links { count, program: PathBuf::from(&program.argv[0]), linker }))
    }
}

/// Returns true for a relative path that does not leave the directory that it starts from.
fn is_below(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Makes every side run the program of its revision. With a single revision there may be more sides
/// than revisions.
pub(super) fn settle(prepared: &Prepared, sides: &mut [Side]) {
    for (index, side) in sides.iter_mut().enumerate() {
        let commands = &prepared.commands;
        let Some(own) = commands.get(index).or(commands.last()) else { continue };
        side.command.cwd.clone_from(&own.cwd);
        side.command.argv[0].clone_from(&own.argv[0]);
    }
}

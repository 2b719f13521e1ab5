//! `assay bench --rev`: the sides are git revisions, each built separately before anything is
//! measured.

use crate::args::any_words;
use crate::bench::Side;
use crate::builds::{Builds, any_builds};
use crate::check::{Config, Program, ProgramGroup, ProjectBenchmarks, line_of};
use crate::revisions::{self, Prepared, RevisionRequest};
use anyhow::{Context, bail};
use assay_data::list;
use assay_data::path::is_below;
use assay_measure::Command;
use assay_measure::revisions::{Linker, Links, SEED};
use std::path::PathBuf;

/// Options for comparing git revisions.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Git revisions")]
pub(super) struct RevisionArgs {
    /// Build and measure this git revision; `.` is the working tree; repeat for each side, the
    /// reference first
    #[arg(long, value_name = "REVISION", conflicts_with = "programs", value_parser = any_words())]
    pub rev: Vec<String>,

    /// Shell line that builds a revision, run at the root of its working tree, once per commit
    /// [default: found in the project, as by `assay check`]
    #[arg(long, value_name = "LINE", requires_all = ["rev", "program"], value_parser = any_words())]
    build: Option<String>,

    /// Program that the build produces, in quotes if it has arguments; without --build, the name of
    /// one that `assay check --explain` lists [default: the only one]
    ///
    /// The path is relative to the root of the working tree, and the program runs there.
    #[arg(long, value_name = "PROGRAM", requires = "rev")]
    program: Option<String>,

    /// Run the program in this directory below the root of its working tree [default: the root]
    #[arg(long, value_name = "DIR", requires = "program")]
    directory: Option<PathBuf>,

    /// Measure several builds per side, so that effects of code placement by the linker are not
    /// mistaken for a change
    ///
    /// With --rev, the number of times that each side is linked, in shuffled order. Otherwise, the
    /// files of each side, as in 'old-*,new-*' (docs/guides/layout.md).
    #[arg(long, value_name = "N|FILES", conflicts_with_all = ["programs", "old_filter", "old_env", "new_env", "aa"], value_parser = any_builds())]
    pub builds: Option<Builds>,
}

/// How every revision is built, and which program is measured.
pub(super) struct Recipe {
    /// Shell line that builds a revision.
    line: String,
    /// The program that the build produces.
    pub program: Command,
    /// Directory in which the program runs, relative to the root of the tree; `None` for the root.
    directory: Option<PathBuf>,
}

/// Returns the programs of a build system that contain benchmarks, rather than being timed as a
/// whole.
fn programs_of(way: &ProgramGroup) -> impl Iterator<Item = &Program> {
    way.programs.iter().filter(|program| !program.is_timed)
}

impl RevisionArgs {
    /// Checks that the form of `--builds` suits the sides.
    ///
    /// # Errors
    /// Fails if a number is given without revisions, or files are given with revisions.
    pub fn check(&self) -> anyhow::Result<()> {
        match (&self.builds, self.rev.is_empty()) {
            (Some(Builds::Links(_)), true) => bail!(
                "--builds N applies to git revisions: name them with --rev, or name the files of both sides, as in --builds 'old-*,new-*'"
            ),
            (Some(Builds::Files(_)), false) => bail!(
                "--builds with files can't be used with --rev; with --rev, give the number of links per side"
            ),
            _ => Ok(()),
        }
    }

    /// Returns the build of every revision and the measured program, as given by the user or as
    /// found in the project; `None` if there are no revisions.
    ///
    /// # Errors
    /// Fails if the program is not a command, or if no program or several are found.
    pub fn recipe(&self) -> anyhow::Result<Option<Recipe>> {
        Ok(match (&self.build, &self.program) {
            _ if self.rev.is_empty() => None,
            (Some(line), Some(program)) => Some(Recipe {
                line: line.clone(),
                program: Command::parse(program, false)?,
                directory: self.directory.clone(),
            }),
            (_, named) => Some(self.found(named.as_deref())?),
        })
    }

    /// Finds the benchmark program of this name, or the only one, in the working tree.
    fn found(&self, named: Option<&str>) -> anyhow::Result<Recipe> {
        const SHOWN: usize = 10;
        let mut repository = revisions::repository()?;
        let top = repository.top().to_owned();
        let tree = repository.snapshot().map_err(revisions::told)?;
        let commit = tree.and_then(|tree| tree.commit).context("there is no commit yet")?;
        let files = repository.files(&commit).map_err(revisions::told)?;
        let found = ProjectBenchmarks::of(&top, files, &Config::read(&top)?);
        let is_named = |own: &Program| named.is_none_or(|name| own.name == name);
        let of_way = |way| programs_of(way).map(move |program| (way, program));
        let all: Vec<(&ProgramGroup, &Program)> = found.ways.iter().flat_map(of_way).collect();
        let names: Vec<&str> = all.iter().map(|(_, program)| program.name.as_str()).collect();
        let chosen: Vec<_> = all.iter().filter(|(_, program)| is_named(program)).collect();
        let (way, program) = match (&chosen[..], named) {
            ([one], _) => one,
            _ if all.is_empty() => bail!(
                "no benchmarks were found in this project (`assay check --explain` shows what was looked for); say how to build and run them with --build and --program"
            ),
            (_, Some(name)) => bail!(
                "--program {name}: the programs found here are {}; for another one, give the line that builds it with --build (`:` if nothing is built)",
                list::first(&names, SHOWN)
            ),
            (_, None) => bail!(
                "there are {} benchmark programs here: {}; choose one with --program, or measure all that a change reaches with `assay check`",
                names.len(),
                list::first(&names, SHOWN)
            ),
        };
        let mut command = Command::parse(&program.command, false)?;
        command.env.extend(program.variables());
        let directory = self.directory.clone().or(program.directory.as_ref().map(PathBuf::from));
        let line = line_of(std::slice::from_ref(*way));
        let line = line.unwrap_or_else(|| revisions::NO_BUILD.to_owned());
        Ok(Recipe { line, program: command, directory })
    }

    /// Builds all revisions. Equal revisions are rejected unless `same` is set.
    ///
    /// # Errors
    /// Fails if a revision does not exist, it or its program cannot be built, or the user
    /// interrupts ([`RunError::Interrupted`](crate::run_error::RunError)).
    pub fn prepare(&self, recipe: &Recipe, same: bool, quiet: bool) -> anyhow::Result<Prepared> {
        let links = self.links(recipe)?;
        let if_same = (!same).then_some("--aa");
        if let Some(directory) = recipe.directory.as_ref().filter(|own| !is_below(own)) {
            bail!(
                "--directory {}: name it relative to the top of the working tree, because each revision has its own tree",
                directory.display()
            );
        }
        let wanted = RevisionRequest {
            revisions: &self.rev,
            line: &recipe.line,
            program: &recipe.program,
            directory: recipe.directory.as_deref(),
            links,
            if_same,
            quiet,
        };
        revisions::prepare(&wanted)
    }
}

impl RevisionArgs {
    /// Returns how often and how every revision is linked; `None` if only the build line links it.
    ///
    /// # Errors
    /// Fails if a side is the working tree, or no installed linker can shuffle.
    fn links(&self, recipe: &Recipe) -> anyhow::Result<Option<Links>> {
        let Some(Builds::Links(count)) = self.builds else { return Ok(None) };
        if self.rev.iter().any(|written| written == ".") {
            bail!(
                "--builds links each revision several times, but `.` is your working tree, in which assay leaves nothing behind: commit your changes, and name the commit"
            );
        }
        let linker = Linker::installed();
        if linker.is_none() && !recipe.line.contains(SEED) {
            bail!(
                "--builds {count} needs mold or lld to shuffle, and neither is installed: apt install mold (or lld), or use ${SEED} in the build line"
            );
        }
        Ok(Some(Links { count, program: PathBuf::from(&recipe.program.argv[0]), linker }))
    }
}

/// Makes every side run the program of its revision. There may be more sides than revisions if
/// there is only one revision.
pub(super) fn settle(prepared: &Prepared, sides: &mut [Side]) {
    for (index, side) in sides.iter_mut().enumerate() {
        let commands = &prepared.commands;
        let Some(own) = commands.get(index).or(commands.last()) else { continue };
        side.command.cwd.clone_from(&own.cwd);
        side.command.argv[0].clone_from(&own.argv[0]);
    }
}

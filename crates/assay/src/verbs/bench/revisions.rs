//! `assay bench --rev`: the sides are git revisions, each built apart, before anything is measured.

use crate::bench::Side;
use crate::builds::Builds;
use crate::output;
use crate::run_error::RunError;
use anyhow::{Context, bail};
use assay_data::{Action, Environment, Finding, Severity};
use assay_measure::Command;
use assay_measure::revisions::{Built, Repository, Revision, RevisionError, Stage};
use assay_measure::revisions::{Linker, Links, SEED};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// So much of a commit's name tells it from all others, for people.
const SHORT: usize = 12;

/// Which revisions, and how they are built.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Git revisions")]
pub(super) struct RevisionArgs {
    /// Build and measure this git revision; repeat it for each side, the first is the reference;
    /// `.` is the working tree
    #[arg(long, value_name = "REVISION", requires_all = ["build", "program"], conflicts_with = "programs")]
    pub rev: Vec<String>,

    /// Shell line that builds a revision, run at the root of its working tree, once per commit
    #[arg(long, value_name = "LINE", requires = "rev")]
    build: Option<String>,

    /// Program that the build produces, relative to the root of the working tree, in quotes if it
    /// has arguments; it runs there
    #[arg(long, value_name = "PROGRAM", requires = "rev")]
    program: Option<String>,

    /// Measure several builds a side, so that what the linker's placement does is measured, not
    /// mistaken for a change: with --rev how often to link each, in shuffled order; else the files
    /// of each side (docs/guides/layout.md)
    #[arg(long, value_name = "N|FILES", conflicts_with_all = ["programs", "old_filter", "old_env", "new_env", "aa"])]
    pub builds: Option<Builds>,
}

/// Revisions that are built.
pub(super) struct Prepared {
    /// Their programs, each in its own directory.
    commands: Vec<Command>,
    /// All links of each, where there are several.
    pub links: Option<Vec<Vec<Command>>>,
    /// What should be known of them.
    pub findings: Vec<Finding>,
    /// Their commits, as facts.
    commits: Vec<Option<String>>,
    /// While these live, nobody takes their trees away.
    _built: Vec<Built>,
}

impl RevisionArgs {
    /// Sees to it that --builds says what the sides are made of.
    ///
    /// # Errors
    /// When it does not.
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

    /// The programs of all revisions, before they are built; `None` when there are none.
    ///
    /// # Errors
    /// When that is no program, or would be the same file for every revision.
    pub fn commands(&self) -> anyhow::Result<Option<Vec<Command>>> {
        let Some(text) = &self.program else { return Ok(None) };
        let program = Command::parse(text, false)?;
        if Path::new(&program.argv[0]).is_absolute() {
            bail!(
                "--program {text}: name it from the top of the working tree, for each revision has one of its own"
            );
        }
        Ok(Some(vec![program; self.rev.len()]))
    }

    /// Builds all revisions; `None` when there are none. `same` ones are refused unless that is meant.
    ///
    /// # Errors
    /// When there is no such revision, or it does not build, or not the program; [`RunError::Interrupted`].
    pub fn prepare(&self, same: bool, quiet: bool) -> anyhow::Result<Option<Prepared>> {
        let (Some(line), Some(program)) = (&self.build, &self.program) else { return Ok(None) };
        let program = Command::parse(program, false)?;
        let cache = cache_directory().context(
            "neither XDG_CACHE_HOME nor HOME names a directory to keep built revisions in",
        )?;
        let place = cache.join("revisions");
        let mut repository = Repository::around(Path::new("."), &place).map_err(told)?;
        let asked = self.rev.iter().map(|written| repository.revision(written));
        let revisions = asked.collect::<Result<Vec<_>, _>>().map_err(told)?;
        let head = repository.revision(".").map_err(told)?;
        if !same {
            check_differ(&revisions, &mut repository)?;
        }
        let links = self.links(&program)?;
        let changed = repository.is_changed(false).map_err(told)?;
        let findings: Vec<Finding> =
            changed.then(|| uncommitted(&revisions, &head)).flatten().into_iter().collect();
        let say = |line: String| {
            if !quiet {
                output::say(&line);
            }
        };
        findings.iter().for_each(|finding| say(assay_report::findings::line(finding)));
        let mut commands = Vec::with_capacity(revisions.len());
        let mut built = Vec::with_capacity(revisions.len());
        let mut linked = Vec::new();
        for revision in &revisions {
            let name = named(revision);
            let ready = repository.ready(revision, line, links.as_ref(), &mut |stage| {
                say(match stage {
                    Stage::Waiting => format!("{name}: another assay builds it; waiting"),
                    Stage::Building(log) => {
                        let how = links.as_ref().map_or("building it".to_owned(), linking);
                        format!("{name}: {how} ({})", log.display())
                    }
                    Stage::Kept => format!("{name}: was built before"),
                });
            });
            let ready = ready.map_err(told)?;
            commands.push(found(&program, &ready, revision)?);
            if let Some(links) = &links {
                let file = |number| Command {
                    argv: [&[links.file(number).into_os_string()], &program.argv[1..]].concat(),
                    ..program.clone()
                };
                let own = (1..=links.count).map(|number| found(&file(number), &ready, revision));
                linked.push(own.collect::<anyhow::Result<Vec<_>>>()?);
            }
            built.push(ready);
        }
        let commit = |revision: &Revision| {
            let commit = revision.commit.clone()?;
            let changed = if revision.is_working_tree && changed { "-dirty" } else { "" };
            Some(format!("{commit}{changed}"))
        };
        Ok(Some(Prepared {
            commands,
            links: links.map(|_| linked),
            findings,
            commits: revisions.iter().map(commit).collect(),
            _built: built,
        }))
    }
}

impl RevisionArgs {
    /// How often to link every revision; `None`: once, as the build line does.
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

/// What is done to a revision that is linked several times.
fn linking(links: &Links) -> String {
    let by = links.linker.map_or(String::new(), |linker| format!(" by {}", linker.name()));
    format!("building it and linking it {} times, shuffled{by}", links.count)
}

impl Prepared {
    /// Lets every side run the program of its revision; there may be more sides than revisions, of one.
    pub fn settle(&self, sides: &mut [Side]) {
        for (index, side) in sides.iter_mut().enumerate() {
            let Some(own) = self.commands.get(index).or(self.commands.last()) else { continue };
            side.command.cwd.clone_from(&own.cwd);
            side.command.argv[0].clone_from(&own.argv[0]);
        }
    }

    /// Sets the commit of every side, as a fact.
    pub fn record(&self, sides: impl Iterator<Item = String>, environment: &mut Environment) {
        for (index, side) in sides.enumerate() {
            let commit = self.commits.get(index).or(self.commits.last());
            if let Some(Some(commit)) = commit {
                environment.set(&format!("git_commit@{side}"), commit.as_str());
            }
        }
    }
}

/// The directory in which `assay` keeps what it can make anew.
fn cache_directory() -> Option<PathBuf> {
    let absolute =
        |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("assay"))
}

/// An interruption is reported as those of measuring are.
fn told(error: RevisionError) -> anyhow::Error {
    match error {
        RevisionError::Interrupted => RunError::Interrupted(
            "while the revisions were made ready; nothing was measured".to_owned(),
        )
        .into(),
        other => other.into(),
    }
}

/// A revision for people: as written, with its commit.
fn named(revision: &Revision) -> String {
    match &revision.commit {
        _ if revision.is_working_tree => "the working tree".to_owned(),
        Some(commit) => format!("{} ({})", revision.written, short(commit)),
        None => revision.written.clone(),
    }
}

fn short(commit: &str) -> &str {
    commit.get(..SHORT).unwrap_or(commit)
}

/// Sees to it that no two revisions are the same.
fn check_differ(revisions: &[Revision], repository: &mut Repository) -> anyhow::Result<()> {
    for (second, revision) in revisions.iter().enumerate() {
        for other in &revisions[..second] {
            if revision.commit.is_none() || revision.commit != other.commit {
                continue;
            }
            let commit = revision.commit.as_deref().map(short).unwrap_or_default();
            if revision.is_working_tree == other.is_working_tree {
                bail!(
                    "`{}` and `{}` are the same commit, {commit}; if that is meant, to see this machine's false positives: --aa",
                    other.written,
                    revision.written
                );
            }
            if !repository.is_changed(true).map_err(told)? {
                bail!(
                    "the working tree has no changes: it is commit {commit}, as `{}` is; if that is meant: --aa",
                    if revision.is_working_tree { &other.written } else { &revision.written }
                );
            }
        }
    }
    Ok(())
}

/// Of changes that are in no commit, where the commit that they belong to is measured and they are not.
fn uncommitted(revisions: &[Revision], head: &Revision) -> Option<Finding> {
    let without = revisions.iter().find(|revision| revision.commit == head.commit)?;
    if revisions.iter().any(|revision| revision.is_working_tree) {
        return None;
    }
    let message = format!(
        "the working tree has changes that are not committed, so they are not in `{}`",
        without.written
    );
    let finding = Finding::new("UNCOMMITTED", Severity::Warning, message);
    Some(finding.advise(Action::WorkingTree))
}

/// The program of a revision that was built.
fn found(program: &Command, built: &Built, revision: &Revision) -> anyhow::Result<Command> {
    let mut command = program.clone();
    command.cwd = Some(built.directory.clone());
    // A name without a slash would be looked for in PATH, and mean the same for all revisions.
    let own = built.directory.join(&command.argv[0]);
    if !program.argv[0].to_string_lossy().contains('/') && own.is_file() {
        command.argv[0] = [OsString::from("./"), program.argv[0].clone()].into_iter().collect();
    }
    command.resolve().with_context(|| {
        format!(
            "`{}`: the build line succeeded ({}), but --program is not there",
            revision.written,
            built.log.display()
        )
    })?;
    Ok(command)
}

//! Sides that are git revisions of a benchmark program or a server. Each revision is built in its
//! own tree before anything is measured.

use crate::output;
use crate::run_error::RunError;
use anyhow::{Context, bail, ensure};
use assay_data::code;
use assay_data::{Action, Environment, Finding};
use assay_measure::directories::cache_directory;
use assay_measure::revisions::{Built, Links, Repository, Revision, RevisionError, Stage};
use assay_measure::{Command, ResolveError};
use std::ffi::OsString;
use std::path::Path;

/// Number of hex digits of a commit's name that are shown.
const SHORT: usize = 12;

/// The revisions to prepare.
pub(crate) struct RevisionRequest<'a> {
    /// Revisions as the user typed them; `.` is the working tree.
    pub revisions: &'a [String],
    /// The shell line that builds a revision.
    pub line: &'a str,
    /// The program that the build produces, by its path relative to the root of the tree, or a
    /// program on PATH.
    pub program: &'a Command,
    /// Directory in which the program runs, relative to the root of the tree; `None` for the root.
    pub directory: Option<&'a Path>,
    /// How often and how each revision is linked; `None` if only the build line links it.
    pub links: Option<Links>,
    /// The option that permits equal revisions, named in the error; `None` if equal revisions are
    /// permitted.
    pub if_same: Option<&'a str>,
    pub quiet: bool,
}

/// Revisions that have been built.
pub(crate) struct Prepared {
    /// Commands that run the programs of the revisions, each in its own directory.
    pub commands: Vec<Command>,
    /// Commands for all links of each revision; `None` if each is linked only once.
    pub links: Option<Vec<Vec<Command>>>,
    /// Findings about the revisions.
    pub findings: Vec<Finding>,
    /// Commit id of each revision, recorded as a fact.
    commits: Vec<Option<String>>,
    /// The built trees, which are not removed while these values exist.
    _built: Vec<Built>,
}

/// Builds all revisions. Equal revisions are rejected unless they are permitted.
///
/// # Errors
/// Fails if a revision does not exist, does not build, or does not produce the program, or with
/// [`RunError::Interrupted`] if the user interrupts.
pub(crate) fn prepare(wanted: &RevisionRequest<'_>) -> anyhow::Result<Prepared> {
    let mut repository = repository()?;
    check_differs(wanted.program, repository.top())?;
    let asked = wanted.revisions.iter().map(|written| repository.revision(written));
    let revisions = asked.collect::<Result<Vec<_>, _>>().map_err(told)?;
    let head = repository.revision(".").map_err(told)?;
    if let Some(meant) = wanted.if_same {
        check_differ(&revisions, &mut repository, meant)?;
    }
    let RevisionRequest { line, program, directory, links, .. } = wanted;
    let program: &Command = program;
    let changed = repository.is_changed(false).map_err(told)?;
    let findings: Vec<Finding> =
        changed.then(|| uncommitted(&revisions, &head)).flatten().into_iter().collect();
    let say = |line: String| {
        if !wanted.quiet {
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
            say(staged(&name, stage, links.as_ref()));
        });
        let ready = ready.map_err(told)?;
        commands.push(placed(found(program, &ready, revision)?, &ready, *directory));
        if let Some(links) = &links {
            let file = |number| Command {
                argv: [&[links.file(number).into_os_string()], &program.argv[1..]].concat(),
                ..program.clone()
            };
            let own = (1..=links.count).map(|number| {
                let own = found(&file(number), &ready, revision)?;
                Ok(placed(own, &ready, *directory))
            });
            linked.push(own.collect::<anyhow::Result<Vec<_>>>()?);
        }
        built.push(ready);
    }
    let commit = |revision: &Revision| {
        let commit = revision.commit.clone()?;
        let changed = if revision.is_working_tree && changed { "-dirty" } else { "" };
        Some(format!("{commit}{changed}"))
    };
    Ok(Prepared {
        commands,
        links: links.is_some().then_some(linked),
        findings,
        commits: revisions.iter().map(commit).collect(),
        _built: built,
    })
}

/// Build line for programs that need no build.
pub(crate) const NO_BUILD: &str = ":";

/// Returns the repository that contains the current directory, with a cache directory for its built
/// revisions.
///
/// # Errors
/// Fails if the current directory is not in a repository, or the cache directory is unknown.
pub(crate) fn repository() -> anyhow::Result<Repository> {
    let cache = cache_directory()
        .context("neither XDG_CACHE_HOME nor HOME names a directory to keep built revisions in")?;
    Repository::around(Path::new("."), &cache.join("revisions")).map_err(told)
}

/// Describes how a revision is built and linked several times.
fn linking(links: &Links) -> String {
    let by = links.linker.map_or(String::new(), |linker| format!(" by {}", linker.name()));
    format!("building it and linking it {} times, shuffled{by}", links.count)
}

impl Prepared {
    /// Records the commit of every side as a fact.
    pub fn record(&self, sides: impl Iterator<Item = String>, environment: &mut Environment) {
        for (index, side) in sides.enumerate() {
            let commit = self.commits.get(index).or(self.commits.last());
            if let Some(Some(commit)) = commit {
                environment.set(&format!("git_commit@{side}"), commit.as_str());
            }
        }
    }
}

/// Returns the message shown while a revision is prepared.
pub(crate) fn staged(name: &str, stage: Stage<'_>, links: Option<&Links>) -> String {
    match stage {
        Stage::Waiting => format!("{name}: another assay builds it; waiting"),
        Stage::Building(log) => {
            let how = links.map_or("building it".to_owned(), linking);
            format!("{name}: {how} ({})", log.display())
        }
        Stage::Kept => format!("{name}: was built before"),
    }
}

/// Converts an error, so that an interruption is reported like one while measuring.
pub(crate) fn told(error: RevisionError) -> anyhow::Error {
    match error {
        RevisionError::Interrupted => RunError::Interrupted(
            "while the revisions were being prepared; nothing was measured".to_owned(),
        )
        .into(),
        other => other.into(),
    }
}

/// Formats a revision for display, as typed and with its commit.
pub(crate) fn named(revision: &Revision) -> String {
    match &revision.commit {
        _ if revision.is_working_tree => "the working tree".to_owned(),
        Some(commit) => format!("{} ({})", revision.written, short(commit)),
        None => revision.written.clone(),
    }
}

fn short(commit: &str) -> &str {
    commit.get(..SHORT).unwrap_or(commit)
}

/// Rejects revisions that are the same. `meant` is the option that permits them.
fn check_differ(
    revisions: &[Revision],
    repository: &mut Repository,
    meant: &str,
) -> anyhow::Result<()> {
    for (second, revision) in revisions.iter().enumerate() {
        for other in &revisions[..second] {
            if revision.commit.is_none() || revision.commit != other.commit {
                continue;
            }
            let commit = revision.commit.as_deref().map(short).unwrap_or_default();
            if revision.is_working_tree == other.is_working_tree {
                bail!(
                    "`{}` and `{}` are the same commit, {commit}; to see this machine's false positives, use {meant}",
                    other.written,
                    revision.written
                );
            }
            if !repository.is_changed(true).map_err(told)? {
                bail!(
                    "the working tree has no changes: like `{}`, it is commit {commit}; to measure them anyway, use {meant}",
                    if revision.is_working_tree { &other.written } else { &revision.written }
                );
            }
        }
    }
    Ok(())
}

/// Returns a finding if a measured commit is the one that the uncommitted changes are based on, and
/// the working tree is not measured.
fn uncommitted(revisions: &[Revision], head: &Revision) -> Option<Finding> {
    let without = revisions.iter().find(|revision| revision.commit == head.commit)?;
    if revisions.iter().any(|revision| revision.is_working_tree) {
        return None;
    }
    let message = format!(
        "the working tree has changes that are not committed, so they are not in `{}`",
        without.written
    );
    let finding = Finding::new(code::UNCOMMITTED, message);
    Some(finding.advise(Action::WorkingTree))
}

/// Returns the command with `directory`, relative to the root of its built tree, as its working
/// directory. A program given by a relative path still refers to the same file.
pub(crate) fn placed(mut command: Command, built: &Built, directory: Option<&Path>) -> Command {
    let Some(directory) = directory else { return command };
    if command.argv[0].to_string_lossy().contains('/') {
        command.argv[0] = built.directory.join(&command.argv[0]).into_os_string();
    }
    command.cwd = Some(built.directory.join(directory));
    command
}

/// Rejects a program that would be the same for every revision: an absolute path into the user's
/// working tree, or another absolute path without arguments. With arguments, the program may be an
/// interpreter that runs the files they name.
pub(crate) fn check_differs(program: &Command, top: &Path) -> anyhow::Result<()> {
    let file = Path::new(&program.argv[0]);
    if let Ok(below) = file.strip_prefix(top) {
        bail!(
            "{}: this is the file in your working tree, whatever the revision; name it relative to the top of the tree: `{}`",
            file.display(),
            Path::new(".").join(below).display()
        );
    }
    ensure!(
        !file.is_absolute() || program.argv.len() > 1,
        "{}: this program is the same for every revision; give its path relative to the top of the working tree",
        file.display()
    );
    Ok(())
}

/// Returns the command for the program of a built revision.
///
/// # Errors
/// Fails if the program does not exist or is not executable.
pub(crate) fn found(
    program: &Command,
    built: &Built,
    revision: &Revision,
) -> anyhow::Result<Command> {
    let mut command = program.clone();
    command.cwd = Some(built.directory.clone());
    // A name without a slash would be looked up in PATH, and be the same program for all revisions.
    let own = built.directory.join(&command.argv[0]);
    if !program.argv[0].to_string_lossy().contains('/') && own.is_file() {
        command.argv[0] = [OsString::from("./"), program.argv[0].clone()].into_iter().collect();
    }
    let (name, written) = (program.argv[0].display(), &revision.written);
    match command.resolve() {
        Ok(_) => Ok(command),
        Err(ResolveError::NotExecutable { .. }) if revision.is_working_tree => {
            bail!(
                "`{name}` is not executable: chmod +x {name}, or name what runs it, as in 'sh {name}'"
            )
        }
        Err(ResolveError::NotExecutable { .. }) => bail!(
            "`{name}` is not executable in `{written}`: name what runs it, as in 'sh {name}', or commit it as executable (git update-index --chmod=+x {name})"
        ),
        Err(ResolveError::NotFound { .. }) => {
            let is_built = built.log.metadata().is_ok_and(|log| log.len() > 0);
            let cure = match is_built {
                true => format!("; the output of its build is in {}", built.log.display()),
                false => "; if it is built, the line of --build must produce it".to_owned(),
            };
            let place = match program.argv[0].to_string_lossy().contains('/') {
                true => "",
                false => ", neither there nor in PATH",
            };
            bail!("`{written}`: `{name}` does not exist{place}{cure}")
        }
        Err(error) => Err(error).with_context(|| format!("`{written}`")),
    }
}

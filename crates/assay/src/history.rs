//! The history of a project: where its store is, what the project is called, and how a run gets into it with its revision.
//!
//! Shared by `--keep` of the verbs that measure, `assay history` and `assay gate`. Nothing is shown here but warnings.

use crate::record::Record;
use crate::resume::RecordArgs;
use crate::{output, store};
use anyhow::{Context, bail};
use assay_analysis::history::Revision;
use assay_data::{Samples, StopReason, assay_file};
use assay_history::{Access, Added, NewRun, Store};
use assay_measure::git;
use jiff::Timestamp;
use std::fs;
use std::path::{Path, PathBuf};

/// Name of the file of a store.
const FILE: &str = "history.db";

/// Which history.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "History")]
pub(crate) struct StoreArgs {
    /// File that keeps the runs [default: .assay/history.db of the repository]
    ///
    /// Without a directory .assay in the repository (or, outside of one, in the current directory), it is in the state directory.
    #[arg(long, value_name = "PATH")]
    pub store: Option<PathBuf>,

    /// Project that the runs belong to [default: the name of the repository's directory]
    #[arg(long, value_name = "NAME")]
    pub project: Option<String>,
}

/// Whether what is measured goes into the history.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Recording")]
pub(crate) struct KeepInHistoryArgs {
    /// Also keep the run in the history of the project, for `assay history` and `assay gate`
    ///
    /// The project is called as the repository's directory unless a name is given: --keep=NAME.
    #[arg(long, value_name = "PROJECT", num_args = 0..=1, require_equals = true, default_missing_value = "", conflicts_with = "anonymous")]
    pub keep: Option<String>,

    /// File that keeps the runs [default: .assay/history.db of the repository, or in the state directory]
    #[arg(long, value_name = "PATH", requires = "keep")]
    pub store: Option<PathBuf>,

    /// Name of the machine, where its host name changes from run to run
    #[arg(long, value_name = "NAME", requires = "keep")]
    pub machine: Option<String>,
}

impl StoreArgs {
    /// The file.
    ///
    /// # Errors
    /// When nothing says where the state directory is, or it can't be made.
    pub fn path(&self) -> anyhow::Result<PathBuf> {
        if let Some(path) = &self.store {
            return Ok(if path.is_dir() { path.join(FILE) } else { path.clone() });
        }
        let own = base().join(".assay");
        if own.is_dir() {
            return Ok(own.join(FILE));
        }
        let state = store::state_directory();
        let state = state
            .context("neither XDG_STATE_HOME nor HOME names a directory; --store names a file")?;
        Ok(state.join(FILE))
    }

    /// The project's name.
    pub fn project(&self) -> String {
        let own = || base().file_name().map(|name| name.to_string_lossy().into_owned());
        self.project.clone().or_else(own).unwrap_or_else(|| "default".to_owned())
    }

    /// Opens the store.
    ///
    /// # Errors
    /// As [`Store::open`] has them.
    pub fn open(&self, access: Access) -> anyhow::Result<Store> {
        let path = self.path()?;
        if access == Access::Write && self.store.is_none() {
            let directory = path.parent().context("a file stands in a directory")?;
            fs::create_dir_all(directory).with_context(|| directory.display().to_string())?;
        }
        let is_new = !path.exists();
        let store = Store::open(&path, access)?;
        if is_new && self.store.is_none() {
            hide(&path);
        }
        Ok(store)
    }

    /// Opens the store to read of the project.
    ///
    /// # Errors
    /// As there, and when the project has no runs.
    pub fn of_project(&self) -> anyhow::Result<(Store, String)> {
        let (store, project) = (self.open(Access::Read)?, self.project());
        let known = store.projects()?;
        if !known.contains(&project) {
            bail!(
                "{} has no runs of a project `{project}`; {}",
                store.path().display(),
                match known.as_slice() {
                    [] => "it is empty".to_owned(),
                    known => format!("--project names one of: {}", known.join(", ")),
                }
            );
        }
        Ok((store, project))
    }
}

impl KeepInHistoryArgs {
    /// The store that is meant; `None` where nothing is to be kept.
    fn of_store(&self) -> Option<StoreArgs> {
        let project = self.keep.as_ref()?;
        let project = Some(project.clone()).filter(|project| !project.is_empty());
        Some(StoreArgs { store: self.store.clone(), project })
    }

    /// Sees to it before anything is measured that the run can be kept.
    ///
    /// # Errors
    /// When it can't.
    pub fn check(&self) -> anyhow::Result<()> {
        let Some(of) = self.of_store() else { return Ok(()) };
        of.open(Access::Write).map(drop).context("--keep")
    }
}

/// Keeps what was measured, where that is asked for: from its file, so that adding the file later is the same.
///
/// # Errors
/// When it can't be kept.
pub(crate) fn keep(
    args: &RecordArgs,
    samples: &Samples,
    record: Option<&Record>,
) -> anyhow::Result<()> {
    let Some(of) = args.history.of_store() else { return Ok(()) };
    let file = record.filter(|record| record.failure.is_none()).map(|record| &record.path);
    if matches!(samples.stop, Some(StopReason::Interrupted | StopReason::Failed))
        || samples.is_empty()
    {
        output::say("the run was not completed, so it is not kept in the history");
        return Ok(());
    }
    let read = file.map(|file| assay_file::read(file)).transpose()?;
    let source = file.map_or_else(|| "not recorded".to_owned(), |file| file.display().to_string());
    let adding = Adding { machine: args.history.machine.as_deref(), rev: None, source: &source };
    let mut store = of.open(Access::Write).context("--keep")?;
    let added = adding.add(&mut store, &of.project(), read.as_ref().unwrap_or(samples))?;
    if !args.show.quiet {
        let run = added.run();
        output::say(&format!(
            "kept as {} of {} in {}",
            run.short(),
            of.project(),
            store.path().display()
        ));
    }
    Ok(())
}

/// What is known of a run beside its samples.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Adding<'a> {
    /// The machine's name, where the host's means nothing.
    pub machine: Option<&'a str>,
    /// The revision, as the user wrote it.
    pub rev: Option<&'a str>,
    /// The file, for people.
    pub source: &'a str,
}

impl Adding<'_> {
    /// Adds a run.
    ///
    /// # Errors
    /// As [`Store::add`] has them.
    pub fn add(
        &self,
        store: &mut Store,
        project: &str,
        samples: &Samples,
    ) -> anyhow::Result<Added> {
        let now = Timestamp::now();
        let new = NewRun {
            project,
            samples,
            machine: self.machine,
            revision: self.revision(samples),
            of_sides: of_sides(samples),
            changed: self.rev.is_none() && samples.environment.flag("git_dirty").unwrap_or(false),
            started: started(samples, Path::new(self.source)).unwrap_or(now).as_millisecond(),
            added: now.as_millisecond(),
            source: self.source,
        };
        let added = store.add(&new);
        added.with_context(|| format!("{} is not kept", self.source))
    }

    /// The revision, with its place where the repository of the current directory knows it.
    pub fn revision(&self, samples: &Samples) -> Option<Revision> {
        let recorded = samples.environment.text("git_commit");
        self.rev.or(recorded).map(placed)
    }
}

/// The revisions of the sides that have their own.
fn of_sides(samples: &Samples) -> Vec<Revision> {
    let commit = |side: &str| samples.environment.text(&format!("git_commit@{side}"));
    samples.sides.iter().filter_map(|side| commit(&side.name)).map(placed).collect()
}

/// Keeps a store in a repository from being taken for a change of it: git ignores the file, unless somebody said what it ignores there.
fn hide(store: &Path) {
    let ignored = store.with_file_name(".gitignore");
    if store.parent().is_some_and(|directory| directory.ends_with(".assay")) && !ignored.exists() {
        // A tree that is taken for changed is worth a mark in a list, and no error.
        let _marked = fs::write(ignored, format!("{FILE}*\n.gitignore\n"));
    }
}

/// A revision as it is called, with its place where the repository of the current directory knows it.
fn placed(name: &str) -> Revision {
    match git::place(Path::new("."), name) {
        Some(git::Place { commit, parent, ordinal, time }) => {
            Revision { commit, parent, ordinal: Some(ordinal), time: Some(time) }
        }
        None => Revision { commit: name.to_owned(), ..Revision::default() },
    }
}

/// When something was measured: as it says itself, or when its file was written.
fn started(samples: &Samples, file: &Path) -> Option<Timestamp> {
    let facts = ["started", "date", "datetime"].map(|fact| samples.environment.text(fact));
    let told = samples.started.as_deref().into_iter().chain(facts.into_iter().flatten());
    let told = told.filter_map(|text| text.parse().ok()).next();
    told.or_else(|| Timestamp::try_from(fs::metadata(file).ok()?.modified().ok()?).ok())
}

/// The directory that a project is known by: the top of the repository, or the current one.
fn base() -> PathBuf {
    let here = PathBuf::from(".");
    git::top(&here).or_else(|| here.canonicalize().ok()).unwrap_or(here)
}

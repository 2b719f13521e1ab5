//! The history of a project: where its store is, what the project is called, and how a run is added
//! with its revision.
//!
//! If a server is unreachable, the run waits in the state directory ([`waiting`]).
//!
//! This module is shared by the commands with `--keep`, `assay history` and `assay gate`. It shows
//! nothing but warnings.

#[cfg(unix)]
mod keeping;
mod waiting;

#[cfg(unix)]
pub(crate) use keeping::keep;

use crate::args::{LookArgs, ReadingArgs, any_words};
use crate::store;
use anyhow::{Context, bail};
use assay_analysis::history::{Revision, fingerprint_facts};
use assay_data::import::stores::last_written;
use assay_data::{Environment, Samples, private};
use assay_history::{Access, Added, NewRun, Store, StoreError, StoreLocation};
use assay_measure::{environment, git, text_of};
use jiff::Timestamp;
use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

/// Fact that names a machine.
const HOSTNAME: &str = "hostname";
/// Fact that names the processor of a machine.
const PROCESSOR: &str = "cpu_model";
/// Name of a store's file.
const FILE: &str = "history.db";

/// Options that select a history.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "History")]
pub(crate) struct StoreArgs {
    /// History file, or postgres://USER@HOST/DATABASE [default: .assay/history.db in the
    /// repository]
    ///
    /// If the repository (outside of one, the current directory) has no .assay directory, the file
    /// is in the state directory. If the address of a database has no password, PGPASSWORD is used.
    #[arg(long, value_name = "PLACE")]
    pub store: Option<PathBuf>,

    /// Project that the runs belong to [default: the name of the repository's directory]
    #[arg(long, value_name = "NAME", value_parser = any_words())]
    pub project: Option<String>,
}

/// Options for judging a file by a history: which history to use, on which machine the file was
/// measured, how to read it, and how to show the result.
#[derive(clap::Args, Debug)]
pub(crate) struct BesideArgs {
    #[command(flatten)]
    pub of: StoreArgs,

    /// Name of the machine, if its host name changes from run to run or the file does not give it
    #[arg(long, value_name = "NAME", help_heading = "History", value_parser = any_words())]
    pub machine: Option<String>,

    #[command(flatten)]
    pub reading: ReadingArgs,

    #[command(flatten)]
    pub look: LookArgs,
}

/// Adds facts about this machine to the file of another tool if `--machine` names this machine. Its
/// runs would otherwise be kept apart from those that assay measured here.
pub(crate) fn on_this_machine(samples: &mut Samples, given: Option<&str>) {
    let facts = &mut samples.environment.facts;
    if given.is_none() || facts.contains_key(HOSTNAME) {
        return;
    }
    let here = Environment::from_facts(environment::capture());
    let of_here = here.facts.iter().filter(|(name, _)| is_of_machine(&here, name));
    let agrees = |(name, value): &(&String, &_)| facts.get(*name).is_none_or(|own| own == *value);
    if given == here.text(HOSTNAME) && of_here.clone().all(|fact| agrees(&fact)) {
        facts.extend(of_here.map(|(name, value)| (name.clone(), value.clone())));
    }
}

/// Returns advice for a file that does not name its machine but names the processor of this
/// machine.
pub(crate) fn may_be_of_this_machine(samples: &Samples, file: &str) -> Option<String> {
    let own = &samples.environment;
    if own.text(HOSTNAME).is_some() {
        return None;
    }
    let processor = own.text(PROCESSOR)?;
    let here = Environment::from_facts(environment::capture());
    let name = here.text(HOSTNAME).filter(|_| here.text(PROCESSOR) == Some(processor))?;
    Some(format!(
        "{file} does not name its machine, so it is kept separately, as `{processor}`; if it was measured on this machine, add it with --machine {name}"
    ))
}

fn is_of_machine(environment: &Environment, fact: &str) -> bool {
    fingerprint_facts(environment).iter().any(|(name, _)| *name == fact)
}

impl StoreArgs {
    /// Returns the location of the store.
    ///
    /// # Errors
    ///
    /// Fails if the store's address is invalid, or if the state directory is needed but unknown.
    pub fn place(&self) -> anyhow::Result<StoreLocation> {
        if let Some(named) = &self.store {
            let password = std::env::var("PGPASSWORD").ok();
            let place = StoreLocation::read(named.as_os_str(), password.as_deref())?;
            return Ok(match place {
                StoreLocation::File(path) if path.is_dir() => StoreLocation::File(path.join(FILE)),
                place => place,
            });
        }
        let own = base().join(".assay");
        if own.is_dir() {
            return Ok(StoreLocation::File(own.join(FILE)));
        }
        let state = store::state_directory();
        let state = state.context(
            "neither XDG_STATE_HOME nor HOME names a directory; name a file with --store",
        )?;
        Ok(StoreLocation::File(state.join(FILE)))
    }

    /// Returns the name of the project: the one given, or else that of the repository's root
    /// directory, or of the current directory outside of one.
    pub fn project(&self) -> String {
        let own = || base().file_name().map(text_of);
        self.project.clone().or_else(own).unwrap_or_else(|| "default".to_owned())
    }

    /// Opens the store. When opened for writing, runs that were waiting for it are added.
    ///
    /// # Errors
    ///
    /// Fails if the location of the store is unknown, if [`Store::open`] fails, or if a run that
    /// was waiting cannot be added.
    pub fn open(&self, access: Access) -> anyhow::Result<Store> {
        let place = self.place()?;
        let StoreLocation::File(path) = &place else {
            let mut store = Store::open(&place, access)?;
            if access == Access::Write {
                waiting::add(&mut store)?;
            }
            return Ok(store);
        };
        if access == Access::Write && self.store.is_none() {
            let directory = path.parent().context("a file stands in a directory")?;
            private::directory(directory).with_context(|| directory.display().to_string())?;
        }
        let is_new = !path.exists();
        let store = Store::open(&place, access)?;
        if is_new && self.store.is_none() {
            hide(path);
        }
        Ok(store)
    }

    /// Opens the store for reading, and returns it with the name of the project.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be opened, or if the project has no runs.
    pub fn of_project(&self) -> anyhow::Result<(Store, String)> {
        let (store, project) = (self.open(Access::Read)?, self.project());
        let known = store.projects()?;
        if !known.contains(&project) {
            bail!(
                "{} has no runs of project `{project}`; {}",
                store.place(),
                match known.as_slice() {
                    [] => "it is empty".to_owned(),
                    known => format!("choose one with --project: {}", known.join(", ")),
                }
            );
        }
        Ok((store, project))
    }
}

/// Facts about a run that are not part of its samples.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Adding<'a> {
    /// Name of the machine, if the host name does not identify it.
    pub machine: Option<&'a str>,
    /// The revision, as the user wrote it.
    pub rev: Option<&'a str>,
    /// Name of the file, as shown to the user.
    pub source: &'a str,
    /// Time of the measurement in milliseconds since 1970, if a better one is known than that in
    /// the samples.
    pub started: Option<i64>,
}

/// Where a run was put.
#[derive(Debug)]
pub(crate) enum RunDestination {
    /// Added to the store.
    InStore(Box<Added>),
    /// Waiting in the state directory because the server is unreachable. Contains the message about
    /// it.
    Waits(String),
}

impl Adding<'_> {
    /// Adds a run. If the server has become unreachable, the run waits in the state directory.
    ///
    /// # Errors
    ///
    /// Fails under the conditions of [`Store::add`], or if a run that has to wait cannot be saved.
    pub fn add(
        &self,
        store: &mut Store,
        project: &str,
        samples: &Samples,
    ) -> anyhow::Result<RunDestination> {
        match store.add(&self.new_run(project, samples)) {
            Ok(added) => Ok(RunDestination::InStore(Box::new(added))),
            Err(gone) if gone.is_gone() => {
                self.wait(&store.place().clone(), project, samples, &gone)
            }
            Err(error) => Err(error).with_context(|| format!("{} is not kept", self.source)),
        }
    }

    fn wait(
        &self,
        place: &StoreLocation,
        project: &str,
        samples: &Samples,
        gone: &StoreError,
    ) -> anyhow::Result<RunDestination> {
        let file = waiting::put(place, &self.new_run(project, samples))?;
        let why = format!(
            "{gone}\nthe run waits in {} and is added by the next `--keep` or `assay history add` to that store",
            file.display()
        );
        Ok(RunDestination::Waits(why))
    }

    fn new_run<'a>(&'a self, project: &'a str, samples: &'a Samples) -> NewRun<'a> {
        let now = Timestamp::now();
        NewRun {
            project,
            samples,
            machine: self.machine,
            revision: self.revision(samples),
            of_sides: of_sides(samples),
            changed: self.rev.is_none() && samples.environment.flag("git_dirty").unwrap_or(false),
            started: self.started.unwrap_or_else(|| {
                started(samples, Path::new(self.source)).unwrap_or(now).as_millisecond()
            }),
            added: now.as_millisecond(),
            source: self.source,
        }
    }

    /// Returns the revision of the run, with its position in the history if the current directory's
    /// repository contains it.
    pub fn revision(&self, samples: &Samples) -> Option<Revision> {
        let recorded = samples.environment.text("git_commit");
        self.rev.or(recorded).map(placed)
    }
}

/// Returns the revisions of sides that have one of their own, each with the commit as recorded.
fn of_sides(samples: &Samples) -> Vec<(String, Revision)> {
    let commit = |side: &str| samples.environment.text(&format!("git_commit@{side}"));
    let commits = samples.sides.iter().filter_map(|side| commit(&side.name));
    commits.map(|commit| (commit.to_owned(), placed(commit))).collect()
}

/// Keeps git from reporting the store as a change to its repository, by adding a `.gitignore`
/// unless one exists.
fn hide(store: &Path) {
    let ignored = store.with_file_name(".gitignore");
    if store.parent().is_some_and(|directory| directory.ends_with(".assay")) && !ignored.exists() {
        // If this fails, the tree counts as changed. That only costs a mark in a list, so it is not
        // worth an error.
        let _marked = private::replace(&ignored, format!("{FILE}*\n.gitignore\n").as_bytes());
    }
}

/// Returns the revision with this name, with its position in the history if the current directory's
/// repository contains it.
fn placed(name: &str) -> Revision {
    thread_local! {
        static PLACES: RefCell<git::CommitPositions> = RefCell::new(git::CommitPositions::of(Path::new(".")));
    }
    match PLACES.with_borrow_mut(|places| places.position(name)) {
        Some(git::CommitPosition { commit, parent, ordinal, time }) => {
            Revision { commit, parent, ordinal, time: Some(time) }
        }
        None => Revision { commit: name.to_owned(), ..Revision::default() },
    }
}

/// Returns the time of the measurement as given by the samples, or else the modification time of
/// the file.
fn started(samples: &Samples, file: &Path) -> Option<Timestamp> {
    let facts = ["started", "date", "datetime"].map(|fact| samples.environment.text(fact));
    let told = samples.started.as_deref().into_iter().chain(facts.into_iter().flatten());
    let told = told.filter_map(|text| text.parse().ok()).next();
    let written = || match file.is_dir() {
        true => last_written(file),
        false => fs::metadata(file).ok()?.modified().ok(),
    };
    told.or_else(|| Timestamp::try_from(written()?).ok())
}

/// Returns the directory after which a project is named: the root of the repository, or else the
/// current directory.
fn base() -> PathBuf {
    let here = PathBuf::from(".");
    git::top(&here).or_else(|| here.canonicalize().ok()).unwrap_or(here)
}

//! A suite's preloaded process: started once, forked for each of its runs. If that is not possible,
//! the reason is reported once and the suite runs without it.

use super::Side;
use crate::preloading;
use crate::run_error::RunError;
use assay_measure::preloaded::{Preloaded, PreloadedError, PreloadedRun, Recipe, Standing, State};
use assay_measure::{Command, RunResult, Watching, interrupt};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Maximum number of times that a process is restarted after ending without a complete run, until
/// something changes.
const DEATHS: u32 = 3;
/// A process whose stages are unchanged for this long has finished loading.
const SETTLES: Duration = Duration::from_millis(250);
/// Maximum time until new stages appear after a run that revealed more to preload.
const LEARNS_WITHIN: Duration = Duration::from_secs(3);
/// Interval between checks of a process that is loading.
const LOOK: Duration = Duration::from_millis(5);

/// The reason why a run is not a fork of a preloaded process.
pub(super) enum Cold {
    /// The process cannot be used for the given reason, so the command runs without preloading.
    Because(String),
    /// The caller ended the run.
    Stopped,
}

/// The process, or the reason for its absence.
pub(crate) struct Warm {
    process: Result<Preloaded, String>,
    /// Number of times that the process died since its last complete run.
    deaths: u32,
    /// True if the process was ever ready since its start; otherwise it is restarted only when
    /// something changes.
    was_ready: bool,
    /// Messages already reported, which are not repeated.
    told: BTreeSet<String>,
    to_tell: Vec<String>,
    state: Option<State>,
}

impl Warm {
    /// Starts the process for a command of this side, in a private directory. It loads in the
    /// background.
    pub fn start(command: &Command, side: &Side, directory: &Path, root: &Path) -> Self {
        let (told, to_tell, state) = Default::default();
        let process = started(command, side, directory, root);
        Self { process, deaths: 0, was_ready: false, told, to_tell, state }
    }

    /// Reports changed files to the process, which loads them in the background; `None` if anything
    /// may have changed.
    pub fn tell(&mut self, changed: Option<Vec<PathBuf>>) {
        let Ok(process) = &mut self.process else { return };
        self.deaths = 0;
        let is_gone = matches!(process.standing(), Standing::Ended(_));
        let told = match changed {
            _ if is_gone => process.restart(),
            Some(changed) if preloading::is_another(process, &changed) => process.restart(),
            Some(changed) => process.tell(changed),
            None => process.check(),
        };
        if let Err(error) = told {
            self.note(error.to_string());
        }
    }

    /// Restarts the process if it died, and queries its state. Must be called between runs.
    pub fn rest(&mut self) {
        let Ok(process) = &mut self.process else { return };
        if let Standing::Ended(how) = process.standing() {
            self.state = None;
            self.deaths += 1;
            if self.was_ready && self.deaths <= DEATHS {
                self.was_ready = false;
                let started = process.restart();
                let failed = started.err().map(|error| error.to_string());
                let again = format!("the preloaded process {how}, and is started again");
                self.note(failed.unwrap_or(again));
            }
            return;
        }
        if let Some(state) = process.look() {
            self.was_ready = true;
            // If the process is not ready, the notes are the reason, which the next run reports.
            for note in state.notes.iter().filter(|_| state.ready) {
                let note = format!("preloaded: {note}");
                if self.told.insert(note.clone()) {
                    self.to_tell.push(note);
                }
            }
            self.state = Some(state);
        }
    }

    /// Waits until the process has finished loading.
    pub fn settle(&mut self) {
        let began = Instant::now();
        let mut before = None;
        while began.elapsed() < preloading::LOADS_WITHIN && interrupt::count() == 0 {
            self.rest();
            if !self.is_there() {
                return;
            }
            let stages = self.stages();
            if stages.is_some() && before == stages {
                return;
            }
            before = stages;
            std::thread::sleep(SETTLES);
        }
    }

    /// Waits until the process has preloaded everything that its first run loaded. `before` lists
    /// its stages before that run.
    pub fn learn(&mut self, before: Option<Vec<u32>>) {
        let began = Instant::now();
        // If the run revealed more to preload, new stages appear after a delay. There may be none.
        while self.is_there() && self.stages() == before && began.elapsed() < LEARNS_WITHIN {
            std::thread::sleep(LOOK);
            self.rest();
        }
        self.settle();
    }

    fn is_there(&mut self) -> bool {
        let process = self.process.as_mut();
        process.is_ok_and(|process| !matches!(process.standing(), Standing::Ended(_)))
    }

    /// Returns the processes of the stages, if everything is loaded.
    pub fn stages(&self) -> Option<Vec<u32>> {
        let state = self.state.as_ref().filter(|state| state.ready)?;
        Some(state.stages.iter().map(|stage| stage.process).collect())
    }

    /// Returns the state of the process at the last query.
    pub fn state(&self) -> Option<&State> {
        self.state.as_ref()
    }

    /// Returns the messages to report about the process.
    pub fn said(&mut self) -> Vec<String> {
        std::mem::take(&mut self.to_tell)
    }

    fn note(&mut self, why: String) {
        let told = format!("run cold: {why}");
        if self.told.insert(told.clone()) {
            self.to_tell.push(told);
        }
    }

    /// Runs a command in the process.
    pub(super) fn run(
        &mut self,
        command: &Command,
        timeout: Duration,
        watching: Option<Watching<'_>>,
    ) -> Result<RunResult, Cold> {
        let ran = self.try_run(command, timeout, watching);
        match &ran {
            Ok(_) => (self.deaths, self.was_ready) = (0, true),
            Err(Cold::Because(why)) => self.note(why.clone()),
            Err(Cold::Stopped) => {}
        }
        ran
    }

    fn try_run(
        &mut self,
        command: &Command,
        timeout: Duration,
        mut watching: Option<Watching<'_>>,
    ) -> Result<RunResult, Cold> {
        let process = self.process.as_mut().map_err(|why| Cold::Because(why.clone()))?;
        let way = preloading::of(command).map_err(Cold::Because)?;
        let env = preloading::environment(command, &way).map_err(Cold::Because)?;
        let directory = preloading::directory(command).map_err(Cold::Because)?;
        let asked = PreloadedRun { argv: &way.words, env: &env, directory: &directory };
        loop {
            ready(process, &mut watching)?;
            process.check().map_err(because)?;
            let (is_loaded, since) = (process.is_loaded(), process.loads_since());
            let patience = preloading::patience(is_loaded, since, preloading::LOADS_WITHIN);
            let own = watching.as_mut().map(|own| Watching {
                every: own.every,
                also: own.also,
                ends: &mut *own.ends,
            });
            match process.client().run(&asked, (patience, Some(timeout)), own) {
                // The process restarts because of a change that was just reported to it.
                Err(PreloadedError::Absent) => {}
                Err(error @ PreloadedError::Silent(_)) if is_loaded => {
                    // The process does not respond, so it is restarted.
                    process.restart().map_err(because)?;
                    return Err(because(error));
                }
                ran => return ran.map_err(because),
            }
        }
    }
}

fn because(error: PreloadedError) -> Cold {
    match error {
        PreloadedError::Stopped => Cold::Stopped,
        error => Cold::Because(error.to_string()),
    }
}

/// Waits until the process accepts requests.
fn ready(process: &mut Preloaded, watching: &mut Option<Watching<'_>>) -> Result<(), Cold> {
    loop {
        process.tell([]).map_err(because)?;
        match process.standing() {
            Standing::Ready => return Ok(()),
            Standing::Ended(how) => {
                return Err(Cold::Because(format!("the preloaded process {how}")));
            }
            Standing::Loading(since) if since >= preloading::LOADS_WITHIN => {
                return Err(because(PreloadedError::Silent(preloading::LOADS_WITHIN)));
            }
            Standing::Loading(_) => {}
        }
        let also = watching.as_ref().map_or(&[][..], |own| own.also);
        let _woken = interrupt::sleep_until(also, Some(LOOK));
        let gives_up =
            watching.as_mut().map_or(interrupt::count() > 0, |own| (own.ends)(&|_| Vec::new()));
        if gives_up {
            return Err(Cold::Stopped);
        }
    }
}

fn started(
    command: &Command,
    side: &Side,
    directory: &Path,
    root: &Path,
) -> Result<Preloaded, String> {
    let way = preloading::of(command)?;
    let hooks = directory.with_file_name("hooks");
    let request = way.request(&command.argv, &hooks);
    let command =
        super::asker::prepared(&request, side).map_err(|error: RunError| error.to_string())?;
    let seen = preloading::seen(root, &way);
    preloading::fits(directory)?;
    let recipe = Recipe { command, directory: directory.to_owned(), root: root.to_owned(), seen };
    Preloaded::start(recipe).map_err(|error| error.to_string())
}

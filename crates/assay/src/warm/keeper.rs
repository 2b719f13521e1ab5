//! The keeper of a preloaded process. It starts the process, reports changes in the project to it,
//! and restarts it if it dies. Both end when they have been idle, on `--stop`, or when the
//! project's directory is removed. It answers each query immediately, and waits only for queries
//! and saves.

use super::{CONTROL, IN_USE, NUMBER, locked, root};
use crate::watch::events::Events;
use crate::watch::ignored::Ignored;
use crate::{Ending, preloading};
use anyhow::Context;
use assay_data::list;
use assay_data::private;
use assay_measure::preloaded::{Preloaded, Recipe, Standing, State};
use assay_measure::{Command, interrupt};
use assay_report::preloaded::{HeldStage, PreloadedProcess};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Maximum time to receive a query, and to send an answer.
const ASKS_WITHIN: Duration = Duration::from_secs(1);
/// Maximum interval between checks that the directories still exist.
const LOOK: Duration = Duration::from_secs(30);
/// Delay after a request for a run until the process is queried about the loaded files.
const LOADED_AFTER: Duration = Duration::from_millis(300);
/// Maximum number of restarts of a process that died after it was ready. A saved file resets the
/// count.
const DEATHS: u32 = 3;

/// A preloaded process, and when and how often it was used.
struct Keeper {
    command: Command,
    root: PathBuf,
    process: Preloaded,
    was_ready: bool,
    deaths: u32,
    /// `None` if file events are unavailable. Files are then checked before each run.
    events: Option<Events>,
    idle: Duration,
    since: jiff::Timestamp,
    used: Instant,
    used_at: jiff::Timestamp,
    runs: u64,
    /// Time of the next query for the files that the process has loaded, if one is due.
    look_at: Option<Instant>,
}

/// Keeps a command's process in `directory` until it is no longer wanted.
///
/// # Errors
///
/// Returns an error if the process cannot be started at all.
pub(crate) fn keep(directory: &Path, command: Command, idle: Duration) -> anyhow::Result<Ending> {
    interrupt::install().context("signals can't be handled")?;
    let root = root()?;
    let way = preloading::of(&command).map_err(anyhow::Error::msg)?;
    private::replace(&directory.join(NUMBER), std::process::id().to_string().as_bytes())?;
    private::create(&directory.join(IN_USE))?;
    let request = way.request(&command.argv, &directory.join("hooks"));
    let side =
        crate::tests::Side { env: way.env.clone(), ..crate::tests::Side::new("", Vec::new()) };
    let prepared = crate::tests::prepared(&request, &side)?;
    let recipe = Recipe {
        command: prepared,
        directory: directory.to_owned(),
        root: root.clone(),
        seen: preloading::seen(&root, &way),
    };
    let ignored = Ignored::below(&root, &[])?;
    let events = Events::below(&root, None, ignored).ok();
    let now = jiff::Timestamp::now();
    let mut keeper = Keeper {
        command,
        root,
        process: Preloaded::start(recipe)?,
        was_ready: false,
        deaths: 0,
        events: events.filter(|events| events.descriptor().is_some()),
        idle,
        since: now,
        used: Instant::now(),
        used_at: now,
        runs: 0,
        look_at: None,
    };
    // From here on, clients that wait for the keeper can connect.
    let listener = UnixListener::bind(directory.join(CONTROL))?;
    fs::set_permissions(directory.join(CONTROL), fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    let kept = keeper.until_not_wanted(&listener, directory);
    let _not_there = fs::remove_file(directory.join(CONTROL));
    drop(keeper);
    remove(directory);
    kept.map(|()| Ending::Fine)
}

/// Removes the keeper's directory, unless it belongs to another keeper by now.
fn remove(directory: &Path) {
    let Some(Ok(_lock)) = directory.parent().map(locked) else { return };
    if is_ours(directory) {
        let _stays = fs::remove_dir_all(directory);
    }
}

/// Returns true if no other keeper has taken over the directory because this one did not answer.
fn is_ours(directory: &Path) -> bool {
    let number = fs::read_to_string(directory.join(NUMBER)).unwrap_or_default();
    number == std::process::id().to_string()
}

impl Keeper {
    fn until_not_wanted(
        &mut self,
        listener: &UnixListener,
        directory: &Path,
    ) -> anyhow::Result<()> {
        loop {
            if interrupt::count() > 0 || !self.root.is_dir() || !is_ours(directory) {
                return Ok(());
            }
            self.take_saves();
            self.see_to_process();
            let left = self.idle.saturating_sub(self.used.elapsed());
            if left.is_zero() {
                if is_free(directory) {
                    return Ok(());
                }
                self.used = Instant::now();
                continue;
            }
            let mut most = left.min(LOOK);
            if let Some(at) = self.look_at {
                most = most.min(at.saturating_duration_since(Instant::now()));
                if most.is_zero() {
                    self.look_at = None;
                    let _asked_later = self.process.look();
                    continue;
                }
            }
            let events = self.events.as_ref().and_then(Events::descriptor);
            let wakers: Vec<_> = [listener.as_fd()].into_iter().chain(events).collect();
            interrupt::sleep_until(&wakers, Some(most))?;
            while let Ok((asking, _)) = listener.accept() {
                // A client that disconnected needs no answer.
                if self.answered(&asking).unwrap_or(false) {
                    return Ok(());
                }
            }
        }
    }

    /// Reports saved files to the process, or restarts it.
    fn take_saves(&mut self) {
        let Some(events) = &mut self.events else { return };
        let saved = events.saved();
        if saved.is_empty() {
            return;
        }
        self.deaths = 0;
        let paths: Vec<PathBuf> = saved.paths.iter().map(|path| self.root.join(path)).collect();
        // A process that could not be loaded before the save may load now.
        let told = match self.process.standing() {
            Standing::Ended(_) => self.process.restart(),
            _ if preloading::is_another(&self.process, &paths) => self.process.restart(),
            _ => self.process.tell(paths),
        };
        if told.is_err() || saved.are_unknown {
            let _seen_before_the_next_run = self.process.check();
        }
        if self.events.as_ref().is_some_and(|events| events.descriptor().is_none()) {
            self.events = None;
        }
    }

    /// Restarts the process if it died after it was ready.
    fn see_to_process(&mut self) {
        match self.process.standing() {
            Standing::Ready if !self.was_ready => {
                self.was_ready = true;
                let _asked_later = self.process.look();
            }
            Standing::Ended(_) if self.was_ready && self.deaths < DEATHS => {
                (self.was_ready, self.deaths) = (false, self.deaths + 1);
                let _told_when_it_is_used = self.process.restart();
            }
            _ => {}
        }
    }

    /// Answers one query. Returns true if the keeper must end afterwards.
    fn answered(&mut self, asking: &UnixStream) -> anyhow::Result<bool> {
        asking.set_nonblocking(false)?;
        asking.set_read_timeout(Some(ASKS_WITHIN))?;
        asking.set_write_timeout(Some(ASKS_WITHIN))?;
        let mut line = String::new();
        BufReader::new(asking).read_line(&mut line)?;
        let question: Value = serde_json::from_str(&line)?;
        let mut ends = false;
        let answer = if question["use"] == true {
            self.runs += u64::from(question["again"] != true);
            self.used_with(question["idle"].as_f64())
        } else if question["status"] == true {
            self.status()
        } else if question["restart"] == true {
            json!({"restarted": self.process.restart().is_ok()})
        } else {
            ends = question["stop"] == true;
            json!({"stopped": ends})
        };
        let mut asking = asking;
        asking.write_all(format!("{answer}\n").as_bytes())?;
        Ok(ends)
    }

    /// Prepares for a client that is about to run a command: reports all changes to the process.
    fn used_with(&mut self, idle: Option<f64>) -> Value {
        if let Some(Ok(idle)) = idle.map(Duration::try_from_secs_f64) {
            self.idle = idle;
        }
        (self.used, self.used_at) = (Instant::now(), jiff::Timestamp::now());
        self.take_saves();
        self.see_to_process();
        if let Standing::Ended(_) = self.process.standing()
            && self.events.is_none()
        {
            let _told_below = self.process.restart();
        }
        // The process may restart because of the changes.
        let _nobody_answers = self.process.check();
        match self.process.standing() {
            Standing::Loading(since) => {
                json!({"standing": "loading", "since": since.as_secs_f64()})
            }
            Standing::Ended(why) => json!({"standing": "ended", "why": why}),
            Standing::Ready => {
                // A client is waiting, so the process is queried later.
                self.look_at = Some(Instant::now() + LOADED_AFTER);
                let since = self.process.loads_since().as_secs_f64();
                let is_loaded = self.process.is_loaded();
                json!({"standing": "ready", "since": since, "loaded": is_loaded})
            }
        }
    }

    fn status(&mut self) -> Value {
        let standing = match self.process.standing() {
            Standing::Loading(_) => "loading".to_owned(),
            Standing::Ended(why) => format!("the preloaded process {why}"),
            Standing::Ready => "ready".to_owned(),
        };
        let state = self.process.look().unwrap_or_default();
        let here = std::env::current_dir().unwrap_or_default();
        json!({
            "command": list::line(&self.command.argv),
            "directory": here.display().to_string(),
            "pid": std::process::id(),
            "process": self.process.process_id(),
            "standing": standing,
            "ready": state.ready,
            "since": self.since.to_string(),
            "used": self.used_at.to_string(),
            "runs": self.runs,
            "ends_in": self.idle.saturating_sub(self.used.elapsed()).as_secs_f64(),
            "memory": state.memory(),
            "stages": stages(&state),
            "notes": state.notes,
        })
    }
}

fn stages(state: &State) -> Vec<Value> {
    let one = |stage: &assay_measure::preloaded::Stage| json!({"name": stage.name, "pid": stage.process, "files": stage.files, "seconds": stage.seconds, "memory": stage.memory});
    state.stages.iter().map(one).collect()
}

/// Returns true if no run is in progress.
fn is_free(directory: &Path) -> bool {
    File::open(directory.join(IN_USE)).is_ok_and(|file| file.try_lock().is_ok())
}

/// Parses a keeper's answer to a status query.
pub(super) fn told(answer: &Value) -> Option<PreloadedProcess> {
    let text = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
    let number = |name: &str| answer[name].as_u64().unwrap_or_default();
    let stage = |one: &Value| HeldStage {
        name: one["name"].as_str().unwrap_or_default().to_owned(),
        process: one["pid"].as_u64().unwrap_or_default(),
        files: one["files"].as_u64().unwrap_or_default(),
        seconds: one["seconds"].as_f64().unwrap_or_default(),
        memory: one["memory"].as_u64(),
    };
    let all = |name: &str| answer[name].as_array().into_iter().flatten();
    answer["command"].as_str()?;
    Some(PreloadedProcess {
        command: text("command"),
        directory: text("directory"),
        keeper: number("pid"),
        process: number("process"),
        standing: match text("standing").as_str() {
            "ready" if answer["ready"] == false => "loading".to_owned(),
            other => other.to_owned(),
        },
        since: text("since"),
        used: text("used"),
        runs: number("runs"),
        ends_in: answer["ends_in"].as_f64().unwrap_or_default(),
        memory: number("memory"),
        stages: all("stages").map(stage).collect(),
        notes: all("notes").filter_map(Value::as_str).map(str::to_owned).collect(),
    })
}

//! Runs vitest tests repeatedly in one process. A driver (`drivers/assay_mutants_vitest.mjs`)
//! replaces the framework's runner. It reloads the test files for each change, and a switch in the
//! sources selects the change, so that no process has to be started per change.
//!
//! Leftovers of one change in the process must not affect the result of the next one, so a failed
//! test has to pass without a change immediately afterwards. If it does not, the process is
//! restarted and the change is tried again. Errors outside of tests are judged by running the
//! user's command.

use crate::guard::TimeIsUp;
use crate::suite::{Suite, limited};
use anyhow::{Context, bail};
use assay_data::system_error::reason;
use assay_measure::room::Room;
use assay_measure::sandbox::SandboxedCommand;
use assay_measure::serving::Server;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The driver, and the reporter that loads it.
const DRIVER: [(&str, &str); 2] = [
    ("assay_mutants_vitest.mjs", include_str!("drivers/assay_mutants_vitest.mjs")),
    (REPORTER, include_str!("drivers/assay_mutants_vitest_reporter.mjs")),
];
const REPORTER: &str = "assay_mutants_vitest_reporter.mjs";
/// The directory of both files, from which the framework's modules can be resolved.
const DIRECTORY: &str = ".assay";
/// Time limit for loading the framework.
const LOADING: Duration = Duration::from_secs(120);
/// Interval at which to check whether the process is ready or has answered.
const LOOK: Duration = Duration::from_millis(50);

/// A process that runs tests.
pub(crate) struct TestDriver {
    stream: BufReader<UnixStream>,
    // Dropped before `_room`, since the process must end before the directory of its socket is
    // removed.
    pub server: Server,
    _limits: Option<SandboxedCommand>,
    _room: Room,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct DriverRequest<'a> {
    pub number: usize,
    pub files: &'a [PathBuf],
    pub stops: bool,
    pub reaches: bool,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct DriverAnswer {
    pub tests: Vec<Test>,
    pub errors: Vec<String>,
    pub broken: Vec<String>,
    pub seconds: f64,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Test {
    pub name: String,
    pub state: String,
    /// Numbers of the functions that the test reached.
    pub reaches: BTreeSet<usize>,
}

impl DriverAnswer {
    /// Appends a number to repeated test names, as a normal run does.
    pub fn number(&mut self) {
        let mut seen: HashMap<String, usize> = HashMap::new();
        for own in &mut self.tests {
            let count = seen.entry(own.name.clone()).or_default();
            *count += 1;
            if *count > 1 {
                own.name += &format!(" #{count}");
            }
        }
    }

    pub fn failed(&self) -> Vec<&str> {
        let failed = self.tests.iter().filter(|own| own.state == "failed");
        failed.map(|own| own.name.as_str()).collect()
    }

    /// Returns true if there were no failures or errors.
    pub fn is_fine(&self) -> bool {
        self.failed().is_empty() && self.errors.is_empty() && self.broken.is_empty()
    }
}

/// The reason why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DriverError {
    #[error("it runs in an endless loop")]
    Endless,
    #[error("{0}")]
    Gone(String),
}

impl TestDriver {
    /// Starts a process for the tests in the copy at `top`, and waits until it has loaded the
    /// framework. The process ends when the thread that started it ends.
    ///
    /// # Errors
    ///
    /// Returns an error with the reason if the process cannot be started or does not load the
    /// framework.
    pub fn start(suite: &Suite, top: &Path) -> anyhow::Result<Self> {
        let room = Room::temporary().map_err(|(parent, error)| {
            anyhow::anyhow!("{}: {}", parent.display(), reason(&error))
        })?;
        let directory = top.join(&suite.below);
        let above = directory.join(DIRECTORY);
        fs::create_dir_all(&above).with_context(|| above.display().to_string())?;
        for (name, text) in DRIVER {
            let place = above.join(name);
            fs::write(&place, text).with_context(|| place.display().to_string())?;
        }
        suite.walls.hand_over(room.path())?;
        let request = suite.driven(top, &above.join(REPORTER)).context("there is no driver")?;
        let address = room.path().join("socket");
        let mut env = suite.environment(top);
        env.insert("ASSAY_MUTANTS".to_owned(), format!("path:{}", address.display()));
        let argv = limited(request.argv, false, None);
        let (command, entered) = suite.walls.command(argv, env, &directory, (top, room.path()))?;
        let server = Server::start(&command, &[], room.path())?;
        let began = Instant::now();
        let stream = loop {
            if let Ok(stream) = UnixStream::connect(&address) {
                break stream;
            }
            if let Some(how) = server.ended() {
                bail!("vitest, with assay's runner, {}", how.replace('\n', " "));
            }
            if suite.guard.is_over() {
                bail!(TimeIsUp);
            }
            if began.elapsed() > LOADING {
                bail!("vitest took longer than {} s to load", LOADING.as_secs());
            }
            sleep(LOOK);
        };
        stream.set_read_timeout(Some(LOOK))?;
        let stream = BufReader::new(stream);
        Ok(Self { stream, server, _limits: entered, _room: room })
    }

    /// Sends a request and waits for the answer. A process that has used more than `computing`
    /// seconds of CPU time is taken to be in an endless loop.
    pub fn ask(
        &mut self,
        ask: &DriverRequest<'_>,
        suite: &Suite,
        (limit, computing): (Duration, f64),
    ) -> anyhow::Result<DriverAnswer> {
        let line = serde_json::to_string(ask)? + "\n";
        self.stream.get_mut().write_all(line.as_bytes())?;
        let began = Instant::now();
        let before = self.server.looked_at();
        let mut told = Vec::new();
        loop {
            match self.stream.read_until(b'\n', &mut told) {
                Ok(_) if told.ends_with(b"\n") => {
                    let mut answer: DriverAnswer = serde_json::from_slice(&told)?;
                    answer.number();
                    return Ok(answer);
                }
                Ok(_) => bail!(DriverError::Gone("the process of the tests has ended".to_owned())),
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(error) => return Err(error.into()),
            }
            if suite.guard.is_over() {
                bail!(TimeIsUp);
            }
            let seconds = began.elapsed();
            // The CPU time is queried only once the process can have used that much.
            let may_be_endless = seconds.as_secs_f64() * 2.0 > computing;
            if may_be_endless && self.server.used_since(&before).cpu_seconds > computing {
                bail!(DriverError::Endless);
            }
            if seconds > limit {
                bail!(DriverError::Gone(format!("no answer in {} s", limit.as_secs())));
            }
        }
    }
}

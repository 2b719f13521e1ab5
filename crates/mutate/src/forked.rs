//! Loads Python and Ruby tests once and reuses them for many changes. A driver
//! (`drivers/assay_mutants.py`, `.rb`) forks a process for each change, in which the changed
//! function replaces the loaded one. The Python driver also keeps a process that has loaded only
//! the framework, for changes to code that runs while the tests are loaded. This module starts the
//! driver and sends it requests. Changes that the driver cannot handle are tried by changing the
//! file and running the tests in a new process.

use crate::guard::Guard;
use crate::suite::{Suite, limited};
use anyhow::{Context, bail};
use assay_data::system_error::reason;
use assay_measure::room::Room;
use assay_measure::sandbox::SandboxedCommand;
use assay_measure::serving::Server;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The drivers, by file name.
const DRIVERS: [(&str, &str); 4] = [
    ("assay_mutants.py", include_str!("drivers/assay_mutants.py")),
    ("assay_mutants.rb", include_str!("drivers/assay_mutants.rb")),
    ("assay_mutants_frameworks.rb", include_str!("drivers/assay_mutants_frameworks.rb")),
    ("assay_mutants_methods.rb", include_str!("drivers/assay_mutants_methods.rb")),
];
/// The suite hook that one of the drivers loads.
const READS_JSON: &str = "assay_warm_json.rb";
/// The module name under which the drivers are loaded.
const MODULE: &str = "assay_mutants";
/// Time limit for loading the tests.
const LOADING: Duration = Duration::from_secs(300);
/// Time after a change's time limit within which the driver must answer.
const GRACE: Duration = Duration::from_secs(30);
/// Interval at which to check whether the driver is ready.
const LOOK: Duration = Duration::from_millis(10);

/// A driver that has loaded its tests.
pub(crate) struct ForkServer {
    stream: BufReader<UnixStream>,
    /// The connection to the process that has loaded only the framework, if there is one.
    early: Option<BufReader<UnixStream>>,
    // Dropped before `_room`, since the process must end before the directory of its socket is
    // removed.
    _server: Server,
    _limits: Option<SandboxedCommand>,
    _room: Room,
}

/// A request to run tests, with or without a change to a function.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct ForkRequest<'a> {
    #[serde(flatten)]
    pub function: Option<FunctionRequest<'a>>,
    pub tests: &'a [String],
    /// True if the run ends at the first failed test.
    pub stops: bool,
    /// Time limit, in seconds.
    pub limit: f64,
    /// CPU time limit, in seconds.
    pub computing: Option<f64>,
}

/// A change to a function.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct FunctionRequest<'a> {
    /// Path of the file from which the function was loaded.
    pub path: &'a Path,
    /// The changed function, with the code that encloses it.
    pub text: &'a str,
    /// Line of the file on which `text` begins.
    pub first: u32,
    /// The function's name without the enclosing classes.
    pub name: &'a str,
    /// Line by which the language identifies the function.
    pub line: u32,
}

/// A request to run tests with a change that was made to a file on disk.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct EarlyRequest<'a> {
    pub path: &'a Path,
    pub tests: &'a [String],
    /// True if the run ends at the first failed test.
    pub stops: bool,
    /// Time limit, in seconds.
    pub limit: f64,
}

/// The driver's answer.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub(crate) struct ForkAnswer {
    ready: Option<usize>,
    #[serde(default)]
    early: bool,
    /// Names of the tests that failed.
    #[serde(default)]
    pub failed: Vec<String>,
    /// Number of tests that were run.
    pub run: Option<usize>,
    #[serde(default)]
    pub seconds: f64,
    #[serde(default)]
    pub timeout: bool,
    /// True if the CPU time limit was reached.
    #[serde(default)]
    pub computing: bool,
    pub crashed: Option<String>,
    pub unable: Option<String>,
}

impl ForkAnswer {
    /// Returns true if this number of tests ran and all passed.
    pub fn passed(&self, tests: usize) -> bool {
        self.run == Some(tests) && self.failed.is_empty()
    }
}

/// A driver that is loading its tests.
pub(crate) struct LoadingDriver<'a> {
    server: Server,
    limits: Option<SandboxedCommand>,
    room: Room,
    /// Can end the wait for the driver.
    guard: &'a Guard,
}

impl<'a> LoadingDriver<'a> {
    /// Starts a driver for the tests in the copy at `top`. Nothing in the copy may be changed until
    /// the tests are loaded. Returns `None` if there is no driver for these tests. The driver ends
    /// when the thread that started it ends.
    ///
    /// # Errors
    ///
    /// Returns an error with the reason if there should be a driver but it cannot be started.
    pub fn start(suite: &'a Suite, top: &Path) -> anyhow::Result<Option<Self>> {
        let room = Room::temporary().map_err(|(parent, error)| {
            anyhow::anyhow!("{}: {}", parent.display(), reason(&error))
        })?;
        let reads = assay_suites::hooks::files().filter(|(name, _)| *name == READS_JSON);
        for (name, text) in DRIVERS.into_iter().chain(reads) {
            let place = room.path().join(name);
            fs::write(&place, text).with_context(|| place.display().to_string())?;
        }
        suite.walls.hand_over(room.path())?;
        let Some((argv, env)) = command(suite, top, room.path()) else { return Ok(None) };
        let directory = top.join(&suite.below);
        let (command, entered) =
            suite.walls.command(limited(argv, true, None), env, &directory, (top, room.path()))?;
        let server = Server::start(&command, &[], room.path())?;
        Ok(Some(Self { server, limits: entered, room, guard: &suite.guard }))
    }

    /// Waits until the driver has loaded the tests.
    ///
    /// # Errors
    ///
    /// Returns an error with the reason if the tests cannot be loaded.
    pub fn loaded(self) -> anyhow::Result<ForkServer> {
        let Self { server, limits, room, guard } = self;
        let address = room.path().join("socket");
        let stream = connected(&address, &server, guard)?;
        let mut own = ForkServer {
            stream: BufReader::new(stream),
            early: None,
            _server: server,
            _limits: limits,
            _room: room,
        };
        let ready = receive(&mut own.stream)?;
        if let Some(why) = ready.unable {
            bail!("the tests can't be loaded once for all changes: {why}");
        }
        if ready.ready.is_none_or(|tests| tests == 0) {
            bail!("the tests can't be loaded once for all changes: no test was found this way");
        }
        if ready.early {
            let stream = connected(&address.with_extension("early"), &own._server, guard)?;
            own.early = Some(BufReader::new(stream));
        }
        Ok(own)
    }
}

impl ForkServer {
    /// Returns handles of the connections. Another thread can close them to end the wait for an
    /// answer.
    pub fn lines(&self) -> Vec<UnixStream> {
        let all = self.early.iter().chain([&self.stream]);
        all.filter_map(|stream| stream.get_ref().try_clone().ok()).collect()
    }

    /// Tries a change in a process that has loaded the tests.
    ///
    /// # Errors
    ///
    /// Fails if the driver has ended or does not answer.
    pub fn attempt(&mut self, ask: &ForkRequest<'_>) -> anyhow::Result<ForkAnswer> {
        exchange(&mut self.stream, ask, ask.limit)
    }

    /// Tries a change on disk in a process that has loaded only the framework. Returns `None` if
    /// there is no such process.
    ///
    /// # Errors
    ///
    /// Fails if the process has ended or does not answer. The process is not used again.
    pub fn attempt_early(&mut self, ask: &EarlyRequest<'_>) -> Option<anyhow::Result<ForkAnswer>> {
        let answer = exchange(self.early.as_mut()?, ask, ask.limit);
        if answer.is_err() {
            self.not_early();
        }
        Some(answer)
    }

    /// Returns true if there is a process that has loaded only the framework.
    pub fn is_early(&self) -> bool {
        self.early.is_some()
    }

    /// Disables [`Self::attempt_early`], and lets the process that it uses end.
    pub fn not_early(&mut self) {
        if let Some(own) = self.early.take() {
            let _gone = own.get_ref().shutdown(Shutdown::Both);
        }
    }
}

fn connected(address: &Path, server: &Server, guard: &Guard) -> anyhow::Result<UnixStream> {
    let began = Instant::now();
    let left = |until: Instant| until.saturating_duration_since(Instant::now());
    let patience = guard.until().map_or(LOADING, |until| left(until).min(LOADING));
    loop {
        if let Ok(stream) = UnixStream::connect(address) {
            stream.set_read_timeout(Some(patience.max(LOOK)))?;
            guard.add_line(stream.try_clone()?);
            return Ok(stream);
        }
        if let Some(how) = server.ended() {
            bail!("the tests can't be loaded once for all changes: {how}");
        }
        if began.elapsed() > patience || guard.is_over() {
            bail!("the tests took longer than {} s to load", patience.as_secs());
        }
        sleep(LOOK);
    }
}

fn exchange(
    stream: &mut BufReader<UnixStream>,
    ask: &impl Serialize,
    limit: f64,
) -> anyhow::Result<ForkAnswer> {
    let line = serde_json::to_string(ask)? + "\n";
    stream.get_ref().set_read_timeout(Some(Duration::from_secs_f64(limit) + GRACE))?;
    stream.get_mut().write_all(line.as_bytes())?;
    receive(stream)
}

fn receive(stream: &mut BufReader<UnixStream>) -> anyhow::Result<ForkAnswer> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        bail!("the process with the loaded tests has ended");
    }
    Ok(serde_json::from_str(&line)?)
}

/// Returns the driver's command and environment, or `None` if no driver can be used for these
/// tests.
fn command(
    suite: &Suite,
    top: &Path,
    room: &Path,
) -> Option<(Vec<OsString>, BTreeMap<String, String>)> {
    let mut argv: Vec<OsString> = suite.argv.iter().map(|word| suite.moved(word, top)).collect();
    let mut env = suite.environment(top);
    env.insert("ASSAY_MUTANTS".to_owned(), format!("path:{}", room.join("socket").display()));
    match suite.framework.name() {
        "unittest" => {
            let module = argv.windows(2).position(|two| two[0] == "-m" && two[1] == "unittest")?;
            let driver = room.join(format!("{MODULE}.py")).into_os_string();
            argv.splice(module..module + 2, [driver]);
        }
        "pytest" => {
            before(&mut env, "PYTEST_PLUGINS", MODULE, ",");
            before(&mut env, "PYTHONPATH", &room.display().to_string(), ":");
        }
        "rspec" | "minitest" | "test-unit" => {
            let option = format!("-r{}", room.join(format!("{MODULE}.rb")).display());
            // Ruby splits `RUBYOPT` at whitespace.
            if option.contains(char::is_whitespace) {
                return None;
            }
            before(&mut env, "RUBYOPT", &option, " ");
        }
        _ => return None,
    }
    Some((argv, env))
}

/// Prepends a value to an environment variable.
fn before(env: &mut BTreeMap<String, String>, name: &str, own: &str, sign: &str) {
    let known = env.get(name).cloned().or_else(|| std::env::var(name).ok());
    let known = known.filter(|known| !known.is_empty());
    let value = known.map_or(own.to_owned(), |known| format!("{own}{sign}{known}"));
    env.insert(name.to_owned(), value);
}

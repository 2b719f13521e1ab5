//! The generators that send the requests of a slice: either this process, or several processes,
//! local or on other machines, that share the schedule of the slice and start at the same time.
//!
//! A separate generator is another process of this binary. It reads one line of JSON per job from
//! its standard input, answers with one line on its standard output, and exits at the end of its
//! input.

use crate::own;
use crate::run_error::RunError;
use anyhow::Context;
use assay_data::threads;
use assay_load::{GeneratorJob, Hooks, Pace, Tally, generate, probe};
use assay_measure::clock::now_seconds;
use assay_measure::{interrupt, word_of};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Write};
use std::ops::ControlFlow;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Time between sending a slice to separate generators and its start, in seconds.
const AHEAD: f64 = 0.05;
/// Interval at which the progress of the generator's thread is checked.
const LOOK: Duration = Duration::from_millis(50);
/// Number of clock comparisons. The one with the fastest answer counts (Cristian, 1989).
const CLOCK_QUESTIONS: usize = 9;

/// How a generator is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GeneratorLaunch {
    /// Name shown to the user.
    pub name: String,
    /// Words of the command line before the binary, such as a remote shell. If empty, the generator
    /// is started on this machine.
    pub prefix: Vec<String>,
    /// Path of the binary on the generator's machine; `None` if the binary of this process is used.
    pub program: Option<String>,
}

/// A request to a generator.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ask {
    /// Asks for the time of the generator's clock.
    Clock,
    /// Starts a job at `start_at`, in seconds on the generator's clock.
    Job { start_at: f64, job: Box<GeneratorJob> },
}

/// A generator in a separate process.
struct Remote {
    name: String,
    child: Child,
    asks: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// Offset of the generator's clock from the clock of this process, in seconds.
    offset: f64,
    /// Uncertainty of `offset`, in seconds.
    uncertainty: f64,
}

/// All generators of a run.
pub(crate) struct Generators {
    remotes: Vec<Remote>,
}

impl Generators {
    /// Returns the generators of a run in which this process sends all requests.
    pub fn here() -> Self {
        Self { remotes: Vec::new() }
    }

    /// Starts a separate process for each launch.
    ///
    /// # Errors
    /// Fails if a process cannot be started, or does not answer.
    pub fn start(ways: &[GeneratorLaunch]) -> anyhow::Result<Self> {
        let remotes = ways.iter().map(Remote::start).collect::<anyhow::Result<_>>()?;
        Ok(Self { remotes })
    }

    /// Returns the name of each separate generator with the offset and uncertainty of its clock, in
    /// seconds. There are none if this process sends the requests.
    pub fn clocks(&self) -> impl Iterator<Item = (&str, f64, f64)> {
        self.remotes.iter().map(|own| (own.name.as_str(), own.offset, own.uncertainty))
    }

    /// Sends a single request like those of the job from the first generator, and waits at most
    /// `seconds` for the answer.
    ///
    /// # Errors
    /// Fails if the job cannot start, or a generator is lost.
    pub fn probe(&mut self, job: &GeneratorJob, seconds: f64) -> Result<Tally, RunError> {
        let job = probe(job, seconds);
        match self.remotes.first_mut() {
            None => here(&job, None, &mut |_| ControlFlow::Continue(())),
            Some(remote) => remote.run(now_seconds(), job),
        }
    }

    /// Runs a slice. If this process sends the requests, `pace` is called with the progress, and
    /// the slice ends early when `pace` returns `Break`, or at `until`.
    ///
    /// # Errors
    /// Fails if the slice cannot start, or a generator is lost.
    pub fn run(
        &mut self,
        job: &GeneratorJob,
        until: Option<Instant>,
        pace: &mut dyn FnMut(Pace) -> ControlFlow<()>,
    ) -> Result<Tally, RunError> {
        if self.remotes.is_empty() {
            return here(job, until, pace);
        }
        let of = self.remotes.len() as u64;
        let begins = now_seconds() + AHEAD;
        for (number, remote) in self.remotes.iter_mut().enumerate() {
            remote.begin(begins, GeneratorJob { part: (number as u64, of), ..job.clone() })?;
        }
        let mut sum = Tally::default();
        for remote in &mut self.remotes {
            sum.add(&remote.tally()?);
        }
        Ok(sum)
    }
}

/// Runs a job on a separate thread, so that drawing does not delay requests.
fn here(
    job: &GeneratorJob,
    until: Option<Instant>,
    pace: &mut dyn FnMut(Pace) -> ControlFlow<()>,
) -> Result<Tally, RunError> {
    let before = interrupt::count();
    let last: Mutex<Option<Pace>> = Mutex::new(None);
    let is_enough = AtomicBool::new(false);
    let (done, waits) = mpsc::channel();
    std::thread::scope(|scope| {
        let started = threads::start_in(scope, || {
            let is_over = || until.is_some_and(|until| Instant::now() >= until);
            let stop =
                || interrupt::count() > before || is_over() || is_enough.load(Ordering::Relaxed);
            let say = |pace: Pace| {
                if let Ok(mut last) = last.try_lock() {
                    *last = Some(pace);
                }
            };
            let tally = generate(job, &Hooks { stop: &stop, pace: &say });
            // The receiver outlives this thread.
            let _heard = done.send(tally);
        });
        if let Err(error) = started {
            return Err(RunError::Reading(error.to_string()));
        }
        loop {
            match waits.recv_timeout(LOOK) {
                Ok(tally) => {
                    return tally.map_err(|error| RunError::Reading(error.to_string()));
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    let told = last.lock().ok().and_then(|mut last| last.take());
                    if told.is_some_and(|told| pace(told).is_break()) {
                        is_enough.store(true, Ordering::Relaxed);
                    }
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    return Err(RunError::Reading("the generator's thread ended".to_owned()));
                }
            }
        }
    })
}

impl Remote {
    fn start(way: &GeneratorLaunch) -> anyhow::Result<Self> {
        let program = match &way.program {
            Some(program) => program.into(),
            None => own::program()?.into_os_string(),
        };
        let mut words: Vec<std::ffi::OsString> =
            way.prefix.iter().map(|word| word_of(word)).collect();
        words.extend([program, "load".into(), "--as-generator".into()]);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command
            .spawn()
            .with_context(|| format!("the generator {} can't be started", way.name))?;
        let asks = child.stdin.take();
        let answers = child.stdout.take().context("a generator without output")?;
        let answers = BufReader::new(answers);
        let mut own = Self {
            name: way.name.clone(),
            child,
            asks,
            answers,
            offset: 0.0,
            uncertainty: f64::INFINITY,
        };
        own.compare_clocks()?;
        Ok(own)
    }

    fn compare_clocks(&mut self) -> Result<(), RunError> {
        for _ in 0..CLOCK_QUESTIONS {
            let asked = now_seconds();
            self.ask(&Ask::Clock)?;
            let line = self.answer()?;
            let answered = now_seconds();
            let theirs: f64 = line.trim().parse().map_err(|_| self.lost(&line))?;
            let half = (answered - asked) / 2.0;
            if half < self.uncertainty {
                (self.offset, self.uncertainty) = (theirs - (asked + half), half);
            }
        }
        Ok(())
    }

    fn run(&mut self, at: f64, job: GeneratorJob) -> Result<Tally, RunError> {
        self.begin(at, job)?;
        self.tally()
    }

    /// Starts a job at the time `at`, in seconds on the clock of this process.
    fn begin(&mut self, at: f64, job: GeneratorJob) -> Result<(), RunError> {
        self.ask(&Ask::Job { start_at: at + self.offset, job: Box::new(job) })
    }

    fn tally(&mut self) -> Result<Tally, RunError> {
        let line = self.answer()?;
        Tally::of_line(&line).map_err(|_| self.lost(&line))
    }

    fn ask(&mut self, ask: &Ask) -> Result<(), RunError> {
        let line = serde_json::to_string(ask).unwrap_or_default() + "\n";
        let sent = self
            .asks
            .as_mut()
            .map(|asks| asks.write_all(line.as_bytes()).and_then(|()| asks.flush()));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(self.lost("")),
        }
    }

    fn answer(&mut self) -> Result<String, RunError> {
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(1..) => Ok(line),
            _ => Err(self.lost("")),
        }
    }

    fn lost(&self, said: &str) -> RunError {
        let said = said.trim();
        let what = match said.is_empty() {
            true => "it gave no answer".to_owned(),
            false => format!("it said `{}`", said.chars().take(200).collect::<String>()),
        };
        RunError::Reading(format!("the generator {} was lost: {what}", self.name))
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // The generator exits at the end of its input.
        self.asks = None;
        let _ended = self.child.wait();
    }
}

/// Runs this process as a generator: reads requests from standard input, and writes one line per
/// request, a tally or the time, to standard output.
///
/// # Errors
/// Fails if a line cannot be read, or a job cannot start. The message goes to standard error, where
/// the process that started this one can show it.
pub(crate) fn work() -> anyhow::Result<()> {
    let mut answers = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let answer = match serde_json::from_str(&line).context("a job that can't be read")? {
            Ask::Clock => now_seconds().to_string(),
            Ask::Job { start_at, job } => {
                let wait = start_at - now_seconds();
                if wait > 0.0 {
                    std::thread::sleep(Duration::from_secs_f64(wait.min(60.0)));
                }
                let hooks = Hooks { stop: &|| interrupt::count() > 0, pace: &|_| () };
                generate(&job, &hooks)?.to_line()
            }
        };
        writeln!(answers, "{answer}")?;
        answers.flush()?;
    }
    Ok(())
}

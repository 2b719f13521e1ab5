//! The source of a load test, which runs the slice of each turn and returns its values.

use super::acknowledging;
use super::generators::Generators;
use super::knee::{Search, Try};
use super::recovery::Recovery;
use super::requests::Requests;
use super::slice;
use super::slot::LoadSlot;
use super::time_left::TimeLeft;
use crate::run_error::RunError;
use assay_analysis::policy;
use assay_data::code;
use assay_data::samples::without_secrets;
use assay_data::source::{Failure as Failed, Layout, Measured, Obstacle, Source, Turn};
use assay_data::system_error::reason;
use assay_data::{
    Action, Finding, Histogram, Metric, ParameterValue, Samples, Severity, Side, Subject,
};
use assay_load::{Arrivals, Failure, Load, Pace, Tally};
use assay_measure::interrupt;
use assay_measure::serving::Server;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::time::Instant;

/// Callback that receives the name of the side being measured and the progress of its slice; `None`
/// while waiting for the server of that side.
pub(crate) type ProgressCallback = Rc<RefCell<dyn FnMut(&str, Option<Pace>)>>;

/// The [`Source`] of a load test: runs its slices and returns their values.
pub(crate) struct Slices {
    pub sides: Vec<Side>,
    pub places: Vec<LoadSlot>,
    pub servers: Vec<Server>,
    pub generators: Generators,
    /// The search; `None` if each slice is measured by itself.
    pub search: Option<Search>,
    /// The time budget of a search.
    pub time: TimeLeft,
    pub seed: u64,
    pub told: ProgressCallback,
    metrics: Vec<Metric>,
    /// Number of slices in which the generator was late.
    late: u32,
    /// Number of slices in which the generator was late, by quantile.
    late_at: BTreeMap<&'static str, u32>,
    /// Number of slices in which the generator's processor time was exhausted.
    busy: u32,
    /// Number of slices that ended before any answer arrived.
    outlasted: u32,
    /// Total number of slices.
    slices: u32,
    /// Memory limit for all processes of a server together, in bytes.
    pub memory_limit: Option<u64>,
    /// Largest memory use, in bytes, of each slot whose server exceeded the memory limit.
    over_memory: BTreeMap<usize, u64>,
    /// Times from the first byte of an answer to the last, by slot.
    transfers: BTreeMap<usize, Histogram>,
    /// Latencies of all sides in earlier slices, by step.
    usual: BTreeMap<String, Histogram>,
    recovery: Recovery,
    /// True if a slice of a search did not fit into the budget.
    is_out_of_time: bool,
    /// The file that single requests are recorded in, if requested.
    pub requests: Option<Requests>,
    /// Number of requests that failed because this machine had no free port, and because it had no
    /// free file descriptor.
    ours: [u64; 2],
    /// Details of the first request that failed, for each kind of failure.
    details: BTreeMap<Failure, String>,
}

impl Slices {
    /// Returns the name of the subject at a slot: its side, and the parameters that differ between
    /// slots.
    fn name_of(&self, place: usize) -> String {
        let differs = |name: &str, value: &ParameterValue| {
            let is_other = |(own, other): &(String, ParameterValue)| own == name && other != value;
            self.places.iter().any(|place| place.parameters.iter().any(is_other))
        };
        let own = &self.places[place];
        let named = own.parameters.iter().filter(|(name, value)| differs(name, value));
        let values = named.map(|(name, value)| format!(" {name}={value}"));
        format!("{}{}", self.sides[own.side].name, values.collect::<String>())
    }

    pub fn new(
        sides: Vec<Side>,
        places: Vec<LoadSlot>,
        servers: Vec<Server>,
        generators: Generators,
        search: Option<Search>,
        (seed, told): (u64, ProgressCallback),
    ) -> Self {
        let metrics = match &search {
            Some(_) => Search::metrics(),
            None => slice::metrics(),
        };
        let (late, busy, outlasted, slices, ours) = (0, 0, 0, 0, [0, 0]);
        let (memory_limit, over_memory, usual) = (None, BTreeMap::new(), BTreeMap::new());
        let recovery = Recovery::default();
        Self {
            sides,
            places,
            servers,
            generators,
            search,
            time: TimeLeft::new(None),
            seed,
            told,
            metrics,
            late,
            late_at: BTreeMap::new(),
            busy,
            outlasted,
            slices,
            memory_limit,
            over_memory,
            transfers: BTreeMap::new(),
            usual,
            recovery,
            is_out_of_time: false,
            requests: None,
            ours,
            details: BTreeMap::new(),
        }
    }

    /// Returns the advice to separate the generator from the servers.
    fn own_processor(&self) -> Action {
        let cpus = std::thread::available_parallelism().map_or(1, NonZero::get);
        let last = cpus - 1;
        if last == 0 {
            return Action::text("send from another machine: --on HOST");
        }
        let own = format!("give the generator its own CPU: --pin {last}");
        let others: Vec<String> = (0..last).map(|cpu| cpu.to_string()).collect();
        Action::text(match self.servers.is_empty() {
            true => own,
            false => format!("{own} --pin-servers {}", others.join(",")),
        })
    }

    /// Advises the user to use more generators.
    fn more_generators(&self) -> Action {
        let more = 2 * self.generators.clocks().count().max(1);
        Action::text(format!("use several generators: --generators {more}, or --on HOST"))
    }

    /// Returns findings about the capacities that the search has had no time to find.
    fn unfinished(&self) -> Vec<Finding> {
        let Some(search) = self.search.as_ref().filter(|_| self.is_out_of_time) else {
            return Vec::new();
        };
        let known = |place| Some((place, search.unfinished(place)?));
        let known: Vec<(usize, (String, f64))> = (0..self.places.len()).filter_map(known).collect();
        let rest: f64 = known.iter().map(|(_, (_, rest))| rest).sum();
        // A search may take a little longer than estimated.
        let enough = ((self.time.whole() + rest) * 1.2 / 10.0).ceil() * 10.0;
        let finding = |(place, (known, rest)): (usize, (String, f64))| {
            let name = self.name_of(place);
            let message = format!("capacity of {name}: {known}: --time {enough}s");
            Finding::new(code::CAPACITY_LIMIT, message)
                .at(Severity::Warning)
                .about(&name)
                .with("rest_seconds", rest)
                .advise(Action::MeasureLonger { seconds: Some(enough) })
        };
        known.into_iter().map(finding).collect()
    }

    /// Returns findings about the goals that a search has missed, for a run that was interrupted
    /// early.
    pub fn so_far(&self) -> Vec<Finding> {
        let search = self.search.iter();
        search
            .flat_map(|own| {
                (0..self.places.len()).filter_map(|place| own.missed(place, &self.name_of(place)))
            })
            .collect()
    }

    /// Runs one slice of a slot, with the slot's own load or the load that a search tries.
    fn slice(
        &mut self,
        place: usize,
        tried: Option<Try>,
        block: u32,
    ) -> Result<Sliced, Obstacle<RunError>> {
        let own = &self.places[place];
        let mut job = own.job.clone();
        let rate = match tried {
            Some(Try::Rate(rate)) => Some(rate),
            Some(Try::OneAtATime) => {
                job.load = Load::Closed { connections: 1 };
                None
            }
            None => None,
        };
        match (&mut job.load, rate) {
            // Both sides of a block get the same arrivals, so that only the servers differ.
            (Load::Open(Arrivals::Poisson { rate, seed }), asked) => {
                *rate = asked.unwrap_or(*rate);
                *seed = self.seed ^ u64::from(block).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            }
            (load, Some(rate)) => *load = Load::Open(Arrivals::Constant { rate }),
            _ => {}
        }
        if let (Some(rate), Some(search)) = (rate, &self.search) {
            job.seconds = job.seconds.max(search.fewest_requests() as f64 * 1.05 / rate);
        }
        let name = self.sides[own.side].name.clone();
        let whose = (own.side, own.server);
        let told = Rc::clone(&self.told);
        let takes = job.settle_seconds + job.seconds;
        if !self.time.has_room(takes) {
            return Err(Obstacle::OutOfTime);
        }
        let wait = (self.time.left() - takes).max(0.0);
        let silent_seconds = self
            .recovery
            .before(whose, &job, &mut self.generators, wait, &mut || {
                told.borrow_mut()(&name, None);
            })
            .map_err(RunError::obstacle)?;
        if self.slices > 0 && !self.time.has_room(takes) {
            return Err(Obstacle::OutOfTime);
        }
        let until = self.time.breaks_off(takes);
        let before = own.server.map(|server| self.servers[server].looked_at());
        let came = interrupt::count();
        let search = self.search.as_ref().filter(|_| rate.is_some());
        let mut is_missed = false;
        let mut tally = self
            .generators
            .run(&job, until, &mut |pace| {
                told.borrow_mut()(&name, Some(pace));
                is_missed |= search.is_some_and(|search| search.is_surely_missed(&job, &pace));
                if is_missed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .map_err(RunError::obstacle)?;
        if is_missed {
            tally.give_up_unknown();
        }
        let used = own_used(&self.servers, self.places[place].server, before);
        if interrupt::count() > came {
            return Err(Obstacle::Interrupted);
        }
        if tally.unknown > 0 && until.is_some_and(|until| Instant::now() >= until) {
            return Err(Obstacle::OutOfTime);
        }
        if let Some(server) = self.places[place].server
            && let Some(how) = self.servers[server].ended()
        {
            return Err(Obstacle::Broken(RunError::Failed(format!("the server {name} {how}"))));
        }
        self.slices += 1;
        let is_closed = matches!(job.load, Load::Closed { .. });
        let outlasted =
            (tally.answered > 0 || is_closed) && tally.failures() + tally.delivered == 0;
        self.outlasted += u32::from(outlasted);
        self.recovery.after(whose, &tally);
        if let Some(requests) = &mut self.requests {
            let (own, side) = (&self.places[place], &self.sides[whose.0]);
            let written = requests.add(block, side, own, &job, &tally.requests);
            let failed =
                |error| RunError::Reading(format!("--record-requests: {}", reason(&error)));
            written.map_err(|error| Obstacle::Broken(failed(error)))?;
        }
        let held = used.and_then(|used| used.memory_bytes);
        if let Some(held) = held.filter(|held| self.memory_limit.is_some_and(|limit| *held > limit))
        {
            let most = self.over_memory.entry(place).or_default();
            *most = held.max(*most);
        }
        for (&failure, detail) in &tally.details {
            if tally.failed_as(failure) > 0 {
                // The target of a redirect may contain a key.
                self.details.entry(failure).or_insert_with(|| without_secrets(detail));
            }
        }
        self.ours[0] += tally.failed_as(Failure::NoPort);
        self.ours[1] += tally.failed_as(Failure::NoDescriptor);
        self.transfers.entry(place).or_default().add(&tally.transfer);
        let limit = job.connecting.timeout;
        let limit = if is_missed { f64::INFINITY } else { limit };
        let mut values = slice::values(&tally, job.seconds, limit, used.as_ref());
        if matches!(job.load, Load::Closed { .. }) {
            let generators = self.generators.clocks().count().max(1) as f64;
            let share = tally.cpu_seconds / (job.seconds + job.settle_seconds) / generators;
            self.busy += u32::from(share > policy::GENERATOR_BUSY);
        } else {
            let mut fit = values.clone();
            let step = format!("{:?}", self.places[place].parameters);
            let usual = self.usual.entry(step).or_default();
            let late_at = slice::without_late(&tally, usual, &mut fit);
            self.late += u32::from(!late_at.is_empty());
            late_at.into_iter().for_each(|at| *self.late_at.entry(at).or_default() += 1);
            usual.add(&tally.latency);
            // For a single server the numbers are shown with a warning. For a search a latency that
            // is too long is informative enough, and a goal that was met despite lateness was met.
            if self.sides.len() > 1 && tried.is_none() {
                values = fit;
            }
        }
        Ok(Sliced { tally, values, silent_seconds })
    }
}

/// The results of one slice.
struct Sliced {
    tally: Tally,
    values: Vec<f64>,
    /// Time before the slice during which the server, already idle, answered nothing, in seconds.
    silent_seconds: f64,
}

/// Returns a finding if no slice had enough values for the deciding quantile. The server chooses
/// the number of chunks, for example.
fn too_few_values(samples: &Samples) -> Option<Finding> {
    let name = &samples.plan.as_ref()?.primary;
    let (metric, needed) = (samples.metric_index(name)?, slice::fewest_values(name)?);
    let mut values = samples.observations().filter_map(|own| own.values.get(metric).copied());
    let lacks = needed > 1 && !samples.is_empty() && values.all(f64::is_nan);
    let chunks = match name.starts_with("chunk_gap") {
        true => ": the answers came in one piece, or the slices are too short",
        false => "",
    };
    let message = format!("no slice had the {needed} values that {name} takes{chunks}");
    lacks.then(|| slice::too_short(message, needed))
}

fn own_used(
    servers: &[Server],
    server: Option<usize>,
    before: Option<assay_measure::serving::Look>,
) -> Option<assay_measure::serving::ServerUsage> {
    Some(servers[server?].used_since(&before?))
}

impl Source for Slices {
    type Error = RunError;

    fn layout(&self) -> Layout {
        let mut samples = Samples::default();
        for side in &self.sides {
            samples.add_side(side.clone());
        }
        let row = samples.row_named("");
        for (index, place) in self.places.iter().enumerate() {
            let alike = |other: &LoadSlot| other.side == 0 && other.parameters == place.parameters;
            let against = self.places.iter().position(alike);
            samples.add(Subject {
                side: place.side,
                row,
                parameters: place.parameters.clone(),
                name: self.name_of(index),
                against: Some(against.unwrap_or(index)),
                ..Subject::default()
            });
        }
        Layout::one_unit(samples)
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn measure(&mut self, turn: &Turn) -> Result<Measured, Obstacle<RunError>> {
        // The search runs as a copy, because its slices also read the search in `self`.
        let rows = if let Some(mut search) = self.search.clone() {
            if search.is_pointless() {
                return Err(Obstacle::Interrupted);
            }
            if self.is_out_of_time {
                return Err(Obstacle::OutOfTime);
            }
            let found = search.run(turn.place, |tried| {
                let own = self.slice(turn.place, Some(tried), turn.block);
                self.is_out_of_time |= matches!(own, Err(Obstacle::OutOfTime));
                own.map(|own| (own.tally, own.values))
            });
            // The search is stored even if it was interrupted, so that its last miss can be
            // reported.
            self.search = Some(search);
            vec![found?]
        } else {
            let own = self.slice(turn.place, None, turn.block)?;
            vec![slice::row(&own.tally, own.values, own.silent_seconds)]
        };
        Ok(Measured { rows, ..Measured::default() })
    }

    fn findings(&self, samples: &Samples, _: &[Failed]) -> Vec<Finding> {
        let mut found: Vec<Finding> = too_few_values(samples).into_iter().collect();
        if self.late > 0 {
            let at: Vec<String> = self
                .late_at
                .iter()
                .map(|(name, slices)| format!("{} in {slices}", name.replace('_', ".")))
                .collect();
            let at = at.join(", ");
            let what = match self.sides.len() {
                _ if self.search.is_some() => {
                    "a goal that was missed there was tried once more".to_owned()
                }
                1 => format!("this makes these too long: {at}"),
                _ => format!(
                    "left out of the comparison: {at}; other quantiles of these slices count"
                ),
            };
            let message = format!(
                "in {} of {} slices the generator itself was late, by more than a fifth of the usual latency: {what}",
                self.late, self.slices
            );
            found.push(
                Finding::new(code::GENERATOR_LIMIT, message)
                    .with("slices", f64::from(self.late))
                    .advise(self.own_processor())
                    .advise(self.more_generators()),
            );
        }
        if self.busy > 0 {
            let message = format!(
                "in {} of {} slices the generator had no processor time left: the rate may be its own limit, not the server's",
                self.busy, self.slices
            );
            found.push(
                Finding::new(code::GENERATOR_LIMIT, message)
                    .with("slices", f64::from(self.busy))
                    .advise(self.more_generators())
                    .advise(self.own_processor()),
            );
        }
        if self.outlasted > 0 && self.search.is_none() {
            // A closed loop is judged by the achieved rate.
            let is_closed = |own: &LoadSlot| matches!(own.job.load, Load::Closed { .. });
            let severity = match self.places.iter().any(is_closed) {
                true => Severity::Warning,
                false => Severity::Note,
            };
            let message = format!(
                "in {} of {} slices no answer came before the slice ended: the achieved rate, which counts those that did, is 0 there",
                self.outlasted, self.slices
            );
            found.push(
                Finding::new(code::SLICES_SHORT, message)
                    .at(severity)
                    .with("slices", f64::from(self.outlasted))
                    .advise(Action::text("make slices longer than answers take: --slice")),
            );
        }
        let still_busy = self.recovery.still_busy;
        if still_busy > 0 {
            let message = format!(
                "before {still_busy} of {} slices a server was still busy with abandoned requests of an earlier slice: its values there are too bad",
                self.slices
            );
            found.push(
                Finding::new(code::SERVER_OVERLOADED, message)
                    .with("slices", f64::from(still_busy))
                    .advise(Action::text("use a lower rate (--rate, --connections)"))
                    .advise(Action::text("give requests more time (--timeout)")),
            );
        }
        let delayed = |(&place, transfer)| acknowledging::finding(&self.name_of(place), transfer);
        found.extend(self.transfers.iter().filter_map(delayed));
        found.extend(self.unfinished());
        if let Some(search) = &self.search {
            let places = 0..self.places.len();
            found.extend(
                places.clone().filter_map(|place| search.capped(place, &self.name_of(place))),
            );
            found.extend(places.filter_map(|place| search.missed(place, &self.name_of(place))));
        }
        for (&place, &held) in &self.over_memory {
            let mib = held as f64 / 1_048_576.0;
            let limit = self.memory_limit.unwrap_or_default() as f64 / 1_048_576.0;
            let message = format!(
                "{} held {mib:.0} MiB, more than the {limit:.0} MiB that it may have",
                self.name_of(place)
            );
            found.push(
                Finding::new(code::SERVER_OVERLOADED, message)
                    .with("bytes", held as f64)
                    .advise(Action::text("give it fewer workers, or more memory (--serve-memory)")),
            );
        }
        // A search raises the rate until requests fail, so its failures are expected.
        if !self.details.is_empty() && self.search.is_none() {
            let told = |(failure, detail): (&Failure, &String)| {
                format!("{}: {detail}", failure.name().replace('_', " "))
            };
            let told: Vec<String> = self.details.iter().map(told).collect();
            let message = format!("the first requests that failed: {}", told.join("; "));
            found.push(Finding::new(code::REQUESTS_FAILED, message));
        }
        let [ports, descriptors] = self.ours;
        if ports > 0 {
            let message = format!(
                "{ports} requests found no free local port: that is this machine's limit, not the server's"
            );
            found.push(
                Finding::new(code::GENERATOR_LIMIT, message).with("requests", ports as f64).advise(
                    Action::run(
                        "allow more local ports",
                        "sysctl net.ipv4.ip_local_port_range='1024 65535'",
                    ),
                ),
            );
        }
        if descriptors > 0 {
            let message = format!(
                "{descriptors} requests found no free descriptor: that is this process's limit, not the server's"
            );
            found.push(
                Finding::new(code::GENERATOR_LIMIT, message)
                    .with("requests", descriptors as f64)
                    .advise(Action::run("allow more open files", "ulimit -n 65536")),
            );
        }
        found
    }
}

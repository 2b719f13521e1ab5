//! Searches for the highest rate that a server sustains. Every block repeats the search on each
//! side, and its result is the value of one observation. Blocks, intervals and verdicts therefore
//! work as for any other metric.
//!
//! A search raises the rate by a factor until the goals are missed, then bisects between the
//! sustained and the missed rate on a logarithmic scale until they are close. It starts at a small
//! random distance from the last result, because a fixed grid of rates would produce ties, and
//! results would look more certain than they are.

use super::bracket::Bracket;
use super::slice::{self, ANSWERED, CAPACITY};
use assay_analysis::goals::is_out_of_reach;
use assay_analysis::policy;
use assay_data::code;
use assay_data::samples::{Buckets, Counts};
use assay_data::source::{Obstacle, RowResult};
use assay_data::unit::{Quantity, parse_quantity};
use assay_data::{Action, Better, Finding, Metric, Severity, Unit};
use assay_load::{Arrivals, GeneratorJob, Load, Pace, Tally};
use assay_report::number;
use std::time::Instant;

/// Approximate number of slices in a search.
pub(crate) const TRIES: f64 = 10.0;
/// Initial factor between the rates of a search without an earlier result.
const LEAP: f64 = 2.0;
/// Initial factor between the rates of a search that starts from an earlier result.
const STEP: f64 = 1.15;
/// Maximum duration of a slice of a search, in seconds. A rate that does not send enough requests
/// in this time to judge the goals counts as not sustained.
const LONGEST: f64 = 30.0;
/// Number of standard deviations by which the number of random arrivals may exceed its mean.
const SCATTER: f64 = 6.0;
/// Maximum number of slices of one search.
const MOST_SLICES: usize = 24;

/// A condition that a sustained rate must meet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Goal {
    text: String,
    /// Index of the metric in the metrics of a slice.
    metric: usize,
    /// Upper limit of the metric, or lower limit if higher values are better.
    limit: f64,
}

impl Goal {
    /// Parses goals separated by commas, such as `p99<200ms`, `latency_p99_9<1s` or `errors<0.1%`.
    ///
    /// # Errors
    /// Returns a message if a goal is malformed or can never be met.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, String> {
        text.split(',').map(|part| Self::parse(part.trim())).collect()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is not a goal: write it like `p99<200ms` or `errors<0.1%`, several with commas"
            )
        };
        let (name, limit) = text.split_once('<').ok_or_else(wrong)?;
        let limit =
            parse_quantity(limit.trim_start_matches('=')).map_err(|error| error.to_string())?;
        let name = name.trim();
        let metrics = slice::metrics();
        let find = |wanted: &str| metrics.iter().position(|metric| metric.name == wanted);
        let (metric, limit) = match (name, limit) {
            ("errors", Quantity::Fraction(share)) => (find(ANSWERED), 1.0 - share),
            (_, Quantity::Amount(value, Unit::Second)) => {
                let place =
                    find(name).or_else(|| find(&format!("latency_{}", name.replace('.', "_"))));
                (place.filter(|&at| metrics[at].unit == Unit::Second), value)
            }
            _ => (None, 0.0),
        };
        let metric = metric.ok_or_else(wrong)?;
        let can_be_met = match metrics[metric].better {
            Better::Lower => limit > 0.0,
            Better::Higher => (0.0..=1.0).contains(&limit),
        };
        if !can_be_met {
            return Err(format!(
                "`{text}` can't be met: a time must be more than 0 s, and a share between 0 and 100 %"
            ));
        }
        Ok(Self { text: text.to_owned(), metric, limit })
    }

    /// Returns the metric's name as it is written in goals, such as `p99` for `latency_p99`.
    fn name(&self) -> String {
        let name = slice::metrics()[self.metric].name.clone();
        match name.strip_prefix("latency_") {
            Some(quantile) => quantile.replace('_', "."),
            None if name == ANSWERED => "the share of failed requests".to_owned(),
            None => name,
        }
    }

    /// Formats the value of the goal's metric. With few requests an extreme quantile is undefined
    /// as a metric, but can still be reported.
    fn measured(&self, tally: &Tally, values: &[f64]) -> String {
        let metric = &slice::metrics()[self.metric];
        let of_few = || {
            let (histogram, share) = slice::quantile_of(self.metric, tally)?;
            histogram.quantile_seconds(share, tally.failures())
        };
        let value = match self.value(values) {
            value if value.is_nan() => of_few().unwrap_or(f64::INFINITY),
            value => value,
        };
        if value == f64::INFINITY {
            return match tally.answered_in_all {
                0 => "never".to_owned(),
                _ => format!("more than {}", number::rough(self.limit, &metric.unit)),
            };
        }
        match metric.name == ANSWERED {
            true => number::percent(1.0 - value),
            false if value.is_nan() => "not measured".to_owned(),
            false => number::rough(value, &metric.unit),
        }
    }

    fn value(&self, values: &[f64]) -> f64 {
        values.get(self.metric).copied().unwrap_or(f64::NAN)
    }

    /// Returns true if requests made one at a time show that no rate can meet the goal.
    fn is_out_of_reach(&self, tally: &Tally) -> bool {
        let failed = tally.failures();
        let (missed, all, allowed) = match slice::quantile_of(self.metric, tally) {
            Some((histogram, share)) => {
                let recorded = histogram.recorded();
                let slow = recorded.iter().filter(|(seconds, _)| *seconds >= self.limit);
                let slow: u64 = slow.map(|(_, count)| count).sum();
                (slow + failed, histogram.count() + failed, 1.0 - share)
            }
            None if slice::metrics()[self.metric].name == ANSWERED => {
                (failed, tally.answered + failed, 1.0 - self.limit)
            }
            None => return false,
        };
        is_out_of_reach(missed, all, allowed)
    }

    fn is_met(&self, values: &[f64]) -> bool {
        let value = self.value(values);
        match slice::metrics()[self.metric].better {
            Better::Lower => value < self.limit,
            Better::Higher => value >= self.limit,
        }
    }
}

/// The load that a search applies to a slot in one slice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Try {
    /// Requests at this rate per second.
    Rate(f64),
    /// Each request waits for the answer to the previous one.
    OneAtATime,
}

/// Description of a goal that was missed.
#[derive(Clone, Debug, PartialEq)]
struct Missed {
    /// The value and the load at which it was measured, as in `p99 was 240 ms at 812/s`.
    measured: String,
    goal: String,
    /// True if no rate can meet the goal.
    everywhere: bool,
}

/// A search for the highest sustained rate of each slot.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    goals: Vec<Goal>,
    /// Initial rate per second.
    from: f64,
    /// Maximum rate that is tried, per second.
    most: f64,
    /// For each slot, the highest rate that its last successful search sustained.
    known: Vec<Option<f64>>,
    /// For each slot, the number of completed searches, and how many of them sustained the maximum
    /// rate.
    ended: Vec<(u32, u32)>,
    /// For each slot whose first search ran out of time, the last bracket.
    cut: Vec<Option<Bracket>>,
    /// Total duration of all searches, in seconds, and the number of rates that they tried.
    spent: (f64, u32),
    /// For each slot, the goal that it missed last.
    missed: Vec<Option<Missed>>,
    /// For each slot, whether requests made one at a time showed that the goals are within reach.
    reachable: Vec<bool>,
    /// Position in a low-discrepancy sequence, which fills the interval from 0 to 1 evenly.
    draw: f64,
}

impl Search {
    pub fn new(goals: Vec<Goal>, from: f64, most: f64, places: usize, seed: u64) -> Self {
        let draw = (seed as f64 * 1e-9).fract();
        let (missed, reachable) = (vec![None; places], vec![false; places]);
        let (known, ended) = (vec![None; places], vec![(0, 0); places]);
        let (cut, spent) = (vec![None; places], (0.0, 0));
        Self { goals, from, most, known, ended, cut, spent, missed, reachable, draw }
    }

    /// Returns a finding if a slot met its goals at the maximum rate, because its actual capacity
    /// is then unknown.
    pub fn capped(&self, place: usize, name: &str) -> Option<Finding> {
        let (all, capped) = self.ended[place];
        let message = format!(
            "{name} still met the goals at {}/s, the most that --most-rate allows, in {capped} of {all} searches: its capacity is that or more, and a verdict about it holds only up to that rate",
            self.most
        );
        let finding = Finding::new(code::CAPACITY_LIMIT, message).at(Severity::Warning);
        let finding = finding.with("searches", f64::from(capped)).with("rate", self.most);
        (capped > 0).then(|| {
            finding
                .advise(Action::text("raise --most-rate, if the server may be loaded that heavily"))
        })
    }

    /// Returns a finding about the goal that a slot missed last, with the measured value.
    pub fn missed(&self, place: usize, name: &str) -> Option<Finding> {
        let Missed { measured, goal, everywhere } = self.missed[place].as_ref()?;
        let (severity, so) = match everywhere {
            true => (Severity::Warning, "is not met at any rate"),
            false => (Severity::Note, "is missed there"),
        };
        let message = format!("{name}: {measured}: the goal {goal} {so}");
        Some(Finding::new(code::CAPACITY_LIMIT, message).at(severity))
    }

    /// Returns, for a slot whose capacity was not found, the end of a sentence with the known
    /// bounds and the remaining search time, and that time in seconds.
    pub fn unfinished(&self, place: usize) -> Option<(String, f64)> {
        if self.ended[place].0 > 0 {
            return None;
        }
        let (seconds, tries) = self.spent;
        let rest = |tries_left: f64| tries_left * seconds / f64::from(tries.max(1));
        Some(match &self.cut[place] {
            Some(bracket) => {
                let (left, is_exact) = bracket.tries_left();
                let rest = rest(f64::from(left));
                let least = if is_exact { "about" } else { "at least" };
                let span = number::rough(rest, &Unit::Second);
                let (known, goals) = (bracket.words(), self.goals());
                (
                    format!(
                        "{known} with {goals}, when the time was over; finding it takes {least} {span} more"
                    ),
                    rest,
                )
            }
            None => {
                let rest = rest(TRIES);
                let span = number::rough(rest, &Unit::Second);
                (format!("no rate was tried in the time; finding it takes about {span}"), rest)
            }
        })
    }

    /// Returns true if no slot can meet the goals, which ends the search.
    pub fn is_pointless(&self) -> bool {
        let everywhere = |own: &Option<Missed>| own.as_ref().is_some_and(|own| own.everywhere);
        !self.missed.is_empty() && self.missed.iter().all(everywhere)
    }

    /// Returns the metrics of a search: the capacity, and the 99 % quantile of latency at it.
    pub fn metrics() -> Vec<Metric> {
        let mut all =
            vec![Metric { better: Better::Higher, ..Metric::lower(CAPACITY, Unit::PerSecond) }];
        all.push(Metric::lower("latency_p99", Unit::Second));
        all
    }

    /// Returns the goals as the user typed them.
    pub fn goals(&self) -> String {
        let all: Vec<&str> = self.goals.iter().map(|goal| goal.text.as_str()).collect();
        all.join(", ")
    }

    /// Returns the initial rate of a search per second.
    pub fn first_rate(&self) -> f64 {
        self.from
    }

    /// Returns the minimum number of requests that a slice needs so that its goals can be judged.
    pub fn fewest_requests(&self) -> u64 {
        self.goals.iter().map(|goal| slice::fewest(goal.metric)).max().unwrap_or(1)
    }

    /// Returns true if a slice is certain to miss a goal, since too many of the requests in flight are
    /// already older than the goal allows.
    pub fn is_surely_missed(&self, job: &GeneratorJob, pace: &Pace) -> bool {
        // The later steps of a session, and redirected requests, are younger than the session
        // itself.
        let (Load::Open(arrivals), false) = (&job.load, job.scenario.session) else { return false };
        let (rate, scatter) = match arrivals {
            Arrivals::Constant { rate } => (*rate, 0.0),
            Arrivals::Poisson { rate, .. } => (*rate, SCATTER),
            _ => return false,
        };
        let end = job.settle_seconds + job.seconds;
        let is_missed = |goal: &Goal| {
            let Some(share) = slice::latency_share(goal.metric) else { return false };
            let from = (pace.seconds - goal.limit).max(0.0);
            let young = rate * (pace.seconds.min(end) - from).max(0.0);
            let unmeasured = rate * job.settle_seconds;
            let allowed = (1.0 - share) * rate * job.seconds;
            let room = young + unmeasured + allowed;
            pace.in_flight as f64 > room + scatter * room.sqrt() + 1.0
        };
        self.goals.iter().any(is_missed)
    }

    fn holds(&self, rate: f64, tally: &Tally, values: &[f64]) -> bool {
        let delivered = slice::rate_achieved(values);
        tally.due > 0
            && delivered >= policy::DELIVERED * rate
            && self.goals.iter().all(|goal| goal.is_met(values))
    }

    /// Describes the first goal that these values miss.
    fn miss(&self, at: Try, tally: &Tally, values: &[f64]) -> Missed {
        let place = match at {
            Try::Rate(rate) => format!("at {}/s", number::rough(rate, &Unit::One)),
            Try::OneAtATime => {
                let count = tally.answered + tally.failures();
                format!("already when {count} requests were made one at a time")
            }
        };
        match self.goals.iter().find(|goal| !goal.is_met(values)) {
            Some(goal) => Missed {
                measured: format!("{} was {} {place}", goal.name(), goal.measured(tally, values)),
                goal: goal.text.clone(),
                everywhere: at == Try::OneAtATime,
            },
            None => {
                let rate = slice::rate_achieved(values);
                let measured =
                    format!("only {}/s were answered {place}", number::rough(rate, &Unit::One));
                let goal = format!("of {} % of the rate", policy::DELIVERED * 100.0);
                Missed { measured, goal, everywhere: false }
            }
        }
    }

    /// Returns true if requests made one at a time show that a goal cannot be met at any rate.
    fn is_out_of_reach<E>(
        &mut self,
        place: usize,
        slice: &mut impl FnMut(Try) -> Result<(Tally, Vec<f64>), Obstacle<E>>,
    ) -> Result<bool, Obstacle<E>> {
        if self.reachable[place] {
            return Ok(false);
        }
        let (tally, values) = slice(Try::OneAtATime)?;
        let Some(goal) = self.goals.iter().position(|goal| goal.is_out_of_reach(&tally)) else {
            self.reachable[place] = true;
            return Ok(false);
        };
        let only = Self { goals: vec![self.goals[goal].clone()], ..self.clone() };
        let missed = only.miss(Try::OneAtATime, &tally, &values);
        self.missed[place] = Some(Missed { everywhere: true, ..missed });
        Ok(true)
    }

    /// Runs a search, in which `slice` applies load to the slot. If time runs out before the first
    /// capacity of a slot is known, the result contains the rates tried and no capacity.
    ///
    /// # Errors
    /// Returns the errors of `slice`.
    pub fn run<E>(
        &mut self,
        place: usize,
        mut slice: impl FnMut(Try) -> Result<(Tally, Vec<f64>), Obstacle<E>>,
    ) -> Result<RowResult, Obstacle<E>> {
        self.draw = (self.draw + 0.618_033_988_749_894_9).fract();
        let step = if self.known[place].is_some() { STEP } else { LEAP };
        let rate = self.known[place].unwrap_or(self.from) * step.powf(self.draw - 0.5);
        let mut progress =
            SearchProgress { bracket: Bracket::new(step), last: None, tried: Vec::new() };
        let began = Instant::now();
        let narrowed = self.narrow(place, rate, (&mut progress, began), &mut slice);
        self.spent.0 += began.elapsed().as_secs_f64();
        self.spent.1 += progress.tried.len() as u32;
        let found = match narrowed {
            Ok(()) => {
                let held = progress.bracket.held;
                self.known[place] = held.map(|(rate, _)| rate).or(self.known[place]);
                let (all, capped) = &mut self.ended[place];
                *all += 1;
                *capped += u32::from(held.is_some_and(|(rate, _)| rate >= self.most));
                held.unwrap_or((0.0, f64::NAN))
            }
            Err(Obstacle::OutOfTime) if self.ended[place].0 == 0 => {
                self.cut[place] = Some(progress.bracket);
                progress.last = None;
                (f64::NAN, f64::NAN)
            }
            Err(obstacle) => return Err(obstacle),
        };
        Ok(progress.row(found))
    }

    /// Tries rates, starting at `rate`, until the bracket is narrow enough.
    fn narrow<E>(
        &mut self,
        place: usize,
        mut rate: f64,
        (progress, began): (&mut SearchProgress, Instant),
        slice: &mut impl FnMut(Try) -> Result<(Tally, Vec<f64>), Obstacle<E>>,
    ) -> Result<(), Obstacle<E>> {
        let least = self.fewest_requests() as f64 / LONGEST;
        for _ in 0..MOST_SLICES {
            rate = rate.min(self.most);
            let mut from = began.elapsed().as_secs_f64();
            let (mut tally, mut values) = slice(Try::Rate(rate))?;
            if !self.holds(rate, &tally, &values) && slice::was_late(&tally, &values) {
                // The miss may be due to the generator's own lateness, so the rate is tried once
                // more.
                from = began.elapsed().as_secs_f64();
                (tally, values) = slice(Try::Rate(rate))?;
            }
            let p99 = tally.latency.quantile_seconds(0.99, tally.failures()).unwrap_or(f64::NAN);
            let is_held = self.holds(rate, &tally, &values);
            progress.tried.push(slice::tried(rate, from, &tally, is_held));
            if is_held {
                progress.bracket.held = Some((rate, p99));
                progress.last = Some((tally, from));
            } else {
                self.missed[place] = Some(self.miss(Try::Rate(rate), &tally, &values));
                let is_first = progress.bracket.held.is_none() && progress.bracket.missed.is_none();
                progress.bracket.missed = Some(rate);
                if is_first && self.is_out_of_reach(place, slice)? {
                    return Ok(());
                }
            }
            match progress.bracket.next(rate, self.most, least) {
                Some(next) => rate = next,
                None => return Ok(()),
            }
        }
        Ok(())
    }
}

/// The results of a search so far.
struct SearchProgress {
    bracket: Bracket,
    /// Tally of the slice at the highest sustained rate, and the start of that slice in seconds
    /// since the search began.
    last: Option<(Tally, f64)>,
    /// Latencies and counts at each rate tried.
    tried: Vec<(Buckets, Counts)>,
}

impl SearchProgress {
    /// Converts the search into a result with this capacity and 99 % quantile of latency.
    fn row(self, (capacity, p99): (f64, f64)) -> RowResult {
        let (tally, from) = self.last.unwrap_or_default();
        let mut row = slice::row(&tally, vec![capacity, p99], 0.0);
        row.histograms.iter_mut().for_each(|own| own.from = Some(from));
        for (latency, counts) in self.tried {
            row.histograms.push(latency);
            row.counts.push(counts);
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_load::{ConnectionSettings, Expect, Request, Scenario, Target};
    use std::convert::Infallible;

    /// Returns a server that answers within 10 ms up to its capacity, and within 1 s beyond.
    fn of_capacity(
        capacity: f64,
    ) -> impl FnMut(Try) -> Result<(Tally, Vec<f64>), Obstacle<Infallible>> {
        move |tried| {
            let rate = match tried {
                Try::Rate(rate) => rate,
                Try::OneAtATime => 1.0,
            };
            let mut tally =
                Tally { due: 100, answered: 100, delivered: rate as u64 * 10, ..Tally::default() };
            let latency = if rate <= capacity { 10_000_000 } else { 1_000_000_000 };
            (0..100).for_each(|_| tally.latency.record(latency));
            let values = slice::values(&tally, 10.0, 30.0, None);
            Ok((tally, values))
        }
    }

    #[test]
    fn a_search_that_may_go_no_further_says_so() {
        let goals = Goal::parse_all("p99<200ms").expect("goals");
        let mut search = Search::new(goals, 100.0, 150.0, 2, 7);
        for _ in 0..3 {
            let row = search.run(0, of_capacity(4_321.0)).expect("it goes on");
            assert_eq!(row.values[0], 150.0);
            search.run(1, of_capacity(120.0)).expect("it goes on");
        }
        let found = search.capped(0, "a").expect("a finding");
        assert!(found.message.contains("a still met the goals at 150/s"), "{}", found.message);
        assert!(found.message.contains("in 3 of 3 searches"), "{}", found.message);
        assert_eq!(search.capped(1, "b"), None);
    }

    #[test]
    fn a_search_ends_just_below_the_capacity() {
        let goals = Goal::parse_all("p99<200ms, errors<0.1%").expect("goals");
        for capacity in [70.0, 123.0, 4_321.0, 90_000.0] {
            let mut search = Search::new(goals.clone(), 100.0, 1e6, 1, 7);
            let mut found = Vec::new();
            for _ in 0..20 {
                let row = search.run(0, of_capacity(capacity)).expect("it goes on");
                found.push(row.values[0]);
            }
            assert!(
                found.iter().all(|own| (capacity / 1.06..=capacity).contains(own)),
                "{found:?}"
            );
            let mut different = found.clone();
            different.sort_by(f64::total_cmp);
            different.dedup();
            assert!(different.len() > 10, "{found:?}");
        }
    }

    #[test]
    fn a_goal_that_single_requests_miss_ends_the_search_at_once() {
        let goals = Goal::parse_all("errors<50%, p99<5ms").expect("goals");
        let mut search = Search::new(goals, 100.0, 1e6, 1, 7);
        let mut tried = 0;
        let mut server = of_capacity(1e9);
        let row = search.run(0, |own| {
            tried += 1;
            server(own)
        });
        assert_eq!((row.map(|row| row.values[0]), tried), (Ok(0.0), 2));
        assert!(search.is_pointless());
        let found = search.missed(0, "a").expect("a finding").message;
        let expected = "a: p99 was 10 ms already when 100 requests were made one at a time: the goal p99<5ms is not met at any rate";
        assert_eq!(found, expected);
    }

    #[test]
    fn a_search_that_runs_out_of_time_says_between_which_rates_the_capacity_is() {
        let goals = Goal::parse_all("p99<200ms").expect("goals");
        let mut search = Search::new(goals, 100.0, 1e6, 2, 7);
        let within = |most: usize| {
            let (mut server, mut tries) = (of_capacity(612.0), 0);
            move |tried| {
                tries += 1;
                if tries > most { Err(Obstacle::OutOfTime) } else { server(tried) }
            }
        };
        let row = search.run(0, within(5)).expect("what is known");
        assert!(row.values[0].is_nan());
        // The rates tried are kept.
        assert_eq!(row.histograms.len(), 5);
        let (known, _) = search.unfinished(0).expect("an unfinished search");
        assert!(known.starts_with("between "), "{known}");
        assert!(known.contains(" requests/s with p99<200ms, when the time was over"), "{known}");
        assert!(known.contains("; finding it takes about "), "{known}");
        let (known, _) = search.unfinished(1).expect("a search that was not begun");
        assert!(known.starts_with("no rate was tried"), "{known}");
        // A later search that is cut off takes nothing from an earlier one.
        assert!(search.run(0, within(99)).is_ok());
        assert_eq!(search.run(0, within(2)), Err(Obstacle::OutOfTime));
        assert_eq!(search.unfinished(0), None);
    }

    #[test]
    fn a_slice_ends_once_too_many_requests_are_older_than_the_goal() {
        let goals = Goal::parse_all("p99<200ms, errors<0.1%").expect("goals");
        let search = Search::new(goals, 100.0, 1e6, 1, 7);
        let target = Target::parse("http://a/").expect("an address");
        let job = |rate| GeneratorJob {
            scenario: Scenario::of(Request::get(target.clone())),
            load: Load::Open(Arrivals::Constant { rate }),
            settle_seconds: 0.4,
            seconds: 2.0,
            connecting: ConnectionSettings::default(),
            expect: Expect::default(),
            keep_requests: 0,
            part: (0, 1),
        };
        let surely = |seconds, in_flight| {
            let pace = Pace { seconds, in_flight, ..Pace::default() };
            search.is_surely_missed(&job(1000.0), &pace)
        };
        // During the slice, 200 may be young, 400 unmeasured, and 20 slower than the goal.
        assert_eq!([620, 622].map(|flying| surely(1.0, flying)), [false, true]);
        // After it, none is young.
        assert_eq!([420, 422].map(|flying| surely(2.7, flying)), [false, true]);
        // Arrivals at random scatter, and those of a closed loop wait for answers.
        let random = Load::Open(Arrivals::Poisson { rate: 1000.0, seed: 1 });
        for load in [random, Load::Closed { connections: 9 }] {
            let pace = Pace { seconds: 1.0, in_flight: 622, ..Pace::default() };
            assert!(!search.is_surely_missed(&GeneratorJob { load, ..job(1000.0) }, &pace));
        }
    }

    #[test]
    fn the_goal_that_limits_the_rate_is_named() {
        let goals = Goal::parse_all("p99<200ms").expect("goals");
        let mut search = Search::new(goals, 100.0, 1e6, 1, 7);
        search.run(0, of_capacity(123.0)).expect("it goes on");
        let found = search.missed(0, "a").expect("a finding").message;
        assert!(
            found.contains("p99 was 1.0 s at 1") && found.ends_with("p99<200ms is missed there"),
            "{found}"
        );
        assert!(!search.is_pointless());
    }

    #[test]
    fn goals_are_read_as_people_write_them() {
        assert!(Goal::parse_all("p99.9 < 1s").is_ok());
        assert!(Goal::parse_all("latency_p50<=5ms,errors<1%").is_ok());
        for wrong in ["p99", "p98<1s", "errors<3", "p99<5%", "", "answered<1s"] {
            assert!(Goal::parse_all(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_holds_no_rate_is_said_to_hold_none_and_the_limit_is_never_passed() {
        let goals = Goal::parse_all("p99<200ms").expect("goals");
        let mut search = Search::new(goals.clone(), 100.0, 1e6, 1, 7);
        let none = search.run(0, of_capacity(0.0)).map(|row| row.values[0]);
        assert_eq!(none, Ok(0.0));
        let mut search = Search::new(goals, 100.0, 500.0, 1, 7);
        let all = search.run(0, of_capacity(1e9)).map(|row| row.values[0]);
        assert_eq!(all, Ok(500.0));
    }
}

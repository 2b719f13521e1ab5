//! Messages while servers are started and slices are measured.

use super::options::{Args, HowArrivals};
use crate::load::{LoadSlot, ProgressCallback};
use crate::progress::{Line, share_done};
use assay_analysis::engine::Standing;
use assay_data::{Plan, StopRule, Unit};
use assay_load::{Arrivals, Load, Pace};
use assay_report::number;
use std::cell::RefCell;
use std::rc::Rc;

/// The messages and the progress line.
pub(super) struct Telling {
    pub line: Rc<Line>,
    /// The fraction done, the number of blocks, and the elapsed time in seconds.
    standing: Rc<RefCell<(f64, usize, f64)>>,
}

impl Telling {
    pub fn new(quiet: bool) -> Self {
        Self { line: Rc::new(Line::new(quiet)), standing: Rc::default() }
    }

    pub fn starting(&self, line: &str) {
        self.line.say(&format!("starting {line}"));
    }

    pub fn waiting(&self, name: &str, seconds: f64) {
        if self.line.is_due() {
            self.line.draw(
                0.0,
                format!("waiting for {name} to answer, {}", number::rough(seconds, &Unit::Second)),
            );
        }
    }

    /// Reports the planned measurement and its maximum duration. `from` is the initial rate of a
    /// search. `hanging` returns how many seconds a number of blocks take longer if a server hangs.
    pub fn plan(
        &self,
        load: &str,
        plan: &Plan,
        (steps, block_seconds, limit): (usize, f64, f64),
        from: Option<f64>,
        hanging: impl Fn(u32) -> f64,
    ) {
        let time = |seconds: f64| number::rough(seconds, &Unit::Second);
        let steps = if steps == 1 { "1 step".to_owned() } else { format!("{steps} steps") };
        let total = match plan.stop {
            StopRule::Fixed { blocks: 1 } => "1 block is measured".to_owned(),
            StopRule::Fixed { blocks } => {
                let taken = block_seconds * f64::from(blocks);
                let hangs = time(taken + hanging(blocks));
                format!("{blocks} blocks take {}, or up to {hangs} if a server hangs", time(taken))
            }
            StopRule::Sequential { .. } => {
                let (latest, why) = match (block_seconds > limit, from) {
                    (false, _) => (limit, String::new()),
                    (true, Some(_)) => {
                        (limit, ", which may be too short to find the capacity".to_owned())
                    }
                    (true, None) => (
                        block_seconds,
                        format!(
                            ", because a block is always finished, beyond the budget of {}",
                            time(limit)
                        ),
                    ),
                };
                let latest = time(latest);
                format!("it ends as soon as the answer is clear, after {latest} at the latest{why}")
            }
        };
        self.line.say(&format!("load: {load}"));
        let block = time(block_seconds);
        // At a low rate, a slice takes longer to have enough requests.
        let longer = from.map_or(String::new(), |rate| {
            let rate = number::chosen(rate, &Unit::One);
            format!(", longer if less than {rate}/s is sustained, or if requests pile up")
        });
        self.line.say(&format!("{steps}, about {block} a block{longer}; {total}"));
    }

    /// Returns the callback that shows the progress of a slice.
    pub fn of_slices(&self, plan: &Plan) -> ProgressCallback {
        let (line, standing) = (Rc::clone(&self.line), Rc::clone(&self.standing));
        let budget = plan.budget_seconds;
        Rc::new(RefCell::new(move |name: &str, pace: Option<Pace>| {
            if !line.is_due() {
                return;
            }
            let (share, block, seconds) = *standing.borrow();
            let Some(pace) = pace else {
                let why = "is still busy with abandoned requests; waiting";
                line.draw(share, format!("block {}   {name} {why}", block + 1));
                return;
            };
            let time = |value: f64| number::rough(value, &Unit::Second);
            let latency = match pace.latency {
                [median, far] if median.is_finite() => {
                    format!("   p50 {} p99 {}", time(median), time(far))
                }
                _ => String::new(),
            };
            let failed =
                if pace.failed > 0 { format!("   {} failed", pace.failed) } else { String::new() };
            let left = budget.map(|budget| (budget - seconds - pace.seconds).max(0.0));
            let left = left.map_or(String::new(), |left| format!("   at most {} left", time(left)));
            line.draw(
                share,
                format!(
                    "block {}   {name}   {} sent, {} in flight, {} answered/s{latency}{failed}{left}",
                    block + 1,
                    pace.sent,
                    pace.in_flight,
                    pace.answered
                ),
            );
        }))
    }

    /// Updates the state that the progress line shows.
    pub fn standing(&self, standing: &Standing<'_>, plan: &Plan) {
        let share = share_done(plan, standing);
        *self.standing.borrow_mut() = (share, standing.experiment.blocks(), standing.seconds);
    }
}

/// Formats a rate, as in `1 request/s` or `2.5 requests/s`.
fn per_second(rate: f64) -> String {
    let what = if rate == 1.0 { "request" } else { "requests" };
    format!("{} {what}/s", number::chosen(rate, &Unit::One))
}

/// Describes the load that each slice applies.
pub(super) fn load_in_words(args: &Args, places: &[LoadSlot]) -> String {
    let Some(job) = places.first().map(|place| &place.job) else { return String::new() };
    let seconds = |value: f64| number::rough(value, &Unit::Second);
    let several = places.iter().any(|place| place.parameters != places[0].parameters);
    let requests = |own: &Arrivals| match own {
        Arrivals::Constant { rate } => format!("{}, evenly spaced", per_second(*rate)),
        Arrivals::Poisson { rate, .. } => format!("{}, at random (Poisson)", per_second(*rate)),
        Arrivals::Ramp { from, to } => format!("from {from} to {to} requests/s"),
        Arrivals::Replay { times } => format!("{} recorded requests", times.len()),
    };
    let what = match (&args.find, &job.load) {
        (Some(_), _) => "the highest rate that meets the goals".to_owned(),
        (None, Load::Open(_)) if several => match args.pace.arrivals {
            HowArrivals::Constant => "requests at each rate, evenly spaced".to_owned(),
            HowArrivals::Poisson => "requests at each rate, at random (Poisson)".to_owned(),
        },
        (None, Load::Open(arrivals)) => requests(arrivals),
        (None, Load::Closed { .. }) if several => {
            "each number of connections, each as fast as it is answered".to_owned()
        }
        (None, Load::Closed { connections: 1 }) => {
            "1 connection, one request after another".to_owned()
        }
        (None, Load::Closed { connections }) => {
            format!("{connections} connections, each as fast as it is answered")
        }
    };
    let settle = match job.settle_seconds {
        0.0 => String::new(),
        own => format!(", each after {} that do not count", seconds(own)),
    };
    let least = if args.find.is_some() { " or more" } else { "" };
    format!("{what}; slices of {}{least}{settle}", seconds(job.seconds))
}

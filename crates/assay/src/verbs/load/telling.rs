//! What is said while servers start and slices run.

use super::asked::Asked;
use crate::load::{Place, Told};
use crate::progress::{Line, share_done};
use assay_data::{Plan, StopRule, Unit};
use assay_experiment::Standing;
use assay_load::Pace;
use assay_report::number;
use std::cell::RefCell;
use std::rc::Rc;

/// The line on which it is said.
pub(super) struct Telling {
    pub line: Rc<Line>,
    /// What share is done, and which block it is.
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

    /// What will be measured, and about how long that takes.
    pub fn plan(&self, asked: &Asked, places: &[Place], plan: &Plan, block_seconds: f64) {
        let names: Vec<&str> = asked.sides.iter().map(|side| side.name.as_str()).collect();
        let steps = places.len() / asked.sides.len().max(1);
        let block = number::rough(block_seconds, &Unit::Second);
        let steps = if steps == 1 { "1 step".to_owned() } else { format!("{steps} steps") };
        let blocks = match plan.stop {
            StopRule::Fixed { blocks } => format!(
                "; {blocks} of them take {}",
                number::rough(block_seconds * f64::from(blocks), &Unit::Second)
            ),
            StopRule::Sequential { .. } => String::new(),
        };
        self.line
            .say(&format!("{}: {steps}, a block takes about {block}{blocks}", names.join(" and ")));
    }

    /// Hears of slices as they run.
    pub fn of_slices(&self, plan: &Plan) -> Told {
        let (line, standing) = (Rc::clone(&self.line), Rc::clone(&self.standing));
        let budget = plan.budget_seconds;
        Rc::new(RefCell::new(move |name: &str, pace: Option<Pace>| {
            if !line.is_due() {
                return;
            }
            let (share, block, seconds) = *standing.borrow();
            let Some(pace) = pace else {
                let why = "is busy with requests that nobody waits for any more; waiting";
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

    /// Between slices.
    pub fn standing(&self, standing: &Standing<'_>, plan: &Plan) {
        let share = share_done(plan, standing);
        *self.standing.borrow_mut() = (share, standing.experiment.blocks(), standing.seconds);
    }
}

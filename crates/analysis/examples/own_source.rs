//! Compares two closures with the library: `cargo run --release -p assay-analysis --example
//! own_source`.
#![allow(clippy::print_stdout)]

use assay_analysis::engine::{Limits, Session};
use assay_analysis::{Options, analyse};
use assay_data::source::{Layout, Measured, Obstacle, Source, Turn};
use assay_data::{Environment, Metric, Plan, Threshold};
use std::convert::Infallible;
use std::hint::black_box;
use std::time::Instant;

/// The closures to compare, and the metric.
struct Closures<'a> {
    names: [&'a str; 2],
    closures: [Box<dyn Fn() + 'a>; 2],
    metrics: [Metric; 1],
}

impl Source for Closures<'_> {
    type Error = Infallible;

    fn layout(&self) -> Layout {
        Layout::of_names(self.names)
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn measure(&mut self, turn: &Turn) -> Result<Measured, Obstacle<Infallible>> {
        let began = Instant::now();
        (self.closures[turn.place])();
        Ok(Measured::values(vec![began.elapsed().as_secs_f64()]))
    }
}

/// Warms up, measures until the answer is clear, and prints the answer.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let numbers: Vec<u64> = (0..100_000).collect();
    let all = || _ = black_box(numbers.iter().map(|n| n * n).sum::<u64>());
    let half = || _ = black_box(numbers.iter().step_by(2).map(|n| n * n).sum::<u64>());
    let closures: [Box<dyn Fn()>; 2] = [Box::new(all), Box::new(half)];

    let clock = Instant::now();
    let source = Closures { names: ["all", "half"], closures, metrics: [Metric::wall()] };
    let mut session = Session::unrecorded(source, || clock.elapsed().as_secs_f64());
    let Ok(_) = session.warm_up(10, 1, &mut |_| ());
    let plan = Plan::sequential(0.95, Threshold::default(), 1);
    session.begin(&plan, 0, Limits::default());
    let Ok(phase) = session.measure(&mut |_| ());
    session.close(phase.reason, Environment::default());

    let analysis = analyse(&session.samples, &Options::default())?;
    let decision = &analysis.comparisons[0].decision;
    let ratio = decision.estimate.exp();
    println!("half is {:?}: it takes {ratio:.2} of the time of all", decision.verdict);
    Ok(())
}

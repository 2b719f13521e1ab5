//! The rates tried by a search for the highest rate that meets the goals, reconstructed from
//! histograms and counts. The rate found is an observation like any other.

use assay_data::samples::Buckets;
use assay_data::unit::{Quantity, parse_quantity};
use assay_data::{Histogram, Samples, Unit};

/// The rates tried by a search for the highest rate that meets the goals.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// Quantile level of the latencies in `tries`, as a share: the level of the first latency goal,
    /// or 0.99.
    pub share: f64,
    /// Limit of the first latency goal in seconds, if there is one.
    pub limit: Option<f64>,
    /// All tries, over all blocks.
    pub tries: Vec<Try>,
}

/// A tried rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Try {
    /// Index of the subject.
    pub subject: usize,
    /// The rate in requests per second.
    pub rate: f64,
    /// Latency in seconds within which the share [`Search::share`] of all requests was answered;
    /// infinite if too many failed.
    pub latency: f64,
    /// True if the goals were met.
    pub is_held: bool,
}

impl Search {
    /// Reconstructs the search from the samples; `None` if there was none.
    pub(crate) fn of(samples: &Samples) -> Option<Self> {
        let goals = samples.environment.text("load_goals").unwrap_or_default();
        let goal = goals.split(',').find_map(|goal| {
            let (name, limit) = goal.trim().split_once('<')?;
            let percent = name.trim().trim_start_matches("latency_").strip_prefix('p')?;
            let share = percent.replace('_', ".").parse::<f64>().ok()? / 100.0;
            match parse_quantity(limit.trim_start_matches('=')).ok()? {
                Quantity::Amount(limit, Unit::Second) => Some((share, Some(limit))),
                _ => None,
            }
        });
        let (share, limit) = goal.unwrap_or((0.99, None));
        let tried = |own: &Buckets| {
            let rate = own.rate?;
            let mut counts = samples.counts.iter();
            let counts = counts.find(|other| {
                (other.subject, other.block, other.rate) == (own.subject, own.block, own.rate)
            })?;
            let count = |name: &str| counts.counts.get(name).copied().unwrap_or(0);
            let times = Histogram::decoded(&own.v2).ok()?;
            let latency = times.quantile_seconds(share, count("failed")).unwrap_or(f64::INFINITY);
            Some(Try { subject: own.subject, rate, latency, is_held: count("held") > 0 })
        };
        let tries: Vec<Try> = samples.histograms.iter().filter_map(tried).collect();
        (!tries.is_empty()).then_some(Self { share, limit, tries })
    }
}

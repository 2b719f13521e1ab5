//! The plots of a load test: latencies of each subject, including failures, and outcomes over time.
//!
//! Histograms are merged exactly; a long test is shown in pieces of several seconds.

use super::Point;
use crate::search::Search;
use crate::slices::{Answers, SHARES};
use assay_data::samples::Buckets;
use assay_data::{Histogram, Samples};
use std::collections::{BTreeMap, HashMap};

/// Approximate maximum number of time pieces; each slice has at least one.
const MOST_PIECES: usize = 800;
/// Points of a quantile curve that are closer than this share of the curve's length are merged.
const CLOSE: f64 = 1.0 / 400.0;

/// The data of the plots of a load test.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadFigures {
    /// Latency quantiles of every subject with requests.
    pub quantiles: Vec<QuantileCurve>,
    /// The slices, in the order in which they ran.
    pub slices: Vec<SliceTrace>,
    /// The kinds of failures, most frequent first.
    pub ways: Vec<String>,
    /// Maximum duration of a piece in seconds.
    pub seconds_per_piece: u32,
    /// The search for the highest rate, if any. There are no slices in this case, since their times
    /// are unknown.
    pub search: Option<Search>,
}

/// The latencies of one subject by share of requests answered.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantileCurve {
    /// Index of the subject.
    pub subject: usize,
    /// x is log₁₀ 1/(1 − q), so that 1 is 90 % and 2 is 99 %; y is the latency in seconds within
    /// which the share q of all requests was answered.
    pub points: Vec<Point>,
    /// The share of failed requests; the curve ends at this share.
    pub failed: f64,
    /// Number of requests that were answered or failed.
    pub requests: u64,
}

/// The outcomes of one slice over time.
#[derive(Clone, Debug, PartialEq)]
pub struct SliceTrace {
    /// Index of the subject.
    pub subject: usize,
    /// Index of the block.
    pub block: u32,
    /// The pieces, in order of time.
    pub pieces: Vec<SlicePiece>,
}

/// A few seconds of a slice.
#[derive(Clone, Debug, PartialEq)]
pub struct SlicePiece {
    /// Start in seconds since the start of the run.
    pub from: f64,
    /// Duration in seconds.
    pub seconds: f64,
    /// Latencies in seconds within which the shares [`SHARES`] of the answered requests were
    /// answered; NaN if no requests were answered.
    pub latency: [f64; 3],
    /// Number of failures of each kind, in the order of [`LoadFigures::ways`].
    pub failed: Vec<u64>,
}

impl LoadFigures {
    /// Computes the data from samples; `None` if they are not from a load test. O(histograms).
    pub(super) fn of(
        samples: &Samples,
        answers: &[Answers],
        search: Option<&Search>,
    ) -> Option<Self> {
        if answers.is_empty() {
            return None;
        }
        let mut ways: BTreeMap<&str, u64> = BTreeMap::new();
        let of_seconds = samples.counts.iter().filter(|own| own.second.is_some());
        for (name, count) in of_seconds.flat_map(|own| &own.counts) {
            if let Some(way) = name.strip_prefix("failed.") {
                *ways.entry(way).or_default() += count;
            }
        }
        let mut ways: Vec<(&str, u64)> = ways.into_iter().collect();
        ways.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        let ways: Vec<String> = ways.into_iter().map(|(way, _)| way.to_owned()).collect();
        let of_seconds = |own: &&Buckets| own.second.is_some() && own.of == "latency";
        let seconds = samples.histograms.iter().filter(of_seconds).count();
        let seconds_per_piece = seconds.div_ceil(MOST_PIECES).max(1) as u32;
        let slices = match search {
            Some(_) => Vec::new(),
            None => slices(samples, &ways, seconds_per_piece),
        };
        Some(Self {
            quantiles: answers.iter().map(QuantileCurve::of).collect(),
            slices,
            ways,
            seconds_per_piece,
            search: search.cloned(),
        })
    }
}

impl QuantileCurve {
    fn of(answers: &Answers) -> Self {
        let failed = answers.count("failed");
        let all = (answers.latency.count() + failed) as f64;
        // Returns the x coordinate at which `below` requests were faster.
        let across = |below: u64| (all / (all - below as f64)).log10().min(all.log10());
        let mut points: Vec<Point> = Vec::new();
        let (mut below, length) = (0, all.log10());
        for (latency, count) in answers.latency.recorded() {
            let ends = [across(below), across(below + count)];
            below += count;
            let last = points.last().map_or(f64::NEG_INFINITY, |p: &Point| p.0);
            if ends[1] - last > CLOSE * length || below == answers.latency.count() {
                points.extend(ends.map(|x| (x, latency)));
            }
        }
        Self {
            subject: answers.subject,
            points,
            failed: if all > 0.0 { failed as f64 / all } else { 0.0 },
            requests: all as u64,
        }
    }
}

/// Key of a piece: its slice, and its index in the slice.
type PieceKey = ((usize, u32), u32);

fn slices(samples: &Samples, ways: &[String], seconds_per_piece: u32) -> Vec<SliceTrace> {
    let measured = samples.observations().filter(|own| own.pass.is_none());
    let began: HashMap<(usize, u32), f64> =
        measured.filter_map(|own| Some(((own.subject, own.block?), own.time?))).collect();
    // For each piece, its duration in seconds, the number of failures of each kind, and its
    // latencies.
    let mut pieces: BTreeMap<PieceKey, (u32, Vec<u64>, Vec<&Buckets>)> = BTreeMap::new();
    let mut add = |slice: (usize, u32), second: u32, counts: &dyn Fn(&str) -> u64, histogram| {
        let none = || (0, vec![0; ways.len()], Vec::new());
        let own = pieces.entry((slice, second / seconds_per_piece)).or_insert_with(none);
        own.0 = own.0.max(second % seconds_per_piece + 1);
        own.1.iter_mut().zip(ways).for_each(|(sum, way)| *sum += counts(way));
        own.2.extend(histogram);
    };
    for own in &samples.counts {
        let Some(second) = own.second else { continue };
        let of = |way: &str| own.counts.get(&format!("failed.{way}")).copied().unwrap_or(0);
        add((own.subject, own.block), second, &of, None);
    }
    for own in samples.histograms.iter().filter(|own| own.of == "latency") {
        let Some(second) = own.second else { continue };
        add((own.subject, own.block), second, &|_| 0, Some(own));
    }
    let mut found: Vec<SliceTrace> = Vec::new();
    for (((subject, block), number), (seconds, failed, histograms)) in pieces {
        let Some(&start) = began.get(&(subject, block)) else { continue };
        let mut sum = Histogram::default();
        let read = histograms.iter().filter_map(|own| Histogram::decoded(&own.v2).ok());
        read.for_each(|histogram| sum.add(&histogram));
        let within = |share| sum.quantile_seconds(share, 0).unwrap_or(f64::NAN);
        let piece = SlicePiece {
            from: start + f64::from(number * seconds_per_piece),
            seconds: f64::from(seconds),
            latency: SHARES.map(within),
            failed,
        };
        match found.last_mut().filter(|last| (last.subject, last.block) == (subject, block)) {
            Some(slice) => slice.pieces.push(piece),
            None => found.push(SliceTrace { subject, block, pieces: vec![piece] }),
        }
    }
    let start = |slice: &SliceTrace| slice.pieces.first().map_or(0.0, |piece| piece.from);
    found.sort_by(|a, b| start(a).total_cmp(&start(b)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_data::samples::Counts;
    use assay_data::{Metric, Observation};

    fn times_of(milliseconds: impl IntoIterator<Item = u64>) -> Histogram {
        let mut own = Histogram::default();
        milliseconds.into_iter().for_each(|ms| own.record(ms * 1_000_000));
        own
    }

    /// One slice that begins after 5 s and lasts `seconds` seconds, each with requests of 10, 20
    /// and 30 ms and one failed request.
    fn samples(seconds: u32) -> Samples {
        let mut samples = Samples::new(vec![Metric::wall()]);
        samples.add_subject("a");
        let (block, time, values) = (Some(0), Some(5.0), vec![0.02]);
        samples.push(Observation { block, time, values, ..Observation::default() });
        for second in (0..seconds).map(Some).chain([None]) {
            let many = if second.is_some() { 1 } else { u64::from(seconds) };
            let counts = [("answered", 3 * many), ("failed", many), ("failed.timeout", many)];
            let counts = counts.map(|(name, count)| (name.to_owned(), count)).into();
            samples.counts.push(Counts { second, counts, ..Counts::default() });
            let times = (0..many).flat_map(|_| [10, 20, 30]);
            let (of, v2) = ("latency".to_owned(), times_of(times).encoded());
            samples.histograms.push(Buckets { second, of, v2, ..Buckets::default() });
        }
        samples
    }

    fn of(samples: &Samples) -> LoadFigures {
        let search = Search::of(samples);
        let found = LoadFigures::of(samples, &crate::slices::of(samples), search.as_ref());
        found.unwrap_or_else(|| unreachable!("a load test"))
    }

    #[test]
    fn a_curve_ends_where_only_failures_are_left() {
        let curve = of(&samples(100)).quantiles.remove(0);
        assert_eq!((curve.requests, curve.failed), (400, 0.25));
        let (first, last) = (curve.points[0], curve.points[curve.points.len() - 1]);
        assert!(first.0.abs() < 1e-12 && (first.1 / 0.010 - 1.0).abs() < 1e-3);
        // Three in four were answered: 1/(1 − 3/4) is four.
        assert!((last.0 - 4f64.log10()).abs() < 1e-12 && (last.1 / 0.030 - 1.0).abs() < 1e-3);
        assert!(curve.points.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1));
    }

    #[test]
    fn a_long_slice_is_thinned_without_losing_a_failure() {
        let short = of(&samples(3));
        let pieces = &short.slices[0].pieces;
        assert_eq!((short.seconds_per_piece, pieces.len(), pieces[2].from), (1, 3, 7.0));
        assert_eq!(short.ways, ["timeout"]);
        let long = of(&samples(2000));
        let pieces = &long.slices[0].pieces;
        assert_eq!((long.seconds_per_piece, pieces.len()), (3, 667));
        assert_eq!(pieces.iter().map(|piece| piece.failed[0]).sum::<u64>(), 2000);
        assert_eq!(pieces.iter().map(|piece| piece.seconds).sum::<f64>(), 2000.0);
        assert!((pieces[0].latency[0] / 0.020 - 1.0).abs() < 1e-3);
    }

    #[test]
    fn what_a_search_tried_is_neither_found_nor_over_time() {
        let mut samples = samples(3);
        samples.environment.set("load_goals", "errors<1%, p90<=100ms");
        for (rate, held, failed) in [(10.0, 1, 0), (20.0, 0, 3)] {
            let (of, v2) = ("latency".to_owned(), times_of([40, 50, 60]).encoded());
            let counts = [("failed", failed), ("held", held)];
            let counts = counts.map(|(name, count)| (name.to_owned(), count)).into();
            let rate = Some(rate);
            samples.histograms.push(Buckets { rate, of, v2, ..Buckets::default() });
            samples.counts.push(Counts { rate, counts, ..Counts::default() });
        }
        let figures = of(&samples);
        assert_eq!((figures.quantiles[0].requests, figures.slices.len()), (12, 0));
        let search = figures.search.unwrap_or_else(|| unreachable!("there was one"));
        assert_eq!((search.share, search.limit), (0.9, Some(0.1)));
        let [low, high] = search.tries.as_slice() else { unreachable!("two tries") };
        assert!(low.is_held && (low.latency / 0.060 - 1.0).abs() < 1e-3);
        assert!(!high.is_held && high.latency.is_infinite());
    }
}

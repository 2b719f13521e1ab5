//! False alarms: labels are assigned to the runs of one program as each measurement method would
//! have assigned them.
//!
//! The common methods take 50 runs of A and 50 of B and test at 5 %. The order fixes their labels,
//! so a piece of the series gives one comparison. Pieces begin half a piece apart, and only those
//! that share no run count as independent. Assay redraws the order within every pair, with the same
//! [`Experiment`] that measures; given the runs, its comparisons are independent even if they
//! overlap.

use super::{Method, MethodName, Random, Series};
use crate::design::{Experiment, Step};
use crate::policy;
use assay_data::{Plan, StopRule, Threshold, plan::MAX_BLOCKS};
use assay_stats::{descriptive, student_t, two_sample};

/// Number of runs per side.
const SIDE: usize = 50;
/// Number of runs in a piece of the series.
const PIECE: usize = 2 * SIDE;
/// Maximum number of pieces.
const MOST_PIECES: usize = 2000;
/// Number of comparisons with a fixed number of blocks.
const FIXED: u32 = 1000;
/// Maximum and minimum number of comparisons that stop by themselves.
const BY_ITSELF: (u32, u32) = (400, 30);
/// Total number of blocks after which no further comparison is started, because one that does not
/// stop early takes a thousand blocks.
const BLOCKS: usize = 30_000;

/// Applies all measurement methods, in the order in which they are reported.
pub(super) fn methods(series: &Series<'_>, random: &mut Random) -> Vec<Method> {
    let wall = series.wall;
    // The critical number is exact for values without ties. A tie counts half for each side.
    let critical = two_sample::mann_whitney_critical(SIDE, SIDE, policy::USUAL_LEVEL).unwrap_or(0);
    let by_ranks = |a: &[f64], b: &[f64]| by_ranks(a, b, critical);
    let halves = |piece: &[f64]| (piece[..SIDE].to_vec(), piece[SIDE..].to_vec());
    let every_second = |piece: &[f64]| {
        let from = |first: usize| piece.iter().skip(first).step_by(2).copied().collect();
        (from(0), from(1))
    };
    vec![
        labelled(wall, MethodName::BlockOrder, "Mann-Whitney", halves, by_ranks),
        labelled(wall, MethodName::BlockOrder, "Welch", halves, by_means),
        labelled(wall, MethodName::Alternating, "Mann-Whitney", every_second, by_ranks),
        fixed(series, random),
        by_itself(series, random),
    ]
}

fn labelled(
    wall: &[f64],
    name: MethodName,
    test: &'static str,
    sides: impl Fn(&[f64]) -> (Vec<f64>, Vec<f64>),
    differ: impl Fn(&[f64], &[f64]) -> bool,
) -> Method {
    let room = wall.len() - PIECE;
    let step = SIDE.max(room / MOST_PIECES + 1);
    let (mut false_alarms, mut phantoms) = (0, Vec::new());
    for begin in (0..=room).step_by(step) {
        let (a, b) = sides(&wall[begin..begin + PIECE]);
        false_alarms += u32::from(differ(&a, &b));
        phantoms.push((descriptive::median(&b) / descriptive::median(&a) - 1.0).abs());
    }
    let comparisons = phantoms.len() as u32;
    let apart = (wall.len() / PIECE) as u32;
    method(name, test, apart.min(comparisons), false_alarms, &phantoms)
}

fn method(
    name: MethodName,
    test: &'static str,
    independent: u32,
    false_alarms: u32,
    phantoms: &[f64],
) -> Method {
    Method {
        name,
        test,
        comparisons: phantoms.len() as u32,
        independent,
        false_alarms,
        phantom_p95: descriptive::quantile_sorted(&descriptive::sorted(phantoms), 0.95),
    }
}

/// Returns true if the Mann-Whitney test finds a difference, by comparing the number of pairs in
/// which one side is smaller with the critical number.
fn by_ranks(a: &[f64], b: &[f64], critical: u64) -> bool {
    let sorted = descriptive::sorted(b);
    let pairs = (a.len() * b.len()) as u64;
    let less: usize = a.iter().map(|x| sorted.partition_point(|y| y < x)).sum();
    let not_more: usize = a.iter().map(|x| sorted.partition_point(|y| y <= x)).sum();
    // A tie is half a pair for each side.
    let twice = (less + not_more) as u64;
    twice.min(2 * pairs - twice) <= 2 * critical
}

/// Returns true if Welch's t test finds a difference at the usual level.
fn by_means(a: &[f64], b: &[f64]) -> bool {
    let of = |xs: &[f64]| descriptive::variance(xs) / xs.len() as f64;
    let (va, vb) = (of(a), of(b));
    if va + vb <= 0.0 {
        return descriptive::mean(a) != descriptive::mean(b);
    }
    let degrees = |v: f64, n: usize| v * v / (n as f64 - 1.0);
    let freedom = (va + vb).powi(2) / (degrees(va, a.len()) + degrees(vb, b.len()));
    let t = (descriptive::mean(b) - descriptive::mean(a)) / (va + vb).sqrt();
    t.abs() > student_t::two_sided(1.0 - policy::USUAL_LEVEL, freedom)
}

fn fixed(series: &Series<'_>, random: &mut Random) -> Method {
    let stop = StopRule::Fixed { blocks: SIDE as u32 };
    let mut tally = Tally::default();
    for _ in 0..FIXED {
        tally.take(series, PIECE, stop.clone(), None, random);
    }
    method(MethodName::Ours, "signed-rank", FIXED, tally.false_alarms, &tally.phantoms)
}

fn by_itself(series: &Series<'_>, random: &mut Random) -> Method {
    let plan = Plan::sequential(1.0 - policy::USUAL_LEVEL, Threshold::default(), 0);
    let most = MAX_BLOCKS.min((series.wall.len() / 2) as u32);
    let stop = match plan.stop {
        StopRule::Sequential { look_level, .. } => {
            StopRule::Sequential { look_level, max_blocks: most }
        }
        fixed => fixed,
    };
    let mut tally = Tally::default();
    for taken in 0..BY_ITSELF.0 {
        if taken >= BY_ITSELF.1 && tally.blocks >= BLOCKS {
            break;
        }
        tally.take(series, 2 * most as usize, stop.clone(), plan.budget_seconds, random);
    }
    let comparisons = tally.phantoms.len() as u32;
    let name = MethodName::OursDefault;
    method(name, "signed-rank at every look", comparisons, tally.false_alarms, &tally.phantoms)
}

#[derive(Default)]
struct Tally {
    false_alarms: u32,
    phantoms: Vec<f64>,
    blocks: usize,
}

impl Tally {
    /// Runs one comparison by assay, starting at a random run and using at most `longest` runs.
    fn take(
        &mut self,
        series: &Series<'_>,
        longest: usize,
        stop: StopRule,
        budget_seconds: Option<f64>,
        random: &mut Random,
    ) {
        let plan = Plan::sequential(1.0 - policy::USUAL_LEVEL, Threshold::default(), random.seed());
        let mut experiment = Experiment::new(Plan { stop, budget_seconds, ..plan }, 2);
        let begin = random.below(series.wall.len() - longest + 1);
        let mut elapsed = 0.0;
        for &wall in &series.wall[begin..begin + longest] {
            elapsed += series.seconds_per_run;
            let Some(turn) = experiment.next_turn() else { break };
            if let Step::Stop(_) = experiment.observe(turn, &[wall], elapsed) {
                break;
            }
        }
        self.blocks += experiment.blocks();
        if let Some(decision) = experiment.estimate(0, 0, 1) {
            self.false_alarms += u32::from(decision.verdict.is_directional());
            self.phantoms.push(decision.estimate.exp_m1().abs());
        }
    }
}

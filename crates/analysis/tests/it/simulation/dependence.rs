//! Tests of dependence by seeded experiments: it is neither missed nor reported without cause. Each
//! cell is a share of experiments; a limit is exceeded if the share is above it by 3.3 standard
//! errors (there are a hundred cells). `make coverage` simulates 4,000 experiments per cell and
//! prints the table; the default is a few hundred.

use super::experiments;
use assay_analysis::dependence::Dependence;
use assay_analysis::paired::{Level, Paired};
use assay_analysis::recording::Recording;
use assay_analysis::{Experiment, Step, Verdict, unpaired};
use assay_data::{Better, Plan, Threshold};
use assay_stats::resampling::Stream;
use assay_stats::signed_rank::SignedRankDistribution;
use std::cell::RefCell;

/// The distribution of the logarithms of successive values; spreads are chosen so that 1 % is not a
/// natural scale.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    Normal,
    LongTail,
    TwoModes,
    Stalls,
    /// Autoregressive with this coefficient.
    Remembering(f64),
    /// A drift of 3 % from the first value to the last.
    Drifting,
}

const INDEPENDENT: [Law; 4] = [Law::Normal, Law::LongTail, Law::TwoModes, Law::Stalls];

fn series(law: Law, n: usize, spread: f64, stream: &mut Stream) -> Vec<f64> {
    let mut last = stream.normal();
    (0..n)
        .map(|i| {
            let z = stream.normal();
            spread
                * match law {
                    Law::Normal => z,
                    Law::LongTail => (0.5 * z).exp() - 1.0,
                    Law::TwoModes => 0.3 * z + if stream.uniform() < 0.3 { 3.0 } else { 0.0 },
                    Law::Stalls => z + if stream.uniform() < 0.02 { 160.0 } else { 0.0 },
                    Law::Remembering(phi) => {
                        last = phi * last + (1.0 - phi * phi).sqrt() * z;
                        last
                    }
                    Law::Drifting => z + 1.5 * i as f64 / n as f64,
                }
        })
        .collect()
}

fn exponentials(logs: &[f64]) -> Vec<f64> {
    logs.iter().map(|log| log.exp()).collect()
}

/// The share of experiments for which `is` returns true, each with its own stream.
fn share(cell: u64, is: impl Fn(&mut Stream) -> bool) -> f64 {
    let n = experiments();
    (0..n).filter(|&seed| is(&mut Stream::new(cell, seed))).count() as f64 / n as f64
}

/// Prints a row of the table, and checks its cells against the limit.
fn hold(what: &str, bar: f64, cells: &[(usize, f64)]) {
    let n = experiments() as f64;
    let written: Vec<String> =
        cells.iter().map(|(size, share)| format!("{size}: {:.1} %", 100.0 * share)).collect();
    super::say(what, &written);
    for (size, share) in cells {
        // Of a hundred cells some are beyond two standard errors by chance, and a few hundred
        // experiments give coarse shares.
        let sure = if n < 4000.0 { 4.0 } else { 3.3 };
        let lower = share - sure * (bar * (1.0 - bar) / n).sqrt();
        assert!(lower <= bar, "{what}, {size}: {share}");
    }
}

fn unpaired_of(x: &[f64], y: &[f64]) -> unpaired::UnpairedDecision {
    let (x, y) = (exponentials(x), exponentials(y));
    let (x, y) = (Recording::of(&x[..]), Recording::of(&y[..]));
    unpaired::decide(&x, &y, &Threshold::default(), 0.05, Better::Lower)
}

/// Returns whether two recordings of the same program are called different, and their dependence.
fn apart(
    law: Law,
    sizes: (usize, usize),
    spreads: (f64, f64),
    stream: &mut Stream,
) -> (bool, Dependence) {
    let x = series(law, sizes.0, spreads.0, stream);
    let y = series(law, sizes.1, spreads.1, stream);
    let found = unpaired_of(&x, &y);
    (found.decision.verdict.is_directional(), found.dependence)
}

#[test]
fn independent_recordings_are_called_different_in_5_percent_however_they_spread() {
    for law in INDEPENDENT {
        let cells = [5, 10, 20, 24, 50, 200]
            .map(|n| (n, share(n as u64, |stream| apart(law, (n, n), (0.02, 0.02), stream).0)));
        hold(&format!("apart, independent, {law:?}: false"), 0.05, &cells);
    }
    for (name, factor) in [("equally many", 1), ("three times as many of the calm side", 3)] {
        let cells = [5, 10, 20, 24, 50, 200].map(|n| {
            let sizes = (factor * n, n);
            (n, share(n as u64, |stream| apart(Law::Normal, sizes, (0.02, 0.1), stream).0))
        });
        hold(&format!("apart, 2 % against 10 %, {name}: false"), 0.05, &cells);
    }
}

#[test]
fn independent_recordings_are_hardly_ever_refused() {
    let cells = [10, 15, 20, 24, 30, 50, 200].map(|n| {
        let refused = |stream: &mut Stream| {
            apart(Law::Normal, (n, n), (0.01, 0.01), stream).1 == Dependence::TooStrong
        };
        (n, share(n as u64, refused))
    });
    hold("apart, independent: refused", 0.01, &cells);
    // Clearly different samples are distinguished.
    let cells = [10, 15, 20, 30].map(|n| {
        let missed = |stream: &mut Stream| {
            let x = series(Law::Normal, n, 0.01, stream);
            let y: Vec<f64> =
                series(Law::Normal, n, 0.01, stream).iter().map(|y| y - 0.19).collect();
            unpaired_of(&x, &y).decision.verdict != Verdict::Faster
        };
        (n, share(n as u64, missed))
    });
    hold("apart, 17 standard deviations: missed", 0.01, &cells);
}

#[test]
fn recordings_that_remember_are_called_different_in_6_percent_from_24_values_on() {
    for phi in [0.5, 0.9] {
        let law = Law::Remembering(phi);
        let cells = [24, 50, 200]
            .map(|n| (n, share(n as u64, |stream| apart(law, (n, n), (0.02, 0.02), stream).0)));
        hold(&format!("apart, each {phi} of the one before: false"), 0.06, &cells);
        for n in [5, 10, 23] {
            let said = share(n as u64, |stream| {
                apart(law, (n, n), (0.02, 0.02), stream).1 == Dependence::Untested
            });
            assert_eq!(said, 1.0, "{n} values were tested");
        }
    }
}

thread_local! {
    /// The distribution of signed ranks, which takes longer to compute than all values derived from
    /// it.
    static DISTRIBUTION: RefCell<SignedRankDistribution> = RefCell::default();
}

/// The decision for blocks with these log ratios.
fn in_blocks(differences: &[f64]) -> (bool, Dependence) {
    let mut paired = Paired::default();
    differences.iter().for_each(|d| paired.push(1.0, d.exp()));
    let level = Level { interval: 0.05, groups: 0.05 };
    let found = DISTRIBUTION.with_borrow_mut(|distribution| {
        paired.decide(&Threshold::default(), level, Better::Lower, distribution)
    });
    (found.decision.verdict.is_directional(), found.dependence())
}

fn differences(law: Law, n: usize, stream: &mut Stream) -> Vec<f64> {
    // Variation common to both sides cancels in every block.
    let both = series(law, 2 * n, 0.02, stream);
    both.chunks(2)
        .map(|pair| if stream.next_index(2) == 0 { pair[1] - pair[0] } else { pair[0] - pair[1] })
        .collect()
}

#[test]
fn blocks_are_called_different_in_5_percent_and_hardly_ever_refused() {
    let shared = [Law::Remembering(0.5), Law::Remembering(0.9), Law::Drifting];
    for law in INDEPENDENT.into_iter().chain(shared) {
        let cells = [6, 10, 20, 24, 50, 200]
            .map(|n| (n, share(n as u64, |stream| in_blocks(&differences(law, n, stream)).0)));
        hold(&format!("blocks, {law:?}: false"), 0.05, &cells);
    }
    let cells = [6, 10, 20, 24, 30, 50, 200].map(|n| {
        let refused = |stream: &mut Stream| {
            in_blocks(&differences(Law::Normal, n, stream)).1 == Dependence::TooStrong
        };
        (n, share(n as u64, refused))
    });
    hold("blocks, independent: refused", 0.01, &cells);
}

#[test]
fn a_difference_that_wanders_is_noticed_or_said_to_be_untested() {
    let law = Law::Remembering(0.9);
    let cells = [24, 30, 50, 100, 200].map(|n| {
        let unwarned = |stream: &mut Stream| {
            let (wrong, dependence) = in_blocks(&series(law, n, 0.02, stream));
            wrong && dependence == Dependence::Unseen
        };
        (n, share(n as u64, unwarned))
    });
    hold("blocks, difference wanders (0.9): false and not warned of", 0.03, &cells);
    for n in [6, 10, 23] {
        let said = share(n as u64, |stream| {
            in_blocks(&series(law, n, 0.02, stream)).1 == Dependence::Untested
        });
        assert_eq!(said, 1.0, "{n} blocks were tested");
    }
}

#[test]
fn a_run_that_stops_by_itself_is_seldom_wrong_about_a_difference_that_wanders_without_a_warning() {
    for (phi, bar) in [(0.0, 0.05), (0.9, 0.05)] {
        let wrong = share(7, |stream| {
            let differences = series(Law::Remembering(phi), 240, 0.02, stream);
            let plan =
                Plan { budget_seconds: None, ..Plan::sequential(0.95, Threshold::default(), 5) };
            let mut experiment = Experiment::new(plan, 2);
            let mut elapsed = 0.0;
            let mut paired = Paired::default();
            while let Some(turn) = experiment.next_turn() {
                let Some(d) = differences.get(turn.block as usize) else { break };
                elapsed += 0.045;
                let value = if turn.place == 1 { d.exp() } else { 1.0 };
                let step = experiment.observe(turn, &[value], elapsed);
                if experiment.blocks() > paired.len() {
                    paired.push(1.0, d.exp());
                }
                if step != Step::Continue {
                    break;
                }
            }
            let level = Level { interval: 0.002, groups: 0.05 };
            let mut distribution = SignedRankDistribution::default();
            let found =
                paired.decide(&Threshold::default(), level, Better::Lower, &mut distribution);
            found.decision.verdict.is_directional() && found.dependence() == Dependence::Unseen
        });
        hold(
            &format!("stops by itself, difference wanders ({phi}): false and not warned of"),
            bar,
            &[(240, wrong)],
        );
    }
}

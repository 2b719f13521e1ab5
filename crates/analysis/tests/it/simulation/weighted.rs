//! Blocks of quiet times count more: width and coverage of that interval on recorded and on
//! synthetic noise.

use super::{Kind, Noise, experiments, say};
use assay_analysis::paired::{self, Level, Location};
use assay_stats::resampling::Stream;
use assay_stats::signed_rank::SignedRankDistribution;
use std::path::Path;

const LEVEL: Level = Level { interval: 0.05, groups: 0.05 };

/// Recorded differences between two equal runs of a block, as logarithms, by name of the file; see
/// the README of the directory.
fn recorded() -> Vec<(String, Vec<f64>)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/noise");
    let mut files: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|f| f.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "txt"));
    files.sort();
    let read = |file: &std::path::PathBuf| {
        let text = std::fs::read_to_string(file).unwrap();
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        (name, text.lines().map(|line| line.parse().unwrap()).collect())
    };
    files.iter().map(read).collect()
}

/// Coverage of no difference, and the geometric mean and the maximum of the ratio of widths.
#[derive(Clone, Copy, Debug)]
struct Simulated {
    covered: f64,
    mean: f64,
    most: f64,
}

fn simulated(count: u64, mut differences: impl FnMut(u64) -> Vec<f64>) -> Simulated {
    let mut distribution = SignedRankDistribution::new();
    let (mut covered, mut logs, mut most) = (0.0, 0.0, 0.0f64);
    for seed in 0..count {
        let Location { interval, weighted, .. } =
            paired::location(&differences(seed), LEVEL, &mut distribution);
        let ratio = weighted.unwrap_or(1.0);
        // A missing interval is not a wrong one.
        covered += f64::from(u8::from(interval.is_none_or(|own| own.contains(0.0))));
        logs += ratio.ln();
        most = most.max(ratio);
    }
    let n = count as f64;
    Simulated { covered: covered / n, mean: (logs / n).exp(), most }
}

fn shown(of: Simulated) -> Vec<String> {
    vec![
        format!("{:.1} % covered", 100.0 * of.covered),
        format!("{:.3} × as wide", of.mean),
        format!("at most {:.3}", of.most),
    ]
}

/// The lowest coverage that 95 % allows: three standard errors of the simulation below.
fn least(count: u64) -> f64 {
    0.95 - 3.0 * (0.05 * 0.95 / count as f64).sqrt()
}

/// The sign of every recorded difference is drawn at random, so the true difference is zero.
#[test]
fn recorded_noise_gives_narrower_intervals_that_cover_the_truth() {
    let count = experiments();
    let all = recorded();
    let mut total = Vec::new();
    for (name, recorded) in &all {
        let found = simulated(count, |seed| {
            let mut stream = Stream::new(54, seed);
            recorded.iter().map(|d| if stream.next_index(2) == 0 { *d } else { -d }).collect()
        });
        say(name, &shown(found));
        assert!(found.covered >= least(count), "{name}: {found:?}");
        total.push(found);
    }
    let n = total.len() as f64;
    let mean = (total.iter().map(|found| found.mean.ln()).sum::<f64>() / n).exp();
    let covered = total.iter().map(|found| found.covered).sum::<f64>() / n;
    say("all", &[format!("{:.1} % covered", 100.0 * covered), format!("{mean:.3} × as wide")]);
    assert!(mean < 0.92 && covered >= 0.94, "{mean} {covered}");
}

#[test]
fn synthetic_noise_is_covered_and_steady_noise_stays_unweighted() {
    let count = experiments();
    for kind in super::ALL {
        for blocks in [32, 64, 128, 256] {
            let found = simulated(count, |seed| {
                let mut noise =
                    Noise { random: Stream::new(seed, blocks), kind, run: 0, last: 0.0 };
                let mut labels = Stream::new(seed, 1);
                (0..blocks)
                    .map(|_| {
                        let difference = noise.next() - noise.next();
                        if labels.next_index(2) == 0 { difference } else { -difference }
                    })
                    .collect()
            });
            say(&format!("{kind:?}, {blocks} blocks"), &shown(found));
            assert!(found.covered >= least(count) - 0.005, "{kind:?} {blocks}: {found:?}");
            let is_steady = matches!(kind, Kind::Plain | Kind::Drift);
            assert!(!is_steady || found.mean > 0.995, "{kind:?} {blocks}: {found:?}");
            let bursts = matches!(kind, Kind::Bursts) && blocks > 64;
            assert!(!bursts || found.mean < 0.8, "{kind:?} {blocks}: {found:?}");
        }
    }
}

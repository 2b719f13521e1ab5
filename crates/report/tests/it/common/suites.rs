//! A suite of benchmarks on two sides.

use super::noise;
use assay_analysis::Options;
use assay_data::{Metric, Observation, Samples, Subject, Unit};

/// Returns a suite of two sides: benchmarks that differ, are equivalent, have too few values, or
/// are missing on one side; and an additional counter.
pub fn suite() -> assay_analysis::Analysis {
    suite_adjusted(assay_analysis::Adjust::Holm)
}

pub fn suite_adjusted(adjust: assay_analysis::Adjust) -> assay_analysis::Analysis {
    assay_analysis::analyse(&suite_samples(), &Options { adjust, ..Options::default() }).unwrap()
}

/// Returns its samples.
pub fn suite_samples() -> Samples {
    let metrics = vec![Metric::wall(), Metric::lower("allocations", Unit::One)];
    let mut samples = Samples::new(metrics);
    let rows = [
        ("copy/n:2", 2e-7, 0.8, 12, [8.0, 6.0]),
        ("copy/n:16", 3e-6, 0.9, 12, [64.0, 64.0]),
        ("sort", 4e-3, 1.25, 12, [1.0, 1.0]),
        ("read_a_file_whose_name_is_really_very_long", 5e-4, 1.0, 12, [3.0, 3.0]),
        ("close", 5e-6, 1.012, 12, [3.0, 4.0]),
        ("once", 1e-3, 1.1, 1, [3.0, 3.0]),
        ("gone", 1e-3, f64::NAN, 12, [3.0, 3.0]),
    ];
    for (side, place) in [("old", 0), ("new", 1)] {
        for (index, (name, seconds, factor, count, counts)) in rows.into_iter().enumerate() {
            let factor = if place == 1 { factor } else { 1.0 };
            if factor.is_nan() {
                continue;
            }
            let parameters = name.split_once("/n:").map(|(_, n)| ("n".to_owned(), n.into()));
            let row = samples.row_named(name);
            samples.rows[row].label = name.split('/').next().map(str::to_owned);
            let own = samples.side_named(side);
            let subject = samples.add(Subject {
                side: own,
                row,
                name: format!("{side}: {name}"),
                parameters: parameters.into_iter().collect(),
                ..Subject::default()
            });
            for number in 0..count {
                let own = 1.0 + 0.004 * noise(index * 2 + place, number);
                samples.push(Observation {
                    subject,
                    values: vec![seconds * factor * own, counts[place]],
                    ..Observation::default()
                });
            }
        }
    }
    samples.environment.set("recorded_by", "Google Benchmark 1.7");
    samples.environment.set("library_build_type", "release");
    samples.environment.set("library_build_type@new", "debug");
    samples
}

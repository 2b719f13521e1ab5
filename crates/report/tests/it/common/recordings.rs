//! Separate recordings: one, two or three files of numbers.

use super::{analysed, noise};
use assay_analysis::{Analysis, Options, analyse};
use assay_data::{Better, Metric, Samples, Unit};

pub fn alone_with_one_value() -> Analysis {
    let mut samples = Samples::new(vec![Metric::lower("value", Unit::One)]);
    samples.add_subject("numbers.txt");
    samples.push_value(0, 17.0);
    analysed(&samples)
}

/// Returns two files of numbers.
pub fn recordings(values: impl Fn(usize, u32) -> f64, counts: [u32; 2], metric: Metric) -> Samples {
    let mut samples = Samples::new(vec![metric]);
    for (subject, (name, count)) in ["old.txt", "new.txt"].into_iter().zip(counts).enumerate() {
        samples.add_subject(name);
        (0..count).for_each(|i| samples.push_value(subject, values(subject, i)));
    }
    samples
}

pub fn unpaired() -> Analysis {
    let values = |s: usize, i: u32| [0.0123, 0.0118][s] * (1.0 + 0.04 * noise(s, i));
    analysed(&recordings(values, [50, 44], Metric::lower("value", Unit::Second)))
}

/// Returns three recordings with every classical test.
pub fn every_test() -> Analysis {
    let mut samples = Samples::new(vec![Metric::lower("score", Unit::One)]);
    for (s, level) in [140.0, 145.0, 139.0].into_iter().enumerate() {
        let subject = samples.add_subject(["old", "new", "other"][s]);
        for i in 0..12 {
            samples.push_value(subject, level * (1.0 + 0.1 * noise(s, i)));
        }
    }
    analyse(&samples, &Options { all: true, ..Options::default() }).unwrap()
}

/// Returns every classical test of constant values.
pub fn every_test_of_constants() -> Analysis {
    let samples = recordings(|_, _| 5.0, [6, 7], Metric::lower("score", Unit::One));
    analyse(&samples, &Options { all: true, ..Options::default() }).unwrap()
}

pub fn unpaired_generic() -> Analysis {
    let values = |s: usize, i: u32| [140.0, 145.0][s] * (1.0 + 0.1 * noise(s, i));
    analysed(&recordings(values, [50, 44], Metric::lower("score", Unit::One)))
}

pub fn unpaired_higher() -> Analysis {
    let metric = Metric { better: Better::Higher, ..Metric::lower("requests", Unit::PerSecond) };
    let values = |s: usize, i: u32| [1400.0, 1245.0][s] * (1.0 + 0.04 * noise(s, i));
    analysed(&recordings(values, [50, 44], metric))
}

pub fn unpaired_too_few() -> Analysis {
    let values = |s: usize, i: u32| 1.0 + s as f64 + 0.01 * noise(s, i);
    analysed(&recordings(values, [3, 3], Metric::lower("value", Unit::One)))
}

pub fn too_dependent() -> Analysis {
    let values =
        |s: usize, i: u32| 1.0 + f64::from(i) * 0.01 + s as f64 * 0.05 + 0.001 * noise(s, i);
    analysed(&recordings(values, [60, 60], Metric::lower("value", Unit::Second)))
}

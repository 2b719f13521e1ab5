//! Samples for the tests of this crate. Random numbers come from [`Stream`].

use assay_data::{Metric, Samples};
use assay_stats::resampling::Stream;

/// Samples with these times of the subjects s0, s1, …, recorded separately.
pub(crate) fn recorded(series: &[&[f64]]) -> Samples {
    let mut samples = Samples::new(vec![Metric::wall()]);
    for (index, values) in series.iter().enumerate() {
        let subject = samples.add_subject(&format!("s{index}"));
        values.iter().for_each(|&value| samples.push_value(subject, value));
    }
    samples
}

/// Successive standard normal values with autocorrelation `phi`.
pub(crate) fn autoregressive(stream: &mut Stream, n: usize, phi: f64) -> Vec<f64> {
    let mut last = stream.normal();
    let mut next = || {
        last = phi * last + (1.0 - phi * phi).sqrt() * stream.normal();
        last
    };
    (0..n).map(|_| next()).collect()
}

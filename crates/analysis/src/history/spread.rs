//! The variation between runs at the same level, as context for the difference between two runs. No
//! decision depends on it.

use super::trend::Trend;
use crate::policy;
use assay_stats::descriptive;

impl Trend {
    /// Returns the robust standard deviation of the runs since the last change, as a fraction of
    /// their median; `None` if there are too few runs or if their median is not positive.
    pub fn spread(&self) -> Option<f64> {
        let last = self.parts.last().filter(|part| part.median > 0.0)?;
        let values = &self.values()[last.from..last.to];
        (values.len() >= policy::FEWEST_RUNS).then(|| {
            descriptive::ROBUST_SD * descriptive::median_absolute_deviation(values) / last.median
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::history::trend::trend;
    use crate::history::{Benchmark, Point, RunSummary, Series};
    use assay_data::Metric;

    #[test]
    fn the_spread_is_that_of_the_last_level_and_one_outlier_is_none() {
        let of = |values: &[f64]| {
            let point = |(place, &centre): (usize, &f64)| Point {
                recording: String::new(),
                started: place as i64,
                revision: None,
                result: RunSummary { n: 1, units: 1, centre, interval: None },
            };
            let points = values.iter().enumerate().map(point).collect();
            let (benchmark, metric) = (Benchmark::default(), Metric::wall());
            trend(Series { benchmark, metric, machine: String::new(), points }, 0.95).spread()
        };
        let spread = of(&[100.0, 101.0, 99.0, 102.0, 98.0, 900.0, 100.0]);
        assert!(spread.is_some_and(|spread| (spread - 0.014826).abs() < 1e-6), "{spread:?}");
        assert_eq!((of(&[1.0, 2.0, 3.0]), of(&[-1.0; 9])), (None, None));
    }
}

//! Analysis of a pilot before an experiment: the spread of its values, and their distribution.
//!
//! The standard deviation used for planning is the largest upper end of the 95 % bootstrap
//! intervals (normal, basic, percentile) of the noisiest subject, since a plan based on the
//! estimate itself would be too small in half of all cases. For pairs, it is that of the
//! differences.
//!
//! The distribution is given the same spread. Drawing both samples from a few values would find
//! almost any shift, because each value is smaller than its own shifted copy. Therefore every value
//! of a small pilot is spread evenly between its neighbors, as in a nearest-neighbor density
//! estimate.

use super::PlanningError;
use crate::analysis::seconds_per_block;
use crate::levels;
use crate::policy::{DEPENDENCE_FROM, DEPENDENT_BELOW, FEWEST_PILOT_VALUES};
use assay_data::{Samples, Unit, metric_names};
use assay_stats::bootstrap::{self, Bootstrap, Statistic};
use assay_stats::power_t::Kind;
use assay_stats::rank_power::ShiftedPilot;
use assay_stats::{autocorrelation, descriptive};

/// Confidence of the intervals whose upper end is used.
const CONFIDENCE: f64 = 0.95;
/// Maximum number of values that represent the distribution. More values would only increase the
/// cost.
const KEPT: usize = 20_000;
/// Number of values that is enough to solve repeatedly for a difference, and to which a smaller
/// pilot is smoothed.
const KEPT_TO_SOLVE: usize = 2000;

/// The standard deviation of one subject of the pilot, and the upper ends of its intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct SpreadOf {
    /// Name of the subject or, for pairs, of both subjects.
    pub name: String,
    /// Number of values.
    pub n: usize,
    /// Sample standard deviation.
    pub sd: f64,
    /// Upper end of the normal interval. Like the other upper ends, `None` if all values are equal.
    pub normal_upper: Option<f64>,
    /// Upper end of the basic interval.
    pub basic_upper: Option<f64>,
    /// Upper end of the percentile interval.
    pub percentile_upper: Option<f64>,
    /// Number of resamples.
    pub resamples: usize,
    /// Autocorrelation time of successive values; 1 if independent.
    pub autocorrelation_time: f64,
}

impl SpreadOf {
    fn of(name: &str, values: &[f64], seed: u64) -> Self {
        let resamples = bootstrap::resamples_for(values.len(), 1);
        let found = bootstrap::bootstrap(values, Statistic::StandardDeviation, resamples, seed);
        let upper = |interval: fn(&Bootstrap, f64) -> Option<assay_stats::Interval>| {
            Some(interval(found.as_ref()?, CONFIDENCE)?.upper)
        };
        Self {
            name: name.to_owned(),
            n: values.len(),
            sd: descriptive::standard_deviation(values),
            normal_upper: upper(Bootstrap::normal),
            basic_upper: upper(Bootstrap::basic),
            percentile_upper: upper(Bootstrap::percentile),
            resamples,
            autocorrelation_time: autocorrelation::autocorrelation_time(values),
        }
    }

    /// Returns the number of runs per effective run: the autocorrelation time, or 1 if it is too
    /// close to 1 to matter or if there are too few values to judge it. The same rule applies to
    /// intervals.
    pub fn runs_per_independent(&self) -> f64 {
        let time = self.autocorrelation_time;
        if self.n >= DEPENDENCE_FROM && time.is_finite() && 1.0 / time < DEPENDENT_BELOW {
            time
        } else {
            1.0
        }
    }

    /// Returns the largest upper end of the intervals, but at least the standard deviation.
    pub fn upper(&self) -> f64 {
        upper_end(self.sd, [self.normal_upper, self.basic_upper, self.percentile_upper])
    }
}

/// Returns the standard deviation used for planning: the largest upper end of its intervals
/// (normal, basic, percentile), but at least the estimate.
pub(crate) fn upper_end(sd: f64, ends: [Option<f64>; 3]) -> f64 {
    ends.into_iter().flatten().fold(sd, f64::max)
}

/// Results of the pilot.
#[derive(Clone, Debug, PartialEq)]
pub struct Pilot {
    /// Name of the planned metric.
    pub metric: String,
    /// Index of the metric among the pilot's metrics.
    pub metric_index: usize,
    /// Unit of the metric.
    pub unit: Unit,
    /// Median of the reference, to which relative differences refer.
    pub median: f64,
    /// The spread of every subject; for pairs only that of the differences.
    pub spreads: Vec<SpreadOf>,
    /// Index in `spreads` of the largest spread.
    pub noisiest: usize,
    /// The standard deviation used for planning: the largest upper end of the noisiest subject.
    pub sd: f64,
    /// Number of values of the smallest series.
    pub n: usize,
    /// Index in `spreads` of the subject with the strongest dependence.
    pub most_dependent: usize,
    /// Number of runs per effective run for the most dependent subject; 1 if dependence does not
    /// matter.
    pub runs_per_independent: f64,
    /// The difference that the rank test could have detected in the pilot itself, with the
    /// requested significance and power, according to the 15 % rule.
    pub detectable: Option<f64>,
    /// Duration of a run in seconds, including pauses; `None` if no times were recorded.
    pub seconds_per_run: Option<f64>,
}

/// Values that represent the distribution in the experiment.
#[derive(Clone, Debug)]
pub struct Series {
    kind: Kind,
    /// Number of values before smoothing or thinning.
    n: usize,
    /// Values in ascending order: more than `n` if they were smoothed, and fewer if there were very
    /// many.
    values: Vec<f64>,
    /// Factor by which the values are assumed to vary more in the experiment than in the pilot.
    stretch: f64,
}

impl Series {
    /// Creates a series from values in any order that vary `stretch` times as much in the
    /// experiment. Few values are smoothed; very many are reduced to evenly spaced order statistics.
    fn of(kind: Kind, values: &[f64], stretch: f64) -> Self {
        let sorted = descriptive::sorted(values);
        let n = sorted.len();
        let values = match n {
            0..KEPT_TO_SOLVE => smoothed(&sorted),
            KEPT_TO_SOLVE..=KEPT => sorted,
            _ => evenly(&sorted, KEPT),
        };
        Self { kind, n, values, stretch }
    }

    /// Returns true if all values are equal.
    pub(crate) fn is_constant(&self) -> bool {
        self.values.windows(2).all(|pair| pair[0] == pair[1])
    }

    /// Returns the number of values before smoothing or thinning.
    pub(crate) fn n(&self) -> usize {
        self.n
    }

    /// Returns the same distribution, represented by fewer values.
    pub fn thinned(&self) -> Self {
        if self.values.len() <= KEPT_TO_SOLVE {
            return self.clone();
        }
        Self { values: evenly(&self.values, KEPT_TO_SOLVE), ..*self }
    }

    /// Returns the distribution with its shifted copy; `None` if there are too few values.
    pub fn shifted(&self, delta: f64) -> Option<ShiftedPilot> {
        // Ranks do not change if values and shift are divided by the same factor.
        let shift = delta / self.stretch;
        match self.kind {
            Kind::TwoSample => ShiftedPilot::two_samples(&self.values, shift),
            Kind::OneSample | Kind::Paired => ShiftedPilot::pairs(&self.values, shift),
        }
    }
}

/// Returns about [`KEPT_TO_SOLVE`] values with the density of these `sorted` ones. Each value
/// becomes several, evenly spaced between the order statistics √n/2 places before and after it, and
/// rounded to the clock's steps. Ties of many values remain.
fn smoothed(sorted: &[f64]) -> Vec<f64> {
    let Some(step) = descriptive::smallest_gap(sorted) else { return sorted.to_vec() };
    let n = sorted.len();
    let copies = KEPT_TO_SOLVE.div_ceil(n);
    let reach = ((n as f64).sqrt() / 2.0).round().max(1.0) as usize;
    let spread = |index: usize| {
        let (low, high) = (sorted[index.saturating_sub(reach)], sorted[(index + reach).min(n - 1)]);
        (0..copies).map(move |copy| {
            let value = low + (high - low) * (copy as f64 + 0.5) / copies as f64;
            let steps = ((value - sorted[0]) / step).round();
            if steps < MOST_STEPS { sorted[0] + steps * step } else { value }
        })
    };
    descriptive::sorted(&(0..n).flat_map(spread).collect::<Vec<f64>>())
}

/// Number of steps from which rounding to a step would no longer be exact.
const MOST_STEPS: f64 = 1e15;

/// Returns `kept` evenly spaced order statistics.
fn evenly(sorted: &[f64], kept: usize) -> Vec<f64> {
    let apart = sorted.len() as f64 / kept as f64;
    (0..kept).map(|i| sorted[((i as f64 + 0.5) * apart) as usize]).collect()
}

impl Pilot {
    /// Analyzes the pilot. Also returns the series whose distribution is used for planning.
    ///
    /// # Errors
    ///
    /// Returns an error if the metric does not exist, if there are too few values, or if pairs are
    /// requested and there are none.
    pub fn of(
        samples: &Samples,
        metric: Option<&str>,
        kind: Kind,
        seed: u64,
    ) -> Result<(Self, Series), PlanningError> {
        let metric_index = metric_of(samples, metric)?;
        let about = &samples.metrics[metric_index];
        let series = |subject: usize| levels::independent_values(samples, subject, metric_index);
        let reference = series(0);
        let all: Vec<(String, Vec<f64>)> = if kind == Kind::Paired {
            let [reference, other, ..] = samples.subjects.as_slice() else {
                return Err(PlanningError::Pilot(
                    "--type paired needs a pilot of two subjects".to_owned(),
                ));
            };
            let name = format!("{} - {}", other.name, reference.name);
            vec![(name, differences(samples, metric_index)?)]
        } else {
            let named = |(index, subject): (usize, &assay_data::Subject)| {
                (subject.name.clone(), series(index))
            };
            samples.subjects.iter().enumerate().map(named).collect()
        };
        if let Some((name, few)) = all.iter().find(|(_, values)| values.len() < FEWEST_PILOT_VALUES)
        {
            return Err(PlanningError::Pilot(format!(
                "the pilot has {} of '{name}'; a spread needs at least {FEWEST_PILOT_VALUES}, and a useful plan some dozens",
                if few.len() == 1 { "1 value".to_owned() } else { format!("{} values", few.len()) }
            )));
        }
        let spreads: Vec<SpreadOf> =
            all.iter().map(|(name, values)| SpreadOf::of(name, values, seed)).collect();
        let widest =
            (0..spreads.len()).max_by(|&a, &b| spreads[a].upper().total_cmp(&spreads[b].upper()));
        let noisiest =
            widest.ok_or_else(|| PlanningError::Pilot("the pilot is empty".to_owned()))?;
        let most_dependent = (0..spreads.len())
            .max_by(|&a, &b| {
                spreads[a].runs_per_independent().total_cmp(&spreads[b].runs_per_independent())
            })
            .unwrap_or(noisiest);
        let pilot = Self {
            metric: about.name.clone(),
            metric_index,
            unit: about.unit.clone(),
            median: descriptive::median(&reference),
            sd: spreads[noisiest].upper(),
            n: spreads.iter().map(|s| s.n).min().unwrap_or(0),
            noisiest,
            most_dependent,
            runs_per_independent: spreads[most_dependent].runs_per_independent(),
            detectable: None,
            seconds_per_run: seconds_per_block(samples).map(|s| s / samples.subjects.len() as f64),
            spreads,
        };
        let seen = pilot.spreads[noisiest].sd;
        let stretch = if seen > 0.0 { pilot.sd / seen } else { 1.0 };
        Ok((pilot, Series::of(kind, &all[noisiest].1, stretch)))
    }
}

fn metric_of(samples: &Samples, asked: Option<&str>) -> Result<usize, PlanningError> {
    let planned = samples.plan.as_ref().map(|plan| plan.primary.as_str());
    match (asked, planned.and_then(|name| samples.metric_index(name))) {
        (None, found) if !samples.metrics.is_empty() => Ok(found.unwrap_or(0)),
        (None, _) => Err(PlanningError::Pilot("the pilot is empty".to_owned())),
        (Some(name), _) => samples.metric_index(name).ok_or_else(|| {
            let known: Vec<&str> = samples.metrics.iter().map(|m| m.name.as_str()).collect();
            PlanningError::Pilot(metric_names::unknown(name, &known))
        }),
    }
}

/// Returns second − first, paired by block, or by position if there are no blocks and both series
/// are equally long.
fn differences(samples: &Samples, metric: usize) -> Result<Vec<f64>, PlanningError> {
    let rows = samples.complete_blocks(metric);
    if !rows.is_empty() {
        return Ok(rows.iter().map(|row| row.values[1] - row.values[0]).collect());
    }
    let (first, second) = (samples.series(0, metric).values, samples.series(1, metric).values);
    if first.len() != second.len() {
        return Err(PlanningError::Pilot(format!(
            "--type paired needs the same number of values of both; there are {} and {}",
            first.len(),
            second.len()
        )));
    }
    Ok(first.iter().zip(&second).map(|(first, second)| second - first).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_stats::resampling::Stream;

    #[test]
    fn order_statistics_at_even_distances_are_kept() {
        let sorted: Vec<f64> = (0..10).map(f64::from).collect();
        assert_eq!(evenly(&sorted, 5), [1.0, 3.0, 5.0, 7.0, 9.0]);
        assert_eq!(evenly(&sorted, 1), [5.0]);
    }

    /// `n` values drawn from N(120, 6²).
    fn normal(n: usize, seed: u64) -> Vec<f64> {
        let mut stream = Stream::new(seed, 0);
        (0..n).map(|_| 120.0 + 6.0 * stream.normal()).collect()
    }

    #[test]
    fn small_pilots_find_a_shift_hardly_more_often_than_their_distribution() {
        // P(X < Y + 1.2) for two values of N(120, 6²).
        let truth = assay_stats::normal::cdf(0.2 / 2.0_f64.sqrt()) - 0.5;
        // Returns the mean of 100 pilots, relative to the truth.
        let mean = |n: usize, shifted: fn(&[f64]) -> Option<ShiftedPilot>| {
            let of = |seed| shifted(&normal(n, seed)).expect("a shift").superiority() - 0.5;
            (0..100).map(of).sum::<f64>() / 100.0 / truth
        };
        for (n, most) in [(20, 1.25), (40, 1.15), (100, 1.08), (500, 1.04)] {
            let smoothed = mean(n, |values| Series::of(Kind::TwoSample, values, 1.0).shifted(1.2));
            assert!(smoothed > 0.95 && smoothed < most, "{n}: {smoothed}");
        }
        let bare = mean(40, |values| ShiftedPilot::two_samples(values, 1.2));
        assert!(bare > 1.17, "{bare}");
    }

    #[test]
    fn a_wider_spread_is_the_same_as_a_smaller_shift() {
        let (plain, wide) = (
            Series::of(Kind::Paired, &normal(50, 1), 1.0),
            Series::of(Kind::Paired, &normal(50, 1), 2.0),
        );
        let superiority =
            |series: &Series, shift| series.shifted(shift).expect("a shift").superiority();
        assert_eq!(superiority(&plain, 1.0), superiority(&wide, 2.0));
        assert!(superiority(&plain, 1.0) > superiority(&wide, 1.0));
    }

    #[test]
    fn values_on_a_grid_stay_on_it_and_keep_their_ties() {
        let values: Vec<f64> = (0..40).map(|i| f64::from(i / 10) * 0.5 + 3.0).collect();
        let smooth = smoothed(&values);
        assert_eq!(smooth.len(), 2000);
        assert!(smooth.iter().all(|v| (v * 2.0).fract() == 0.0), "{smooth:?}");
        let of = |value: f64| smooth.iter().filter(|v| **v == value).count();
        assert!(of(3.0) > 350 && of(3.0) < 600 && of(3.5) > 350, "{} {}", of(3.0), of(3.5));
        assert_eq!(smoothed(&[7.0; 5]), [7.0; 5]);
        // Steps too small to count.
        assert!(smoothed(&[1.0, 1.0 + f64::EPSILON, 1e9]).iter().all(|v| v.is_finite()));
    }

    #[test]
    fn a_series_knows_its_length_and_whether_it_varies() {
        let of = |values: &[f64]| Series::of(Kind::TwoSample, values, 1.0);
        assert_eq!((of(&[1.0, 2.0]).n(), of(&[]).n()), (2, 0));
        assert!(of(&[2.0, 2.0, 2.0]).is_constant() && !of(&[2.0, 2.0, 2.5]).is_constant());
        assert!(of(&[1.0, 2.0, 4.0]).shifted(1.0).is_some_and(|pilot| pilot.superiority() > 0.5));
        assert!(of(&[1.0]).shifted(1.0).is_none());
    }
}

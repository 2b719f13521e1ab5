//! Individual series as JSON, for `assay describe`. Keys are the names that statistical software
//! uses for the same numbers.
//!
//! Meaningless values are `null`, with a `reason` if it is not obvious. Nothing is computed here.

mod fit;
mod over_time;
mod resampled;
mod shape;

use super::battery::SignedRanks;
use super::battery::intervals::{Intervals, Levels, key};
use super::description::MedianInterval;
use super::finding::Finding;
use super::values::{Coverage, Interval, NamedValues, view};
use super::{Head, Meta};
use assay_analysis::coverage::Method;
use assay_analysis::levels::Nested;
use assay_analysis::overview::{Line, Overview, SeriesData};
use assay_analysis::series_summary::{self, SeriesSummaries, SeriesSummary, SummaryOnly};
use fit::{AndersonDarling, Dip, FittedDistance, Lilliefors, ShapiroWilk};
use over_time::{
    Autocorrelation, ChangePoints, DefaultLags, LjungBox, Periodic, Runs, SteadyState,
};
use resampled::{Bootstrap, coverage};
use serde_json::{Map, Value};
use shape::{
    Bandwidths, Descriptives, FittedDistribution, Histogram, Mode, Outliers, RepeatedValue, Tails,
};

view! {
    /// Descriptions of all series.
    SeriesDescription of (all: &SeriesSummaries, meta: &Meta) {
        /// Layout version and verb.
        #[serde(flatten)]
        head: Head = Head::of("describe"),
        /// Confidence level of the intervals of medians, and of one of the intervals of every other
        /// kind.
        confidence: f64,
        /// The seed of every random choice.
        seed: u64,
        /// The series that have values: the primary metric of every subject or, with `--all`, every
        /// metric.
        series: Vec<Series> = all.series.iter().map(|p| Series::of(p, all.confidence)).collect(),
        /// Series that were recorded only as summaries, without values.
        summaries: Vec<Summarized> => all.left,
        /// Findings about the input and about every series, most serious first.
        findings: Vec<Finding> = findings(all),
        /// Facts about the machine, by name, as recorded with the samples.
        environment: Map<String, Value> => all.environment.facts,
        /// Start of the run (RFC 3339), or `null`.
        started: Option<String>,
        /// The tool and version that made this report, such as `assay 0.1.0`.
        tool: String => meta.tool,
        /// The command line of the measurement.
        argv: Vec<String> => meta.argv,
        /// The file with the samples, or `null`.
        file: Option<String> => meta.file,
    }
}

fn findings(all: &SeriesSummaries) -> Vec<Finding> {
    let of_series = all.series.iter().flat_map(|summary| &summary.findings);
    let mut findings: Vec<_> = all.findings.iter().chain(of_series).collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings.into_iter().map(Finding::of).collect()
}

impl SeriesDescription {
    /// Returns the document for a recording that has only summaries of its series.
    pub fn of_overview(overview: &Overview, seed: u64, meta: &Meta) -> Self {
        let left = |line: &Line| match &line.known {
            SeriesData::Summary(left) => Some(SummaryOnly {
                name: line.name.clone(),
                metric: overview.metric.clone(),
                summary: (**left).clone(),
            }),
            SeriesData::Values { .. } => None,
        };
        let all = SeriesSummaries {
            confidence: overview.confidence,
            seed,
            series: Vec::new(),
            left: overview.lines.iter().filter_map(left).collect(),
            findings: overview.findings.clone(),
            environment: overview.environment.clone(),
            started: None,
        };
        Self::of(&all, meta)
    }
}

view! {
    /// The summary of a series without values.
    Summarized of (left: &SummaryOnly) {
        /// Name of the subject.
        name: String,
        /// The metric.
        metric: String => left.metric.name,
        /// Base unit of the metric.
        unit: String => left.metric.unit,
        /// Number of values.
        n: Option<u64> => left.summary.count,
        /// The median.
        median: Option<f64> => left.summary.median,
        /// Arithmetic mean.
        mean: Option<f64> => left.summary.mean,
        /// Standard deviation with n − 1.
        standard_deviation: Option<f64> => left.summary.sd,
        /// The smallest value.
        min: Option<f64> => left.summary.min,
        /// The largest value.
        max: Option<f64> => left.summary.max,
    }
}

view! {
    /// A series of values. In the R calls, `x` is the vector of the values.
    Series of (p: &SeriesSummary, confidence: f64) {
        /// Name of the subject.
        name: String,
        /// The metric.
        metric: String => p.metric.name,
        /// Base unit of the metric.
        unit: String => p.metric.unit,
        /// Number of values.
        n: usize => p.description.n,
        /// Interval of the median at the level `confidence`, computed like `median_ci` but for the
        /// effective number of independent values. Documents about comparisons contain the same
        /// interval.
        median_interval: WidenedInterval = WidenedInterval::of(p, confidence),
        /// Descriptive statistics.
        descriptives: Descriptives,
        /// Intervals of the median from order statistics at several levels, which assume
        /// independent values. If the values are independent, `median_interval` equals the one at
        /// its level.
        median_ci: MedianIntervals => p,
        /// Student's t-test of the mean against 0. R: `t.test(x)`.
        t_mean: MeanTest = MeanTest::of(p, confidence),
        /// Autocorrelations. R: `acf(x, 30)`.
        acf: Autocorrelation => p.correlation,
        /// The largest autocorrelation at R's default lags. R: `acf(x)`.
        acf_r_default: DefaultLags => p.correlation,
        /// Ljung-Box tests of the autocorrelations up to a lag: `lag1`, `lag5`, `lag10`, `lag20`
        /// and `lag30`, as far as the series is long enough. R: `Box.test(x, lag, type =
        /// "Ljung-Box")`.
        ljung_box: NamedValues<LjungBox> =
            p.correlation.ljung_box.iter().map(|f| (format!("lag{}", f.lags), LjungBox::of(f))).collect(),
        /// The test of runs above and below the median.
        runs_test: Runs => p,
        /// The Shapiro-Wilk test of normality, for 3 to 5000 values. R: `shapiro.test(x)`.
        shapiro_wilk: ShapiroWilk => p,
        /// The Anderson-Darling test of normality, for at least 8 values. R: `nortest::ad.test(x)`.
        anderson_darling_normal: AndersonDarling => p,
        /// Lilliefors' test of normality, for at least 5 values. R: `nortest::lillie.test(x)`.
        lilliefors: Lilliefors => p,
        /// The distance from the fitted normal distribution. R: `ks.test(x, "pnorm", mean(x),
        /// sd(x))`.
        ks_normal: FittedDistance = FittedDistance::of(p.tests.normal, "too few values"),
        /// The distance from the fitted lognormal distribution. R: as for `ks_normal`, with
        /// `log(x)`.
        ks_lognormal: FittedDistance = FittedDistance::of(p.tests.lognormal, fit::NOT_POSITIVE),
        /// The distance from the fitted exponential distribution. R: `ks.test(x, "pexp", 1 /
        /// mean(x))`.
        ks_exponential: FittedDistance = FittedDistance::of(p.tests.exponential, fit::NOT_POSITIVE),
        /// Bandwidths of a kernel density estimate.
        bandwidth: Bandwidths => p.bandwidths,
        /// Hartigan's dip test for a single mode; `null` if there are too few values. R:
        /// `diptest::dip.test(x)`.
        dip: Option<Dip> => p.tests.dip,
        /// The modes, where values cluster.
        modes: Vec<Mode>,
        /// Known distributions fitted to the values. Those that cannot be fitted are omitted.
        distributions: Vec<FittedDistribution>,
        /// Skewness and kurtosis compared with those of known distributions; `null` if undefined.
        tails: Option<Tails>,
        /// Sources of variance; `null` unless the values come from several levels of repetition.
        levels: Option<NestedLevels> = p.levels.as_ref().map(|l| NestedLevels::of(l, confidence)),
        /// Values far outside the quartiles. They are counted but never removed.
        outliers: Outliers,
        /// Number of distinct values.
        distinct: usize,
        /// The distinct values with their counts; empty unless the series has at least 20 values
        /// and two to twelve distinct ones.
        repeated_values: Vec<RepeatedValue> =
            p.repeated.iter().map(|r| RepeatedValue::of(r, p.description.n)).collect(),
        /// Smallest gap between distinct values; `null` if all are equal.
        clock_step: Option<f64> => p.description.clock_step,
        /// Autocorrelation time of successive values (1: no correlation).
        autocorrelation_time: Option<f64> => p.description.autocorrelation_time,
        /// Effective number of independent values.
        effective_sample_size: Option<f64> => p.description.effective(),
        /// The effective sample size as a share of `n`.
        effective_share: Option<f64> => p.effective_share(),
        /// Change from the first to the last third, in the unit; `null` unless it is larger than
        /// chance.
        drift: Option<f64> => p.description.drift,
        /// The change points of the series.
        change_points: ChangePoints => p.stability.changes,
        /// The steady state of the series; `null` if there are fewer than 40 values.
        steady_state: Option<SteadyState> =
            p.stability.steady.as_ref().map(|s| SteadyState::of(s, p.stability.tolerance)),
        /// A periodic pattern, in which every n-th value differs; `null` if there is none.
        periodic: Option<Periodic>,
        /// Counts for a plot.
        histogram: Histogram => p.shape,
        /// The signed-rank test against 0; `null` without `--all`. R: `wilcox.test(x, conf.int =
        /// TRUE)`.
        signed_rank_about_zero: Option<SignedRanks> =
            p.signed_rank.as_ref().map(|ranks| SignedRanks::of(ranks, Some(p.situation))),
        /// Bootstrap of the mean; `null` without `--all`. R: `boot::boot` and `boot::boot.ci`.
        bootstrap_mean: Option<Bootstrap> = Bootstrap::of_mean(p, confidence),
        /// Bootstrap of the standard deviation; `null` without `--all`.
        bootstrap_sd: Option<Bootstrap> = Bootstrap::of_sd(p, confidence),
        /// Bootstrap of the median; `null` without `--all`.
        bootstrap_median: Option<Bootstrap> = Bootstrap::of_median(p, confidence),
        /// Findings of the checks of this series.
        findings: Vec<Finding>,
    }
}

view! {
    /// The interval of a median, with its coverage.
    WidenedInterval of (p: &SeriesSummary, confidence: f64) {
        /// The interval.
        #[serde(flatten)]
        interval: MedianInterval => p.description,
        /// Simulated coverage of such intervals; `null` if it is not known to be too low.
        coverage: Option<Coverage> = coverage(p, Method::MedianWidened, confidence),
    }
}

view! {
    /// Intervals of a median from order statistics.
    MedianIntervals of (p: &SeriesSummary) {
        /// The intervals.
        #[serde(flatten)]
        levels: NamedValues<MedianOrder> =
            p.median_intervals.iter().map(|m| (key(m.confidence), MedianOrder::of(m))).collect(),
        /// Simulated coverage of such intervals; `null` if it is not known to be too low.
        coverage: Option<Coverage> = p.situation.warning(Method::MedianOrder).map(Coverage::from),
    }
}

view! {
    /// An interval of a median from order statistics. R: `qbinom((1 - level) / 2, n, 0.5)`.
    MedianOrder of (found: &series_summary::MedianInterval) {
        /// The interval.
        ci: Interval => found.interval,
        /// Rank of the value at the lower end, counted from 1; the upper end has rank n + 1 − `k`.
        /// 0 if there are too few values.
        k: u64,
        /// The exact confidence for independent values.
        coverage: Option<f64>,
    }
}

view! {
    /// Student's t-test of a mean.
    MeanTest of (p: &SeriesSummary, confidence: f64) {
        /// The mean.
        mean: Option<f64> => p.descriptives.mean,
        /// The statistic.
        t: Option<f64> = p.student.map(|t| t.t),
        /// Degrees of freedom.
        df: Option<f64> = p.student.map(|t| t.df),
        /// Two-sided p-value.
        p_two: Option<f64> = p.student.map(|t| t.p().two),
        /// The reason for a missing test; otherwise `null`.
        reason: Option<&'static str> =
            fit::reason(p.student, p.description.n, 2, "too few values"),
        /// Intervals of the mean.
        #[serde(flatten)]
        intervals: Intervals = Intervals::of(
            &per_level(confidence, |level| p.student?.interval(level)),
            Some(p.situation),
            Method::MeanT,
        ),
    }
}

type OptionalInterval = Option<assay_analysis::Interval>;

/// Returns one interval for each level.
fn per_level(
    confidence: f64,
    of: impl Fn(f64) -> OptionalInterval,
) -> Vec<(f64, OptionalInterval)> {
    series_summary::levels(confidence).into_iter().map(|level| (level, of(level))).collect()
}

view! {
    /// Levels of repetition, such as iterations within processes, and the contribution of each to
    /// the variance.
    NestedLevels of (found: &Nested, confidence: f64) {
        /// What is repeated: `values` of the series itself, or `values within runs`.
        of: &'static str = if found.of_series { "values" } else { "values within runs" },
        /// The levels, outermost first.
        levels: Vec<NestedLevel> =
            (0..found.names.len()).map(|index| NestedLevel::of(found, index)).collect(),
        /// Mean of the means of the outermost units.
        mean: Option<f64> => found.levels.mean,
        /// Standard error of the mean.
        standard_error: Option<f64> => found.levels.squared_error.sqrt(),
        /// Degrees of freedom of the standard error.
        df: Option<f64> => found.levels.df(),
        /// Factor by which an interval would be too narrow if all values were treated as
        /// independent.
        too_narrow: Option<f64> = found.too_narrow(),
        /// Intervals of the mean.
        #[serde(flatten)]
        intervals: Levels = per_level(confidence, |level| found.levels.mean_interval(level))
            .into_iter()
            .map(|(level, found)| (key(level), Some(Interval::ends(found))))
            .collect(),
    }
}

view! {
    /// A level of repetition.
    NestedLevel of (found: &Nested, index: usize) {
        /// Name of the level's units.
        name: String => found.names[index],
        /// Total number of units.
        units: usize => found.levels.levels[index].units,
        /// Average number of units within one unit of the level above.
        repetitions: Option<f64> => found.levels.levels[index].repetitions,
        /// Variance of the means of the level's units within one unit of the level above (S²).
        variance: Option<f64> => found.levels.levels[index].variance,
        /// Variance that the level itself adds (T²). The estimate is unbiased and may be negative
        /// by chance.
        component: Option<f64> => found.levels.levels[index].component,
        /// Share of the level in the variance of the mean; a negative component counts as 0.
        share: Option<f64> => found.levels.levels[index].share,
        /// Largest share by which more repetitions of this level alone could narrow the interval of
        /// the mean.
        most_gained: Option<f64> => found.most_gained()[index],
        /// Optimal number of repetitions within one unit of the level above, if a unit of each
        /// level costs the same apart from its content. If a unit of the level above costs c times
        /// as much, √c times as many are optimal. `null` for the outermost level, and if the level
        /// above adds no variance.
        best_repetitions: Option<f64> =
            index.checked_sub(1).and_then(|above| found.best_repetitions(1.0).get(above).copied()?),
    }
}

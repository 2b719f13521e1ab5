//! Individual series as JSON, for `assay describe`. Keys are the names that statistical software
//! uses for the same numbers.
//!
//! Meaningless values are `null`, with a `reason` if it is not obvious. Nothing is computed here.

mod fit;
mod over_time;
mod resampled;
mod shape;

use super::battery::{Intervals, Levels, SignedRanks, key};
use super::description::MedianInterval;
use super::finding::Finding;
use super::values::{Coverage, Interval, Named, view};
use super::{Head, Meta};
use assay_analysis::coverage::{Method, speaks_for};
use assay_analysis::levels::Nested;
use assay_analysis::overview::{Known, Line, Overview};
use assay_analysis::series_summary::{self, Left, SeriesSummaries, SeriesSummary};
use fit::{AndersonDarling, Dip, FittedDistance, Lilliefors, ShapiroWilk};
use over_time::{
    Autocorrelation, ChangePoints, DefaultLags, LjungBox, Periodic, Runs, SteadyState,
};
use resampled::Bootstrap;
use serde_json::{Map, Value};
use shape::{
    Bandwidths, Descriptives, FittedDistribution, Histogram, Mode, Outliers, RepeatedValue, Tails,
};

view! {
    /// Every series by itself.
    SeriesDescription of (all: &SeriesSummaries, meta: &Meta) {
        /// Layout and verb.
        #[serde(flatten)]
        head: Head = Head::of("describe"),
        /// Confidence of the intervals of medians, and of one more interval of every other kind.
        confidence: f64 = all.confidence,
        /// The seed of every random choice.
        seed: u64 = all.seed,
        /// The series that have values: of every subject the primary metric, with `--all` every metric.
        series: Vec<Series> = all.series.iter().map(|p| Series::of(p, all.confidence)).collect(),
        /// What is left of series without values: only a summary was recorded.
        summaries: Vec<Summarized> = all.left.iter().map(Summarized::of).collect(),
        /// What the checks found, in reading and of every series, the most serious first.
        findings: Vec<Finding> = findings(all),
        /// Facts about the machine, by name, as recorded with the samples.
        environment: Map<String, Value> = all.environment.facts.clone(),
        /// When the run began (RFC 3339), or `null`.
        started: Option<String> = all.started.clone(),
        /// What made this report, such as `assay 0.1.0`.
        tool: String = meta.tool.clone(),
        /// The command line that took the samples.
        argv: Vec<String> = meta.argv.clone(),
        /// The file that keeps the samples, or `null`.
        file: Option<String> = meta.file.clone(),
    }
}

fn findings(all: &SeriesSummaries) -> Vec<Finding> {
    let of_series = all.series.iter().flat_map(|summary| &summary.findings);
    let mut findings: Vec<_> = all.findings.iter().chain(of_series).collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings.into_iter().map(Finding::of).collect()
}

impl SeriesDescription {
    /// Describes series of which only summaries are left.
    pub fn of_overview(overview: &Overview, seed: u64, meta: &Meta) -> Self {
        let left = |line: &Line| match &line.known {
            Known::Summary(left) => Some(Left {
                name: line.name.clone(),
                metric: overview.metric.clone(),
                summary: (**left).clone(),
            }),
            Known::Values { .. } => None,
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
    /// What is left of a series without values.
    Summarized of (left: &Left) {
        /// Name of the subject.
        name: String = left.name.clone(),
        /// The metric.
        metric: String = left.metric.name.clone(),
        /// Its base unit.
        unit: String = left.metric.unit.symbol().to_owned(),
        /// Number of values.
        n: Option<u64> = left.summary.count,
        /// The median.
        median: Option<f64> = left.summary.median,
        /// Arithmetic mean.
        mean: Option<f64> = left.summary.mean,
        /// Standard deviation with n − 1.
        standard_deviation: Option<f64> = left.summary.sd,
        /// The smallest value.
        min: Option<f64> = left.summary.min,
        /// The largest value.
        max: Option<f64> = left.summary.max,
    }
}

view! {
    /// One series. In the calls of R, `x` stands for its values.
    Series of (p: &SeriesSummary, confidence: f64) {
        /// Name of the subject.
        name: String = p.name.clone(),
        /// The metric.
        metric: String = p.metric.name.clone(),
        /// Its base unit.
        unit: String = p.metric.unit.symbol().to_owned(),
        /// Number of values.
        n: usize = p.description.n,
        /// Interval of the median at `confidence`: that of `median_ci` for as many independent values as the median is worth. The same
        /// as in the documents about comparisons.
        median_interval: WidenedInterval = WidenedInterval::of(p, confidence),
        /// Plain numbers.
        descriptives: Descriptives = Descriptives::of(&p.descriptives),
        /// Intervals of the median by order statistics at several levels, for independent values: where the values are, `median_interval` is
        /// the one at its confidence.
        median_ci: MedianIntervals = MedianIntervals::of(p),
        /// Student's test of the mean against 0. R: `t.test(x)`.
        t_mean: MeanTest = MeanTest::of(p, confidence),
        /// Autocorrelations. R: `acf(x, 30)`.
        acf: Autocorrelation = Autocorrelation::of(&p.correlation),
        /// The same at the lags that R takes by itself. R: `acf(x)`.
        acf_r_default: DefaultLags = DefaultLags::of(&p.correlation),
        /// Whether the autocorrelations up to a lag differ from 0: for the lags `lag1`, `lag5`, `lag10`, `lag20`, `lag30` that there
        /// are. R: `Box.test(x, lag, type = "Ljung-Box")`.
        ljung_box: Named<LjungBox> =
            p.correlation.ljung_box.iter().map(|f| (format!("lag{}", f.lags), LjungBox::of(f))).collect(),
        /// Runs above and below the median.
        runs_test: Runs = Runs::of(p),
        /// Whether the values are normal; 3 to 5000 values. R: `shapiro.test(x)`.
        shapiro_wilk: ShapiroWilk = ShapiroWilk::of(p),
        /// Whether the values are normal; from 8 values on. R: `nortest::ad.test(x)`.
        anderson_darling_normal: AndersonDarling = AndersonDarling::of(p),
        /// Whether the values are normal; from 5 values on. R: `nortest::lillie.test(x)`.
        lilliefors: Lilliefors = Lilliefors::of(p),
        /// The distance from the normal distribution fitted. R: `ks.test(x, "pnorm", mean(x), sd(x))`.
        ks_normal: FittedDistance = FittedDistance::of(p.tests.normal, "too few values"),
        /// The distance from the lognormal distribution fitted. R: the same of `log(x)`.
        ks_lognormal: FittedDistance = FittedDistance::of(p.tests.lognormal, fit::NOT_POSITIVE),
        /// The distance from the exponential distribution fitted. R: `ks.test(x, "pexp", 1 / mean(x))`.
        ks_exponential: FittedDistance = FittedDistance::of(p.tests.exponential, fit::NOT_POSITIVE),
        /// Bandwidths of a kernel density.
        bandwidth: Bandwidths = Bandwidths::of(&p.bandwidths),
        /// Whether the values have one mode; `null` for too few. R: `diptest::dip.test(x)`.
        dip: Option<Dip> = p.tests.dip.as_ref().map(Dip::of),
        /// Where values cluster.
        modes: Vec<Mode> = p.modes.iter().map(Mode::of).collect(),
        /// Known distributions fitted to the values; those that do not apply are left out.
        distributions: Vec<FittedDistribution> =
            p.distributions.iter().map(FittedDistribution::of).collect(),
        /// Skewness and kurtosis beside those of known distributions; `null` where there are none.
        tails: Option<Tails> = p.tails.as_ref().map(Tails::of),
        /// Where the spread comes from; `null` unless the values come from several levels of repetition.
        levels: Option<NestedLevels> = p.levels.as_ref().map(|l| NestedLevels::of(l, confidence)),
        /// Values far outside; counted, never removed.
        outliers: Outliers = Outliers::of(&p.outliers),
        /// How many different values there are.
        distinct: usize = p.distinct,
        /// The different values, where they are up to twelve, of at least 20 values; otherwise empty.
        repeated_values: Vec<RepeatedValue> =
            p.repeated.iter().map(|r| RepeatedValue::of(r, p.description.n)).collect(),
        /// Smallest gap between distinct values; `null` when all are equal.
        clock_step: Option<f64> = p.description.clock_step,
        /// How strongly successive values are correlated (1: not at all).
        autocorrelation_time: Option<f64> = Some(p.description.autocorrelation_time),
        /// How many independent values they are worth.
        effective_sample_size: Option<f64> = Some(p.description.effective()),
        /// The same as a share of `n`.
        effective_share: Option<f64> = Some(p.effective_share()),
        /// Change from the first to the last third, in the unit, where it is more than chance; otherwise `null`.
        drift: Option<f64> = p.description.drift,
        /// Where the series changed.
        change_points: ChangePoints = ChangePoints::of(&p.stability.changes),
        /// Whether the series came to rest; `null` below 40 values.
        steady_state: Option<SteadyState> =
            p.stability.steady.as_ref().map(|s| SteadyState::of(s, p.stability.tolerance)),
        /// Whether every so many values one differs; `null` where none does.
        periodic: Option<Periodic> = p.periodic.as_ref().map(Periodic::of),
        /// Counts for a picture.
        histogram: Histogram = Histogram::of(&p.shape),
        /// Whether the values lie about 0, with `--all`; otherwise `null`. R: `wilcox.test(x, conf.int = TRUE)`.
        signed_rank_about_zero: Option<SignedRanks> =
            p.signed_rank.as_ref().map(|ranks| SignedRanks::of(ranks, Some(p.situation))),
        /// Bootstrap of the mean, with `--all`; otherwise `null`. R: `boot::boot` and `boot::boot.ci`.
        bootstrap_mean: Option<Bootstrap> = Bootstrap::of_mean(p, confidence),
        /// Bootstrap of the standard deviation, likewise.
        bootstrap_sd: Option<Bootstrap> = Bootstrap::of_sd(p, confidence),
        /// Bootstrap of the median, likewise.
        bootstrap_median: Option<Bootstrap> = Bootstrap::of_median(p, confidence),
        /// What the checks found in this series.
        findings: Vec<Finding> = p.findings.iter().map(Finding::of).collect(),
    }
}

view! {
    /// The interval of a median, with what it rests on.
    WidenedInterval of (p: &SeriesSummary, confidence: f64) {
        /// The interval.
        #[serde(flatten)]
        interval: MedianInterval = MedianInterval::new(&p.description),
        /// How often such intervals hold; `null` where they hold as often as they promise.
        coverage: Option<Coverage> = coverage(p, Method::MedianWidened, confidence),
    }
}

/// Returns how often intervals of a method cover for values like these, if the simulation covers
/// that confidence.
fn coverage(p: &SeriesSummary, method: Method, confidence: f64) -> Option<Coverage> {
    p.situation.warning(method).filter(|_| speaks_for(confidence)).map(Coverage::from)
}

view! {
    /// Intervals of a median by order statistics.
    MedianIntervals of (p: &SeriesSummary) {
        /// The intervals.
        #[serde(flatten)]
        levels: Named<MedianOrder> =
            p.median_intervals.iter().map(|m| (key(m.confidence), MedianOrder::of(m))).collect(),
        /// How often such intervals hold; `null` where they hold as often as they promise.
        coverage: Option<Coverage> = p.situation.warning(Method::MedianOrder).map(Coverage::from),
    }
}

view! {
    /// An interval of a median by order statistics. R: `qbinom((1 - level) / 2, n, 0.5)`.
    MedianOrder of (found: &series_summary::MedianInterval) {
        /// The interval.
        ci: Interval = Interval::ends(found.interval),
        /// Its ends are the values `k` and n + 1 − `k` in ascending order; 0 where no values are far enough apart.
        k: u64 = found.k,
        /// The exact confidence for independent values.
        coverage: Option<f64> = Some(found.coverage),
    }
}

view! {
    /// Student's test of a mean.
    MeanTest of (p: &SeriesSummary, confidence: f64) {
        /// The mean.
        mean: Option<f64> = Some(p.descriptives.mean),
        /// The statistic.
        t: Option<f64> = p.student.map(|t| t.t),
        /// Its degrees of freedom.
        df: Option<f64> = p.student.map(|t| t.df),
        /// Two-sided p-value.
        p_two: Option<f64> = p.student.map(|t| t.p().two),
        /// Why there is no test; otherwise `null`.
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

type Found = Option<assay_analysis::Interval>;

/// Returns one interval for each level.
fn per_level(confidence: f64, of: impl Fn(f64) -> Found) -> Vec<(f64, Found)> {
    series_summary::levels(confidence).into_iter().map(|level| (level, of(level))).collect()
}

view! {
    /// Levels of repetition, such as iterations within processes: how much of the spread comes from each.
    NestedLevels of (found: &Nested, confidence: f64) {
        /// What they are of: `values`, or `values within runs`.
        of: &'static str = if found.of_series { "values" } else { "values within runs" },
        /// The levels, the outermost first.
        levels: Vec<NestedLevel> =
            (0..found.names.len()).map(|index| NestedLevel::of(found, index)).collect(),
        /// Mean of the means of the outermost units.
        mean: Option<f64> = Some(found.levels.mean),
        /// Its standard error.
        standard_error: Option<f64> = Some(found.levels.squared_error.sqrt()),
        /// Its degrees of freedom.
        df: Option<f64> = Some(found.levels.df()),
        /// How many times too narrow an interval would be that took all values for independent.
        too_narrow: Option<f64> = found.too_narrow(),
        /// Its intervals.
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
        /// What its units are called.
        name: String = found.names[index].clone(),
        /// How many there are in all.
        units: usize = found.levels.levels[index].units,
        /// How many there are within one of the level above, on average.
        repetitions: Option<f64> = Some(found.levels.levels[index].repetitions),
        /// Variance of the means of its units within one of the level above (S²).
        variance: Option<f64> = Some(found.levels.levels[index].variance),
        /// What the level itself adds to the variance (T²), without bias: chance may make it negative.
        component: Option<f64> = Some(found.levels.levels[index].component),
        /// Its share of the variance of the mean; a negative component counts as 0.
        share: Option<f64> = Some(found.levels.levels[index].share),
        /// By which share the interval gets narrower at most by more repetitions of this level alone.
        most_gained: Option<f64> = Some(found.most_gained()[index]),
        /// How many repetitions within one of the level above are best, where units of all levels cost the same beside their content
        /// (√c times as many if the one above costs c times as much); `null` for the outermost and where the level above adds nothing.
        best_repetitions: Option<f64> =
            index.checked_sub(1).and_then(|above| found.best_repetitions(1.0).get(above).copied()?),
    }
}

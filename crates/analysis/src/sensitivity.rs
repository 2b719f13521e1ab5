//! The smallest slowdown of a function that a benchmark can detect (`bench --sensitivity`).
//!
//! Every call of the function is delayed by a known time. The time that this adds to an iteration,
//! divided by the delay, is the number of calls that the benchmark times. The smallest difference
//! that the benchmark can detect, divided by that number, is the smallest detectable delay.

use crate::comparison::Comparison;
use crate::number;
use crate::verdict::Scale;
use assay_data::{Action, Finding, Severity, Unit, code, list};
use assay_stats::{Interval, t_test};

/// Confidence of the interval of the number of calls.
const CONFIDENCE: f64 = 0.95;
/// Minimum relative increase of an iteration's time that counts as visible.
const VISIBLE: f64 = 0.2;
/// Minimum number of calls per iteration of a function that is timed. With fewer, a longer
/// iteration is noise.
const FEWEST_CALLS: f64 = 1.0 / 500.0;
/// Maximum number of benchmarks named in a message.
const NAMED: usize = 3;

/// A benchmark's sensitivity to a slowdown of a function that it executes.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivity {
    /// Name of the benchmark.
    pub benchmark: String,
    /// True if delays of the function's calls make an iteration longer.
    pub is_timed: bool,
    /// The smallest delay of a call, in seconds, that 80 of 100 experiments like this one would
    /// find. `None` if no calls are timed, or if the number of calls or the interval of the
    /// comparison is unknown.
    pub delay: Option<f64>,
}

impl Sensitivity {
    /// Computes the sensitivity from pairs of an iteration's times in seconds, without and with a
    /// delay of each call by `delay` seconds. `pairs` is empty if no delay was visible.
    /// `comparison` is the comparison of this benchmark between the sides.
    pub fn new(
        benchmark: &str,
        pairs: &[[f64; 2]],
        delay: f64,
        comparison: Option<&Comparison>,
    ) -> Self {
        let detectable = comparison.and_then(detectable_time);
        Self {
            benchmark: benchmark.to_owned(),
            is_timed: !pairs.is_empty(),
            delay: calls(pairs, delay).and_then(|calls| Some(detectable? / calls)),
        }
    }
}

/// Returns true if a delay clearly lengthens an iteration, given its times without and with the
/// delay.
pub fn is_visible(without: f64, with: f64) -> bool {
    with > without * (1.0 + VISIBLE)
}

/// Returns true if a delay of each call by `delay` seconds clearly lengthens an iteration, given
/// pairs of its times without and with the delay.
pub fn are_visible(pairs: &[[f64; 2]], delay: f64) -> bool {
    let mean = |own: usize| pairs.iter().map(|pair| pair[own]).sum::<f64>() / pairs.len() as f64;
    is_visible(mean(0), mean(1)) && calls(pairs, delay).is_some_and(|calls| calls >= FEWEST_CALLS)
}

/// Returns the number of timed calls per iteration; `None` if it may be 0 at 95 % confidence.
fn calls(pairs: &[[f64; 2]], delay: f64) -> Option<f64> {
    added(pairs).map(|seconds| seconds / delay)
}

/// Returns the mean time in seconds that a delay adds to an iteration; `None` if it may be 0 at
/// 95 % confidence.
fn added(pairs: &[[f64; 2]]) -> Option<f64> {
    let side = |own: usize| pairs.iter().map(|pair| pair[own]).collect::<Vec<f64>>();
    let test = t_test::paired(&side(0), &side(1))?;
    let Interval { lower, .. } = test.interval(CONFIDENCE)?;
    (lower > 0.0).then_some(test.estimate)
}

/// Returns the smallest detectable difference as a time per iteration in seconds.
fn detectable_time(comparison: &Comparison) -> Option<f64> {
    let size = comparison.detectable?;
    Some(as_time(size, comparison.decision.scale, comparison.medians.0))
}

/// Converts a difference to seconds. On the scale of ratios, `size` is a logarithm.
fn as_time(size: f64, scale: Scale, reference: f64) -> f64 {
    match scale {
        Scale::Ratio => size.exp_m1() * reference,
        Scale::Shift => size,
    }
}

/// Returns the finding about the sensitivity to a function that changed. Its evidence is the
/// smallest detectable delay of each benchmark, in seconds.
pub fn finding(function: &str, benchmarks: &[Sensitivity]) -> Finding {
    let mut known: Vec<(f64, &str)> =
        benchmarks.iter().filter_map(|own| Some((own.delay?, own.benchmark.as_str()))).collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    let untimed: Vec<String> = benchmarks
        .iter()
        .filter(|own| !own.is_timed)
        .map(|own| format!("`{}`", own.benchmark))
        .collect();
    let executes = if untimed.len() == 1 { "executes" } else { "execute" };
    let untimed = (!untimed.is_empty()).then(|| {
        format!("{} {executes} it, but not in the timed part", list::first(&untimed, NAMED))
    });
    let is_timed = benchmarks.iter().any(|own| own.is_timed);
    let rest = untimed.map_or(String::new(), |untimed| format!("; {untimed}"));
    let finding = match known.is_empty() {
        true if !is_timed => {
            let message = format!("no benchmark would show a slower `{function}`{rest}");
            Finding::new(code::CODE_CHANGED, message)
                .at(Severity::Warning)
                .advise(Action::text("add a benchmark that calls it in its timed part"))
        }
        true => {
            let few = "the benchmarks that time it vary too much, or have too few blocks";
            let message = format!(
                "the smallest slowdown of `{function}` that would be found is unknown: {few}{rest}"
            );
            Finding::new(code::CODE_CHANGED, message)
        }
        false => {
            let each: Vec<String> = known
                .iter()
                .map(|(delay, name)| {
                    format!("{} in `{name}`", number::rough(*delay, &Unit::Second))
                })
                .collect();
            let named = list::first(&each, NAMED);
            let message = format!(
                "a call of `{function}` must take this much longer to be found: {named}{rest}"
            );
            Finding::new(code::CODE_CHANGED, message)
        }
    };
    benchmarks
        .iter()
        .fold(finding, |finding, own| finding.with(&own.benchmark, own.delay.unwrap_or(f64::NAN)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_run_is_no_visible_delay() {
        assert!(!are_visible(&[[1.0, 1.0], [1.0, 9.0], [1.0, 1.0], [1.0, 1.0]], 1.0));
        assert!(!are_visible(&[[1.0, 1.1], [1.0, 1.11], [1.0, 1.1], [1.0, 1.09]], 1.0));
        assert!(are_visible(&[[1.0, 2.1], [1.1, 2.2], [1.0, 2.0], [1.0, 2.0]], 1.0));
    }

    #[test]
    fn iterations_that_grow_by_a_trace_of_the_delay_do_not_call_the_function() {
        // One call in 2,000 or in 250 iterations of 2 ns, each delayed by 1 µs.
        let grown = |by: f64| [[2e-9, 2e-9 + by], [2e-9, 2.01e-9 + by], [2e-9, 2e-9 + by]];
        assert!(!are_visible(&grown(0.5e-9), 1e-6));
        assert!(are_visible(&grown(4e-9), 1e-6));
    }

    fn sensitivity(name: &str, delay: Option<f64>) -> Sensitivity {
        Sensitivity { benchmark: name.to_owned(), is_timed: delay.is_some(), delay }
    }

    #[test]
    fn the_added_time_shows_the_number_of_timed_calls() {
        // Twelve calls, each delayed by 10 µs, with noise of 1 µs.
        let pairs = [[4e-4, 5.201e-4], [4e-4, 5.209e-4], [4.01e-4, 5.205e-4], [4e-4, 5.195e-4]];
        let found = calls(&pairs, 1e-5).unwrap_or_default();
        assert!((found - 12.0).abs() < 0.1, "{found}");
        let without = [[1e-3, 1.001e-3], [1e-3, 0.999e-3], [1.001e-3, 1e-3], [1e-3, 1.0005e-3]];
        assert_eq!(calls(&without, 1e-2), None);
        assert_eq!(calls(&pairs[..1], 1e-5), None);
    }

    #[test]
    fn a_detectable_ratio_is_a_share_of_the_reference() {
        let half_more = as_time(1.5_f64.ln(), Scale::Ratio, 2e-3);
        assert!((half_more - 1e-3).abs() < 1e-12, "{half_more}");
        assert_eq!(as_time(1e-6, Scale::Shift, 2e-3), 1e-6);
    }

    #[test]
    fn the_most_sensitive_benchmark_comes_first() {
        let all = [
            sensitivity("slow", Some(1.3e-6)),
            sensitivity("quick", Some(14e-9)),
            sensitivity("setup", None),
        ];
        let found = finding("parse", &all);
        assert_eq!(
            found.message,
            "a call of `parse` must take this much longer to be found: 14 ns in `quick`, 1.3 µs in `slow`; `setup` executes it, but not in the timed part"
        );
        assert_eq!(found.number("quick"), Some(14e-9));
        assert!(found.number("setup").is_some_and(f64::is_nan));
    }

    #[test]
    fn a_function_that_is_never_timed_is_a_warning() {
        let found = finding("parse", &[sensitivity("setup", None)]);
        assert_eq!(found.severity, Severity::Warning);
        assert_eq!(
            found.message,
            "no benchmark would show a slower `parse`; `setup` executes it, but not in the timed part"
        );
    }
}

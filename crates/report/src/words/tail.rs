//! One line if the tail behaves differently from the center: "the middle did not move, but p99 is
//! 8.1 % higher".
//!
//! The analysis decides whether the tail differs; most comparisons have no such line.

use super::Teller;
use crate::number;
use assay_analysis::{Scale, Verdict, quantiles};

impl Teller<'_> {
    pub(super) fn tail(&self) -> Option<String> {
        let confidence = self.analysis.plan.confidence;
        let found = quantiles::tail(self.c, self.metric.better, confidence)?;
        let name = format!("p{}", number::chosen_percent(found.share).trim_end_matches(" %"));
        let direction = |sign: f64| if sign < 0.0 { "lower" } else { "higher" };
        let (size, range) = match (self.c.decision.scale, found.ratio, found.ratio_interval) {
            (Scale::Ratio, Some(ratio), Some(interval)) => {
                let [ratio, lower, upper] =
                    [ratio, interval.lower, interval.upper].map(|r| (r - 1.0).abs() * 100.0);
                let (least, most) = if lower < upper { (lower, upper) } else { (upper, lower) };
                let ends = number::side_by_side(&[least, most]);
                let size = number::before_ends(ratio, least, most);
                (format!("{size} %"), format!("{} and {} %", ends[0], ends[1]))
            }
            _ => {
                let interval = found.interval?;
                let [size, lower, upper] = [found.difference, interval.lower, interval.upper]
                    .map(|amount| number::value(amount.abs(), &self.metric.unit));
                let down = found.difference < 0.0;
                let (least, most) = if down { (upper, lower) } else { (lower, upper) };
                (size, format!("{least} and {most}"))
            }
        };
        let so = match self.c.decision.verdict {
            Verdict::Equivalent => "the middle did not move, but",
            Verdict::Inconclusive => "whatever the middle does,",
            Verdict::Faster | Verdict::Slower => "the tail goes the other way:",
        };
        Some(format!(
            "{so} {name} is {size} {} ({}: between {range})",
            direction(found.difference),
            self.sure()
        ))
    }
}

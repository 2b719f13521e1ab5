//! A comparison in a word or two, for the cells of a table.

use super::{Form, Teller};
use crate::number;
use assay_analysis::{Analysis, Comparison, Verdict};

/// Returns the verdict as one word for a table: `faster`, `slower` (`less`, `more` if the metric is
/// not a time someone waits for), `equivalent`, `not known yet`. A star marks differences possibly
/// below the threshold.
pub(crate) fn verdict_word(analysis: &Analysis, comparison: &Comparison) -> String {
    let teller = Teller::new(analysis, comparison, "", "");
    let decision = &comparison.decision;
    if comparison.failing.is_some() {
        // Even if a rate or a share is measured, the failing server is worse.
        return decision.verdict.word().to_owned();
    }
    let star = if decision.may_not_matter() { "*" } else { "" };
    match decision.verdict {
        Verdict::Faster => format!("{}{star}", teller.won(true)),
        Verdict::Slower => format!("{}{star}", teller.won(false)),
        Verdict::Equivalent => "equivalent".to_owned(),
        Verdict::Inconclusive if comparison.mixed => "no verdict".to_owned(),
        Verdict::Inconclusive => "not known yet".to_owned(),
    }
}

/// Returns the verdict in plain words, with its size if known: `2.6 % less`,
/// `no difference that matters`.
pub(crate) fn in_plain_words(analysis: &Analysis, comparison: &Comparison) -> String {
    let teller = Teller::new(analysis, comparison, "", "");
    let decision = &comparison.decision;
    if let Some(failing) = &comparison.failing {
        return super::failing::in_short(failing);
    }
    match decision.verdict {
        Verdict::Faster | Verdict::Slower => {
            let size = teller.size();
            let small = decision.may_not_matter();
            let threshold = teller.threshold();
            if small { format!("{size}, possibly below {threshold}") } else { size }
        }
        Verdict::Equivalent => "no difference that matters".to_owned(),
        Verdict::Inconclusive if comparison.mixed => "no verdict".to_owned(),
        Verdict::Inconclusive if decision.interval.is_none() => "too few values".to_owned(),
        Verdict::Inconclusive => "not known yet".to_owned(),
    }
}

impl Teller<'_> {
    /// Returns the size of the difference: `2.6 % less`, `4.0 × as much`.
    pub(super) fn size(&self) -> String {
        let estimate = self.c.decision.estimate;
        if let Form::Multiple = self.form {
            return format!("{} as much", number::multiple(estimate.exp()));
        }
        format!("{}{} {}", self.numbers(&[estimate])[0], self.suffix(), self.direction(estimate))
    }
}

//! The texts of the protocol: its heading, the conclusion of each step, and shared helpers.
//! [`numbers`] has the lines below a step, and [`sentence`](mod@sentence) has the sentence at the
//! end.

mod numbers;
mod sentence;

use crate::label::{label, wording};
use crate::names::clean;
use crate::number::{self, Column};
use crate::words::quoted;
use assay_analysis::protocol::{EffectFound, Protocol, Status, Step, TestName};
use assay_analysis::{Analysis, Interval};
use assay_data::code::{self, Code};
use assay_data::list;
use assay_data::{Better, Unit};

/// Number of significant digits of standard deviations.
const SPREAD_DIGITS: i32 = 4;

/// Returns the sentence at the end of a chain, which states what can be published or why nothing
/// can.
pub fn sentence(analysis: &Analysis, chain: &Protocol) -> String {
    Teller::new(analysis, chain, &analysis.names()).sentence()
}

/// Generates the texts of one chain.
pub(crate) struct Teller<'a> {
    pub analysis: &'a Analysis,
    pub chain: &'a Protocol,
    names: Vec<String>,
}

impl<'a> Teller<'a> {
    pub fn new(analysis: &'a Analysis, chain: &'a Protocol, names: &[String]) -> Self {
        Self { analysis, chain, names: names.iter().map(|name| quoted(name)).collect() }
    }

    pub fn name(&self, subject: usize) -> &str {
        self.names.get(subject).map_or("", String::as_str)
    }

    fn of(&self) -> &str {
        self.name(self.chain.of)
    }

    fn against(&self) -> &str {
        self.chain.against.map_or("", |against| self.name(against))
    }

    /// Returns the compared subjects, such as `array - map`. For a suite it is the name of the row,
    /// and for a single subject its name.
    pub fn pair(&self) -> String {
        match self.chain.against {
            Some(_) if self.analysis.is_suite() => {
                let of = &self.analysis.subjects[self.chain.of];
                let row = clean(&self.analysis.rows[of.row].name);
                match self.analysis.sides.len() {
                    0..=2 => row,
                    _ => format!("{row}, {}", clean(&self.analysis.sides[of.side].name)),
                }
            }
            Some(_) => format!("{} - {}", self.of(), self.against()),
            None => self.of().to_owned(),
        }
    }

    pub fn unit(&self) -> &Unit {
        &self.analysis.metrics[self.chain.metric].unit
    }

    /// Formats an amount without an interval, with four significant digits.
    pub fn amount(&self, value: f64) -> String {
        self.chain.amount(value)
    }

    pub fn threshold(&self) -> String {
        let threshold = self.chain.threshold;
        if threshold.is_nan() {
            return "unknown (a share of 0)".to_owned();
        }
        match self.chain.threshold_share {
            Some(share) => {
                let whose = if self.chain.against.is_some() { self.against() } else { self.of() };
                format!(
                    "{} of the median of {whose}: {}",
                    number::chosen_percent(share),
                    self.amount(threshold)
                )
            }
            None => number::chosen(threshold, self.unit()),
        }
    }

    /// Returns the threshold as an amount, without saying where it comes from.
    pub fn threshold_amount(&self) -> String {
        self.chain.threshold_amount()
    }

    pub fn things(&self) -> &'static str {
        self.chain.things()
    }

    pub fn heading(&self) -> String {
        let metric = match label(&self.analysis.metrics[self.chain.metric]) {
            // The default name is uninformative.
            name if name == "value" => String::new(),
            name => format!("{name}, "),
        };
        let Some(validity) = &self.chain.validity.found else { return String::new() };
        let counts: Vec<String> =
            validity.series.iter().map(|s| number::count(s.n as f64)).collect();
        let Some(_) = self.chain.against else {
            return format!("four-step check: {}, {metric}{} values", self.of(), counts.join(""));
        };
        let taken = match &validity.differences {
            Some(d) => format!("{} blocks", number::count(d.n as f64)),
            None => format!("{} values from separate runs", list::all(&counts)),
        };
        format!(
            "four-step check: {of} - {against} ({against} is the reference), {metric}{taken}",
            of = self.of(),
            against = self.against()
        )
    }

    pub fn settings(&self) -> String {
        let chain = self.chain;
        let shared = if chain.shared_by > 1 {
            format!(" · shared by {} comparisons (Holm)", chain.shared_by)
        } else {
            String::new()
        };
        let often = if chain.looked_often { " · for one look among many" } else { "" };
        format!(
            "threshold {} · significance {} · power {} · confidence {}{shared}{often}",
            self.threshold(),
            number::chosen_percent(chain.alpha),
            number::chosen_percent(chain.power_wanted),
            number::chosen_percent(chain.confidence)
        )
    }

    /// Returns the conclusion of a step as one line.
    pub fn line(&self, step: usize) -> String {
        let (_, status, found) = self.chain.steps()[step];
        if status == Status::NotReached {
            return match (self.chain.stopped_at(), self.chain.against) {
                (Some(_), _) if has(&self.chain.power, code::NOT_POSITIVE) => {
                    "since there is no threshold".to_owned()
                }
                (Some(at), _) => format!("since {}", failure(at)),
                (None, _) => "one subject alone: give a second one to compare it with".to_owned(),
            };
        }
        let worst = found.first().filter(|_| status != Status::Passed).map(|f| f.message.clone());
        if let (3, Some(found)) = (step, &self.chain.effect.found) {
            let beyond = || format!("wholly beyond {}", self.threshold_amount());
            let (of, against) = (self.of(), self.against());
            let said = worst.unwrap_or_else(beyond);
            return format!("{of} - {against} is {}: {said}", self.ranged(found));
        }
        if let Some(worst) = worst {
            return worst;
        }
        match step {
            0 => self.chain.validity.found.as_ref().map(|f| self.valid(f)),
            1 => self.chain.power.found.as_ref().map(|f| self.enough(f)),
            _ => self.chain.test.found.as_ref().map(|f| self.tested(f)),
        }
        .unwrap_or_default()
    }

    /// Returns the numbers of a step, one line each.
    pub fn numbers(&self, step: usize) -> Vec<String> {
        let chain = self.chain;
        match step {
            0 => chain.validity.found.as_ref().map(|f| self.of_validity(f)),
            1 => chain.power.found.as_ref().map(|f| self.of_power(f)),
            2 => chain.test.found.as_ref().map(|f| self.of_test(f)),
            _ => chain.effect.found.as_ref().map(|f| self.of_effect(f)),
        }
        .unwrap_or_default()
    }

    /// Formats `-816.907 µs [-819.243 … -814.566]`.
    pub fn ranged(&self, found: &EffectFound) -> String {
        ranged_in(&self.column(found), found)
    }

    pub fn column(&self, found: &EffectFound) -> Column {
        self.chain.column(found.estimate, found.interval)
    }

    pub fn confidence(&self) -> String {
        number::chosen_percent(self.chain.confidence)
    }

    /// Returns `array is faster in 97 % of pairs`, or `slower` if it is faster in fewer than half
    /// of them. For a plain number, of which it is unknown which direction is better, the words are
    /// `smaller` and `larger`.
    pub fn superiority(&self, found: &EffectFound) -> String {
        let metric = &self.analysis.metrics[self.chain.metric];
        let plain = metric.undirected || metric.name == "value" && metric.unit == Unit::One;
        let (ahead, behind) = match metric.better {
            Better::Lower if wording(metric).is_time => ("faster", "slower"),
            Better::Higher if wording(metric).is_time => ("slower", "faster"),
            Better::Lower if plain => ("smaller", "larger"),
            Better::Higher if plain => ("larger", "smaller"),
            _ => ("better", "worse"),
        };
        let share = found.superiority();
        let (word, share) = if share < 0.5 { (behind, 1.0 - share) } else { (ahead, share) };
        let what = if self.chain.paired { "blocks" } else { "pairs" };
        let has_ties = found.wins.better + found.wins.worse < found.wins.of;
        let ties = if has_ties { " (ties half)" } else { "" };
        format!("{} is {word} in {} of {what}{ties}", self.of(), number::share(share, 1.0))
    }
}

/// Returns true if a step has a finding with this code.
fn has<T>(step: &Step<T>, code: &Code) -> bool {
    step.findings.iter().any(|finding| finding.is(code))
}

/// Formats an estimate with its interval, in the digits of this column.
fn ranged_in(column: &Column, found: &EffectFound) -> String {
    match found.interval {
        Some(Interval { lower, upper }) => format!(
            "{} [{} … {}]",
            column.with_unit(found.estimate),
            column.number(lower),
            column.number(upper)
        ),
        None => column.with_unit(found.estimate),
    }
}

fn in_unit(column: &Column) -> String {
    let suffix = column.suffix();
    if suffix.is_empty() { String::new() } else { format!(" ({})", suffix.trim()) }
}

pub(crate) fn test_name(name: TestName) -> &'static str {
    match name {
        TestName::MannWhitney => "Mann-Whitney U test",
        TestName::SignedRank => "Wilcoxon's signed-rank test",
    }
}

/// Formats a rank statistic, which is a whole number or a half.
fn statistic(value: f64) -> String {
    let decimals = usize::from(value.fract() != 0.0);
    if value.abs() < 1e15 { format!("{value:.decimals$}") } else { format!("{value:e}") }
}

/// Returns the word for a status, in capital letters.
pub(crate) fn shown(status: Status) -> &'static str {
    match status {
        Status::Passed => "PASSED",
        Status::Warning => "WARNING",
        Status::Failed => "FAILED",
        Status::NotReached => "NOT REACHED",
    }
}

/// Explains what the failure of a step means.
pub(crate) fn failure(step: usize) -> &'static str {
    let meanings = ["the samples are not valid", "there are too few samples", "the test failed"];
    meanings.get(step).copied().unwrap_or("a step before failed")
}

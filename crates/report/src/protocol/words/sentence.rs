//! The sentence at the end of a protocol: what can be published, how certain it is, and the
//! circumstances of the measurement.

use super::numbers::power_told;
use super::{SPREAD_DIGITS, Teller, ranged_in, statistic, test_name};
use crate::label::{article, wording};
use crate::number::{self, Column};
use assay_analysis::protocol::{EffectFound, PowerFound, Status, TestName};
use assay_data::Severity;
use assay_data::code;
use assay_data::list;

impl Teller<'_> {
    /// Returns the words that introduce the sentence.
    pub fn lead(&self) -> String {
        match (self.chain.outcome(), self.chain.against) {
            (Status::Failed | Status::NotReached, _) => "Not to be published as a difference:",
            (_, None) => "Nothing to publish yet:",
            (Status::Warning, _) => "To be published only with its warnings:",
            (Status::Passed, _) => "You may publish:",
        }
        .to_owned()
    }

    /// Returns the statement that can be published, or the reason why nothing can.
    pub fn sentence(&self) -> String {
        if self.chain.against.is_none() && self.chain.stopped_at().is_none() {
            return format!(
                "{} has nothing to be compared with, so there is no test and no effect. Compare it: assay compare REFERENCE FILE --rigorous",
                self.of()
            );
        }
        let Some(effect) = &self.chain.effect.found else {
            let stopped = self.chain.stopped_at().map(|at| self.line(at)).unwrap_or_default();
            return format!("{stopped}.");
        };
        let mut parts = vec![self.claim(effect)];
        parts.extend(self.chain.power.found.as_ref().map(|power| self.power_told(power)));
        parts.push(format!("{}.", self.superiority(effect)));
        let found = self.chain.validity.findings.iter();
        for finding in found.filter(|f| f.severity == Severity::Warning) {
            let warning = format!("Warning: {}.", finding.message);
            // Give a warning that applies to both sides only once.
            if !parts.contains(&warning) {
                parts.push(warning);
            }
        }
        parts.push(self.environment());
        if self.chain.paired {
            parts.push("Both were measured in blocks, in a new random order in each.".to_owned());
        } else {
            parts.push("The samples were recorded in separate runs: the statement holds for these samples; it does not prove that the programs differ, because drift between the runs is not part of the interval.".to_owned());
        }
        parts.join(" ")
    }

    /// Returns true if a finding says that the effect is below the threshold (`Serious`), or that
    /// it may be (`Warning`).
    fn reaches_below(&self, severity: Severity) -> bool {
        let mut findings = self.chain.effect.findings.iter();
        findings.any(|f| f.is(code::BELOW_THRESHOLD) && f.severity == severity)
    }

    fn claim(&self, effect: &EffectFound) -> String {
        let how = self.how(effect);
        let rejects = self.chain.test.found.as_ref().is_some_and(|test| test.rejects);
        let below = self.reaches_below(Severity::Serious);
        let (of, against) = (self.of(), self.against());
        if below {
            return format!(
                "any difference between {of} and {against} is below the {} that matters ({how}).",
                self.threshold_amount()
            );
        }
        if !rejects {
            return format!(
                "no difference between {of} and {against} was shown, which does not mean that there is none ({how})."
            );
        }
        let straddles = self.reaches_below(Severity::Warning);
        let possibly = if straddles {
            format!(", possibly less than the {} that matters", self.threshold_amount())
        } else {
            String::new()
        };
        format!("{}{possibly} ({how}).", self.difference(effect))
    }

    /// Formats `array takes 816.907 µs less time than map`.
    fn difference(&self, effect: &EffectFound) -> String {
        let w = wording(&self.analysis.metrics[self.chain.metric]);
        let (of, against) = (self.of(), self.against());
        let size = self.column(effect).with_unit(effect.estimate.abs());
        let direction = if effect.estimate < 0.0 { w.less } else { w.more };
        if w.noun_first {
            let a = article(&w.whole);
            format!("{of} has {a} {} {size} {direction} than {against}", w.whole)
        } else {
            format!("{of} {} {size} {direction}{} than {against}", w.verb, w.noun)
        }
    }

    fn how(&self, effect: &EffectFound) -> String {
        let estimator =
            if self.chain.paired { "signed-rank pseudo-median" } else { "Hodges-Lehmann estimate" };
        let mut how = format!(
            "{} - {}: {estimator} {}, {} interval",
            self.of(),
            self.against(),
            ranged_in(&self.column(effect), effect),
            self.confidence()
        );
        if let Some(test) = self.chain.test.found.as_ref().filter(|test| !test.log10_p.is_nan()) {
            let letter = if test.name == TestName::MannWhitney { "W" } else { "V" };
            how += &format!(
                "; {}, {letter} = {}, {}, significance {}",
                test_name(test.name),
                statistic(test.statistic),
                number::p_value(test.log10_p_decisive),
                number::chosen_percent(self.chain.level)
            );
        }
        if let Some(validity) = &self.chain.validity.found {
            how += &match &validity.differences {
                Some(d) => format!(", {} blocks", number::count(d.n as f64)),
                None => {
                    let counts: Vec<String> = validity
                        .series
                        .iter()
                        .map(|s| {
                            format!("{} of {}", number::count(s.n as f64), self.name(s.subject))
                        })
                        .collect();
                    format!(", n = {}", list::all(&counts))
                }
            };
        }
        how
    }

    fn power_told(&self, power: &PowerFound) -> String {
        let spreads: Vec<String> = power
            .spreads
            .iter()
            .map(|spread| {
                let column = Column::significant(self.unit(), &[spread.sd], SPREAD_DIGITS);
                let interval = spread.normal.map_or_else(String::new, |i| {
                    format!(" [{} … {}]", column.number(i.lower), column.number(i.upper))
                });
                let whose =
                    if self.chain.paired { "the differences" } else { self.name(spread.subject) };
                format!("{}{interval} ({whose})", column.with_unit(spread.sd))
            })
            .collect();
        let chance = power.power.map_or_else(String::new, |p| {
            format!("The power to find {} was {}, with", self.threshold_amount(), power_told(p))
        });
        let intervals = if power.spreads.iter().any(|spread| spread.normal.is_some()) {
            format!(" (normal bootstrap intervals, {})", number::chosen_percent(power.confidence))
        } else {
            String::new()
        };
        let chance = if chance.is_empty() { "There were".to_owned() } else { chance };
        format!("{chance} standard deviations of {}{intervals}.", list::all(&spreads))
    }

    fn environment(&self) -> String {
        let environment = &self.analysis.environment;
        let named = [("cpu_model", ""), ("kernel", "kernel "), ("governor", "governor ")];
        let facts: Vec<String> = named
            .into_iter()
            .filter_map(|(fact, before)| Some(format!("{before}{}", environment.text(fact)?)))
            .collect();
        if !facts.is_empty() {
            return format!("Measured on {}.", facts.join(", "));
        }
        if environment.facts.keys().any(|name| name.starts_with("file.")) {
            return "The environment is described in the comments of the file.".to_owned();
        }
        "The environment is not recorded.".to_owned()
    }
}

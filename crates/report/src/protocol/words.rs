//! The words of the protocol: what each step comes to, the numbers it rests on, and the sentence at its end.

use super::failure;
use crate::label::{article, label, wording};
use crate::number::{self, Column};
use crate::words::{listed, quoted};
use assay_analysis::protocol::{
    CauseKind, EffectFound, PowerFound, Protocol, QuantileDifference, Reason, SeriesFound, Spread,
    Status, TestFound, TestName, Validity, relative_threshold,
};
use assay_analysis::{Analysis, Interval};
use assay_data::Unit;

/// Digits of estimates and their intervals, as R prints them; of standard deviations.
const DIGITS: i32 = 6;
const SPREAD_DIGITS: i32 = 4;
/// A p-value below this is told by its logarithm.
const SMALLEST_LOG10: f64 = -300.0;
/// The quantiles whose differences are shown.
const SHOWN_QUANTILES: [f64; 4] = [0.1, 0.5, 0.9, 0.99];

/// The sentence at the end of a chain: what one may publish, or why nothing.
pub fn sentence(analysis: &Analysis, chain: &Protocol) -> String {
    Teller::new(analysis, chain, &analysis.names()).sentence()
}

/// Tells of one chain.
pub(super) struct Teller<'a> {
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

    fn unit(&self) -> &Unit {
        &self.analysis.metrics[self.chain.metric].unit
    }

    /// An amount by itself, three significant digits or as it was chosen.
    pub fn amount(&self, value: f64) -> String {
        Column::significant(self.unit(), &[value], SPREAD_DIGITS).with_unit(value)
    }

    pub fn threshold(&self) -> String {
        let threshold = self.chain.threshold;
        if threshold.is_nan() {
            return "unknown (a share of 0)".to_owned();
        }
        match relative_threshold(self.analysis) {
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

    /// The threshold without where it comes from.
    pub fn threshold_amount(&self) -> String {
        match relative_threshold(self.analysis) {
            Some(_) => self.amount(self.chain.threshold),
            None => number::chosen(self.chain.threshold, self.unit()),
        }
    }

    pub fn things(&self) -> &'static str {
        if self.chain.paired { "blocks" } else { "values" }
    }

    pub fn heading(&self) -> String {
        let metric = match label(&self.analysis.metrics[self.chain.metric]) {
            // A name that says nothing.
            name if name == "value" => String::new(),
            name => format!("{name}, "),
        };
        let Some(validity) = &self.chain.validity.found else { return String::new() };
        let counts: Vec<String> =
            validity.series.iter().map(|s| number::count(s.n as f64)).collect();
        let Some(_) = self.chain.against else {
            return format!("protocol: {}, {metric}{} values", self.of(), counts.join(""));
        };
        let taken = match &validity.differences {
            Some(d) => format!("{} blocks", number::count(d.n as f64)),
            None => format!("{} values recorded apart", listed(&counts)),
        };
        format!(
            "protocol: {of} - {against} ({against} is the reference), {metric}{taken}",
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
        let often = if chain.looked_often { " · of one look among many" } else { "" };
        format!(
            "threshold {} · significance {} · power {} · confidence {}{shared}{often}",
            self.threshold(),
            number::chosen_percent(chain.alpha),
            number::chosen_percent(chain.power_wanted),
            number::chosen_percent(chain.confidence)
        )
    }

    /// What a step comes to, on one line.
    pub fn line(&self, step: usize) -> String {
        let (_, status, reasons) = self.chain.steps()[step];
        if status == Status::NotReached {
            return match (self.chain.stopped_at(), self.chain.against) {
                (Some(at), _) => format!("since {}", failure(at)),
                (None, _) => "one subject alone: give a second one to compare it with".to_owned(),
            };
        }
        let worst = reasons.iter().find(|r| r.status() == status && status != Status::Passed);
        let worst = worst.map(|worst| self.reason(worst).0);
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

    /// Whether the line of its step says this reason.
    pub fn is_first(&self, reason: &Reason) -> bool {
        let worst = |(_, status, reasons): (&str, Status, &'a [Reason])| {
            reasons.iter().find(|r| r.status() == status)
        };
        self.chain.steps().into_iter().filter_map(worst).any(|first| std::ptr::eq(first, reason))
    }

    /// The numbers of a step, a line each.
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

    fn valid(&self, found: &Validity) -> String {
        let judged = found.differences.as_ref().map_or(&found.series[..], std::slice::from_ref);
        let least = judged.iter().map(|s| s.effective / s.n as f64).fold(1.0, f64::min);
        if self.chain.paired {
            return "the difference did not change during the run; the order within the blocks was drawn".to_owned();
        }
        let perhaps = |reason: &Reason| matches!(reason, Reason::PerhapsDependent { .. });
        if self.chain.validity.reasons.iter().any(perhaps) {
            return "successive values hang together no more than chance allows".to_owned();
        }
        format!(
            "successive values are independent as far as it matters: worth {} of their number",
            if least < 1.0 {
                format!("at least {}", number::share(least, 1.0))
            } else {
                "all".to_owned()
            }
        )
    }

    fn of_validity(&self, found: &Validity) -> Vec<String> {
        let mut lines: Vec<String> =
            found.series.iter().map(|s| self.of_series(self.name(s.subject), s)).collect();
        lines.extend(found.differences.as_ref().map(|d| self.of_series("differences", d)));
        if !found.causes.is_empty() {
            let causes = found.causes.iter().map(|cause| {
                let what = match cause.kind {
                    CauseKind::Frequency => "the CPU's frequency was left to scale",
                    CauseKind::Neighbours => "other work on the machine",
                    CauseKind::Drift => {
                        return "warming up or a leak (the values drift)".to_owned();
                    }
                };
                match &cause.evidence {
                    Some(evidence) => format!("{what} (the recording says: \"{evidence}\")"),
                    None => format!("{what} (the recording does not say)"),
                }
            });
            lines.push(format!("likely causes: {}", causes.collect::<Vec<_>>().join("; ")));
        }
        lines
    }

    fn of_series(&self, name: &str, s: &SeriesFound) -> String {
        let drift = match s.drift {
            Some(drift) => {
                format!("drift {}{}", if drift < 0.0 { "-" } else { "+" }, self.amount(drift.abs()))
            }
            None => "no drift".to_owned(),
        };
        let rejected: Vec<String> =
            s.laws.iter().filter(|law| law.is_rejected()).map(|law| law.law.to_owned()).collect();
        let laws = match rejected.as_slice() {
            [] => "no law rejected".to_owned(),
            _ => format!("not {}", rejected.join(", not ")),
        };
        format!(
            "{name}: n {}, worth {} (ESS/n {}) · max |acf| {} over {} lags (a single lag of chance: {}) · {drift} · {laws} (skewness {}, kurtosis {}; no law is needed)",
            number::count(s.n as f64),
            number::count(s.effective),
            number::fixed(s.effective / s.n as f64, 3),
            number::fixed(s.acf_max_r_default, 4),
            s.lags_r_default,
            number::fixed(s.acf_bound, 4),
            number::fixed(s.moments.0, 2),
            number::fixed(s.moments.1, 2),
        )
    }

    fn enough(&self, found: &PowerFound) -> String {
        let things = self.things();
        match found.needed {
            Some(needed) => format!(
                "{} {things}{} are enough for {}: {} are needed",
                number::count(found.have),
                self.of_each(),
                self.threshold_amount(),
                number::count(needed)
            ),
            None => format!("{} {things}: nothing wavers", number::count(found.have)),
        }
    }

    pub fn of_each(&self) -> &'static str {
        if self.chain.paired { "" } else { " of each" }
    }

    fn of_power(&self, found: &PowerFound) -> Vec<String> {
        let mut lines: Vec<String> =
            found.spreads.iter().map(|s| self.of_spread(s, found)).collect();
        if let (Some(n), Some(planned)) = (found.n_t, found.planned) {
            let power = found.power.map_or_else(String::new, |power| {
                format!("; these have a power of {}", number::share(power, 1.0))
            });
            let visible = found.visible.map_or_else(String::new, |visible| {
                format!(" and would see {}", self.amount(visible))
            });
            lines.push(format!(
                "planned with sd {}: Student's t needs {}, a rank test 15 % more, rounded up {}{power}{visible}",
                self.amount(found.sd),
                number::count(n.ceil()),
                number::count(planned)
            ));
        }
        lines
    }

    fn of_spread(&self, spread: &Spread, found: &PowerFound) -> String {
        let column = Column::significant(self.unit(), &[spread.sd], SPREAD_DIGITS);
        let name = if self.chain.paired { "the differences" } else { self.name(spread.subject) };
        let intervals =
            [("normal", spread.normal), ("basic", spread.basic), ("percentile", spread.percentile)];
        let intervals: Vec<String> = intervals
            .into_iter()
            .filter_map(|(kind, interval)| {
                let Interval { lower, upper } = interval?;
                Some(format!("{kind} [{} … {}]", column.number(lower), column.number(upper)))
            })
            .collect();
        let line = format!("standard deviation of {name} {}", column.with_unit(spread.sd));
        if intervals.is_empty() {
            return line;
        }
        format!(
            "{line}: {} ({}, {} resamples)",
            intervals.join(" · "),
            number::chosen_percent(found.confidence),
            number::count(spread.resamples as f64)
        )
    }

    fn tested(&self, found: &TestFound) -> String {
        format!(
            "{}: {} differ, {} at a significance of {}",
            test_name(found.name),
            listed(&[self.against().to_owned(), self.of().to_owned()]),
            p_value(found.log10_p_decisive),
            number::chosen_percent(self.chain.level)
        )
    }

    fn of_test(&self, found: &TestFound) -> Vec<String> {
        if found.log10_p.is_nan() {
            return Vec::new();
        }
        let (letter, what) = match found.name {
            TestName::MannWhitney => {
                ("W", format!("pairs in which {} has the larger value, ties half", self.of()))
            }
            TestName::SignedRank => {
                ("V", format!("ranks of the blocks in which {} has the larger value", self.of()))
            }
        };
        let law =
            if found.exact { "exact law" } else { "normal law, corrected for ties and continuity" };
        vec![format!("{letter} = {} ({what}), {law}", statistic(found.statistic))]
    }

    /// `-816.907 µs [-819.243 … -814.566]`
    pub fn ranged(&self, found: &EffectFound) -> String {
        let column = self.column(found);
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

    pub fn column(&self, found: &EffectFound) -> Column {
        let ends = found.interval.map_or([found.estimate; 2], |i| [i.lower, i.upper]);
        let all = [found.estimate, ends[0], ends[1]];
        // No digit beyond those that the values have themselves.
        let step = self.chain.validity.found.as_ref().map_or(0.0, |v| v.clock_step);
        Column::significant(self.unit(), &all, DIGITS).no_finer_than(step)
    }

    pub fn confidence(&self) -> String {
        number::chosen_percent(self.chain.confidence)
    }

    fn of_effect(&self, found: &EffectFound) -> Vec<String> {
        let estimator = if self.chain.paired {
            "pseudo-median of the blocks' differences"
        } else {
            "Hodges-Lehmann estimate"
        };
        let (confidence, superiority) = (self.confidence(), self.superiority(found));
        let mut lines = vec![format!("{estimator}, {confidence} interval · {superiority}")];
        let known =
            |q: &&QuantileDifference| SHOWN_QUANTILES.contains(&q.share) && q.interval.is_some();
        let shown: Vec<&QuantileDifference> = found.quantiles.iter().filter(known).collect();
        if shown.len() > 1 {
            let shifts: Vec<f64> = shown.iter().map(|q| q.difference).collect();
            let column = Column::significant(self.unit(), &shifts, SPREAD_DIGITS);
            let each: Vec<String> = shown
                .iter()
                .map(|q| {
                    format!(
                        "p{} {}",
                        number::fixed(q.share * 100.0, 0),
                        column.number(q.difference)
                    )
                })
                .collect();
            lines.push(format!(
                "differences of quantiles{}: {}",
                in_unit(&column),
                each.join(" · ")
            ));
        }
        lines
    }

    /// `array is better in 97 % of pairs`
    pub fn superiority(&self, found: &EffectFound) -> String {
        let metric = &self.analysis.metrics[self.chain.metric];
        let better = if wording(metric).is_time { "faster" } else { "better" };
        let what = if self.chain.paired { "blocks" } else { "pairs" };
        format!(
            "{} is {better} in {} of {what}",
            self.of(),
            number::share(found.superiority(), 1.0)
        )
    }

    /// How the sentence is introduced.
    pub fn lead(&self) -> String {
        match (self.chain.outcome(), self.chain.against) {
            (Status::Failed | Status::NotReached, _) => "Not to be published as a difference:",
            (_, None) => "Nothing to publish yet:",
            (Status::Warning, _) => "To be published only with its warnings:",
            (Status::Passed, _) => "One may publish:",
        }
        .to_owned()
    }

    /// What one may publish, or why nothing.
    pub fn sentence(&self) -> String {
        if self.chain.against.is_none() && self.chain.stopped_at().is_none() {
            return format!(
                "{} stands alone; a second subject is missing, and the test and the effect with it. Compare it: assay compare REFERENCE FILE --protocol",
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
        let warned = self.chain.validity.reasons.iter().filter(|r| r.status() == Status::Warning);
        parts.extend(warned.map(|reason| format!("Warning: {}.", self.reason(reason).0)));
        parts.push(self.environment());
        if self.chain.paired {
            parts.push(
                "Both were measured in blocks, in an order that was drawn anew in each.".to_owned(),
            );
        } else {
            parts.push("The samples were recorded apart: the statement is about these samples, and the programs are not proven different, since drift between the recordings is not in it.".to_owned());
        }
        parts.join(" ")
    }

    fn claim(&self, effect: &EffectFound) -> String {
        let how = self.how(effect);
        let rejects = self.chain.test.found.as_ref().is_some_and(|test| test.rejects);
        let below = self.chain.effect.reasons.contains(&Reason::BelowThreshold);
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
        let straddles = self.chain.effect.reasons.contains(&Reason::Straddles);
        let possibly = if straddles {
            format!(", possibly less than the {} that matters", self.threshold_amount())
        } else {
            String::new()
        };
        format!("{}{possibly} ({how}).", self.difference(effect))
    }

    /// `array takes 816.907 µs less time than map`
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
            self.ranged(effect),
            self.confidence()
        );
        if let Some(test) = self.chain.test.found.as_ref().filter(|test| !test.log10_p.is_nan()) {
            let letter = if test.name == TestName::MannWhitney { "W" } else { "V" };
            how += &format!(
                "; {}, {letter} = {}, {}, significance {}",
                test_name(test.name),
                statistic(test.statistic),
                p_value(test.log10_p_decisive),
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
                    format!(", n = {}", listed(&counts))
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
            format!(
                "The power to find {} was {}, with",
                self.threshold_amount(),
                number::share(p, 1.0)
            )
        });
        let chance = if chance.is_empty() { "There were".to_owned() } else { chance };
        format!(
            "{chance} standard deviations of {} (normal bootstrap intervals, {}).",
            listed(&spreads),
            number::chosen_percent(power.confidence)
        )
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
            return "The environment is told in the comments of the file.".to_owned();
        }
        "The environment is not recorded.".to_owned()
    }
}

fn in_unit(column: &Column) -> String {
    let suffix = column.suffix();
    if suffix.is_empty() { String::new() } else { format!(" ({})", suffix.trim()) }
}

pub(super) fn test_name(name: TestName) -> &'static str {
    match name {
        TestName::MannWhitney => "Mann-Whitney U test",
        TestName::SignedRank => "Wilcoxon's signed-rank test",
    }
}

/// A rank statistic: whole, or with its half.
fn statistic(value: f64) -> String {
    let decimals = usize::from(value.fract() != 0.0);
    if value.abs() < 1e15 { format!("{value:.decimals$}") } else { format!("{value:e}") }
}

/// `p = 0.0312`, `p = 2.1e-16`, `p < 1e-300 (log10 p = -11110.2)`.
pub(super) fn p_value(log10_p: f64) -> String {
    let p = 10f64.powf(log10_p);
    match log10_p {
        l if l < SMALLEST_LOG10 => format!("p < 1e-300 (log10 p = {})", number::fixed(l, 1)),
        l if l < -4.0 => format!("p = {p:.1e}"),
        _ => format!("p = {}", number::fixed(p, number::decimals_for(p, 3).min(4))),
    }
}

//! A comparison in words: one sentence that a newcomer understands and an expert finds exact, and
//! the lines that follow it.
//!
//! Below a factor of two the wording is "takes 2.6 % less time", above it "4.0 × as fast as"; it is
//! never a bare "75 % faster". The interval in the sentence is the one that decided; the confidence
//! is the plan's, and applies to the whole run. Nothing is decided here: the verdict comes from the
//! comparison.

use crate::charts::capital;
use crate::findings;
use crate::goals;
use crate::label::{Wording, article, label, wording};
use crate::number::{self, Column};
use assay_analysis::dependence::Dependence;
pub use assay_analysis::number::counted;
pub(crate) use assay_analysis::protocol::quoted;
use assay_analysis::{Analysis, Basis, Comparison, Interval, NoInterval, Scale, Verdict, levels};
use assay_data::code::{Topic, topic};
use assay_data::{Better, Design, Finding, Metric, StopReason, StopRule, Unit};

mod agreement;
mod failing;
mod outlook;
mod short;
mod tail;

pub(crate) use short::{in_plain_words, verdict_word};

/// A sentence in two parts, so that a screen can show the second part less prominently.
#[derive(Clone, Debug, PartialEq)]
pub struct Sentence {
    /// The statement.
    pub claim: String,
    /// Certainty of the statement, without parentheses; empty if there is none.
    pub sureness: String,
}

impl Sentence {
    /// Returns the whole sentence on one line.
    pub fn plain(&self) -> String {
        if self.sureness.is_empty() {
            self.claim.clone()
        } else {
            format!("{} ({})", self.claim, self.sureness)
        }
    }
}

/// Returns the sentence of a comparison, with `of` and `against` as the names of the subjects.
pub fn sentence(analysis: &Analysis, comparison: &Comparison, of: &str, against: &str) -> Sentence {
    Teller::new(analysis, comparison, of, against).sentence()
}

/// The size of a difference as the sentence states it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reported {
    /// The size, on the decision's scale.
    pub size: f64,
    /// How the size is to be read.
    pub bound: Bound,
}

/// How a reported size is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The size is the estimate itself.
    None,
    /// The difference is at least this large.
    AtLeast,
    /// The difference is at most this large.
    AtMost,
}

/// Returns the size stated in the sentence of a comparison; `None` if the direction is unknown.
pub(crate) fn reported(analysis: &Analysis, comparison: &Comparison) -> Option<Reported> {
    let teller = Teller::new(analysis, comparison, "", "");
    comparison.decision.verdict.is_directional().then(|| teller.reported())
}

/// Returns additions to the sentence, of one or two sentences each: a tail that differs from the
/// center, the observation so far if there is no verdict, the time that a verdict would take, and a
/// busy machine that may hide part of the difference.
pub fn details(
    analysis: &Analysis,
    comparison: &Comparison,
    of: &str,
    against: &str,
) -> Vec<String> {
    let teller = Teller::new(analysis, comparison, of, against);
    if let Some(failing) = &comparison.failing {
        // A stopped server has no latencies.
        let alone =
            || vec![format!("by {} alone: {}", teller.words.whole, teller.of_values().plain())];
        return if failing.stopped.is_some() { Vec::new() } else { alone() };
    }
    teller.tail().into_iter().chain(teller.details()).collect()
}

/// Returns true if [`details`] include advice because the machine was busy.
pub(crate) fn states_load(analysis: &Analysis) -> bool {
    let stated =
        |c: &Comparison| c.failing.is_none() && Teller::new(analysis, c, "", "").states_load();
    matches!(analysis.comparisons.as_slice(), [only] if stated(only))
}

/// Returns the sentence about a control: the difference between a command and itself, which is the
/// noise floor of the run.
pub(crate) fn control(analysis: &Analysis, c: &Comparison, of: &str, against: &str) -> String {
    let teller = Teller::new(analysis, c, of, against);
    match c.decision.interval {
        Some(interval) => format!("the floor of this run: {}", teller.ranged(interval)),
        None => format!("too few blocks to tell how far {} is from itself", teller.against),
    }
}

/// Returns a known difference in a few words, for a list: `12 % less (34.1 → 30.0 MiB)`.
pub fn brief(analysis: &Analysis, comparison: &Comparison) -> String {
    Teller::new(analysis, comparison, "", "").brief()
}

/// Returns true for findings that the sentences and the note on recordings already express.
pub(crate) fn has_said(code: &str) -> bool {
    matches!(topic(code), Topic::Verdict | Topic::Design)
}

/// Reason for a missing verdict if a run was resumed with a different setup.
pub(crate) const MIXED: &str =
    "the run was resumed with a different setup, so its blocks do not form one experiment";

/// Returns the caveats about sides that were not measured in blocks, each with its advice.
pub(crate) fn caveats(analysis: &Analysis) -> impl Iterator<Item = (String, &Finding)> {
    let is_caveat = |finding: &&Finding| topic(&finding.code) == Topic::Design;
    let caveats = analysis.findings.iter().filter(is_caveat);
    caveats.map(|finding| (capital(&finding.message), finding))
}

/// Returns the caveats about sides that were not measured in blocks, in sentences.
pub fn caveats_in_sentences(analysis: &Analysis) -> Option<String> {
    let sentence = |(caveat, finding)| match findings::hint(finding) {
        Some(hint) => format!("{caveat}. {}", capital(&hint)),
        None => caveat,
    };
    let sentences: Vec<String> = caveats(analysis).map(sentence).collect();
    (!sentences.is_empty()).then(|| sentences.join(". "))
}

impl Bound {
    fn words(self) -> &'static str {
        match self {
            Self::None => "",
            Self::AtLeast => "at least ",
            Self::AtMost => "at most ",
        }
    }
}

struct Teller<'a> {
    analysis: &'a Analysis,
    c: &'a Comparison,
    metric: &'a Metric,
    words: Wording,
    /// Goals of the search that found the values of the metric, such as ` with p99 below 50ms`;
    /// empty for other metrics.
    goals: String,
    form: Form,
    of: String,
    against: String,
}

/// The form in which the size of a difference is stated.
enum Form {
    /// A percentage less or more than the reference.
    Percent,
    /// A multiple of the reference.
    Multiple,
    /// An amount in the metric's unit.
    Amount(Column),
}

impl<'a> Teller<'a> {
    fn new(analysis: &'a Analysis, c: &'a Comparison, of: &str, against: &str) -> Self {
        let metric = &analysis.metrics[c.metric];
        let (of, against) = (quoted(of), quoted(against));
        let goals = goals::of_metric(analysis, metric)
            .map_or_else(String::new, |own| format!(" with {own}"));
        let mut words = wording(metric);
        words.noun += &goals;
        Self { analysis, c, metric, words, goals, form: form(c, &metric.unit), of, against }
    }

    fn sentence(&self) -> Sentence {
        let mut sentence = match self.by_failures() {
            Some(sentence) => sentence,
            None => self.of_values(),
        };
        if self.analysis.has_different_output(self.c) {
            sentence.claim += ", with different output";
        }
        sentence
    }

    /// Returns the sentence that compares the values of the metric itself.
    fn of_values(&self) -> Sentence {
        let Some(interval) = self.c.decision.interval else {
            return Sentence { claim: self.without_interval(), sureness: String::new() };
        };
        let (claim, sureness) = match self.c.decision.verdict {
            Verdict::Faster | Verdict::Slower => self.directional(interval),
            Verdict::Equivalent => {
                let ranged = self.ranged(interval);
                let claim = format!(
                    "no difference that matters: {ranged}{}{}",
                    self.medians_beside(interval),
                    self.other_means()
                );
                let threshold = match self.c.decision.threshold.is_nan() {
                    true => "a share of 0 is no threshold".to_owned(),
                    false => format!("threshold {}", self.threshold()),
                };
                (claim, format!("{}; {threshold}", self.sure()))
            }
            Verdict::Inconclusive => {
                let ranged = self.ranged(interval);
                let sureness = format!("{}, {}", self.sure(), self.amount_of_data());
                let same = interval.lower == 0.0 && interval.upper == 0.0;
                if same && self.c.decision.threshold.is_nan() {
                    // The condition belongs to the observation, not to the advice.
                    let claim = format!(
                        "not known yet: {ranged}{}, but a share of 0 cannot be a threshold: give an amount (--threshold)",
                        self.condition()
                    );
                    return Sentence { claim, sureness };
                }
                let bound = self.bound(interval);
                // The interval consists of a clock step rather than a difference.
                if self.c.decision.threshold.is_nan() && !self.coarse(interval).is_empty() {
                    let claim = format!(
                        "not known yet: {ranged}, so {bound}{}, but a share of 0 cannot be a threshold: give an amount (--threshold)",
                        self.condition()
                    );
                    return Sentence { claim, sureness };
                }
                let medians = self.medians_beside(interval);
                (format!("not known yet: {ranged}, so {bound}{medians}"), sureness)
            }
        };
        let untested = match self.c.dependence {
            _ if !self.c.untested || self.c.design == Design::Summary => "",
            Dependence::Untested => "; dependence not tested",
            _ => "; dependence of one side not tested",
        };
        Sentence { claim: claim + self.condition(), sureness: sureness + untested }
    }

    /// Returns the condition under which the claim holds.
    fn condition(&self) -> &'static str {
        match self.c.design {
            Design::Blocks => "",
            Design::Summary => ", by the recorded means, if nothing else changed",
            Design::Unpaired => ", if nothing else changed between the recordings",
        }
    }

    fn directional(&self, interval: Interval) -> (String, String) {
        let decision = &self.c.decision;
        let Reported { size, bound } = self.reported();
        let mut claim = self.single(size, bound.words(), interval);
        let mut sureness = format!("{}: {}", self.sure(), self.range_or_multiples(interval));
        if decision.may_not_matter() {
            claim += &format!(", possibly less than the {} that matters", self.threshold());
        } else if decision.possibly_below_threshold {
            sureness += "; no threshold, since a share of 0 is 0";
        }
        if let Some(medians) = self.other_medians(size, bound) {
            claim = format!("{} {claim}; the medians {medians}", formed(self.c));
        }
        claim += &self.other_means();
        if let Some(wins) = self.wins() {
            sureness += &format!("; {wins}");
        }
        (claim, sureness)
    }

    /// Returns the size as given in the sentence.
    fn reported(&self) -> Reported {
        let decision = &self.c.decision;
        let bound = self.limit();
        // A size that is already a limit is stated as it is.
        match decision.least().filter(|_| bound == Bound::None && !decision.size_is_known()) {
            Some(size) => Reported { size, bound: Bound::AtLeast },
            None => Reported { size: decision.estimate, bound },
        }
    }

    /// Returns the estimate as a statement: `new takes 2.6 % less time than old`.
    fn single(&self, estimate: f64, at: &str, interval: Interval) -> String {
        let Self { words: w, of, against, goals, .. } = self;
        if let Form::Multiple = self.form {
            let inverted = w.is_time && estimate < 0.0;
            let sign = if inverted { -1.0 } else { 1.0 };
            let [times, lower, upper] =
                [estimate, interval.lower, interval.upper].map(|v| (sign * v).exp());
            let times = format!("{at}{} ×", beside_ends(times, lower, upper));
            return match (w.is_time, inverted) {
                (true, true) => format!("{of} is {times} as fast as {against}"),
                (true, false) => format!("{of} takes {times} as long as {against}"),
                (false, _) => {
                    format!("{of} {} {times} the {} of {against}{goals}", w.verb, w.whole)
                }
            };
        }
        let shown = match &self.form {
            Form::Amount(column) => column.number(estimate.abs()),
            _ => {
                let [estimate, lower, upper] =
                    [estimate, interval.lower, interval.upper].map(|v| v.exp_m1().abs() * 100.0);
                beside_ends(estimate, lower, upper)
            }
        };
        let size = format!("{shown}{}", self.suffix());
        let direction = self.direction(estimate);
        if !w.noun_first {
            format!("{of} {} {at}{size} {direction}{} than {against}", w.verb, w.noun)
        } else if let Form::Percent = self.form {
            let a = if at.is_empty() { article(&size) } else { "an" };
            format!("{of} has {a} {at}{size} {direction} {} than {against}", w.whole)
        } else {
            let a = article(&w.whole);
            format!("{of} has {a} {} {at}{size} {direction} than {against}", w.whole)
        }
    }

    /// Returns the interval as a statement:
    /// `new takes between 0.4 % less and 0.7 % more time than old`.
    fn ranged(&self, interval: Interval) -> String {
        let Self { words: w, of, against, goals, .. } = self;
        if interval.lower == 0.0 && interval.upper == 0.0 {
            let whole = &w.whole;
            return format!("{of} {} the same {whole} as {against}{goals}", w.verb);
        }
        let range = self.range_or_multiples(interval);
        if let Form::Multiple = self.form {
            return format!("{of} {} {range} the {} of {against}{goals}", w.verb, w.whole);
        }
        if w.noun_first {
            let a = article(&w.whole);
            return format!("{of} has {a} {} {range} than {against}", w.whole);
        }
        format!("{of} {} {range}{} than {against}", w.verb, w.noun)
    }

    /// Returns the interval alone: `between 2.0 and 3.1 % less`, `between 3.8 and 4.2 ×`.
    fn range_or_multiples(&self, Interval { lower, upper }: Interval) -> String {
        if let Form::Multiple = self.form {
            let faster =
                self.words.is_time && self.c.decision.verdict.is_directional() && upper < 0.0;
            let (least, most) = if faster { (-upper, -lower) } else { (lower, upper) };
            let ends = number::side_by_side(&[least.exp(), most.exp()]);
            if ends[0] == ends[1] {
                return format!("{} ×", ends[0]);
            }
            return format!("between {} and {} ×", ends[0], ends[1]);
        }
        // An end that differs from zero only by rounding is zero.
        let farther = lower.abs().max(upper.abs());
        let whole = |end: f64| if end.abs() < 1e-6 * farther { 0.0 } else { end };
        let (lower, upper) = (whole(lower), whole(upper));
        let ends = self.numbers(&[lower, upper]);
        let (low, high, suffix) = (&ends[0], &ends[1], self.suffix());
        let (less, more) = (self.words.less, self.words.more);
        if lower < 0.0 && upper > 0.0 {
            return format!("between {low}{suffix} {less} and {high}{suffix} {more}");
        }
        let (near, far, direction) =
            if lower < 0.0 { (high, low, less) } else { (low, high, more) };
        let touches_zero = lower == 0.0 || upper == 0.0;
        if near == far {
            format!("{near}{suffix} {direction}")
        } else if touches_zero {
            format!("up to {far}{suffix} {direction}")
        } else {
            format!("between {near} and {far}{suffix} {direction}")
        }
    }

    /// Returns the bounds within which the difference is known to lie, if there is no verdict.
    fn bound(&self, Interval { lower, upper }: Interval) -> String {
        let d = &self.c.decision;
        let coarse = self.coarse(Interval { lower, upper });
        let farther = if -lower > upper { lower } else { upper };
        if let Form::Multiple = self.form {
            return format!(
                "any difference is below a factor of {}{coarse}",
                number::multiple(farther.abs().exp()).trim_end_matches(" ×")
            );
        }
        let ends = self.numbers(&[lower, upper]);
        // As a share of the reference, 40 % less is closer than 60 % more, although its logarithm
        // is farther from zero.
        let as_printed = |end: f64| match d.scale {
            Scale::Ratio => end.exp_m1().abs(),
            Scale::Shift => end.abs(),
        };
        let shown = if as_printed(lower) > as_printed(upper) { &ends[0] } else { &ends[1] };
        format!("any difference is below {shown}{}{coarse}", self.suffix())
    }

    fn without_interval(&self) -> String {
        let c = self.c;
        if c.mixed {
            return format!("no verdict on {} against {}: {MIXED}", self.of, self.against);
        }
        if c.dependence == Dependence::TooStrong {
            let worth = number::fixed(c.effective, 0);
            let what = match c.blocks {
                Some(blocks) => format!(
                    "their difference drifted during the run, so that its {blocks} blocks carry as much information as {worth} independent ones"
                ),
                None => format!(
                    "successive values are so strongly correlated that they carry as much information as {worth} independent ones"
                ),
            };
            return format!(
                "no verdict on {} against {}: {what}; at least 10 are needed",
                self.of, self.against
            );
        }
        let what = match &c.basis {
            Basis::Summary => {
                return format!(
                    "no verdict on {} against {}: only a summary was recorded, without a spread or the number of values",
                    self.of, self.against
                );
            }
            Basis::Units(unit) => Some(levels::plural(unit)),
            Basis::Values => c.blocks.is_none().then(|| "values".to_owned()),
        };
        if let (Some(what), Some(NoInterval::TooFew { needed })) = (what, c.no_interval()) {
            return format!(
                "too few {what} for a verdict on {} against {}: there are {} and {}; {needed} on each side can decide",
                self.of, self.against, c.counts.1, c.counts.0
            );
        }
        match c.blocks {
            Some(blocks)
                if blocks < c.fewest_blocks as usize
                    && self.analysis.stop == Some(StopReason::Interrupted) =>
            {
                format!(
                    "stopped after {}, too few for a verdict on {} against {}: {} are needed",
                    counted(blocks, "block"),
                    self.of,
                    self.against,
                    c.fewest_blocks
                )
            }
            Some(blocks) if blocks < c.fewest_blocks as usize => {
                let have = match self.analysis.plan.stop {
                    StopRule::Fixed { blocks: all } if all as usize > blocks => {
                        format!("{blocks} of {all} have values of both")
                    }
                    _ => format!("{blocks} taken"),
                };
                format!(
                    "too few blocks for a verdict on {} against {}: {} needed, {have}",
                    self.of, self.against, c.fewest_blocks
                )
            }
            _ => format!(
                "no verdict on {} against {}: their difference changed during the run, so it has no interval",
                self.of, self.against
            ),
        }
    }

    fn brief(&self) -> String {
        if let Some(failing) = &self.c.failing {
            return failing::in_short(failing);
        }
        let (c, size) = (self.c, self.size());
        let column = Column::new(&self.metric.unit, &[c.medians.0, c.medians.1], &[]);
        let (from, to) = (column.number(c.medians.0), column.with_unit(c.medians.1));
        format!("{size} ({from} → {to})")
    }

    fn direction(&self, estimate: f64) -> &'static str {
        if estimate < 0.0 { self.words.less } else { self.words.more }
    }

    /// Returns the kind of bound that the size is if runs on one side hit the time limit;
    /// [`Bound::None`] if it is not a bound.
    fn limit(&self) -> Bound {
        if self.metric.unit != Unit::Second || self.metric.better != Better::Lower {
            return Bound::None;
        }
        let late = |subject: usize| self.analysis.subjects[subject].timeouts > 0;
        let less = self.c.decision.estimate < 0.0;
        match (late(self.c.of), late(self.c.against)) {
            (false, true) if less => Bound::AtLeast,
            (false, true) => Bound::AtMost,
            (true, false) if less => Bound::AtMost,
            (true, false) => Bound::AtLeast,
            _ => Bound::None,
        }
    }

    /// Formats sizes on the decision's scale as numbers without their unit.
    fn numbers(&self, on_scale: &[f64]) -> Vec<String> {
        match &self.form {
            Form::Amount(column) => on_scale.iter().map(|v| column.number(v.abs())).collect(),
            Form::Percent | Form::Multiple => {
                let percents: Vec<f64> =
                    on_scale.iter().map(|v| v.exp_m1().abs() * 100.0).collect();
                number::side_by_side(&percents)
            }
        }
    }

    fn suffix(&self) -> String {
        match &self.form {
            Form::Amount(column) => column.suffix(),
            Form::Percent | Form::Multiple => " %".to_owned(),
        }
    }

    fn threshold(&self) -> String {
        let threshold = self.c.decision.threshold;
        match self.c.decision.scale {
            Scale::Ratio => number::chosen_percent(threshold.exp_m1()),
            Scale::Shift => number::chosen(threshold, &self.metric.unit),
        }
    }

    /// Formats a size on the decision's scale, roughly.
    fn on_scale(&self, size: f64) -> String {
        match self.c.decision.scale {
            Scale::Ratio => number::percent(size.exp_m1()),
            Scale::Shift => number::rough(size, &self.metric.unit),
        }
    }

    fn sure(&self) -> String {
        format!("{} confidence", number::chosen_percent(self.analysis.plan.confidence))
    }

    fn amount_of_data(&self) -> String {
        match self.c.blocks {
            Some(blocks) => counted(blocks, "block"),
            None => format!("{} and {} values", self.c.counts.1, self.c.counts.0),
        }
    }

    fn wins(&self) -> Option<String> {
        let wins = self.c.wins;
        let better = self.c.decision.verdict == Verdict::Faster;
        let won = if better { wins.better } else { wins.worse };
        let word = self.won(better);
        match self.c.design {
            Design::Blocks => {
                Some(format!("{word} in {} of {}", fixed0(won), counted(wins.of as usize, "block")))
            }
            _ if wins.of > 0.0 => {
                Some(format!("{word} in {} of all pairs", number::share(won, wins.of)))
            }
            _ => None,
        }
    }

    /// Returns `faster` or `slower` for a time that someone waits for, otherwise a word about the
    /// values.
    fn won(&self, better: bool) -> &'static str {
        let w = &self.words;
        match (w.is_time, better == (self.metric.better == Better::Lower)) {
            (true, true) => "faster",
            (true, false) => "slower",
            (false, true) => w.less,
            (false, false) => w.more,
        }
    }
}

/// Returns a phrase that says how the size of a difference was formed, since it is not the
/// difference of the medians.
pub(crate) fn formed(c: &Comparison) -> &'static str {
    match c.blocks {
        Some(_) => "within a typical block",
        None => "in a typical pair of values",
    }
}

/// Formats a number that is shown before the ends of its interval; if the number equals an end, it
/// gets the same format as that end.
fn beside_ends(number: f64, lower: f64, upper: f64) -> String {
    let place = [lower, upper].iter().position(|end| *end == number).filter(|_| lower != upper);
    match place {
        Some(place) => number::side_by_side(&[lower, upper]).swap_remove(place),
        None => number::before_ends(number, lower, upper),
    }
}

/// Chooses the form in which sizes are stated: amounts if the decision was made on amounts,
/// multiples beyond a factor of two, and percentages otherwise.
fn form(c: &Comparison, unit: &Unit) -> Form {
    let d = &c.decision;
    if d.scale == Scale::Shift {
        let (estimate, ends) = (d.estimate, d.interval.map(|i| [i.lower, i.upper]));
        let values: Vec<f64> = ends.into_iter().flatten().chain([estimate]).collect();
        let widths: Vec<f64> = d.interval.map(|i| i.half_width()).into_iter().collect();
        return Form::Amount(Column::for_amounts(unit, &values, &widths));
    }
    let told = match (d.verdict.is_directional(), d.interval) {
        (false, Some(interval)) => interval.lower.abs().max(interval.upper.abs()),
        (true, _) if !d.size_is_known() => d.least().map_or(0.0, f64::abs),
        _ => d.estimate.abs(),
    };
    if told > 2f64.ln() { Form::Multiple } else { Form::Percent }
}

fn fixed0(n: f64) -> String {
    number::fixed(n, 0)
}

/// Returns the label of the metric that decides.
pub(crate) fn metric_name(analysis: &Analysis) -> String {
    label(&analysis.metrics[analysis.primary])
}

/// Formats the plan's confidence for people.
pub(crate) fn confidence(analysis: &Analysis) -> String {
    number::chosen_percent(analysis.plan.confidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_spaces_are_quoted() {
        assert_eq!(quoted("./sort data"), "'./sort data'");
        assert_eq!(quoted("sort"), "sort");
    }
}

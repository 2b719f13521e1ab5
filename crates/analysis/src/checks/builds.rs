//! What placement does: how far apart builds of one source lie with nothing changed, and where a
//! difference may be nothing else.

use crate::comparison::Comparison;
use crate::number;
use crate::verdict::{Scale, Verdict};
use assay_data::{Action, Finding, Samples, Severity, Unit};

/// A half width is so many standard errors at most where layout makes most of them: Student's for
/// three builds a side.
const WIDE: f64 = 4.5;
/// How many comparisons are named of which layout moves most.
const NAMED: usize = 3;

/// How far builds of one source lie apart, of comparisons over builds with their names; `None`
/// where that is not known.
pub(crate) fn layout(built: &[(&Comparison, &str)]) -> Option<Finding> {
    let known = built.iter().filter_map(|&(c, name)| {
        // 95 % of builds lie so far from their mean.
        Some((c, 1.96 * c.layout.filter(|sd| sd.is_finite())?, name))
    });
    let mut known: Vec<(&Comparison, f64, &str)> = known.collect();
    known.sort_by(|(_, a, _), (_, b, _)| b.total_cmp(a));
    let (first, reach, _) = known.first()?;
    let (n, m) = first.counts;
    let told = known.iter().take(NAMED).map(|(c, reach, name)| match c.decision.scale {
        Scale::Ratio => format!("{name} by ± {}", number::percent(reach.exp_m1())),
        Scale::Shift => format!("{name} by ± {}", number::fixed(*reach, 3)),
    });
    let told: Vec<String> = told.collect();
    let less = match known.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(", {more} others by less"),
    };
    let message = format!(
        "layout alone moves {}{less} (95 % of builds of one source; {n} and {m} were compared)",
        told.join(", ")
    );
    let size = match first.decision.scale {
        Scale::Ratio => reach.exp_m1(),
        Scale::Shift => *reach,
    };
    let finding = Finding::new("LAYOUT", Severity::Note, message).with("spread", size);
    let undecided =
        known.iter().any(|(c, ..)| c.decision.verdict == Verdict::Inconclusive && hinders(c));
    let more = Action::text("measure more builds: the interval narrows with them, not with time");
    Some(if undecided { finding.advise(more) } else { finding })
}

/// Differences between single builds whose code is the same.
pub(crate) fn same_code(samples: &Samples, comparisons: &[Comparison]) -> Option<Finding> {
    let is_same = |c: &&Comparison| {
        let code = |subject: usize| samples.subjects.get(subject)?.code.as_ref();
        let metric = &samples.metrics[c.metric];
        // Placement changes how long it takes, not what it does.
        let is_placed = !metric.is_count() && metric.unit != Unit::Byte;
        let differs = matches!(c.decision.verdict, Verdict::Faster | Verdict::Slower);
        is_placed && differs && code(c.of).is_some() && code(c.of) == code(c.against)
    };
    let same: Vec<&Comparison> = comparisons.iter().filter(is_same).collect();
    let row = |c: &Comparison| samples.row_of(&samples.subjects[c.of]).name.as_str();
    let whose = match &same[..] {
        [] => return None,
        [one] => row(one).to_owned(),
        some => {
            let named: Vec<&str> = some.iter().take(NAMED).map(|c| row(c)).collect();
            let more = some.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{} benchmarks ({}{more})", some.len(), named.join(", "))
        }
    };
    let (it, difference) =
        if same.len() == 1 { ("it calls", "difference") } else { ("they call", "differences") };
    let message = format!(
        "the code of {whose} and all {it} is the same in both builds: its placement may explain the {difference}"
    );
    Some(
        Finding::new("LAYOUT_SUSPECTED", Severity::Warning, message)
            .with("benchmarks", same.len() as f64)
            .advise(Action::SeveralBuilds),
    )
}

/// Whether layout, rather than the noise of the blocks, makes the interval as wide as it is.
fn hinders(c: &Comparison) -> bool {
    let (n, m) = c.counts;
    let error = c.layout.unwrap_or(0.0) * (1.0 / n as f64 + 1.0 / m as f64).sqrt();
    c.decision.interval.is_some_and(|interval| error > interval.half_width() / WIDE)
}

//! Effects of code placement: the variation between builds of unchanged source, and differences
//! that may be due to placement alone.

use crate::analysis::controls::has_same_code;
use crate::analysis::{Analysis, Table};
use crate::comparison::{Comparison, Role};
use crate::number;
use crate::policy;
use crate::verdict::{Scale, Verdict};
use assay_data::code;
use assay_data::list;
use assay_data::{Action, Finding, Samples, Severity};
use assay_stats::Interval;

/// Maximum half width, in standard errors, of an interval whose width is due to layout: Student's
/// quantile for three builds per side.
const WIDE: f64 = 4.5;
/// Maximum number of comparisons named, which are those with the largest layout effect.
const NAMED: usize = 3;

/// Reports the variation between builds of one source, from named comparisons over builds; `None`
/// if unknown.
pub(crate) fn layout(built: &[(&Comparison, &str)]) -> Option<Finding> {
    let known = built.iter().filter_map(|&(c, name)| {
        // 95 % of builds are within this distance of their mean.
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
    let finding = Finding::new(code::LAYOUT, message).with("spread", size);
    let undecided =
        known.iter().any(|(c, ..)| c.decision.verdict == Verdict::Inconclusive && hinders(c));
    let more = Action::text("measure more builds: the interval narrows with them, not with time");
    Some(if undecided { finding.advise(more) } else { finding })
}

/// Reports differences between single builds whose code is identical.
pub(crate) fn same_code(samples: &Samples, comparisons: &[Comparison]) -> Option<Finding> {
    let is_same = |c: &&Comparison| {
        c.decision.verdict.is_directional() && has_same_code(samples, c.metric, c.of, c.against)
    };
    let same: Vec<&Comparison> = comparisons.iter().filter(is_same).collect();
    let row = |c: &Comparison| samples.row_of(&samples.subjects[c.of]).name.as_str();
    let whose = match &same[..] {
        [] => return None,
        [one] => row(one).to_owned(),
        some => {
            let rows: Vec<&str> = some.iter().map(|c| row(c)).collect();
            format!("{} benchmarks ({})", some.len(), list::first(&rows, NAMED))
        }
    };
    let (it, difference) =
        if same.len() == 1 { ("it calls", "difference") } else { ("they call", "differences") };
    let message = format!(
        "the code of {whose} and all {it} is the same in both builds: its placement may explain the {difference}"
    );
    Some(
        Finding::new(code::LAYOUT, message)
            .at(Severity::Warning)
            .with("benchmarks", same.len() as f64)
            .advise(Action::SeveralBuilds),
    )
}

/// Reports how far the rows of a table moved whose code is the same on both sides, and what follows
/// for the other rows.
pub(crate) fn controls(samples: &Samples, suite: &Analysis, table: &Table<'_>) -> Option<Finding> {
    let is_same = |c: &&&Comparison| has_same_code(samples, c.metric, c.of, c.against);
    let moved = table.rows.iter().filter(is_same).filter_map(|c| c.ratio.map(|r| r.estimate - 1.0));
    let moved: Vec<f64> = moved.filter(|effect| effect.is_finite()).collect();
    let most = moved.iter().copied().map(f64::abs).fold(0.0, f64::max);
    let farthest = |range: Interval| range.lower.exp_m1().abs().max(range.upper.exp_m1());
    let (mut reach, mut withheld) = (None::<f64>, false);
    for c in &table.rows {
        if let Role::Judged { range, withholds } = c.role {
            reach = Some(reach.unwrap_or(f64::INFINITY).min(farthest(range)));
            withheld |= withholds;
        }
    }
    let noun = &suite.noun;
    let (whose, they) = match moved.len() {
        0 => return None,
        1 => (format!("1 {noun}"), "it"),
        n => (format!("{n} {noun}s"), "they"),
    };
    let (all, fewest) = (table.rows.len() == moved.len(), policy::FEWEST_CONTROLS);
    let meaning = match reach {
        Some(reach) => {
            format!("; differences of others count beyond {}", number::percent(reach))
        }
        None if all || moved.len() >= fewest => String::new(),
        None => format!("; with {fewest} or more such {noun}s, others are judged by that"),
    };
    let sides = match suite.sides.len() {
        0..=2 => "both builds".to_owned(),
        _ => format!("{} and {}", suite.sides[table.against].name, suite.sides[table.side].name),
    };
    let most_percent = number::percent(most);
    let more = if withheld { "; several builds a side show more (--builds)" } else { "" };
    let message = format!(
        "the code of {whose} is the same in {sides}; {they} moved by up to {most_percent}{meaning}{more}"
    );
    let finding = Finding::new(code::SAME_CODE_MOVED, message)
        .with("benchmarks", moved.len() as f64)
        .with("most", most);
    let finding = match reach {
        Some(reach) => finding.with("reach", reach),
        None => finding,
    };
    Some(if withheld { finding.advise(Action::SeveralBuilds) } else { finding })
}

/// Returns true if layout, rather than the noise of the blocks, determines the width of the
/// interval.
fn hinders(c: &Comparison) -> bool {
    let (n, m) = c.counts;
    let error = c.layout.unwrap_or(0.0) * (1.0 / n as f64 + 1.0 / m as f64).sqrt();
    c.decision.interval.is_some_and(|interval| error > interval.half_width() / WIDE)
}

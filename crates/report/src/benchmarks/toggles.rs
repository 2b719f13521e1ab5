//! Settings of a suite, each compared with the suite without settings. The output is a sentence on
//! which settings are worthwhile, the effect of each on the total time and memory, and the tests
//! that gain most.
//!
//! A setting is worthwhile if the whole suite's verdict is `faster`, and has no relevant effect if
//! the verdict is `equivalent`. Because several settings may save the same seconds, the combined
//! saving of all settings is compared with the individual savings, using the ends of their
//! intervals.

use super::centres;
use super::words;
use crate::grid::{Cells, GAP, draw_columns, width_of};
use crate::layout::{Page, Tone, said, tone_in_table};
use crate::number::{self, Column};
use crate::words::quoted;
use assay_analysis::{Analysis, Comparison, Scale, Verdict};
use assay_data::list;
use assay_data::samples::WHOLE_SUITE;
use assay_data::{Metric, Unit};

/// Environment fact that marks the sides as settings. Its value is the name of the side with all
/// settings together, or empty if there is no such side.
pub const TOGETHER: &str = "toggles_together";
/// Name of the memory metric.
const MEMORY: &str = "max_rss";
/// Maximum number of tests named for each setting. The tests with the largest gains are named.
const NAMED: usize = 3;
/// Minimum gain of a named test, as a share of the total gain.
const WORTH_NAMING: f64 = 0.01;

/// One setting, compared with the suite without settings.
struct Effect<'a> {
    name: &'a str,
    side: usize,
    /// Comparison of the time of the whole suite.
    time: &'a Comparison,
    memory: Option<&'a Comparison>,
}

/// Returns true if the sides are settings of a suite.
pub(crate) fn is_about(suite: &Analysis) -> bool {
    together(suite).is_some() && suite.comparisons.iter().any(|c| is_whole(suite, c))
}

fn together(suite: &Analysis) -> Option<&str> {
    suite.environment.text(TOGETHER)
}

fn is_whole(suite: &Analysis, c: &Comparison) -> bool {
    suite.row_of(c).name == WHOLE_SUITE
}

/// Returns the effect of each single setting, and the effect of all settings together if that was
/// measured.
fn effects<'a>(suite: &'a Analysis) -> (Vec<Effect<'a>>, Option<Effect<'a>>) {
    let all = together(suite).unwrap_or_default();
    let memory = |of: usize| suite.secondary_of(of, MEMORY);
    let effect = |time: &'a Comparison| {
        let side = suite.subjects[time.of].side;
        let name = suite.sides[side].name.as_str();
        Effect { name, side, time, memory: memory(time.of) }
    };
    let wholes = suite.comparisons.iter().filter(|c| is_whole(suite, c)).map(effect);
    let (mut together, each): (Vec<_>, Vec<_>) = wholes.partition(|own| own.name == all);
    (each, together.pop())
}

/// Returns a sentence of advice: which settings to use, and the effect of the others.
fn sentence(each: &[Effect<'_>]) -> String {
    let with = |verdict: Verdict| -> Vec<String> {
        let own = each.iter().filter(|own| own.time.decision.verdict == verdict);
        own.map(|own| quoted(own.name)).collect()
    };
    let (use_them, nothing) = (with(Verdict::Faster), with(Verdict::Equivalent));
    let (slower, unknown) = (with(Verdict::Slower), with(Verdict::Inconclusive));
    let does = |names: &[String]| if names.len() == 1 { "does" } else { "do" };
    let makes = |names: &[String]| if names.len() == 1 { "makes" } else { "make" };
    let mut told = Vec::new();
    match (use_them.is_empty(), unknown.len() == each.len()) {
        (false, _) => told.push(format!("use {}", list::all(&use_them))),
        (true, true) => return format!("not known yet whether {} helps", list::either(&unknown)),
        (true, false) => told.push("none of the settings is known to help".to_owned()),
    }
    if !nothing.is_empty() {
        told.push(format!("{} {} nothing that matters", list::all(&nothing), does(&nothing)));
    }
    if !slower.is_empty() {
        told.push(format!("{} {} it slower", list::all(&slower), makes(&slower)));
    }
    if !unknown.is_empty() {
        told.push(format!("not known yet whether {} helps", list::either(&unknown)));
    }
    told.join("; ")
}

/// Draws the sentence of advice and the table of settings above the suite's own tables.
pub(crate) fn draw(page: &mut Page, suite: &Analysis) {
    let (each, all) = effects(suite);
    said(page, Tone::Strong, sentence(&each), &words::sureness(suite));
    for line in all.iter().filter_map(|all| shared(&each, all)).chain(memory(&each)) {
        page.paragraph(4, &[(Tone::Plain, format!("  {line}"))]);
    }
    page.gap();
    table(page, suite, &each, all.as_ref());
    let lines: Vec<String> = each.iter().filter_map(|own| gains(suite, own)).collect();
    if !lines.is_empty() {
        page.gap();
        lines.into_iter().for_each(|line| page.paragraph(4, &[(Tone::Plain, line)]));
    }
}

/// Returns the lower and the upper bound of the time that a setting saves, in seconds.
fn saved(own: &Effect<'_>) -> Option<(f64, f64)> {
    let interval = own.time.shift.interval.filter(|interval| interval.is_bounded())?;
    Some((-interval.upper, -interval.lower))
}

/// Returns a note if all settings together save less than the sum of what each helpful setting
/// saves alone. That is the case if the sum of the lower bounds of the individual savings exceeds
/// the upper bound of the combined saving.
fn shared(each: &[Effect<'_>], all: &Effect<'_>) -> Option<String> {
    let used: Vec<&Effect<'_>> =
        each.iter().filter(|own| own.time.decision.verdict == Verdict::Faster).collect();
    let least: Option<Vec<f64>> = used.iter().map(|own| Some(saved(own)?.0)).collect();
    let (least, (_, most)) = (least?.iter().sum::<f64>(), saved(all)?);
    let alone: f64 = used.iter().map(|own| -own.time.shift.estimate).sum();
    let seconds = |value: f64| number::rough(value, &Unit::Second);
    (used.len() > 1 && least > most).then(|| {
        format!(
            "one by one they save {} in total, all together {}: some save the same seconds, so not all of them are needed",
            seconds(alone),
            seconds(-all.time.shift.estimate)
        )
    })
}

/// Returns a note on the helpful settings that use more memory; `None` if there are none.
fn memory(each: &[Effect<'_>]) -> Option<String> {
    let dear = each.iter().filter(|own| {
        let more = own.memory.is_some_and(|memory| memory.decision.verdict == Verdict::Slower);
        more && own.time.decision.verdict == Verdict::Faster
    });
    let told = |own: &Effect<'_>| {
        let ratio = own.memory?.ratio?.estimate;
        Some(format!("{} takes {} the memory", quoted(own.name), number::multiple(ratio)))
    };
    let told: Vec<String> = dear.filter_map(told).collect();
    (!told.is_empty()).then(|| format!("for that {}", list::all(&told)))
}

fn table(page: &mut Page, suite: &Analysis, each: &[Effect<'_>], all: Option<&Effect<'_>>) {
    let rows: Vec<&Effect<'_>> = each.iter().chain(all).collect();
    let Some(first) = rows.first() else { return };
    let time = &suite.metrics[suite.primary];
    let memory_metric = suite.metrics.iter().find(|metric| metric.name == MEMORY);
    let mut names = vec![page.spelled(&suite.sides[0].name)];
    names.extend(rows.iter().map(|own| page.spelled(own.name)));
    let values = |of: fn(&Comparison) -> (f64, f64), comparisons: &[Option<&Comparison>]| {
        let reference = comparisons.iter().flatten().next().map_or(f64::NAN, |c| of(c).0);
        let own = comparisons.iter().map(|c| c.map_or(f64::NAN, |c| of(c).1));
        [reference].into_iter().chain(own).collect::<Vec<f64>>()
    };
    let shown = |page: &Page, metric: &Metric, values: &[f64]| -> Vec<String> {
        let known: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        let column = Column::new(&metric.unit, &known, &[]);
        let cell = |value: &f64| match value.is_finite() {
            true => page.spelled(&words::value(&column, *value, &metric.unit)),
            false => String::new(),
        };
        values.iter().map(cell).collect()
    };
    let times: Vec<Option<&Comparison>> = rows.iter().map(|own| Some(own.time)).collect();
    let mut columns = vec![
        Cells::left("settings", page.fitted(&names, page.width() * 2 / 5), Tone::Plain, 0),
        Cells::right(
            &crate::label::label(time),
            shown(page, time, &values(centres, &times)),
            Tone::Plain,
        ),
    ];
    let mut changes = vec![String::new()];
    changes.extend(rows.iter().map(|own| page.spelled(&words::effect(suite, own.time, true))));
    columns.push(Cells::left("change", changes, Tone::Plain, GAP));
    let mut verdicts = vec![(Tone::Plain, String::new())];
    let verdict = |own: &&Effect<'_>| (tone_in_table(own.time), words::verdict(suite, own.time));
    verdicts.extend(rows.iter().map(verdict));
    columns.push(Cells::toned("", verdicts, 2));
    if let Some(metric) = memory_metric.filter(|_| first.memory.is_some()) {
        let memories: Vec<Option<&Comparison>> = rows.iter().map(|own| own.memory).collect();
        let cells = shown(page, metric, &values(centres, &memories));
        columns.push(Cells::right("peak memory", cells, Tone::Plain));
        let mut changes = vec![String::new()];
        let change = |own: &&Effect<'_>| match own.memory {
            Some(c) if c.decision.verdict.is_directional() => words::effect(suite, c, false),
            _ => String::new(),
        };
        changes.extend(rows.iter().map(|own| page.spelled(&change(own))));
        columns.push(Cells::left("", changes, Tone::Quiet, 1));
    }
    // Columns are dropped from the right, so memory is dropped before times.
    while width_of(&columns) > page.table_width() && columns.len() > 2 {
        columns.pop();
    }
    draw_columns(page, &columns, names.len());
}

/// Returns a line with the tests known to gain most from a helpful setting; `None` if the setting
/// is not known to help.
fn gains(suite: &Analysis, own: &Effect<'_>) -> Option<String> {
    if own.time.decision.verdict != Verdict::Faster {
        return None;
    }
    let whole = -own.time.shift.estimate;
    let is_gain = |c: &&Comparison| {
        suite.subjects[c.of].side == own.side
            && !is_whole(suite, c)
            && c.decision.verdict == Verdict::Faster
            && -c.shift.estimate > whole * WORTH_NAMING
    };
    let mut found: Vec<&Comparison> = suite.comparisons.iter().filter(is_gain).collect();
    found.sort_by(|a, b| a.shift.estimate.total_cmp(&b.shift.estimate));
    let told = |c: &&Comparison| {
        let unit = &suite.metrics[c.metric].unit;
        let seconds = number::rough(-c.shift.estimate, unit);
        let change = match (c.ratio, c.decision.scale) {
            (Some(ratio), Scale::Ratio) => format!(", {}", number::change(ratio.estimate, None)),
            _ => String::new(),
        };
        format!("{} ({seconds}{change})", suite.row_of(c).name)
    };
    let named: Vec<String> = found.iter().take(NAMED).map(told).collect();
    let more = match found.len().saturating_sub(NAMED) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let names = if more.is_empty() { list::all(&named) } else { named.join(", ") };
    (!named.is_empty()).then(|| format!("{} saves most in {names}{more}", quoted(own.name)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail")]
    use crate::benchmarks::DisplayOptions;
    use crate::layout::Screen;
    use crate::terminal;
    use assay_analysis::analysis::Options;
    use assay_data::samples::WHOLE_SUITE;
    use assay_data::{
        Metric, Observation, Plan, Row, Samples, StopReason, StopRule, Subject, Threshold, Unit,
    };

    /// A run of one side: name of the side, times of the whole suite and of its two tests, and
    /// memory.
    type Takes = (&'static str, [f64; 3], f64);

    /// Renders the screen output for a suite measured in blocks under the settings `sides`.
    fn screen(sides: &[Takes]) -> String {
        let metrics = vec![Metric::wall(), Metric::lower("max_rss", Unit::Byte)];
        let mut samples = Samples::new(metrics);
        for name in [WHOLE_SUITE, "Users: signs in", "Pages: shows all"] {
            let noun = Some("test".to_owned());
            samples.rows.push(Row { name: name.to_owned(), noun, ..Row::default() });
        }
        for (name, ..) in sides {
            let side = samples.side_named(name);
            for row in 0..3 {
                let against = Some(row);
                let name = format!("{name} {row}");
                samples.add(Subject { side, row, name, against, ..Subject::default() });
            }
        }
        for block in 0..24_u32 {
            for (side, (_, takes, memory)) in sides.iter().enumerate() {
                for (row, seconds) in takes.iter().enumerate() {
                    let noise = |n: usize| {
                        1.0 + ((block as usize * 7 + side * 5 + n * 3) % 11) as f64 / 4000.0
                    };
                    let memory = if row == 0 { memory * noise(8) } else { f64::NAN };
                    let values = vec![seconds * noise(row), memory];
                    let (subject, block) = (side * 3 + row, Some(block));
                    samples.push(Observation { subject, block, values, ..Observation::default() });
                }
            }
        }
        let together = sides.iter().find(|(name, ..)| *name == "all").map_or("", |_| "all");
        samples.environment.set(super::TOGETHER, together);
        let secondary = vec!["max_rss".to_owned()];
        let plan = Plan::sequential(0.95, Threshold::Relative(0.01), 1);
        let stop = StopRule::Fixed { blocks: 24 };
        samples.plan = Some(Plan { secondary, stop, ..plan });
        samples.stop = Some(StopReason::Blocks);
        let analysis = assay_analysis::analyse(&samples, &Options::default()).unwrap();
        let wide = Screen { width: 100, color: false, unicode: true, whole: false };
        terminal::render(&analysis, DisplayOptions::default(), &wide)
    }

    #[test]
    fn which_settings_to_use_stands_in_the_first_sentence() {
        let shown = screen(&[
            ("none", [3.0, 1.0, 0.5], 5e7),
            ("gc=off", [2.5, 0.9, 0.2], 9e7),
            ("hash-cost=min", [2.2, 0.2, 0.5], 5e7),
            ("pg.fsync=off", [3.0, 1.0, 0.5], 5e7),
            ("all", [1.6, 0.1, 0.2], 9e7),
        ]);
        let first = "use gc=off and hash-cost=min; pg.fsync=off does nothing that matters";
        assert!(shown.starts_with(first), "{shown}");
        assert!(shown.contains("for that gc=off takes 1.8 × the memory"), "{shown}");
        assert!(shown.contains("hash-cost=min saves most in Users: signs in ("), "{shown}");
        assert!(!shown.contains("one by one"), "{shown}");
    }

    #[test]
    fn settings_that_gain_the_same_seconds_are_told() {
        let shown = screen(&[
            ("none", [3.0, 1.0, 0.5], 5e7),
            ("pg.fsync=off", [1.5, 0.2, 0.2], 5e7),
            ("pg.synchronous_commit=off", [1.6, 0.3, 0.2], 5e7),
            ("all", [1.5, 0.2, 0.2], 5e7),
        ]);
        assert!(shown.contains("some save the same seconds"), "{shown}");
    }

    #[test]
    fn what_is_not_known_is_not_recommended() {
        let shown = screen(&[("none", [3.0, 1.0, 0.5], 5e7), ("yjit=on", [3.3, 1.1, 0.6], 5e7)]);
        let first = "none of the settings is known to help; yjit=on makes it slower";
        assert!(shown.starts_with(first), "{shown}");
    }
}

//! The table of a scan: one row per combination of parameter values, with the commands side by
//! side. If each command has its own parameter values, these precede its medians.
//!
//! If the table is too wide, every further command first gets its own table, then the intervals are
//! dropped, and finally every cell gets its own line. Nothing is decided here, since ratios and
//! verdicts come from the analysis.

use crate::grid::{Cells, GAP, draw_columns, width_of};
use crate::label::label;
use crate::layout::tone_of;
use crate::layout::{Page, Tone};
use crate::number::{self, Column};
use crate::screen_table::other_metrics;
use crate::words;
use assay_analysis::{Analysis, Comparison, Layout};
use std::collections::BTreeSet;

/// Maximum width of a command's heading, in columns.
const WIDEST_LABEL: usize = 24;
/// Maximum width of a parameter value, in columns.
const WIDEST_VALUE: usize = 16;

/// Draws the table of one metric.
pub(crate) fn draw(page: &mut Page, analysis: &Analysis, layout: &Layout, metric: usize) {
    let limit = (page.width() / 5).clamp(8, WIDEST_LABEL);
    let labels = page.fitted(&without_parameters(analysis, layout), limit);
    let table = Table { analysis, layout, metric, labels, ends: ends(analysis, metric) };
    let all: Vec<usize> = (0..layout.commands).collect();
    let apart: Vec<Vec<usize>> = (1..layout.commands).map(|k| vec![0, k]).collect();
    let choices =
        [(vec![all.clone()], true), (apart.clone(), true), (vec![all], false), (apart, false)];
    let fitting = choices.iter().find_map(|(groups, intervals)| {
        let tables: Vec<Vec<Cells>> =
            groups.iter().map(|group| table.columns(page, group, *intervals)).collect();
        let fits = |columns: &Vec<Cells>| width_of(columns) <= page.table_width();
        (!tables.is_empty() && tables.iter().all(fits)).then_some(tables)
    });
    let Some(tables) = fitting else { return table.draw_lines(page) };
    for (index, mut columns) in tables.into_iter().enumerate() {
        if index > 0 {
            page.gap();
        }
        if layout.commands == 1 {
            table.add_others(page, &mut columns);
        }
        draw_columns(page, &columns, table.rows());
    }
}

/// Returns the commands as headings. The suffix ` {n}` that they have in common is removed if the
/// headings remain distinct.
fn without_parameters(analysis: &Analysis, layout: &Layout) -> Vec<String> {
    let shorter = |label: &str| {
        let parameters = analysis.subjects.iter().take(layout.commands).flat_map(|s| &s.parameters);
        let mut ends = parameters.map(|(name, _)| format!(" {{{name}}}"));
        ends.find_map(|end| label.strip_suffix(&end).map(|rest| rest.trim_end().to_owned()))
    };
    let shortest = |label: &String| {
        std::iter::successors(Some(label.clone()), |label| shorter(label))
            .last()
            .unwrap_or_default()
    };
    let labels: Vec<String> = layout.labels.iter().map(shortest).collect();
    let distinct: BTreeSet<&String> = labels.iter().collect();
    let tell = distinct.len() == labels.len() && labels.iter().all(|label| !label.is_empty());
    if tell { labels } else { layout.labels.clone() }
}

/// Returns the smallest and the largest median of a metric over all subjects.
fn ends(analysis: &Analysis, metric: usize) -> [f64; 2] {
    let described = analysis.subjects.iter().filter_map(|s| s.metrics.get(metric)?.as_ref());
    number::ends(&described.map(|d| d.median).collect::<Vec<_>>())
}

struct Table<'a> {
    analysis: &'a Analysis,
    layout: &'a Layout,
    metric: usize,
    labels: Vec<String>,
    /// The smallest and the largest median, which determine the scale.
    ends: [f64; 2],
}

impl Table<'_> {
    fn rows(&self) -> usize {
        self.analysis.subjects.len() / self.layout.commands
    }

    fn subject(&self, row: usize, command: usize) -> usize {
        row * self.layout.commands + command
    }

    fn comparison(&self, subject: usize) -> Option<&Comparison> {
        let Analysis { comparisons, secondary, .. } = self.analysis;
        comparisons.iter().chain(secondary).find(|c| c.of == subject && c.metric == self.metric)
    }

    fn columns(&self, page: &Page, commands: &[usize], intervals: bool) -> Vec<Cells> {
        let own = self.layout.own_values;
        let mut columns = if own { Vec::new() } else { self.parameters(page, 0, 0) };
        for (index, &command) in commands.iter().enumerate() {
            if own {
                columns.extend(self.parameters(page, command, if index == 0 { 0 } else { GAP }));
            }
            columns.extend(self.medians(page, command, intervals));
            columns.extend(self.compared(page, command, intervals));
        }
        columns
    }

    /// Returns the columns of a command's parameters, the first preceded by `gap` spaces.
    fn parameters(&self, page: &Page, command: usize, gap: usize) -> Vec<Cells> {
        let subjects = &self.analysis.subjects;
        let one = |index: usize| {
            let heading = page.spelled(&subjects[command].parameters[index].0);
            let heading = page.fitted(&[heading], WIDEST_VALUE).remove(0);
            let values: Vec<String> = (0..self.rows())
                .map(|row| subjects[self.subject(row, command)].parameters[index].1.to_string())
                .collect();
            let numeric = values.iter().all(|value| value.parse::<f64>().is_ok());
            let values = values
                .into_iter()
                .map(|value| page.shortened(&page.spelled(&value), WIDEST_VALUE))
                .collect();
            let gap = if index == 0 { gap } else { 2 };
            if numeric {
                Cells::right(&heading, values, Tone::Plain).with_gap(gap)
            } else {
                let wide = crate::names::width(&heading);
                let padded = |value: String| format!("{value:<wide$}");
                let values = values.into_iter().map(padded).collect();
                Cells::left(&heading, values, Tone::Plain, gap)
            }
        };
        (0..subjects[command].parameters.len()).map(one).collect()
    }

    /// Returns the scale and the number of decimals for a row.
    fn column(&self, row: usize, with_interval: bool) -> Column {
        let subjects = (0..self.layout.commands).map(|k| self.subject(row, k));
        let described =
            subjects.filter_map(|s| self.analysis.subjects[s].metrics.get(self.metric)?.as_ref());
        let (mut values, mut widths) = (Vec::new(), Vec::new());
        for d in described {
            values.push(d.median);
            widths.extend(d.median_interval.filter(|_| with_interval).map(|i| i.half_width()));
        }
        let unit = &self.analysis.metrics[self.metric].unit;
        Column::for_row(unit, self.ends, &values, &widths)
    }

    /// Returns the medians of a command, with their intervals if there is only one command.
    fn medians(&self, page: &Page, command: usize, intervals: bool) -> Vec<Cells> {
        let alone = self.layout.commands == 1 && intervals;
        let (mut medians, mut ends) = (Vec::new(), Vec::new());
        for row in 0..self.rows() {
            let column = self.column(row, alone);
            let summary = &self.analysis.subjects[self.subject(row, command)];
            let d = summary.metrics.get(self.metric).and_then(Option::as_ref);
            let late = summary.timeouts > 0 && summary.timeouts * 2 >= summary.observations;
            let bound = if late { "≥ " } else { "" };
            medians.push(d.map_or_else(
                || "-".to_owned(),
                |d| page.spelled(&format!("{bound}{}", column.with_unit(d.median))),
            ));
            ends.push(d.and_then(|d| d.median_interval).map_or_else(String::new, |i| {
                page.spelled(&format!("[{} … {}]", column.number(i.lower), column.number(i.upper)))
            }));
        }
        let mut cells = vec![Cells::right(&self.labels[command], medians, Tone::Strong)];
        if alone && ends.iter().any(|end| !end.is_empty()) {
            cells.push(Cells::left("", ends, Tone::Plain, 2));
        }
        cells
    }

    /// Returns the ratio and the verdict of a command in each row in which it is compared with
    /// another. The result is empty if there are no such rows.
    fn compared(&self, page: &Page, command: usize, intervals: bool) -> Vec<Cells> {
        let found: Vec<Option<&Comparison>> =
            (0..self.rows()).map(|row| self.comparison(self.subject(row, command))).collect();
        if found.iter().all(Option::is_none) {
            return Vec::new();
        }
        let ratio = |c: &Option<&Comparison>| {
            c.and_then(|c| c.ratio).map_or_else(String::new, |ratio| {
                let ends = ratio.interval.map(|i| (i.lower, i.upper));
                let text = number::ratio(ratio.estimate, ends);
                let text =
                    if intervals { text.as_str() } else { text.split(" [").next().unwrap_or("") };
                page.spelled(text)
            })
        };
        let verdict = |c: &Option<&Comparison>| match c {
            Some(c) => (tone_of(c), words::verdict_word(self.analysis, c)),
            None => (Tone::Plain, String::new()),
        };
        vec![
            Cells::left("ratio", found.iter().map(ratio).collect(), Tone::Plain, GAP),
            Cells::toned("", found.iter().map(verdict).collect(), 2),
        ]
    }

    /// Adds as many columns for the other metrics as fit to the primary metric's table, if there is
    /// only one command.
    fn add_others(&self, page: &Page, columns: &mut Vec<Cells>) {
        if self.metric != self.analysis.primary {
            return;
        }
        for metric in other_metrics(self.analysis) {
            let (labels, ends) = (self.labels.clone(), ends(self.analysis, metric));
            let other = Table { metric, labels, ends, ..*self };
            let cells = (0..self.rows()).map(|row| {
                let d = self.analysis.subjects[row].metrics.get(metric).and_then(Option::as_ref);
                let value = |d: &assay_analysis::Description| {
                    page.spelled(&other.column(row, false).with_unit(d.median))
                };
                d.map_or_else(|| "-".to_owned(), value)
            });
            let heading = page.spelled(&label(&self.analysis.metrics[metric]));
            columns.push(Cells::right(&heading, cells.collect(), Tone::Plain));
            if width_of(columns) > page.table_width() {
                columns.pop();
                return;
            }
        }
    }

    /// Draws a line for every cell, on pages too narrow for any table.
    fn draw_lines(&self, page: &mut Page) {
        for row in 0..self.rows() {
            let at = together(self.analysis, self.layout, self.subject(row, 0));
            page.paragraph(2, &[(Tone::Strong, at)]);
            let column = self.column(row, false);
            for (command, name) in self.labels.iter().enumerate() {
                let subject = self.subject(row, command);
                let d = self.analysis.subjects[subject].metrics.get(self.metric);
                let median = d
                    .and_then(Option::as_ref)
                    .map_or_else(|| "-".to_owned(), |d| column.with_unit(d.median));
                let mut line = vec![(Tone::Plain, format!("  {name} {median}"))];
                if let Some(c) = self.comparison(subject) {
                    if let Some(ratio) = c.ratio {
                        let text = number::ratio(ratio.estimate, None);
                        line.push((Tone::Plain, format!(", ratio {text}")));
                    }
                    line.push((Tone::Plain, ", ".to_owned()));
                    line.push((tone_of(c), words::verdict_word(self.analysis, c)));
                }
                page.paragraph(4, &line);
            }
        }
    }
}

/// Returns the parameter values of a row: those shared by its commands, or those of each, such as
/// `n = 4 | n = 40`.
pub(crate) fn together(analysis: &Analysis, layout: &Layout, subject: usize) -> String {
    if !layout.own_values {
        return combination(analysis, subject);
    }
    let first = subject - subject % layout.commands;
    let each = (first..first + layout.commands).map(|s| combination(analysis, s));
    each.filter(|values| !values.is_empty()).collect::<Vec<_>>().join(" | ")
}

/// Returns the parameters of a subject with their values: `n = 4, mode = fast`.
pub(crate) fn combination(analysis: &Analysis, subject: usize) -> String {
    let parameters = &analysis.subjects[subject].parameters;
    let told: Vec<String> = parameters.iter().map(|(name, v)| format!("{name} = {v}")).collect();
    told.join(", ")
}

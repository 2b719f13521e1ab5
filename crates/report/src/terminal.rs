//! The terminal report shown after a run or a comparison.
//!
//! It starts with one sentence per comparison, followed by the table, the checks, and the findings
//! with advice. A newcomer can stop after the first line, while an expert finds every number below
//! it. Nothing is printed or decided here.

use crate::all_table;
use crate::answers;
use crate::benchmarks::{self, DisplayOptions};
use crate::checks;
use crate::findings;
use crate::goals;
use crate::label::{label, wording};
pub use crate::layout::Screen;
use crate::layout::{Page, STICKY, Tone, said, tone_of};
use crate::medians;
use crate::noise;
use crate::number::{self, Column};
use crate::ranking;
use crate::remarks;
use crate::scan;
use crate::screen_table as table;
use crate::secondary;
use crate::words::{self, Sentence};
use assay_analysis::{Analysis, Comparison, Description, Verdict};
use assay_data::code::{self, Topic, topic};
use assay_data::list;
use assay_data::{Better, Finding, Severity};

/// Renders the report for the terminal. Every line ends with a newline. `shown` selects and orders
/// the rows of a suite. O(subjects · metrics).
pub fn render(analysis: &Analysis, shown: DisplayOptions, screen: &Screen) -> String {
    if analysis.is_suite() {
        return benchmarks::screen::render(analysis, shown, screen);
    }
    let mut page = Page::new(screen);
    let _ellipsis = page.ellipsis();
    let in_sentences = page.fitted(&analysis.names(), (page.width() / 2).clamp(8, 60));
    let in_table = page.fitted(&analysis.names(), (page.width() * 3 / 10).clamp(8, 40));
    // Failures that no verdict mentions, goals that no rate meets, and capacities that were not
    // found precede all numbers.
    let is_named = analysis.comparisons.iter().any(|c| c.failing.is_some());
    let comes_first =
        |f: &&Finding| f.is(code::REQUESTS_FAILED) && !is_named || f.is(code::CAPACITY_LIMIT);
    let warnings = analysis.findings.iter().filter(|f| f.severity == Severity::Warning);
    let mut remarks = remarks::List::new(shown.remarks);
    let failed: Vec<&Finding> = warnings.filter(comes_first).collect();
    for finding in &failed {
        page.paragraph(2, &[(Tone::Bad, finding.message.clone())]);
    }
    let is_short_search = goals::is_search(analysis) && shown.remarks != remarks::Remarks::All;
    if scan::shows(analysis) {
        scan::draw(&mut page, analysis);
    } else if analysis.subjects.len() == 1 {
        // If a search had no time to find the capacity, the finding states the known bounds.
        if failed.is_empty() || analysis.primary_of(0).is_some() {
            alone(&mut page, analysis, 0, &in_sentences[0]);
        }
        page.end_answer();
        page.gap();
        alone_in_detail(&mut page, analysis, shown.remarks == remarks::Remarks::All);
    } else {
        if analysis.comparisons.is_empty() {
            for (subject, name) in in_sentences.iter().enumerate() {
                alone(&mut page, analysis, subject, name);
            }
        }
        if let Some(line) = ranking::line(analysis, &in_sentences) {
            page.paragraph(2, &[(Tone::Strong, line)]);
        }
        // Report a server that fails first.
        let (failing, others): (Vec<_>, Vec<_>) =
            analysis.comparisons.iter().partition(|c| c.failing.is_some());
        for comparison in failing.into_iter().chain(others) {
            tell(&mut page, analysis, comparison, &in_sentences);
        }
        for c in &analysis.controls {
            let said = words::control(analysis, c, &in_sentences[c.of], &in_sentences[c.against]);
            page.paragraph(2, &[(Tone::Quiet, said)]);
        }
        for finding in findings::about_code(analysis) {
            page.paragraph(4, &[(Tone::Plain, format!("  {}", finding.message))]);
        }
        page.end_answer();
        for (caveat, finding) in words::caveats(analysis) {
            remarks.caveat(&page, caveat, findings::hint_on_screen(finding));
        }
        page.gap();
        let is_load = !analysis.answers.is_empty();
        let is_whole = !is_load || shown.remarks == remarks::Remarks::All;
        if is_whole {
            if is_load {
                page.paragraph(2, &[(Tone::Quiet, "medians of the slices:".to_owned())]);
            }
            table::draw(&mut page, analysis, &in_table);
            for line in table::without_interval(analysis, &in_table) {
                remarks.check(&page, 2, line);
            }
        }
        // In a short search, the table already has the latencies.
        if !is_short_search && (analysis.plan.secondary.is_empty() || !is_whole) {
            also(&mut remarks, &page, analysis, &in_table);
        } else if !is_short_search {
            secondary::draw(&mut page, analysis, &in_table);
        }
    }
    if is_short_search {
        answers::search::draw(&mut page, analysis, &mut remarks);
    } else {
        answers::draw(&mut page, analysis, &mut remarks);
    }
    all_table::draw(&mut page, analysis, &in_table);
    if let Some((line, summary)) = checks::lines(analysis) {
        remarks.checks(&page, line, summary);
    }
    if let Some(line) = noise::line(analysis, &in_table, shown.remarks == remarks::Remarks::All) {
        remarks.check(&page, 7, line);
    }
    findings(&mut remarks, &page, analysis, |f| {
        !failed.contains(&f) && !answers::is_goal_missed(f) && !findings::is_about_code(f)
    });
    remarks.draw(&mut page);
    page.finish()
}

fn tell(page: &mut Page, analysis: &Analysis, c: &Comparison, names: &[String]) {
    let (of, against) = (&names[c.of], &names[c.against]);
    let Sentence { claim, sureness } = words::sentence(analysis, c, of, against);
    said(page, tone_of(c), claim, &sureness);
    for detail in words::details(analysis, c, of, against) {
        page.paragraph(2, &[(Tone::Plain, format!("  {detail}"))]);
    }
}

/// Adds the secondary metrics to the remarks. Each difference gets its own remark, and the metrics
/// without a difference share one.
fn also(remarks: &mut remarks::List, page: &Page, analysis: &Analysis, names: &[String]) {
    let main = table::other_metrics(analysis);
    let several = analysis.comparisons.len() > 1;
    for of in (0..analysis.subjects.len()).filter(|&s| analysis.subjects[s].against.is_some()) {
        let compared = || analysis.secondary.iter().filter(|c| c.of == of);
        let name = |c: &Comparison| label(&analysis.metrics[c.metric]);
        let mut said: Vec<String> = compared()
            .filter(|c| c.decision.verdict.is_directional())
            .map(|c| format!("{} {}", name(c), words::brief(analysis, c)))
            .collect();
        let named = |verdict: Verdict| {
            let names: Vec<String> = compared()
                .filter(|c| c.decision.verdict == verdict && main.contains(&c.metric))
                .filter(|c| c.decision.interval.is_some())
                .map(name)
                .collect();
            (!names.is_empty()).then(|| list::all(&names))
        };
        said.extend(
            named(Verdict::Equivalent).map(|n| format!("no difference that matters in {n}")),
        );
        said.extend(named(Verdict::Inconclusive).map(|n| format!("{n} not known yet")));
        if !said.is_empty() {
            let head = if several {
                format!("also, {}: ", words::quoted(&names[of]))
            } else {
                "also: ".to_owned()
            };
            remarks.result(page, 6, &[(Tone::Quiet, head), (Tone::Plain, said.join("; "))]);
        }
    }
}

/// Writes the sentence about a subject that is not compared.
fn alone(page: &mut Page, analysis: &Analysis, subject: usize, name: &str) {
    let Sentence { claim, sureness } = alone_said(analysis, subject, name);
    if sureness.is_empty() {
        page.paragraph(2, &[(Tone::Unsure, claim)]);
    } else {
        said(page, Tone::Strong, claim, &sureness);
    }
}

/// Returns the sentence about a subject that is not compared. The certainty is empty if the subject
/// has no values.
pub(crate) fn alone_said(analysis: &Analysis, subject: usize, name: &str) -> Sentence {
    let metric = &analysis.metrics[analysis.primary];
    let words = wording(metric);
    let Some(d) = analysis.primary_of(subject) else {
        let claim = match metric.name == goals::CAPACITY {
            true => goals::unfinished(analysis, subject, name),
            false => format!("'{name}' has no values of {}", label(metric)),
        };
        return Sentence { claim, sureness: String::new() };
    };
    let column = table::column_of(analysis, analysis.primary, true);
    let interval = d.median_interval.map_or_else(String::new, |i| {
        format!(" [{}{STICKY}…{STICKY}{}]", column.number(i.lower), column.number(i.upper))
    });
    let value = column.with_unit(d.median);
    let summary = &analysis.subjects[subject];
    let late = summary.timeouts * 2 >= summary.observations.max(1);
    let bound = if late { "at least " } else { "" };
    let claim = if words.is_time {
        format!("'{name}' takes {bound}{value}{interval}")
    } else if let Some(goals) = goals::of_metric(analysis, metric) {
        format!("{} of '{name}': {bound}{value}{interval} with {goals}", label(metric))
    } else if words.noun_first || metric.better == Better::Higher {
        format!("{} of '{name}': {bound}{value}{interval}", words.whole)
    } else {
        format!("'{name}' {} {bound}{value}{interval} of {}", words.verb, words.whole)
    };
    let mut sureness = medians::sureness(d, analysis.plan.confidence);
    if !analysis.answers.is_empty() && d.median_interval.is_some() {
        // The median of requests is shown next to it.
        let (one, more) = match goals::is_search(analysis) {
            true => ("search", "searches"),
            false => ("slice", "slices"),
        };
        let what = if d.n == 1 { one } else { more };
        let of_slices = format!("median of {} {what}", number::grouped(d.n as u64));
        sureness = sureness.replacen("median", &of_slices, 1);
    }
    Sentence { claim, sureness }
}

/// Writes the details of a single subject: its spread, with quantiles if `in_full`, and its other
/// metrics. Nothing is written for a load test, whose table of requests already shows them.
fn alone_in_detail(page: &mut Page, analysis: &Analysis, in_full: bool) {
    let Some(d) = analysis.primary_of(0).filter(|_| analysis.answers.is_empty()) else { return };
    spread(page, analysis, d, &table::column_of(analysis, analysis.primary, true), in_full);
    let others: Vec<String> = table::other_metrics(analysis)
        .into_iter()
        .filter_map(|metric| {
            let d = analysis.subjects[0].metrics.get(metric)?.as_ref()?;
            let value = number::value(d.median, &analysis.metrics[metric].unit);
            Some(format!("{} {value}", label(&analysis.metrics[metric])))
        })
        .collect();
    if !others.is_empty() {
        page.paragraph(2, &[(Tone::Plain, format!("{} (medians)", others.join(" · ")))]);
    }
}

/// Writes the extremes and the mean of one series, with quantiles if `in_full`.
fn spread(page: &mut Page, analysis: &Analysis, d: &Description, column: &Column, in_full: bool) {
    if d.n < 2 {
        return;
    }
    let shown = |name: &str, value: f64| format!("{name}{STICKY}{}", column.number(value));
    if in_full {
        let q = d.quantiles;
        let quantiles =
            [("p5", q.p5), ("p25", q.p25), ("p75", q.p75), ("p95", q.p95), ("p99", q.p99)];
        let quantiles = quantiles.map(|(name, value)| shown(name, value)).join(" · ");
        let line = format!("quantiles{}: {quantiles}", in_unit(&column.suffix()));
        page.paragraph(2, &[(Tone::Plain, line)]);
    }
    let mut line = format!(
        "{}{STICKY}…{STICKY}{}{} · mean{STICKY}{}{STICKY}±{STICKY}{} (standard deviation)",
        shown("range", d.min),
        column.number(d.max),
        column.suffix(),
        column.number(d.mean),
        column.number(d.standard_deviation)
    );
    let counts = analysis.histogram.as_ref().and_then(|h| h.counts.first());
    let picture = counts.map_or_else(String::new, |counts| table::picture(counts));
    if page.unicode() && !picture.is_empty() {
        line += &format!("   {picture}");
    }
    page.paragraph(2, &[(Tone::Plain, line)]);
}

fn in_unit(suffix: &str) -> String {
    if suffix.is_empty() { String::new() } else { format!(" ({})", suffix.trim()) }
}

/// Adds the selected findings with their advice: warnings first, then notes.
pub(crate) fn findings(
    remarks: &mut remarks::List,
    page: &Page,
    analysis: &Analysis,
    wanted: impl Fn(&Finding) -> bool,
) {
    let is_note = |f: &Finding| f.severity == Severity::Note;
    let refused = analysis.findings.iter().any(|f| f.is(code::TOO_DEPENDENT));
    let states_load = words::states_load(analysis);
    let in_scan = scan::shows(analysis);
    // A finding about one subject of a scan usually applies to all.
    let once = |wanted: &dyn Fn(&Finding) -> bool| {
        let found = analysis.findings.iter().filter(|f| wanted(f));
        findings::told_once(found, |known, other| in_scan && known.is_like(other))
    };
    for (finding, more) in once(&|f| !is_note(f) && wanted(f)) {
        // Already stated by the refusal, or shown with its advice below the verdict.
        let is_stated = refused && finding.is(code::DEPENDENCE)
            || states_load && finding.number("load_1m").is_some();
        if is_stated {
            continue;
        }
        match topic(&finding.code) {
            Topic::Design if !in_scan => {}
            Topic::Verdict if !in_scan => remarks.hint(page, finding),
            Topic::Design | Topic::Verdict => remarks.finding(page, finding, ""),
            _ => remarks.finding(page, finding, &more),
        }
    }
    let of_machine = |f: &Finding| topic(&f.code) == Topic::Machine;
    // The checks report drift that blocks cancel, and the noise line reports disturbed runs.
    let told = |f: &Finding| is_note(f) && wanted(f) && topic(&f.code) != Topic::Checks;
    for (note, more) in once(&|f| told(f) && !of_machine(f)) {
        remarks.finding(page, note, &more);
    }
    let machine: Vec<&str> = analysis
        .findings
        .iter()
        .filter(|f| told(f) && of_machine(f))
        .map(|f| f.message.as_str())
        .collect();
    if !machine.is_empty() {
        remarks.note(page, format!("note: {}", machine.join("; ")));
    }
}

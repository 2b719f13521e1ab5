//! A calibration for the screen: how often each way of measuring would have raised a false alarm,
//! and which differences can be trusted.
//!
//! One sentence on the trustworthy differences comes first, then the underlying numbers. Nothing is
//! computed here.

use crate::layout::Screen;
use crate::layout::{Page, STICKY, Tone};
use crate::number;
use crate::progress;
use crate::small_table;
use crate::words::quoted;
use assay_analysis::calibration::{BUDGETS, Calibration, Detectable, Layout, Method, MethodName};
use assay_analysis::policy;
use assay_data::{Environment, Unit};

/// Measuring time for which the sentence states detectable differences, in seconds.
const MINUTE: f64 = 60.0;

/// The content of a calibration report.
#[derive(Clone, Copy, Debug)]
pub struct CalibrationReport<'a> {
    /// Description of the machine.
    pub environment: &'a Environment,
    /// Results of the series of runs.
    pub calibration: &'a Calibration,
    /// Result for a byte-identical copy of the program at another path; `None` if not measured.
    pub layout: Option<Layout>,
    /// The measured command; `None` for assay's own program, a busy loop that never waits.
    pub program: Option<&'a str>,
}

/// Returns the report for the screen. Every line ends with a newline.
pub fn render(report: &CalibrationReport<'_>, screen: &Screen) -> String {
    let mut page = Page::new(screen);
    let calibration = report.calibration;
    page.paragraph(2, &[(Tone::Strong, sentence(report))]);
    page.gap();
    page.paragraph(2, &[(Tone::Plain, machine(report))]);
    page.gap();
    alarms(&mut page, &calibration.methods);
    page.gap();
    detectable_differences(&mut page, calibration);
    if let Some(layout) = report.layout {
        page.gap();
        page.paragraph(2, &[(Tone::Plain, luck(&layout))]);
    }
    page.finish()
}

/// Returns one sentence on the differences that can be trusted. Differences in wall time must also
/// exceed the effect of running a byte-identical copy at another path.
pub(crate) fn sentence(report: &CalibrationReport<'_>) -> String {
    let seen = |metric| report.calibration.detectable(metric, MINUTE);
    let luck = report.layout.filter(|l| !l.interval.contains(1.0));
    let luck = luck.map_or(0.0, |l| (l.ratio - 1.0).abs());
    // Results for a loop may not apply to a command that reads, waits or allocates memory.
    let (with, other) = match report.program {
        Some(program) => (format!("With {}", quoted(program)), ""),
        None => (
            format!(
                "With assay's own loop of {}",
                number::rough(report.calibration.median_seconds, &Unit::Second)
            ),
            " For a command of yours: assay calibrate -- COMMAND.",
        ),
    };
    let found = match (seen("wall").map(|wall| wall.max(luck)), seen("cpu")) {
        (Some(wall), cpu) => {
            let cpu = cpu
                .map_or_else(String::new, |cpu| format!(" ({} in CPU time)", number::percent(cpu)));
            format!(
                "{with}, a run of one minute detects differences above {}{cpu}.",
                number::percent(wall)
            )
        }
        (None, Some(cpu)) => format!(
            "{with}, a run of one minute detects differences in CPU time above {}, and none in wall time.",
            number::percent(cpu)
        ),
        (None, None) => {
            format!("{with}, a run of one minute is too short to detect any difference.")
        }
    };
    found + other
}

fn machine(report: &CalibrationReport<'_>) -> String {
    let known = progress::machine(report.environment);
    let known = known.trim_start_matches("machine: ");
    let calibration = report.calibration;
    format!(
        "This machine, now ({known}): {} runs of a program of {} in {}",
        number::grouped(calibration.runs as u64),
        number::rough(calibration.median_seconds, &Unit::Second),
        number::duration(calibration.runs as f64 * calibration.seconds_per_run)
    )
}

fn alarms(page: &mut Page, methods: &[Method]) {
    page.paragraph(
        2,
        &[
            (
                Tone::Strong,
                "False-positive rate: if A and B were the same program, how often would a difference be reported?"
                    .to_owned(),
            ),
            (Tone::Quiet, "   (nominal: 5 %)".to_owned()),
        ],
    );
    let rows: Vec<[String; 4]> = methods.iter().map(row).collect();
    let head = ["50 runs of each", "reported", "95 % interval", "phantom"].map(str::to_owned);
    let tones: Vec<Tone> = methods
        .iter()
        .map(|m| if m.rate() > policy::UNFAIR_RATE { Tone::Bad } else { Tone::Plain })
        .collect();
    small_table::draw(page, &head, &rows, &tones);
    page.paragraph(
        2,
        &[(
            Tone::Quiet,
            "  phantom: one comparison in twenty shows a difference larger than this, though there is none"
                .to_owned(),
        )],
    );
}

fn row(method: &Method) -> [String; 4] {
    let interval = method.interval().map_or_else(String::new, |i| {
        let ends = number::side_by_side(&[i.lower * 100.0, i.upper * 100.0]);
        format!("[{} … {}]", ends[0], ends[1])
    });
    let told = number::percent(method.rate());
    [called(method), told, interval, number::percent(method.phantom_p95)]
}

fn called(method: &Method) -> String {
    match method.name {
        MethodName::BlockOrder => format!("all of A, then all of B ({})", method.test),
        MethodName::Alternating => format!("strictly alternating ({})", method.test),
        MethodName::Ours => "assay, 50 blocks".to_owned(),
        MethodName::OursDefault => "assay, stopping by itself".to_owned(),
    }
}

fn detectable_differences(page: &mut Page, calibration: &Calibration) {
    page.paragraph(
        2,
        &[(Tone::Strong, "The smallest difference that can be detected:".to_owned())],
    );
    let mut head = vec!["time for both".to_owned()];
    head.extend(BUDGETS.map(number::duration));
    let cell = |detectable: Option<&Detectable>| match detectable
        .and_then(|s| Some((s, s.difference?)))
    {
        None => "-".to_owned(),
        Some((detectable, size)) => {
            format!("{}{}", if detectable.extrapolated { "~ " } else { "" }, number::percent(size))
        }
    };
    let rows: Vec<Vec<String>> = ["wall", "cpu"]
        .into_iter()
        .map(|metric| {
            let at = |budget: f64| {
                let of = |s: &&Detectable| s.metric == metric && s.budget_seconds == budget;
                cell(calibration.detectable.iter().find(of))
            };
            std::iter::once(metric.to_owned()).chain(BUDGETS.map(at)).collect()
        })
        .collect();
    small_table::draw(page, &head, &rows, &[Tone::Plain, Tone::Plain]);
    if calibration.detectable.iter().any(|s| s.extrapolated && s.difference.is_some()) {
        let note = "  ~ extrapolated beyond the recorded runs";
        page.paragraph(2, &[(Tone::Quiet, note.to_owned())]);
    }
}

fn luck(layout: &Layout) -> String {
    let change = layout.ratio - 1.0;
    let size = number::percent(change);
    let ends = (layout.interval.lower, layout.interval.upper);
    let ratio = number::ratio(layout.ratio, Some(ends)).replace(' ', &STICKY.to_string());
    let found = if layout.interval.contains(1.0) {
        "no difference found".to_owned()
    } else {
        let direction = if change < 0.0 { "less" } else { "more" };
        format!(
            "{size} {direction} time, from memory layout alone; differences up to that size say nothing about the code"
        )
    };
    format!("A byte-identical copy at another path: ratio {ratio}: {found}")
}

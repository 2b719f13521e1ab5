//! Renders the result of a gate as JUnit XML, which nearly every CI system shows. Each benchmark is
//! a test, which fails if the benchmark is worse and is skipped if its standing is unknown.

use super::{GateReport, numbers, sentence, standing};
use crate::label::label;
use crate::markup::escaped;
use assay_analysis::history::gate::{Judged, Standing};
use assay_data::Unit;
use std::fmt::Write;

/// Renders the document. Every line ends with a newline.
pub fn junit(report: &GateReport<'_>) -> String {
    let gate = report.gate;
    let count = |standing| gate.judged.iter().filter(|j| j.standing == standing).count();
    let name = escaped(&format!("assay gate {}", report.project));
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\"",
        gate.judged.len(),
        count(Standing::Worse),
        count(Standing::Inconclusive)
    );
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    text += &format!("<testsuites name=\"{name}\" {counts}>\n");
    text += &format!("  <testsuite name=\"{name}\" {counts}>\n");
    for judged in &gate.judged {
        case(&mut text, report, judged);
    }
    let said = gate.findings.iter().map(crate::findings::line);
    let lines: Vec<String> = std::iter::once(sentence(report)).chain(said).collect();
    let lines: Vec<String> = lines.iter().map(|line| escaped(line)).collect();
    text + &format!(
        "    <system-out>{}\n</system-out>\n  </testsuite>\n</testsuites>\n",
        lines.join("\n")
    )
}

fn case(text: &mut String, report: &GateReport<'_>, judged: &Judged) {
    let name = format!("{} {}", judged.benchmark.label(), label(&judged.metric));
    // The duration of a test is the measured value, if that is a time.
    let time = match judged.metric.unit {
        Unit::Second => format!(" time=\"{}\"", judged.now),
        _ => String::new(),
    };
    let _infallible = write!(
        text,
        "    <testcase classname=\"{}\" name=\"{}\"{time}",
        escaped(report.project),
        escaped(&name)
    );
    let [now, change, range, runs, detects] = numbers(judged);
    let told = format!("{}: {change} from what is normal", standing(judged));
    let more = format!(
        "now {now}, normal {range}, {runs} normal runs, a worsening of {detects} is detectable"
    );
    let (told, more) = (escaped(&told), escaped(&more));
    *text += &match judged.standing {
        Standing::Worse => format!(
            ">\n      <failure message=\"{told}\" type=\"worse\">{more}</failure>\n    </testcase>\n"
        ),
        Standing::Inconclusive => {
            let told = escaped(&standing(judged));
            format!(">\n      <skipped message=\"{told}\"/>\n    </testcase>\n")
        }
        Standing::Normal | Standing::Better => "/>\n".to_owned(),
    };
}

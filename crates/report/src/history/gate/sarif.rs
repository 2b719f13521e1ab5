//! A gate's result as SARIF 2.1.0 (OASIS) for code scanning: one result per benchmark that is worse
//! or undecided.

use super::{GateReport, numbers, sentence, standing};
use crate::label::label;
use crate::sarif::{document, uri};
use assay_analysis::history::gate::{Judged, Standing};
use serde_json::{Value, json};

/// The rules, each with its identifier, description and level. Results refer to them by index.
const RULES: [(&str, &str, &str); 3] = [
    ("worse-than-normal", "A benchmark is worse than normal on this machine", "error"),
    ("not-known", "It is not known whether a benchmark is worse than normal", "none"),
    ("normal", "A benchmark is the same as in the last runs", "none"),
];

/// The SARIF kind of the results for each rule, in the order of [`RULES`].
const KINDS: [&str; 3] = ["fail", "open", "pass"];

/// Returns the document. Normal benchmarks are included only if all are listed. `version` is the
/// version of the program.
pub fn sarif(report: &GateReport<'_>, version: &str) -> Value {
    let rules = RULES.map(|(id, told, level)| {
        json!({
            "id": id,
            "shortDescription": {"text": format!("{told}.")},
            "defaultConfiguration": {"level": level},
        })
    });
    let judged = report.gate.judged.iter();
    let listed = judged.filter(|judged| report.all || rule(judged) < 2);
    let results: Vec<Value> = listed.map(|judged| result(report, judged)).collect();
    let automation = json!({
        "id": format!("assay-gate/{}/", report.project),
        "description": {"text": sentence(report)},
    });
    document(version, &rules, &automation, &results)
}

fn rule(judged: &Judged) -> usize {
    match judged.standing {
        Standing::Worse => 0,
        Standing::Inconclusive => 1,
        Standing::Normal | Standing::Better => 2,
    }
}

fn result(report: &GateReport<'_>, judged: &Judged) -> Value {
    let name = judged.benchmark.label();
    let rule = rule(judged);
    let [now, change, range, runs, _] = numbers(judged);
    let told = format!(
        "{name} {}: {}, now {now}, {change} from what is normal {range} ({runs} runs on {})",
        label(&judged.metric),
        standing(judged),
        report.machine
    );
    let logical = json!([{"fullyQualifiedName": name, "kind": "function"}]);
    let location = match report.file {
        Some(file) => json!({
            "physicalLocation": {
                "artifactLocation": {"uri": uri(file)},
                "region": {"startLine": 1},
            },
            "logicalLocations": logical,
        }),
        None => json!({"logicalLocations": logical}),
    };
    json!({
        "ruleId": RULES[rule].0,
        "ruleIndex": rule,
        // The level is `none` unless the kind is `fail`.
        "kind": KINDS[rule],
        "level": RULES[rule].2,
        "message": {"text": told},
        "locations": [location],
        // Identifies the same result in the next run.
        "partialFingerprints": {
            "assayGate/v1": format!("{}/{name}/{}", report.project, judged.metric.name),
        },
    })
}

//! Undetected changes as SARIF 2.1.0 (OASIS) for code scanning: one result per survivor at its
//! location, with advice. A survivor accepted by a comment is a suppressed result.

use super::survivor::Survivor;
use super::survivors;
use super::{advice, headline};
use crate::charts::capital;
use crate::names::clean;
use crate::sarif::{document, uri};
use assay_analysis::mutation::Scores;
use assay_data::mutation::{Fate, Mutation};
use serde_json::{Value, json};

/// Maximum number of tests named in a message.
const MOST_TESTS: usize = 3;
/// Rule for functions without tests, placed before the rules for kinds of change.
const UNUSED: &str = "no-test";

/// Returns the SARIF document. `version` is the version of the program.
pub fn sarif(mutation: &Mutation, scores: &Scores, version: &str) -> Value {
    let rules: Vec<Value> = std::iter::once(rule(UNUSED, "No test uses a function", "warning"))
        .chain(advice::known().map(|kind| {
            let level = if advice::rank(kind) == 0 { "error" } else { "warning" };
            let told = format!("No test notices a change of this kind: {kind}");
            rule(&format!("survived-{kind}"), &told, level)
        }))
        .collect();
    let kept = mutation.mutants.iter().filter(|own| own.fate == Fate::Kept);
    let kept = kept.filter_map(|own| Survivor::of(mutation, own));
    let survived = survivors::of(mutation);
    let results: Vec<Value> =
        survived.iter().copied().chain(kept).map(|own| result(&own)).collect();
    let automation = json!({
        "id": "assay-mutate/",
        "description": {"text": headline(mutation, &scores.whole)},
    });
    document(version, &rules, &automation, &results)
}

fn rule(id: &str, told: &str, level: &str) -> Value {
    json!({
        "id": id,
        "shortDescription": {"text": format!("{told}.")},
        "defaultConfiguration": {"level": level},
    })
}

fn result(survivor: &Survivor<'_>) -> Value {
    let own = survivor.own;
    let is_used = own.fate != Fate::Uncovered;
    let (id, index) = match is_used {
        true => (format!("survived-{}", own.operator), 1 + advice::rank(&own.operator)),
        false => (UNUSED.to_owned(), 0),
    };
    // A survivor of the most severe kind shows that the tests run the code without checking
    // anything.
    let level = if is_used && advice::rank(&own.operator) == 0 { "error" } else { "warning" };
    let name = clean(&survivor.unit.name);
    let mut text = format!("{name}: {}.", survivor.said());
    if own.fate == Fate::Kept {
        text = format!("{name}: {}; accepted by a comment.", own.what);
    } else {
        let ran = survivor.ran(MOST_TESTS);
        if !ran.is_empty() {
            text += &format!(" {}.", capital(&ran));
        }
        text += &format!(" To notice it: {}.", advice::plain(&advice::of(survivor)));
    }
    let mut document = json!({
        "ruleId": id,
        "ruleIndex": index,
        "kind": "fail",
        "level": level,
        "message": {"text": clean(&text)},
        "locations": [{
            "physicalLocation": {
                "artifactLocation": {"uri": uri(&survivor.file.path)},
                "region": region(survivor),
            },
            "logicalLocations": [{"fullyQualifiedName": name, "kind": "function"}],
        }],
        // Identifies the same result in the next run.
        "partialFingerprints": {"assayMutant/v1": own.id},
    });
    if own.fate == Fate::Kept {
        let reason = clean(own.reason.as_deref().unwrap_or_default());
        document["suppressions"] = json!([{"kind": "inSource", "justification": reason}]);
    }
    document
}

/// Returns the region of a survivor. Columns count characters, and the end is exclusive.
fn region(survivor: &Survivor<'_>) -> Value {
    let own = survivor.own;
    if own.fate == Fate::Uncovered {
        return json!({"startLine": survivor.unit.begin, "endLine": survivor.unit.end});
    }
    json!({
        "startLine": own.begin.line,
        "startColumn": own.begin.column,
        "endLine": own.end.line,
        "endColumn": own.end.column,
    })
}

//! What all answers share that are written as SARIF 2.1.0 (OASIS), for code scanning: the frame of the document, and paths as it wants them.

use serde_json::{Value, json};
use std::fmt::Write;

/// A document of one run. `version`: of the program; `automation`: by what the same analysis is known in the next run, and what came of it.
pub(crate) fn document(
    version: &str,
    rules: &[Value],
    automation: &Value,
    results: &[Value],
) -> Value {
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "assay", "version": version, "rules": rules}},
            "automationDetails": automation,
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// A path as a reference of RFC 3986: all but its unreserved characters and slashes are numbers.
pub(crate) fn uri(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path.trim_start_matches("./").bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _infallible = write!(text, "%{byte:02X}");
        }
    }
    text
}

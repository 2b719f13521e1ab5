//! Parts shared by reports written as SARIF 2.1.0 (OASIS) for code scanning: the frame of the
//! document, and paths in the required form.

use serde_json::{Value, json};
use std::fmt::Write;

/// Returns a document with one run. `version` is the version of the program, and `automation`
/// identifies the same analysis in the next run.
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

/// Returns a path as an RFC 3986 reference, in which all characters except unreserved ones and
/// slashes are percent-encoded.
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

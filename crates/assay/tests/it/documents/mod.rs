//! Documents show the actual output of the binary, their links have targets, and each of their
//! figures was measured.

mod figures;
mod pages;
mod picture;

use std::path::{Path, PathBuf};

/// Returns the top directory of the sources.
fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the sources")
}

fn read(path: &str) -> String {
    let place = top().join(path);
    std::fs::read_to_string(&place).unwrap_or_else(|error| unreachable!("{path}: {error}"))
}

#[test]
fn the_screens_in_the_documents_are_real() {
    // Without a terminal the screen is 80 columns wide unless this overrides it.
    trycmd::TestCases::new()
        .env("COLUMNS", "80")
        // No document contains stored state of this machine.
        .env("XDG_STATE_HOME", "/nowhere")
        .register_bin("assay", trycmd::cargo::cargo_bin!("assay"))
        .case("../../docs/tutorial/*.md")
        .case("../../docs/guides/from-ministat.md")
        .case("../../docs/guides/how-many-runs.md")
        .case("../../docs/guides/from-compare-py.md")
        .case("../../docs/guides/from-benchstat.md")
        .case("../../docs/guides/profiling.md")
        .case("../../docs/guides/tests.md")
        .case("../../docs/concepts/four-step-check.md")
        .case("../../docs/reference/cli.md");
}

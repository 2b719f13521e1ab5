//! The screens in the tutorial, in the concepts and in the reference are what the binary prints: every `console` block is run.

#[test]
fn the_screens_in_the_documents_are_real() {
    // Without a terminal the screen is 80 columns wide unless this says otherwise.
    trycmd::TestCases::new()
        .env("COLUMNS", "80")
        // What is kept of this machine is in no document.
        .env("XDG_STATE_HOME", "/nowhere")
        .register_bin("assay", trycmd::cargo::cargo_bin!("assay"))
        .case("../../docs/tutorial/*.md")
        .case("../../docs/guides/from-ministat.md")
        .case("../../docs/guides/how-many-runs.md")
        .case("../../docs/guides/from-compare-py.md")
        .case("../../docs/guides/from-benchstat.md")
        .case("../../docs/guides/profiling.md")
        .case("../../docs/guides/tests.md")
        .case("../../docs/concepts/synthetic-data.md")
        .case("../../docs/concepts/four-step-check.md")
        .case("../../docs/reference/cli.md");
}

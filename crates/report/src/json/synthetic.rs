//! The output of `assay simulate`, and how it can be reproduced.

use super::values::view;
use super::{Head, Meta};
use assay_analysis::mock::{Distribution, Recipe};

view! {
    /// Synthetic data written to a file.
    Synthetic of (recipe: &Recipe, metric: &str, unit: &str, meta: &Meta) {
        /// Layout version and verb.
        #[serde(flatten)]
        head: Head = Head::of("simulate"),
        /// The file with the values.
        file: Option<String> => meta.file,
        /// Number of values of every subject or, if `blocks` is true, number of blocks.
        n: u64 => recipe.count,
        /// The subjects that the values belong to.
        subjects: Vec<Drawn>,
        /// True if one value of every subject was drawn per block.
        blocks: bool,
        /// Name of the metric.
        metric: String => metric,
        /// Base unit of the metric.
        unit: String => unit,
        /// The seed of every random choice.
        seed: u64,
        /// The tool and version that made this report, such as `assay 0.1.0`.
        tool: String => meta.tool,
        /// The command line.
        argv: Vec<String> => meta.argv,
    }
}

view! {
    /// A subject of synthetic data.
    Drawn of (subject: &(String, Distribution)) {
        /// Name of the subject.
        name: String => subject.0,
        /// Distribution of the subject, in the syntax of `--distribution`.
        distribution: String = subject.1.to_string(),
    }
}

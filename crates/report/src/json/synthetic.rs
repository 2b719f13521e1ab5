//! What `assay simulate` wrote, and how it can be drawn again.

use super::{Head, Meta};
use assay_analysis::mock::Recipe;
use schemars::JsonSchema;
use serde::Serialize;

/// Synthetic data that were written to a file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Synthetic {
    #[serde(flatten)]
    head: Head,
    /// The file that has the values.
    pub file: Option<String>,
    /// Values of every subject; where `blocks` is true, blocks.
    pub n: u64,
    /// Whose values they are.
    pub subjects: Vec<Drawn>,
    /// Whether one value of every subject was drawn per block.
    pub blocks: bool,
    /// Name of the metric.
    pub metric: String,
    /// Its base unit.
    pub unit: String,
    /// The seed of every random choice.
    pub seed: u64,
    /// What made this report, such as `assay 0.1.0`.
    pub tool: String,
    /// The command line.
    pub argv: Vec<String>,
}

/// A subject of synthetic data.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Drawn {
    /// Its name.
    pub name: String,
    /// Its distribution, as it can be typed again.
    pub distribution: String,
}

impl Synthetic {
    /// By its recipe, with name and base unit of the metric.
    pub fn new(recipe: &Recipe, (metric, unit): (&str, &str), meta: Meta) -> Self {
        Self {
            head: Head::of("simulate"),
            file: meta.file,
            n: recipe.count.into(),
            subjects: recipe
                .subjects
                .iter()
                .map(|(name, distribution)| Drawn {
                    name: name.clone(),
                    distribution: distribution.to_string(),
                })
                .collect(),
            blocks: recipe.blocks,
            metric: metric.to_owned(),
            unit: unit.to_owned(),
            seed: recipe.seed,
            tool: meta.tool,
            argv: meta.argv,
        }
    }
}

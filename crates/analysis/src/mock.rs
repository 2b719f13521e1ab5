//! Synthetic data for experiments, whose true parameters are known by construction.
//!
//! Such data show how a test or an interval behaves. A [`Recipe`] contains the [`Distribution`] of
//! each subject and the effects to add: outliers, memory, drift, a periodic tick, a coarse clock.
//! [`Simulation`] generates the numbers one by one. All randomness comes from the recipe's seed, so
//! the same recipe gives the same numbers.
//!
//! Memory (`memory`, φ) correlates every random draw with the previous one: the uniform numbers
//! from which a distribution is made are Φ(z), where z follows z' = φ z + √(1 − φ²) ε with standard
//! normal ε. So each value keeps its exact distribution, and a mixture stays in a mode for a while,
//! like a machine whose clock frequency changes. For a normal distribution this is the usual AR(1)
//! process; for others the rank correlation of neighbors is near φ.
//!
//! ```
//! use assay_analysis::mock::{Distribution, Recipe, Simulation};
//!
//! let distribution: Distribution = "4000 + lognormal(5, 0.2)".parse()?;
//! let recipe = Recipe { subjects: vec![("s1".to_owned(), distribution)], count: 3, seed: 1, ..Recipe::default() };
//! let values: Vec<f64> = Simulation::new(recipe)?.map(|drawn| drawn.map(|d| d.value)).collect::<Result<_, _>>()?;
//! assert!(values.len() == 3 && values.iter().all(|&value| value > 4000.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod distribution;
mod draw;
mod effects;

pub use distribution::{Distribution, DistributionError, MOST_PARTS, written};
pub use draw::{DrawnValue, Simulation};
pub use effects::{Change, EffectError, Numbers, Outliers, Tick};

/// Parameters of synthetic data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recipe {
    /// Name and distribution of each subject; at least one.
    pub subjects: Vec<(String, Distribution)>,
    /// Number of values per subject; with `blocks`, the number of blocks.
    pub count: u32,
    /// Seed of all random choices.
    pub seed: u64,
    /// True if each block has one value of every subject, in a new random order; otherwise subjects
    /// are drawn one after the other.
    pub blocks: bool,
    /// φ of the memory, between −1 and 1 exclusive; 0 for independent values.
    pub memory: f64,
    /// Occasional values that are much larger.
    pub outliers: Option<Outliers>,
    /// Increase of the last value over the first; it grows linearly in between.
    pub drift: Option<Change>,
    /// Increase of every n-th value. With `blocks`, the values of all subjects are counted
    /// together.
    pub tick: Option<Tick>,
    /// Resolution of the clock: values are rounded to multiples of this positive step.
    pub step: Option<f64>,
}

/// Reasons why data can't be generated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MockError {
    /// There are no subjects or no values per subject.
    #[error("there is nothing to simulate: at least one value of one distribution is needed")]
    Nothing,
    /// φ is not between −1 and 1 (with φ = 1, no value would ever change).
    #[error("the memory must lie between -1 and 1, both excluded; it is {0}")]
    Memory(f64),
    /// The step is not positive.
    #[error("the clock's step must be a positive number; it is {0}")]
    Step(f64),
    /// A value exceeded the range of a double.
    #[error(
        "value {number} of '{subject}' is too large to be a number: the distribution `{distribution}` reaches beyond what a double can hold"
    )]
    NotFinite {
        /// Name of the subject.
        subject: String,
        /// Number of the value among those of its subject, counted from 1.
        number: u64,
        /// Distribution of the subject.
        distribution: String,
    },
}

#[cfg(test)]
mod tests;

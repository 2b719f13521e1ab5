//! Mock data to learn with: numbers whose truth is known, because somebody chose it.
//!
//! Whoever wants to know what a test or an interval does tries it on data made for that. A
//! [`Recipe`] says which [`Distribution`] each subject follows and what goes wrong on the way:
//! outliers, memory, drift, a periodic tick, a coarse clock. [`Simulation`] hands out the numbers
//! one by one. Everything random comes from the recipe's seed; the same recipe gives the same
//! numbers. Nothing here judges or describes samples.
//!
//! Memory (`memory`, φ) makes every random choice behind a value remember the one before it: the
//! uniform numbers that a distribution is made of are Φ(z), where z follows z' = φ z + √(1 − φ²) ε
//! with standard normal ε. So each value still has the distribution to the letter, whatever the
//! distribution is, and a mixture stays in a mode for a while, as a machine does that changes its
//! clock. For a normal distribution this is the AR(1) process of the textbooks; for others the rank
//! correlation of neighbours is near φ.
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
pub use draw::{Drawn, Simulation};
pub use effects::{Change, EffectError, Numbers, Outliers, Tick};

/// What is to be made up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recipe {
    /// The subjects by name, each with its distribution; at least one.
    pub subjects: Vec<(String, Distribution)>,
    /// Values of every subject; with `blocks`, the number of blocks.
    pub count: u32,
    /// Seed of every random choice.
    pub seed: u64,
    /// One value of every subject per block, in a new random order, instead of one subject after
    /// the other.
    pub blocks: bool,
    /// φ of the memory, above −1 and below 1; 0: every value for itself.
    pub memory: f64,
    /// Some values that are much larger.
    pub outliers: Option<Outliers>,
    /// What the last value has more than the first; in between it grows evenly.
    pub drift: Option<Change>,
    /// What every so manieth value has more than the others.
    pub tick: Option<Tick>,
    /// Resolution of the clock: values are rounded to multiples of it. Positive.
    pub step: Option<f64>,
}

/// Why numbers can't be made up.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MockError {
    /// There is no subject, or no value of it.
    #[error("there is nothing to simulate: at least one value of one distribution is needed")]
    Nothing,
    /// With φ = 1 nothing would ever change.
    #[error("the memory must lie between -1 and 1, both excluded; it is {0}")]
    Memory(f64),
    /// A step has to be a size.
    #[error("the clock's step must be a positive number; it is {0}")]
    Step(f64),
    /// A value became too large for a number.
    #[error(
        "value {number} of '{subject}' is too large to be a number: the distribution `{distribution}` reaches beyond what a double can hold"
    )]
    NotFinite {
        /// Name of the subject.
        subject: String,
        /// Which of its values, from 1.
        number: u64,
        /// Its distribution.
        distribution: String,
    },
}

#[cfg(test)]
mod tests;

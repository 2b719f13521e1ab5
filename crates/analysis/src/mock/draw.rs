//! Draws the numbers of a recipe one by one.
//!
//! Distributions with a known inverse distribution function are drawn by inversion of one uniform
//! number. Student's t is drawn by Bailey's polar method (1994, Mathematics of Computation 62, 779:
//! t = √(ν (u^(−2/ν) − 1)) cos 2πv), here with two uniform numbers instead of rejection, so that
//! each value uses the same number of draws. The generator is PCG (128-bit state, 64-bit output).
//! There is one for every subject and one for the order within blocks, so that the draws of one
//! subject do not depend on the others.

use super::{Change, Distribution, MockError, Recipe};
use assay_stats::normal;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::f64::consts::TAU;

/// A drawn value, with its position in the simulated experiment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawnValue {
    /// Index of the subject in the recipe.
    pub subject: usize,
    /// Block and position within the block, both counted from 0; `None` for data without blocks.
    pub place: Option<(u32, u32)>,
    /// The value, which is always finite.
    pub value: f64,
}

/// Generates the values of a recipe in the order in which they would be measured: block by block,
/// or one subject after the other.
#[derive(Clone, Debug)]
pub struct Simulation {
    recipe: Recipe,
    sources: Vec<Source>,
    order: Vec<usize>,
    shuffling: Pcg64Mcg,
    /// Number of values generated so far.
    done: u64,
}

impl Simulation {
    /// Starts a simulation.
    ///
    /// # Errors
    /// Returns an error if there are no subjects or no values to draw, or if the memory or the step
    /// is invalid.
    pub fn new(recipe: Recipe) -> Result<Self, MockError> {
        if recipe.subjects.is_empty() || recipe.count == 0 {
            return Err(MockError::Nothing);
        }
        if !(recipe.memory > -1.0 && recipe.memory < 1.0) {
            return Err(MockError::Memory(recipe.memory));
        }
        if let Some(step) = recipe.step.filter(|&step| !(step > 0.0 && step.is_finite())) {
            return Err(MockError::Step(step));
        }
        let source = |index: usize| Source {
            random: generator(recipe.seed, index as u64 + 1),
            memory: recipe.memory,
            remembered: Vec::new(),
        };
        Ok(Self {
            sources: (0..recipe.subjects.len()).map(source).collect(),
            order: (0..recipe.subjects.len()).collect(),
            shuffling: generator(recipe.seed, 0),
            done: 0,
            recipe,
        })
    }

    /// Returns the next value's subject, its place, its index, and the elapsed share of the time,
    /// from 0 to 1. Index and share cover all subjects if there are blocks, otherwise one subject.
    fn turn(&mut self) -> (usize, Option<(u32, u32)>, u64, f64) {
        let (subjects, count) = (self.order.len() as u64, u64::from(self.recipe.count));
        let part = |index: u64, of: u64| if of > 1 { index as f64 / (of - 1) as f64 } else { 0.0 };
        if !self.recipe.blocks {
            let (subject, index) = (self.done / count, self.done % count);
            return (subject as usize, None, index, part(index, count));
        }
        let (block, position) = (self.done / subjects, self.done % subjects);
        if position == 0 {
            for last in (1..self.order.len()).rev() {
                let other = (uniform(&mut self.shuffling) * (last + 1) as f64) as usize;
                self.order.swap(last, other);
            }
        }
        let place = Some((block as u32, position as u32));
        (self.order[position as usize], place, self.done, part(self.done, subjects * count))
    }
}

impl Iterator for Simulation {
    type Item = Result<DrawnValue, MockError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done >= self.sources.len() as u64 * u64::from(self.recipe.count) {
            return None;
        }
        let (subject, place, index, passed) = self.turn();
        self.done += 1;
        let (recipe, source) = (&self.recipe, &mut self.sources[subject]);
        let (name, distribution) = &recipe.subjects[subject];
        let mut value = source.draw(distribution, &mut 0);
        if let Some(outliers) = recipe.outliers
            && uniform(&mut source.random) < outliers.share
        {
            value = outliers.change.applied_to(value);
        }
        if let Some(drift) = recipe.drift {
            value = drift.scaled(passed).applied_to(value);
        }
        if let Some(tick) = recipe.tick.filter(|tick| (index + 1) % u64::from(tick.period) == 0) {
            value = tick.change.applied_to(value);
        }
        if let Some(step) = recipe.step {
            value = rounded(value, step);
        }
        if value.is_finite() {
            return Some(Ok(DrawnValue { subject, place, value }));
        }
        let number = place.map_or(index, |(block, _)| u64::from(block)) + 1;
        Some(Err(MockError::NotFinite {
            subject: name.clone(),
            number,
            distribution: distribution.to_string(),
        }))
    }
}

impl Change {
    /// Returns the change multiplied by `part`.
    fn scaled(self, part: f64) -> Self {
        match self {
            Self::Relative(fraction) => Self::Relative(fraction * part),
            Self::Absolute(amount) => Self::Absolute(amount * part),
        }
    }

    fn applied_to(self, value: f64) -> f64 {
        match self {
            Self::Relative(fraction) => value * (1.0 + fraction),
            Self::Absolute(amount) => value + amount,
        }
    }
}

/// Rounds to the nearest multiple of a step. If 1 is a multiple of the step, divides by a whole
/// number to avoid the rounding error of multiplying by a decimal.
fn rounded(value: f64, step: f64) -> f64 {
    let steps = (value / step).round();
    let inverse = (1.0 / step).round();
    if step < 1.0 && ((1.0 / step) / inverse - 1.0).abs() < 1e-12 {
        steps / inverse
    } else {
        steps * step
    }
}

/// The random numbers of one subject.
#[derive(Clone, Debug)]
struct Source {
    random: Pcg64Mcg,
    memory: f64,
    /// For each random choice of the distribution, the normal number of its last draw; NaN before
    /// the first. Used only with memory.
    remembered: Vec<f64>,
}

impl Source {
    /// Draws from a distribution. `choice` counts the random choices of the whole distribution, so
    /// that each has its own memory.
    fn draw(&mut self, distribution: &Distribution, choice: &mut usize) -> f64 {
        match distribution {
            Distribution::Constant(number) => *number,
            Distribution::Uniform { low, high } => low + (high - low) * self.uniform(choice),
            Distribution::Normal { mean, sd } => mean + sd * self.normal(choice),
            Distribution::LogNormal { mean, sd } => (mean + sd * self.normal(choice)).exp(),
            Distribution::Exponential { mean } => -mean * self.uniform(choice).ln(),
            Distribution::Student { df } => {
                let (u, v) = (self.uniform(choice), self.uniform(choice));
                // u^(-2/df) - 1, accurate near 0.
                (df * (-2.0 / df * u.ln()).exp_m1()).sqrt() * (TAU * v).cos()
            }
            Distribution::Pareto { shape, least } => {
                least * (-self.uniform(choice).ln() / shape).exp()
            }
            Distribution::Negative(distribution) => -self.draw(distribution, choice),
            Distribution::Sum(left, right) => self.draw(left, choice) + self.draw(right, choice),
            Distribution::Difference(left, right) => {
                self.draw(left, choice) - self.draw(right, choice)
            }
            Distribution::Product(left, right) => {
                self.draw(left, choice) * self.draw(right, choice)
            }
            Distribution::Mix(parts) => self.draw_one_of(parts, choice),
        }
    }

    fn draw_one_of(&mut self, parts: &[(f64, Distribution)], choice: &mut usize) -> f64 {
        let mut left = self.uniform(choice);
        let mut value = f64::NAN;
        let mut found = false;
        for (index, (share, distribution)) in parts.iter().enumerate() {
            let is_it = !found && (left < *share || index + 1 == parts.len());
            left -= share;
            if is_it {
                found = true;
                value = self.draw(distribution, choice);
            } else if self.memory != 0.0 {
                *choice += choices(distribution);
            }
        }
        value
    }

    /// Returns the next uniform number of this choice, between 0 and 1 exclusive.
    fn uniform(&mut self, choice: &mut usize) -> f64 {
        if self.memory == 0.0 {
            return uniform(&mut self.random);
        }
        // Keeps the result strictly between 0 and 1.
        normal::cdf(self.remembering(choice)).clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON)
    }

    fn normal(&mut self, choice: &mut usize) -> f64 {
        if self.memory == 0.0 {
            return normal::quantile(uniform(&mut self.random));
        }
        self.remembering(choice)
    }

    /// Returns the next normal number of this choice, correlated with the previous one.
    fn remembering(&mut self, choice: &mut usize) -> f64 {
        let index = *choice;
        *choice += 1;
        if self.remembered.len() <= index {
            self.remembered.resize(index + 1, f64::NAN);
        }
        let fresh = normal::quantile(uniform(&mut self.random));
        let before = self.remembered[index];
        let next = if before.is_nan() {
            fresh
        } else {
            self.memory * before + (1.0 - self.memory * self.memory).sqrt() * fresh
        };
        self.remembered[index] = next;
        next
    }
}

/// Returns the maximum number of random choices of a distribution.
fn choices(distribution: &Distribution) -> usize {
    match distribution {
        Distribution::Constant(_) => 0,
        Distribution::Uniform { .. }
        | Distribution::Normal { .. }
        | Distribution::LogNormal { .. }
        | Distribution::Exponential { .. }
        | Distribution::Pareto { .. } => 1,
        Distribution::Student { .. } => 2,
        Distribution::Negative(distribution) => choices(distribution),
        Distribution::Sum(left, right)
        | Distribution::Difference(left, right)
        | Distribution::Product(left, right) => choices(left) + choices(right),
        Distribution::Mix(parts) => {
            1 + parts.iter().map(|(_, distribution)| choices(distribution)).sum::<usize>()
        }
    }
}

/// Returns a uniform number between 0 and 1 exclusive: the midpoint of one of 2^52 equal intervals.
fn uniform(random: &mut Pcg64Mcg) -> f64 {
    const PARTS: f64 = (1_u64 << 52) as f64;
    ((random.next_u64() >> 12) as f64 + 0.5) / PARTS
}

/// Returns a separate generator for each number `which`. The finalizer of SplitMix64 (Steele, Lea &
/// Flood 2014) mixes the seed and the number, so that neighboring generators are unrelated.
fn generator(seed: u64, which: u64) -> Pcg64Mcg {
    let scattered = |mut z: u64| {
        z = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    Pcg64Mcg::seed_from_u64(scattered(scattered(seed) ^ which))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_rounded_to_whole_steps_of_whatever_size() {
        assert_eq!(
            (rounded(0.123_456, 0.01), rounded(7.3, 2.0), rounded(-7.3, 2.0)),
            (0.12, 8.0, -8.0)
        );
        // With a step of 0.3, 1 is not a multiple.
        assert_eq!(rounded(0.35, 0.3), 0.3);
    }
}

//! Finds where in a sequence of positions the level changes, from noisy comparisons in blocks, as a
//! posterior distribution over the positions.
//!
//! The positions ("places") have a known order, and there is one step: all places before it share
//! one level, and all places from it on share another. Each block has values of a few places,
//! measured close together. The model of a value is
//!
//! ```text
//! value = level of its block + step · [place is at or behind the step] + the place's own level + noise
//! ```
//!
//! - The levels of blocks are free, so drift from block to block cancels.
//! - Each place has its own level, normal around 0 with one unknown standard deviation: two builds
//!   of a program differ by their memory layout, and measuring one of them again does not average
//!   that out. The standard deviation is integrated over a grid, weighted by how well each of its
//!   values fits all measured places.
//! - Noise may have heavy tails, so levels are Huber's M-estimates, and the linear model is that of
//!   pseudo-values with their variance (Huber, *Robust Statistics*, 1981, ch. 7.10; Bickel,
//!   "Another look at robustness", Scandinavian Journal of Statistics 3, 1976). With few degrees of
//!   freedom the variance is that of Student's t.
//! - The step has a half-normal prior twice as wide as the difference between the two ends, and is
//!   integrated out. All places are equally probable a priori.
//!
//! Measuring where the posterior is halved, and weighting all answers instead of trusting any
//! single one, are ideas of Horstein ("Sequential transmission using noiseless feedback", IEEE
//! Transactions on Information Theory 9, 1963) and Waeber, Frazier and Henderson ("Bisection search
//! with noisy responses", SIAM Journal on Control and Optimization 51, 2013); Karp and Kleinberg
//! ("Noisy binary search and its applications", SODA 2007) give bounds. They assume a known
//! probability of a wrong answer; here it is estimated from the values.
//!
//! This module does not choose the next place to measure.

use crate::{descriptive, normal};

/// Residuals beyond this many standard deviations are clipped.
const REACH: f64 = 1.5;
/// Maximum number of fitting rounds; a robust fit hardly changes after a few.
const ROUNDS: usize = 20;
/// Standard deviations of the places' own levels, as shares of the difference between the ends,
/// with their prior probabilities. Until many places have data, a search must not be certain that
/// all builds are alike.
const OWN_LEVELS: [(f64, f64); 6] =
    [(0.0, 0.30), (0.0625, 0.20), (0.125, 0.20), (0.25, 0.15), (0.5, 0.10), (1.0, 0.05)];
/// Standard deviation of the step's prior, as a multiple of the difference between the ends.
const PRIOR_OF_STEP: f64 = 2.0;

/// Measured values, each with the index of its place.
type Block = Vec<(usize, f64)>;

/// The posterior distribution of the step's place.
#[derive(Clone, Debug, PartialEq)]
pub struct StepPlace {
    /// For each place, the probability that it is the first after the step; 0 for the first place.
    pub probabilities: Vec<f64>,
    /// Posterior mean of the step, on the scale of the values.
    pub step: f64,
    /// Standard deviation of the noise of a value, as it affects robust estimates.
    pub noise: f64,
    /// Standard deviation of the places' own levels: the square root of their posterior mean
    /// square.
    pub own: f64,
}

impl StepPlace {
    /// Returns the probability that the step is at or before this place, that is, that the place
    /// has the new level.
    pub fn is_behind(&self, place: usize) -> f64 {
        self.probabilities.iter().take(place + 1).sum()
    }
}

/// Finds the step among `places` places.
///
/// Each block contains the values of some places, each place at most once. Blocks with fewer than
/// two values are ignored. Returns `None` unless both ends were measured often enough and differ.
///
/// O(rounds · values + measured places³).
pub fn step_place(places: usize, blocks: &[Vec<(usize, f64)>]) -> Option<StepPlace> {
    let usable = |block: &&Vec<(usize, f64)>| {
        block.len() > 1 && block.iter().all(|(place, value)| *place < places && value.is_finite())
    };
    let blocks: Vec<&Vec<(usize, f64)>> = blocks.iter().filter(usable).collect();
    let mut measured: Vec<usize> = blocks.iter().flat_map(|b| b.iter().map(|v| v.0)).collect();
    measured.sort_unstable();
    measured.dedup();
    let (&first, &last) = (measured.first()?, measured.last()?);
    if first != 0 || last + 1 != places || places < 2 {
        return None;
    }
    let mut index = vec![0; places];
    measured.iter().enumerate().for_each(|(own, &place)| index[place] = own);
    let own = |block: &&Vec<(usize, f64)>| {
        block.iter().map(|&(place, value)| (index[place], value)).collect::<Vec<_>>()
    };
    let fit = Fit::of(measured.len(), blocks.iter().map(own).collect())?;
    let ends = fit.levels[measured.len() - 1] - fit.levels[0];
    if ends == 0.0 || !ends.is_finite() {
        return None;
    }
    Some(posterior(places, &measured, &fit, ends))
}

/// Robust estimates of the levels of all measured places, and the resulting linear model.
struct Fit {
    /// The levels relative to the first place, whose level is 0.
    levels: Vec<f64>,
    /// The information matrix of the levels, divided by the noise variance. Its rows and columns
    /// each sum to 0.
    information: Matrix,
    /// The product of `information` and the levels.
    score: Vec<f64>,
    noise: f64,
}

impl Fit {
    fn of(places: usize, mut blocks: Vec<Vec<(usize, f64)>>) -> Option<Self> {
        let values: usize = blocks.iter().map(Vec::len).sum();
        let free = values.checked_sub(blocks.len() + places - 1).filter(|&free| free > 4)? as f64;
        let mut laplacian = Matrix::new(places);
        for block in &blocks {
            let share = 1.0 / block.len() as f64;
            for &(a, _) in block {
                laplacian.add(a, a, 1.0);
                block.iter().for_each(|&(b, _)| laplacian.add(a, b, -share));
            }
        }
        // Fixing the first level at 0 determines all connected levels.
        let mut grounded = laplacian.clone();
        grounded.add(0, 0, 1.0);
        let factor = grounded.factor()?;
        let raw = blocks.clone();
        let mut levels = medians(places, &raw);
        let mut score = vec![0.0; places];
        let mut variance = 0.0;
        for round in 0..ROUNDS {
            // The first round only clips values far from the medians.
            let mut moved = f64::INFINITY;
            if round > 0 {
                score = centred_sums(places, &blocks);
                let next = solve(&factor, &score);
                let base = next[0];
                let steps = next.iter().zip(&levels).map(|(n, l)| (n - base - l).abs());
                moved = steps.fold(0.0, f64::max);
                levels = next.iter().map(|level| level - base).collect();
            }
            let residuals = residuals(&raw, &blocks, &levels, round == 0);
            let flat: Vec<f64> = residuals.iter().flatten().copied().collect();
            let sizes: Vec<f64> = flat.iter().map(|r| r.abs()).collect();
            // The standard deviation of normal noise that has this median absolute residual.
            let scale = descriptive::median(&sizes) / normal::quantile(0.75);
            let reach = if scale > 0.0 { REACH * scale } else { f64::INFINITY };
            let inside = sizes.iter().filter(|&&size| size <= reach).count() as f64;
            let slope = (inside / values as f64).max(0.1);
            let brought = |r: f64| r.clamp(-reach, reach) / slope;
            variance = flat.iter().map(|&r| brought(r) * brought(r)).sum::<f64>() / free;
            if moved <= 1e-4 * variance.sqrt() / (values as f64).sqrt() {
                break;
            }
            for ((block, raw), residuals) in blocks.iter_mut().zip(&raw).zip(&residuals) {
                for ((own, raw), r) in block.iter_mut().zip(raw).zip(residuals) {
                    own.1 = raw.1 - r + brought(*r);
                }
            }
        }
        let spread = variance * free / (free - 2.0);
        if spread.is_nan() || spread < 0.0 {
            return None;
        }
        // Noiseless values are assumed to have a tiny amount of noise, so that results remain
        // finite.
        let largest = levels.iter().fold(0.0, |most: f64, level| most.max(level.abs()));
        let spread = spread.max((1e-6 * largest).powi(2)).max(f64::MIN_POSITIVE);
        laplacian.scale(1.0 / spread);
        score.iter_mut().for_each(|own| *own /= spread);
        Some(Self { levels, information: laplacian, score, noise: spread.sqrt() })
    }
}

/// Returns, for each place, the sum of its values after subtracting from each the mean of its
/// block.
fn centred_sums(places: usize, blocks: &[Vec<(usize, f64)>]) -> Vec<f64> {
    let mut sums = vec![0.0; places];
    for block in blocks {
        let mean = block.iter().map(|v| v.1).sum::<f64>() / block.len() as f64;
        block.iter().for_each(|&(place, value)| sums[place] += value - mean);
    }
    sums
}

/// Returns, for each place, the median of its values after subtracting from each the median of its
/// block. This is the starting point of the robust fit.
fn medians(places: usize, blocks: &[Vec<(usize, f64)>]) -> Vec<f64> {
    let mut own = vec![Vec::new(); places];
    for block in blocks {
        let values: Vec<f64> = block.iter().map(|v| v.1).collect();
        let median = descriptive::median(&values);
        block.iter().for_each(|&(place, value)| own[place].push(value - median));
    }
    own.iter().map(|own| descriptive::median(own)).collect()
}

/// Returns the residuals of the fit. The level of a block is the mean of its pseudo-values after
/// subtracting the levels of their places, or the median if `is_first`.
fn residuals(
    raw: &[Vec<(usize, f64)>],
    pseudo: &[Vec<(usize, f64)>],
    levels: &[f64],
    is_first: bool,
) -> Vec<Vec<f64>> {
    let of = |(raw, pseudo): (&Block, &Block)| {
        let rest: Vec<f64> = pseudo.iter().map(|&(place, value)| value - levels[place]).collect();
        let block = match is_first {
            true => descriptive::median(&rest),
            false => rest.iter().sum::<f64>() / rest.len() as f64,
        };
        raw.iter().map(|&(place, value)| value - levels[place] - block).collect()
    };
    raw.iter().zip(pseudo).map(of).collect()
}

fn posterior(places: usize, measured: &[usize], fit: &Fit, ends: f64) -> StepPlace {
    let count = measured.len();
    // Makes the step go up: a step down is a step up of the negated values.
    let sign = ends.signum();
    let size = ends.abs();
    let score: Vec<f64> = fit.score.iter().map(|own| own * sign).collect();
    let prior = 1.0 / (PRIOR_OF_STEP * size).powi(2);
    // The gap, log weight, mean of the step, and variance of own levels, for each gap between
    // measured places and each standard deviation of own levels.
    let mut found: Vec<(usize, f64, f64, f64)> = Vec::new();
    for (share, probability) in OWN_LEVELS {
        let own = (share * size).powi(2);
        let mut cover = fit.information.clone();
        cover.scale(own);
        (0..count).for_each(|place| cover.add(place, place, 1.0));
        let Some(factor) = cover.factor() else { continue };
        let solved = solve(&factor, &score);
        let common = probability.ln() + own * dot(&score, &solved) / 2.0 - half_log_det(&factor);
        for gap in 1..count {
            let pattern: Vec<f64> =
                (0..count).map(|place| if place >= gap { 1.0 } else { 0.0 }).collect();
            let weights = solve(&factor, &pattern);
            let precision = dot(&fit.information.times(&pattern), &weights) + prior;
            let mean = dot(&score, &weights) / precision;
            let z = mean * precision.sqrt();
            let evidence = z * z / 2.0 - precision.ln() / 2.0 + normal::cdf(z).ln();
            // Every place within the gap is equally probable.
            let wide = (measured[gap] - measured[gap - 1]) as f64;
            found.push((gap, common + evidence + wide.ln(), mean.max(0.0), own));
        }
    }
    let most = found.iter().map(|f| f.1).fold(f64::NEG_INFINITY, f64::max);
    let weight = |log: f64| if most.is_finite() { (log - most).exp() } else { 1.0 };
    let total: f64 = found.iter().map(|f| weight(f.1)).sum();
    let mut probabilities = vec![0.0; places];
    let (mut step, mut square) = (0.0, 0.0);
    for (gap, log, mean, own) in found {
        let probability = weight(log) / total;
        step += probability * mean;
        square += probability * own;
        let (from, to) = (measured[gap - 1] + 1, measured[gap]);
        let each = probability / (to + 1 - from) as f64;
        probabilities[from..=to].iter_mut().for_each(|own| *own += each);
    }
    StepPlace { probabilities, step: sign * step, noise: fit.noise, own: square.sqrt() }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A symmetric matrix, by rows.
#[derive(Clone)]
struct Matrix {
    size: usize,
    cells: Vec<f64>,
}

impl Matrix {
    fn new(size: usize) -> Self {
        Self { size, cells: vec![0.0; size * size] }
    }

    fn add(&mut self, row: usize, column: usize, what: f64) {
        self.cells[row * self.size + column] += what;
    }

    fn scale(&mut self, by: f64) {
        self.cells.iter_mut().for_each(|cell| *cell *= by);
    }

    fn times(&self, vector: &[f64]) -> Vec<f64> {
        self.cells.chunks_exact(self.size).map(|row| dot(row, vector)).collect()
    }

    /// Returns the lower-triangular Cholesky factor, or `None` if the matrix is not positive
    /// definite.
    fn factor(&self) -> Option<Self> {
        let n = self.size;
        let mut lower = Self::new(n);
        for row in 0..n {
            for column in 0..=row {
                let known = dot(
                    &lower.cells[row * n..row * n + column],
                    &lower.cells[column * n..column * n + column],
                );
                let rest = self.cells[row * n + column] - known;
                lower.cells[row * n + column] = match row == column {
                    true => Some(rest).filter(|&rest| rest > 1e-12)?.sqrt(),
                    false => rest / lower.cells[column * n + column],
                };
            }
        }
        Some(lower)
    }
}

/// Solves the linear system whose matrix has the Cholesky factor `lower`.
fn solve(lower: &Matrix, right: &[f64]) -> Vec<f64> {
    let n = lower.size;
    let mut x = right.to_vec();
    for row in 0..n {
        let known = dot(&lower.cells[row * n..row * n + row], &x[..row]);
        x[row] = (x[row] - known) / lower.cells[row * n + row];
    }
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n).map(|below| lower.cells[below * n + row] * x[below]).sum();
        x[row] = (x[row] - known) / lower.cells[row * n + row];
    }
    x
}

fn half_log_det(lower: &Matrix) -> f64 {
    (0..lower.size).map(|i| lower.cells[i * lower.size + i].ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resampling::Stream;

    /// Blocks with values of all these places: a step of 1 at `at`, each place's own level, and
    /// noise with this standard deviation.
    fn blocks(
        places: &[usize],
        at: usize,
        noise: f64,
        own: impl Fn(usize) -> f64,
        count: u64,
    ) -> Vec<Vec<(usize, f64)>> {
        let mut stream = Stream::new(5, 1);
        (0..count)
            .map(|block| {
                let level = (block % 7) as f64;
                let value = |&place: &usize| {
                    let step = if place >= at { 1.0 } else { 0.0 };
                    (place, level + step + own(place) + noise * stream.normal())
                };
                places.iter().map(value).collect()
            })
            .collect()
    }

    #[test]
    fn the_step_is_found_between_the_places_that_differ() {
        let found = step_place(10, &blocks(&[0, 4, 5, 9], 5, 0.2, |_| 0.0, 30)).unwrap();
        assert!(found.probabilities[5] > 0.95, "{found:?}");
        assert!((found.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!((found.step - 1.0).abs() < 0.1 && (found.noise - 0.2).abs() < 0.05, "{found:?}");
        assert!((found.is_behind(9) - 1.0).abs() < 1e-9 && found.is_behind(4) < 0.05);
    }

    #[test]
    fn places_that_were_not_measured_share_what_is_not_known() {
        let found = step_place(9, &blocks(&[0, 4, 8], 3, 0.1, |_| 0.0, 30)).unwrap();
        let [a, b] = [found.probabilities[1], found.probabilities[4]];
        assert!((a - b).abs() < 1e-12 && a > 0.2 && found.probabilities[0] == 0.0, "{found:?}");
    }

    #[test]
    fn a_step_down_is_a_step_and_shifts_change_nothing() {
        let up = blocks(&[0, 3, 6], 3, 0.3, |_| 0.0, 20);
        let map = |f: &dyn Fn(f64) -> f64| -> Vec<Vec<(usize, f64)>> {
            up.iter().map(|b| b.iter().map(|&(p, v)| (p, f(v))).collect()).collect()
        };
        let found = step_place(7, &up).unwrap();
        let down = step_place(7, &map(&|v| 5.0 - 2.0 * v)).unwrap();
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(close(&found.probabilities, &down.probabilities), "{found:?} {down:?}");
        assert!((down.step + 2.0 * found.step).abs() < 1e-6);
    }

    #[test]
    fn builds_that_differ_by_themselves_make_the_place_less_certain() {
        let places = [0, 2, 4, 5, 7, 9];
        let lucky = |place: usize| match place {
            0 | 9 => 0.0,
            odd if odd % 2 == 1 => -0.6,
            _ => 0.6,
        };
        let alike = step_place(10, &blocks(&places, 5, 0.1, |_| 0.0, 60)).unwrap();
        let differ = step_place(10, &blocks(&places, 5, 0.1, lucky, 60)).unwrap();
        assert!(alike.probabilities[5] > 0.95 && alike.own < 0.1, "{alike:?}");
        assert!(differ.probabilities[5] < 0.9 && differ.own > 0.2, "{differ:?}");
    }

    #[test]
    fn a_few_wild_values_do_not_move_it() {
        let mut wild = blocks(&[0, 4, 5, 9], 5, 0.2, |_| 0.0, 40);
        wild.iter_mut().step_by(8).for_each(|block| block[1].1 += 30.0);
        let found = step_place(10, &wild).unwrap();
        assert!(found.probabilities[5] > 0.9 && found.noise < 1.0, "{found:?}");
    }

    #[test]
    fn too_little_is_no_answer() {
        assert_eq!(step_place(5, &[]), None);
        assert_eq!(step_place(5, &blocks(&[0, 2], 1, 0.1, |_| 0.0, 30)), None);
        assert_eq!(step_place(5, &blocks(&[0, 4], 1, 0.1, |_| 0.0, 2)), None);
        let odd = [vec![(0, f64::NAN), (4, 1.0)], vec![(9, 1.0), (0, 1.0)], vec![]];
        assert_eq!(step_place(5, &odd), None);
        let exact = step_place(3, &blocks(&[0, 1, 2], 1, 0.0, |_| 0.0, 20)).unwrap();
        assert!(exact.probabilities.iter().all(|p| p.is_finite()), "{exact:?}");
    }
}

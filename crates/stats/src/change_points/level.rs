//! Changes of level in a series of up to a few hundred, possibly dependent values, and creep as an
//! alternative.
//!
//! A part is split where the likelihood ratio of two levels against one is largest, then its parts
//! are split; each has a share of the error proportional to its length (binary segmentation;
//! Vostrikova, "Detecting disorder in multidimensional random processes", 1981). Ranks within the
//! part are used as uniform scores: for normal values they lose 5 % of the power, and a stall is no
//! more than the highest value. The test can miss any step of a short series, however large it is,
//! so a part is also split if a gap wider than the range of either side separates the values before
//! from those after. Scores are modeled as an autoregression with coefficient φ, whose
//! likelihood reflects both the new level and the jump to it (Prais and Winsten, 1954, give the
//! first value's weight). For φ = 0 it is Wilcoxon's statistic of every split.
//!
//! The place of a change is estimated from the values, clipped at two robust deviations from their
//! levels: ranks make large steps small, and so locate them less precisely.
//!
//! φ is the correlation of neighbors in the residuals after removing steps (corrected for Kendall's
//! bias), plus one standard error if it is positive, since underestimating φ leads to false
//! changes. It starts from the correlation estimated from differences of neighbors and of next
//! neighbors, which a step disturbs little (Chakar, Lebarbier, Lévy-Leduc and Robin, 2017), reduced
//! by a third, and is iterated until φ and the steps agree: a step that is initially mistaken for
//! dependence would never be found.
//!
//! The null distribution of the largest ratio depends on the number of values and hardly on φ. It
//! is a formula ([`chance`]), fitted by eye to at most 10⁶ simulated series, since permutations
//! would cost a thousand times as much and end at 1/1,000; the tests check the false-positive rate.

use super::{distinct_ranks, lag1_of_differences};
use crate::resampling::Stream;
use crate::{descriptive, normal};

/// Maximum φ: beyond it, no change could be detected.
const MOST_LAG1: f64 = 0.97;
/// Maximum number of iterations of φ and the steps.
const ROUNDS: usize = 6;
/// Convergence threshold for φ.
const SAME_LAG1: f64 = 0.01;
/// Share of the correlation from differences at which φ starts: with all of it, one in a hundred
/// steps of five deviations is missed; with less than half, short dependent series have false
/// steps.
const BEGIN_LAG1: f64 = 0.7;
/// Width of the gap that is a change without a test, relative to the wider range of the values on
/// its two sides. In 4,000 simulated series of each length, it raises the share with a false change
/// by at most 0.4 percentage points (10 values, φ = 0.9); half of it would raise it by 3 (12 values,
/// φ = 0.8).
const GAP: f64 = 1.0;
/// Number of robust deviations from its level at which a value is clipped when locating changes.
const REACH: f64 = 2.0;

/// A place at which the level changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelChange {
    /// Index of the first value of the new level.
    pub index: usize,
    /// p-value of a change this clear in a series of this length. A gap between the values on both
    /// sides limits it to the false-positive rate.
    pub p: f64,
}

/// The changes of level in a series.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// The changes, in the order of the series.
    pub changes: Vec<LevelChange>,
    /// Autocorrelation of neighbors after removing the changes; 0 if within chance, otherwise one
    /// standard error more than the estimate.
    pub lag1: f64,
}

/// Detects changes of level in a series.
///
/// `xs`: finite, in order of measurement. `level`: false-positive rate. `shortest`: minimum number
/// of values between two changes, at least 5. `seed` orders ties. O(n log n) per change.
#[must_use]
pub fn levels(xs: &[f64], level: f64, shortest: usize, seed: u64) -> Levels {
    let shortest = shortest.max(5);
    if xs.len() < 2 * shortest || xs.iter().all(|x| *x == xs[0]) {
        return Levels { changes: Vec::new(), lag1: 0.0 };
    }
    let level = level.clamp(1e-6, 0.2);
    let ranks = distinct_ranks(xs, &mut Stream::new(seed, 0));
    let n = ranks.len();
    let mut lag1 = BEGIN_LAG1 * lag1_of_differences(&scores(&ranks)).clamp(0.0, MOST_LAG1);
    let mut places = Vec::new();
    for _ in 0..ROUNDS {
        places = divide(xs, &ranks, level, lag1, shortest);
        let left = careful(lag1_left(&ranks, &places), n);
        let settled = (left - lag1).abs() < SAME_LAG1 || places.is_empty() && left >= lag1;
        lag1 = left;
        if settled {
            break;
        }
    }
    // If a part has several changes, its first split is biased towards the others (Bai, 1997).
    for at in (0..places.len()).chain(0..places.len()) {
        let (from, to) = neighbours(&places, at, n);
        let near = brought_in(&xs[from..to], places[at] - from);
        places[at] = from + largest_gain(&White::new(&near, lag1), shortest).1;
    }
    let change = |at: usize| {
        let (from, to) = neighbours(&places, at, n);
        let (ratio, _) = largest(&scores(&ranks[from..to]), lag1, shortest);
        let share = (to - from) as f64 / n as f64;
        let most = if gap(&xs[from..to], shortest).is_some() { level } else { 1.0 };
        LevelChange { index: places[at], p: (chance(ratio, to - from, lag1) / share).min(most) }
    };
    Levels { changes: (0..places.len()).map(change).collect(), lag1 }
}

/// Confidence sets for the place of a change, around its best fit, for several confidences: the
/// first and the last place, as indices of the first value of the new level.
///
/// Hansen, "Sample splitting and threshold estimation" (Econometrica, 2000): the places whose
/// likelihood ratio against the best one is below −2 ln(1 − √confidence) are a confidence set,
/// which is conservative for changes that are large relative to the noise.
///
/// `xs`: finite, in order, with one change; `best`, the place found, is in all sets; `lag1` as
/// given by [`levels`]; `confidences` in 0..1. At least one value remains on each side. O(n log n +
/// n for each).
#[must_use]
pub fn places(xs: &[f64], best: usize, lag1: f64, confidences: &[f64]) -> Vec<(usize, usize)> {
    let n = xs.len();
    if n < 4 || best == 0 || best >= n {
        return vec![(best, best); confidences.len()];
    }
    let white = White::new(&brought_in(xs, best), lag1);
    let mut residues = vec![f64::INFINITY; n];
    white.steps(|place, gain| residues[place] = white.residue - gain);
    let least = residues.iter().copied().fold(f64::INFINITY, f64::min).max(f64::MIN_POSITIVE);
    let set = |confidence: &f64| {
        let critical = -2.0 * (1.0 - confidence.sqrt()).ln();
        let may_be = |place: &usize| n as f64 * (residues[*place] / least).ln() <= critical;
        let first = (1..n).find(may_be).unwrap_or(best).min(best);
        let last = (1..n).rev().find(may_be).unwrap_or(best).max(best);
        (first, last)
    };
    confidences.iter().map(set).collect()
}

/// A gradual change of a series from its first to its last level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Creep {
    /// p-value of Spearman's correlation with time, allowing for dependence of the values.
    pub p: f64,
    /// True if the series rises.
    pub rises: bool,
    /// True if a straight line fits better than the steps. Each step except the first is penalized
    /// by Schwarz's criterion.
    pub steadier: bool,
}

/// Tests whether a series creeps: compares a line through its ranks with steps at `steps`, or with
/// the best single step if there are none.
///
/// `xs`: finite, in order; `seed` orders ties; `None` for fewer than 10 values or a
/// constant series. O(n log n). Without dependence the p-value is that of R's
/// `cor.test(seq_along(x), x, method = "spearman")`.
#[must_use]
pub fn creep(xs: &[f64], steps: &[usize], shortest: usize, seed: u64) -> Option<Creep> {
    let n = xs.len();
    if n < 10 || xs.iter().all(|x| *x == xs[0]) {
        return None;
    }
    let scores = scores(&distinct_ranks(xs, &mut Stream::new(seed, 0)));
    let middle = (n as f64 - 1.0) / 2.0;
    let time: Vec<f64> = (0..n).map(|index| index as f64 - middle).collect();
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let slope = product(&scores, &time) / product(&time, &time);
    let left: Vec<f64> =
        scores.iter().zip(&time).map(|(score, time)| score - slope * time).collect();
    // Two parameters were fitted, as with one step.
    let lag1 = careful(unbiased(product(&left, &left), product(&left[1..], &left), 2, n), n);
    let white = White::new(&scores, lag1);
    let gain = white.gain(&white.of(&time));
    let ratio = white.ratio(gain);
    let worth = steps.len().saturating_sub(1) as f64 * (n as f64).ln();
    let of_steps = if steps.is_empty() {
        white.residue - largest_gain(&white, shortest.max(1)).0
    } else {
        let mut about = scores.clone();
        let mut from = 0;
        for to in steps.iter().copied().chain([n]) {
            let part = &mut about[from..to];
            let mean = part.iter().sum::<f64>() / part.len() as f64;
            part.iter_mut().for_each(|score| *score -= mean);
            from = to;
        }
        let rest = white.of(&about);
        product(&rest, &rest)
    };
    Some(Creep {
        p: 2.0 * normal::cdf(-ratio.max(0.0).sqrt()),
        rises: slope > 0.0,
        steadier: n as f64 * ((white.residue - gain) / of_steps).ln() < worth,
    })
}

/// The values relative to the first level, with a new level at `place`; values far from their level
/// are clipped.
fn brought_in(xs: &[f64], place: usize) -> Vec<f64> {
    let (before, after) = (descriptive::median(&xs[..place]), descriptive::median(&xs[place..]));
    let level = |index: usize| if index < place { before } else { after };
    let away: Vec<f64> = xs.iter().enumerate().map(|(index, x)| (x - level(index)).abs()).collect();
    let reach = REACH * descriptive::ROBUST_SD * descriptive::median(&away);
    let (low, high) = (before.min(after) - reach, before.max(after) + reach);
    xs.iter().map(|x| x.max(low).min(high) - before).collect()
}

/// Uniform scores of ranks, centered at 0.
fn scores(ranks: &[usize]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..ranks.len()).collect();
    order.sort_unstable_by_key(|&index| ranks[index]);
    let n = ranks.len() as f64;
    let mut scores = vec![0.0; ranks.len()];
    for (rank, index) in order.into_iter().enumerate() {
        scores[index] = (rank as f64 + 0.5) / n - 0.5;
    }
    scores
}

/// Whitened scores: each minus φ times the one before.
struct White {
    lag1: f64,
    values: Vec<f64>,
    /// Sum of squares of the whitened level, and its product with the values.
    level: (f64, f64),
    /// Residual sum of squares after fitting one level.
    residue: f64,
}

impl White {
    fn new(scores: &[f64], lag1: f64) -> Self {
        let mut white = White { lag1, values: Vec::new(), level: (0.0, 0.0), residue: 0.0 };
        white.values = white.of(scores);
        let (first, other) = white.weights();
        let count = scores.len() as f64 - 1.0;
        let others: f64 = white.values[1..].iter().sum();
        white.level =
            (first * first + count * other * other, first * white.values[0] + other * others);
        let squares: f64 = white.values.iter().map(|value| value * value).sum();
        white.residue = squares - white.level.1 * white.level.1 / white.level.0;
        white
    }

    /// The whitened form of a constant level of 1: at the first value, and at any other.
    fn weights(&self) -> (f64, f64) {
        ((1.0 - self.lag1 * self.lag1).sqrt(), 1.0 - self.lag1)
    }

    fn of(&self, values: &[f64]) -> Vec<f64> {
        let first = values[0] * self.weights().0;
        let others = values.windows(2).map(|pair| pair[1] - self.lag1 * pair[0]);
        std::iter::once(first).chain(others).collect()
    }

    /// Reduction of the residual sum of squares if the regressor `other` is fitted in addition to a
    /// level.
    fn gain(&self, other: &[f64]) -> f64 {
        let (first, rest) = self.weights();
        let with_level = first * other[0] + rest * other[1..].iter().sum::<f64>();
        let with_values: f64 = other.iter().zip(&self.values).map(|(a, b)| a * b).sum();
        let squares: f64 = other.iter().map(|value| value * value).sum();
        self.explained(squares, with_level, with_values)
    }

    fn explained(&self, squares: f64, with_level: f64, with_values: f64) -> f64 {
        let (level, level_with_values) = self.level;
        let both = with_values - with_level / level * level_with_values;
        let own = squares - with_level * with_level / level;
        if own > 0.0 { both * both / own } else { 0.0 }
    }

    /// The gain of a step at every place from the last to the first. O(n).
    fn steps(&self, mut take: impl FnMut(usize, f64)) {
        let (_, other) = self.weights();
        // Each value after the first of the new level has weight `other`.
        let (mut behind, mut count) = (0.0, 0.0);
        for place in (1..self.values.len()).rev() {
            let squares = 1.0 + count * other * other;
            let with_values = self.values[place] + other * behind;
            take(place, self.explained(squares, other + count * other * other, with_values));
            behind += self.values[place];
            count += 1.0;
        }
    }

    /// The likelihood ratio of a gain, scaled by Bartlett's factor so that it is comparable to the
    /// ratio for a known variance.
    fn ratio(&self, gain: f64) -> f64 {
        let left = (self.residue - gain).max(1e-9 * self.residue);
        (self.values.len() as f64 - 2.5) * (self.residue / left).ln()
    }
}

/// The largest gain by one step that leaves `shortest` values on each side, and its place.
fn largest_gain(white: &White, shortest: usize) -> (f64, usize) {
    let n = white.values.len();
    let mut best = (0.0, shortest);
    white.steps(|place, gain| {
        if gain > best.0 && place >= shortest && place + shortest <= n {
            best = (gain, place);
        }
    });
    best
}

fn largest(scores: &[f64], lag1: f64, shortest: usize) -> (f64, usize) {
    let white = White::new(scores, lag1);
    let (gain, place) = largest_gain(&white, shortest);
    (white.ratio(gain), place)
}

/// The ratio up to which the p-value is 1, for the largest ratio of `n` values without a step. The
/// constants are for at least five values on each side, and conservative for more.
fn height(n: usize, lag1: f64) -> f64 {
    // The number of places counts by the logarithm of the odds of their distance from the end
    // (James, James and Siegmund, "Tests for a change-point", 1987).
    let reach = ((n as f64 - 5.0) / 5.0).max(1.3);
    HEIGHT[0] + HEIGHT[2] * (2.0 * reach.ln()).ln() + HEIGHT[3] * lag1.powi(3)
}

/// The constants of [`height`] and [`chance`]: the constant term, and the coefficients of −ln p, of
/// the term for the number of places, and of the term for autocorrelation.
const HEIGHT: [f64; 4] = [-1.8, 2.15, 2.4, 6.0];

/// p-value of `ratio` as the largest ratio of `n` values without a step.
fn chance(ratio: f64, n: usize, lag1: f64) -> f64 {
    (-(ratio - height(n, lag1)) / HEIGHT[1]).exp().min(1.0)
}

/// Returns the place that separates all values before it from all values after it by more than
/// [`GAP`], with at least `shortest` values on each side; otherwise `None`. O(n).
fn gap(xs: &[f64], shortest: usize) -> Option<usize> {
    let widen = |range: &mut (f64, f64), x: &f64| {
        *range = (range.0.min(*x), range.1.max(*x));
        Some(*range)
    };
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    let before: Vec<(f64, f64)> = xs.iter().scan(none, widen).collect();
    let after: Vec<(f64, f64)> = xs.iter().rev().scan(none, widen).collect();
    (shortest..=xs.len().saturating_sub(shortest)).find(|&place| {
        let (low, high) = (before[place - 1], after[xs.len() - place - 1]);
        let gap = (high.0 - low.1).max(low.0 - high.1);
        gap > GAP * (low.1 - low.0).max(high.1 - high.0)
    })
}

/// Splits a series into parts, most likely place first.
fn divide(xs: &[f64], ranks: &[usize], level: f64, lag1: f64, shortest: usize) -> Vec<usize> {
    let mut places = Vec::new();
    let mut parts = vec![(0, ranks.len())];
    while let Some((from, to)) = parts.pop() {
        if to - from < 2 * shortest {
            continue;
        }
        let share = level * (to - from) as f64 / ranks.len() as f64;
        let (ratio, place) = largest(&scores(&ranks[from..to]), lag1, shortest);
        let tested = (chance(ratio, to - from, lag1) < share).then_some(place);
        if let Some(place) = tested.or_else(|| gap(&xs[from..to], shortest)) {
            places.push(from + place);
            parts.push((from, from + place));
            parts.push((from + place, to));
        }
    }
    places.sort_unstable();
    for at in (0..places.len()).chain(0..places.len()) {
        let (from, to) = neighbours(&places, at, ranks.len());
        places[at] = from
            + gap(&xs[from..to], shortest)
                .unwrap_or_else(|| largest(&scores(&ranks[from..to]), lag1, shortest).1);
    }
    places
}

/// The range of the parts on both sides of a place.
fn neighbours(places: &[usize], at: usize, n: usize) -> (usize, usize) {
    let from = at.checked_sub(1).map_or(0, |before| places[before]);
    (from, places.get(at + 1).copied().unwrap_or(n))
}

/// The correlation of neighbors after removing steps.
fn lag1_left(ranks: &[usize], places: &[usize]) -> f64 {
    let (mut squares, mut products, mut from) = (0.0, 0.0, 0);
    for to in places.iter().copied().chain([ranks.len()]) {
        let scores = scores(&ranks[from..to]);
        squares += scores.iter().map(|score| score * score).sum::<f64>();
        products += scores.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
        from = to;
    }
    unbiased(squares, products, places.len() + 1, ranks.len())
}

/// Bias-corrected correlation of neighbors of `n` values from which `fitted` parameters were
/// estimated: each reduces it by (1 + 4 φ)/n (Kendall, 1954).
fn unbiased(squares: f64, products: f64, fitted: usize, n: usize) -> f64 {
    let found = if squares > 0.0 { products / squares } else { 0.0 };
    found + fitted as f64 * (1.0 + 4.0 * found.max(0.0)) / n as f64
}

/// A conservative correlation: the estimate plus one standard error, but at most twice the
/// estimate, since a small estimate is most likely chance.
fn careful(found: f64, n: usize) -> f64 {
    (2.0 * found).min(found + 1.0 / (n as f64).sqrt()).clamp(0.0, MOST_LAG1)
}

#[cfg(test)]
mod tests;

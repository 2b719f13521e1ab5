//! PELT: the division of a series into parts, each with its own mean and spread, of minimum cost,
//! with a penalty for every change.
//!
//! The cost of a part is −2 ln of its normal likelihood. The penalty is not one of the information
//! criteria, which have no guarantees for short series, but the value that the gain from false
//! changes exceeds with probability `level`. For normal scores that value depends only on the
//! number of values, so it was determined by simulation ([`penalty`]). The input must be scores,
//! not values.

/// Minimum variance: a run of nearly equal scores must not win by an infinite gain.
const LEAST_VARIANCE: f64 = 1e-6;

/// The places at which a new part begins. `scores`: normal scores; `tau` ≥ 1 divides every gain;
/// `shortest` ≥ 2.
pub(super) fn divide(scores: &[f64], level: f64, tau: f64, shortest: usize) -> Vec<usize> {
    let effective = scores.len() as f64 / tau;
    best_division(scores, penalty(effective, level) * tau, shortest)
}

/// Minimum gain of a change, such that a series of `n` independent values is divided with
/// probability `level`.
///
/// Linear in ln n and in −ln level, fitted by eye to simulated quantiles: 1,000 series for each n
/// from 30 to 2,000, levels 0.2 to 0.01, at least ten values in a part. The example
/// `change_point_penalty` prints them along with this formula.
pub(super) fn penalty(n: f64, level: f64) -> f64 {
    let strict = -level.ln();
    PENALTY[0] + PENALTY[1] * strict + PENALTY[2] * n.max(20.0).ln()
}

/// The constants of [`penalty`]: the constant term, the factor of −ln level, and the factor of ln
/// n.
const PENALTY: [f64; 3] = [-1.12, 1.9, 1.5];

/// The optimal division: O(n²) at worst, less if changes allow pruning.
pub(super) fn best_division(scores: &[f64], penalty: f64, shortest: usize) -> Vec<usize> {
    let n = scores.len();
    let sums = Sums::new(scores);
    // best[t]: the minimum cost of the first t values, each part except the first with its penalty.
    let mut best = vec![f64::INFINITY; n + 1];
    let mut last = vec![0; n + 1];
    best[0] = -penalty;
    // A candidate is the start of the last part; a candidate that is beaten at t is kept until t
    // itself may be a start, `shortest` values later.
    let mut candidates: Vec<(usize, usize)> = Vec::new();
    for t in shortest..=n {
        let newest = t - shortest;
        if best[newest].is_finite() {
            candidates.push((newest, usize::MAX));
        }
        for &(start, _) in &candidates {
            let cost = best[start] + sums.cost(start, t) + penalty;
            if cost < best[t] {
                best[t] = cost;
                last[t] = start;
            }
        }
        let reached = best[t];
        candidates.retain_mut(|(start, until)| {
            if *until == usize::MAX && best[*start] + sums.cost(*start, t) >= reached {
                *until = t + shortest;
            }
            *until > t
        });
    }
    let mut places = Vec::new();
    let mut end = last[n];
    while end > 0 {
        places.push(end);
        end = last[end];
    }
    places.reverse();
    places
}

/// Running sums, which give the cost of any part directly. Scores are around 0, so no digits are
/// lost.
struct Sums {
    values: Vec<f64>,
    squares: Vec<f64>,
}

impl Sums {
    fn new(scores: &[f64]) -> Self {
        let running = |value: fn(f64) -> f64| {
            let mut sum = 0.0;
            let mut sums = vec![0.0];
            sums.extend(scores.iter().map(|&s| {
                sum += value(s);
                sum
            }));
            sums
        };
        Sums { values: running(|s| s), squares: running(|s| s * s) }
    }

    fn cost(&self, from: usize, to: usize) -> f64 {
        let n = (to - from) as f64;
        let mean = (self.values[to] - self.values[from]) / n;
        let variance = (self.squares[to] - self.squares[from]) / n - mean * mean;
        n * variance.max(LEAST_VARIANCE).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resampling::Stream;

    /// The best division into at most four parts, by exhaustive search.
    fn by_trying(scores: &[f64], penalty: f64, shortest: usize) -> (f64, Vec<usize>) {
        let (n, sums) = (scores.len(), Sums::new(scores));
        let mut best = (sums.cost(0, n), Vec::new());
        let mut consider = |places: &[usize]| {
            let edges: Vec<usize> = [0].iter().chain(places).chain([&n]).copied().collect();
            if edges.windows(2).all(|pair| pair[1] >= pair[0] + shortest) {
                let cost: f64 = edges.windows(2).map(|pair| sums.cost(pair[0], pair[1])).sum();
                let cost = cost + penalty * places.len() as f64;
                if cost < best.0 {
                    best = (cost, places.to_vec());
                }
            }
        };
        for a in 1..n {
            consider(&[a]);
            for b in a + 1..n {
                consider(&[a, b]);
                (b + 1..n).for_each(|c| consider(&[a, b, c]));
            }
        }
        best
    }

    #[test]
    fn the_division_is_the_best_of_all() {
        let mut stream = Stream::new(5, 0);
        for _ in 0..40 {
            let step = 4.0 * stream.uniform();
            let scores: Vec<f64> = (0..24)
                .map(|i| stream.normal() + if (8..17).contains(&i) { step } else { 0.0 })
                .collect();
            let (cost, places) = by_trying(&scores, 9.0, 4);
            let found = best_division(&scores, 9.0, 4);
            if found.len() <= 3 {
                assert_eq!(found, places, "{cost}");
            }
        }
    }
}

//! Adjustment of p-values for multiple testing, so that each can be compared with the overall
//! level.
//!
//! Holm (1979) bounds the probability of any false rejection. So do Bonferroni, with less power,
//! and Hochberg (1988), with more, but only for independent or positively dependent tests.
//! Benjamini and Hochberg (1995) bound the expected share of false rejections; Benjamini and
//! Yekutieli (2001) do so under any dependence. All functions return p-values in the given order,
//! like R's `p.adjust`.

/// Holm's step-down adjustment. `p`: in 0..=1, any order; results in 0..=1; O(k log k).
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![0.0; p.len()];
    let mut largest: f64 = 0.0;
    for (place, index) in ascending(p).into_iter().enumerate() {
        largest = largest.max(p[index] * (p.len() - place) as f64).min(1.0);
        adjusted[index] = largest;
    }
    adjusted
}

/// Bonferroni's adjustment: every p times the number of tests, at most 1. `p`: in 0..=1; O(k).
#[must_use]
pub fn bonferroni(p: &[f64]) -> Vec<f64> {
    let number = p.len() as f64;
    p.iter().map(|p| (p * number).min(1.0)).collect()
}

/// Hochberg's step-up adjustment. `p`: in 0..=1, any order; results in 0..=1; O(k log k).
#[must_use]
pub fn hochberg(p: &[f64]) -> Vec<f64> {
    step_up(p, |place| (p.len() - place) as f64)
}

/// Benjamini and Hochberg's step-up adjustment. `p`: in 0..=1, any order; results in 0..=1; O(k log
/// k).
#[must_use]
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    step_up(p, |place| p.len() as f64 / (place + 1) as f64)
}

/// Benjamini and Yekutieli's step-up adjustment, for tests with any dependence. `p`: in 0..=1, any
/// order; results in 0..=1; O(k log k).
#[must_use]
pub fn benjamini_yekutieli(p: &[f64]) -> Vec<f64> {
    let harmonic: f64 = (1..=p.len()).map(|i| 1.0 / i as f64).sum();
    step_up(p, |place| harmonic * p.len() as f64 / (place + 1) as f64)
}

/// Adjusts the p-values from the largest down: each is multiplied by the `factor` of its place in
/// ascending order (from 0), and never exceeds the adjusted value of the next larger one.
fn step_up(p: &[f64], factor: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut adjusted = vec![0.0; p.len()];
    let mut smallest: f64 = 1.0;
    for (place, index) in ascending(p).into_iter().enumerate().rev() {
        smallest = smallest.min(p[index] * factor(place));
        adjusted[index] = smallest;
    }
    adjusted
}

fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_question_needs_no_adjustment() {
        assert_eq!(holm(&[0.03]), [0.03]);
        assert_eq!(benjamini_hochberg(&[0.03]), [0.03]);
        for method in [bonferroni, hochberg, benjamini_yekutieli] {
            assert_eq!(method(&[0.03]), [0.03]);
            assert!(method(&[]).is_empty());
        }
        assert!(holm(&[]).is_empty() && benjamini_hochberg(&[]).is_empty());
    }

    #[test]
    fn adjusted_values_keep_the_order_and_never_exceed_one() {
        let p = [0.9, 0.01, 0.5, 0.8];
        assert_eq!(holm(&p), [1.0, 0.04, 1.0, 1.0]);
        let bh = benjamini_hochberg(&p);
        assert!(bh[1] <= bh[2] && bh[2] <= bh[3] && bh[3] <= bh[0] && bh[0] <= 1.0);
    }
    #[test]
    fn stricter_promises_give_larger_values() {
        let p = [0.9, 0.01, 0.03, 0.02, 0.04];
        let (up, down, all) = (hochberg(&p), holm(&p), bonferroni(&p));
        let (bh, by) = (benjamini_hochberg(&p), benjamini_yekutieli(&p));
        for i in 0..p.len() {
            assert!(bh[i] <= up[i] && up[i] <= down[i] && down[i] <= all[i] && bh[i] <= by[i]);
        }
    }
}

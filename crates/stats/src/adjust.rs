//! p-values of several questions asked at once, adjusted so that each can be read against the level
//! for all.
//!
//! Holm (1979) bounds the chance of any false answer, Benjamini and Hochberg (1995) the expected
//! share of false ones among those found. Both return p-values in the order given, as R's
//! `p.adjust`.

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

/// Benjamini and Hochberg's step-up adjustment. `p`: in 0..=1, any order; results in 0..=1; O(k log
/// k).
#[must_use]
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![0.0; p.len()];
    let mut smallest: f64 = 1.0;
    for (place, index) in ascending(p).into_iter().enumerate().rev() {
        smallest = smallest.min(p[index] * (p.len() as f64 / (place + 1) as f64));
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
        assert!(holm(&[]).is_empty() && benjamini_hochberg(&[]).is_empty());
    }

    #[test]
    fn adjusted_values_keep_the_order_and_never_exceed_one() {
        let p = [0.9, 0.01, 0.5, 0.8];
        assert_eq!(holm(&p), [1.0, 0.04, 1.0, 1.0]);
        let bh = benjamini_hochberg(&p);
        assert!(bh[1] <= bh[2] && bh[2] <= bh[3] && bh[3] <= bh[0] && bh[0] <= 1.0);
    }
}

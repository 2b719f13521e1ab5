//! Hartigan's dip test of unimodality.
//!
//! The dip is the largest distance between the sample's distribution function and the nearest
//! unimodal one (Hartigan & Hartigan, "The dip test of unimodality", Annals of Statistics 13,
//! 1985), found by fitting the greatest convex minorant and the least concave majorant to ever
//! smaller middle intervals (Hartigan, algorithm AS 217, with the corrections published later). Its
//! smallest value is 1/(2n), as in R's package `diptest`. The p-value is interpolated in a table of
//! quantiles from uniform samples, as in `diptest`; the table is this crate's own simulation
//! (`examples/dip_table.rs`), accurate to about 0.003. The test shows *that* there is more than one
//! mode, not where.

mod table;

/// The dip and its p-value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dip {
    /// The distance, in 1/(2n)..=0.25.
    pub d: f64,
    /// p-value against a uniform distribution, the hardest unimodal one; 1 for fewer than four
    /// values.
    pub p: f64,
}

/// The dip of a sample with its p-value. `sorted`: ascending, finite. `None` if there are no
/// values. O(n) per fit, with few fits.
#[must_use]
pub fn dip(sorted: &[f64]) -> Option<Dip> {
    let d = statistic(sorted)?;
    Some(Dip { d, p: p_value(d, sorted.len()) })
}

/// The dip alone. Same preconditions and cost as [`dip`].
#[must_use]
pub fn statistic(sorted: &[f64]) -> Option<f64> {
    let n = sorted.len();
    let (first, last) = (sorted.first()?, sorted.last()?);
    // Everything is counted in steps of 1/(2n); the first fit can't be closer than one.
    let mut dip = 1.0;
    if n >= 2 && last > first {
        let convex = neighbours_below(sorted);
        let concave = neighbours_above(sorted);
        let (mut low, mut high) = (0, n - 1);
        loop {
            let minorant = chain(&convex, high, low);
            let majorant = chain(&concave, low, high);
            let Some(gap) = widest_gap(sorted, &minorant, &majorant) else { break };
            if gap.distance < dip {
                break;
            }
            let below =
                farthest(&minorant[gap.minorant..], |from, to| above_chord(sorted, to, from));
            let above =
                farthest(&majorant[gap.majorant..], |from, to| below_chord(sorted, from, to));
            dip = f64::max(dip, below.max(above));
            let inner = (minorant[gap.minorant], majorant[gap.majorant]);
            if inner == (low, high) {
                break;
            }
            (low, high) = inner;
        }
    }
    Some(dip / (2 * n) as f64)
}

/// For each value, the previous bend of the greatest convex minorant of the values up to it.
fn neighbours_below(x: &[f64]) -> Vec<usize> {
    let mut last = vec![0; x.len()];
    for j in 1..x.len() {
        let mut at = j - 1;
        // Remove points on or above the chord from their neighbor to j.
        while at != 0 {
            let before = last[at];
            let (from_at, of_before) = ((x[j] - x[at]), (x[at] - x[before]));
            if from_at * (at - before) as f64 >= of_before * (j - at) as f64 {
                at = before;
            } else {
                break;
            }
        }
        last[j] = at;
    }
    last
}

/// For each value, the next bend of the least concave majorant of the values from it.
fn neighbours_above(x: &[f64]) -> Vec<usize> {
    let end = x.len() - 1;
    let mut next = vec![end; x.len()];
    for k in (0..end).rev() {
        let mut at = k + 1;
        while at != end {
            let after = next[at];
            let (to_at, of_after) = ((x[at] - x[k]), (x[after] - x[at]));
            if to_at * (after - at) as f64 >= of_after * (at - k) as f64 {
                at = after;
            } else {
                break;
            }
        }
        next[k] = at;
    }
    next
}

/// The bends from one value to another.
fn chain(neighbours: &[usize], from: usize, to: usize) -> Vec<usize> {
    let mut bends = vec![from];
    let mut at = from;
    while at != to {
        let next = neighbours[at];
        // Neighbors may be beyond the end of a smaller interval.
        at = if (from < to) == (next < to) { next } else { to };
        bends.push(at);
    }
    bends
}

/// The place where the minorant and the majorant are farthest apart.
struct Gap {
    distance: f64,
    /// Index of the minorant's bend at this place, in descending order.
    minorant: usize,
    /// Index of the majorant's bend at this place, in ascending order.
    majorant: usize,
}

/// The widest gap between minorant and majorant over an interval, in steps; `None` if both consist
/// of one chord.
fn widest_gap(x: &[f64], minorant: &[usize], majorant: &[usize]) -> Option<Gap> {
    if minorant.len() == 2 && majorant.len() == 2 {
        return None;
    }
    let mut gap = Gap { distance: 0.0, minorant: minorant.len() - 1, majorant: majorant.len() - 1 };
    let (mut below, mut above) = (minorant.len().saturating_sub(2), 1);
    loop {
        let (on_minorant, on_majorant) = (minorant[below], majorant[above]);
        if on_minorant > on_majorant {
            // The next bend is in the majorant: its height over the minorant's chord.
            let left = minorant[below + 1];
            let slope = (on_minorant - left) as f64 / (x[on_minorant] - x[left]);
            let height =
                (on_majorant + 1) as f64 - left as f64 - (x[on_majorant] - x[left]) * slope;
            above += 1;
            if height >= gap.distance {
                gap = Gap { distance: height, minorant: below + 1, majorant: above - 1 };
            }
        } else {
            // The next bend is in the minorant: its depth under the majorant's chord.
            let left = majorant[above - 1];
            let slope = (on_majorant - left) as f64 / (x[on_majorant] - x[left]);
            let depth = (x[on_minorant] - x[left]) * slope + 1.0 - (on_minorant - left) as f64;
            if depth >= gap.distance {
                gap = Gap { distance: depth, minorant: below, majorant: above };
            }
            below = below.saturating_sub(1);
        }
        above = above.min(majorant.len() - 1);
        if minorant[below] == majorant[above] {
            return Some(gap);
        }
    }
}

/// The largest of the distances along the bends, at least one step.
fn farthest(bends: &[usize], distance: impl Fn(usize, usize) -> f64) -> f64 {
    bends.windows(2).map(|pair| distance(pair[0], pair[1])).fold(0.0, f64::max)
}

/// Maximum height of the sample over the chord from `begin` to `end`, at least one step.
fn above_chord(x: &[f64], begin: usize, end: usize) -> f64 {
    let Some(slope) = slope(x, begin, end) else { return 1.0 };
    let heights = (begin..=end).map(|i| (i - begin + 1) as f64 - (x[i] - x[begin]) * slope);
    heights.fold(1.0, f64::max)
}

/// Maximum depth of the sample under the chord, at least one step.
fn below_chord(x: &[f64], begin: usize, end: usize) -> f64 {
    let Some(slope) = slope(x, begin, end) else { return 1.0 };
    let depths = (begin..=end).map(|i| (x[i] - x[begin]) * slope - ((i - begin) as f64 - 1.0));
    depths.fold(1.0, f64::max)
}

fn slope(x: &[f64], begin: usize, end: usize) -> Option<f64> {
    (end - begin > 1 && x[end] != x[begin]).then(|| (end - begin) as f64 / (x[end] - x[begin]))
}

/// The p-value from the table: linear in the number of values, then in the scaled dip.
fn p_value(d: f64, n: usize) -> f64 {
    /// Resolution of the table.
    const ROUNDED: f64 = 1e-5;
    let rows = &table::QUANTILES;
    if n < rows[0].0 {
        return 1.0;
    }
    let above = rows.iter().position(|(size, _)| *size > n).unwrap_or(rows.len() - 1);
    let ((n0, low), (n1, high)) = (&rows[above - 1], &rows[above]);
    // Beyond the table the scaled dip has reached its limit distribution.
    let share = ((n - n0) as f64 / (n1 - n0) as f64).min(1.0);
    let at = |column: usize| {
        let [y0, y1] = [low[column], high[column]].map(f64::from);
        y0 + share * (y1 - y0)
    };
    let scaled = d * (n as f64).sqrt();
    // With few values the smallest dip has positive probability, so columns are equal; they share
    // the mean of their probabilities, as in R's `approx`.
    let mut points: Vec<(f64, f64, f64)> = Vec::new();
    for (column, p) in table::PROBABILITIES.into_iter().enumerate() {
        match points.last_mut() {
            Some((y, sum, count)) if *y == at(column) => (*sum, *count) = (*sum + p, *count + 1.0),
            _ => points.push((at(column), p, 1.0)),
        }
    }
    let p_of = |index: usize| points[index].1 / points[index].2;
    let Some(right) = points.iter().position(|(y, ..)| *y + ROUNDED >= scaled) else { return 0.0 };
    let y1 = points[right].0;
    if right == 0 {
        return if scaled < y1 - ROUNDED { 1.0 } else { 1.0 - p_of(0) };
    }
    let y0 = points[right - 1].0;
    let share = ((scaled - y0) / (y1 - y0)).min(1.0);
    1.0 - (p_of(right - 1) + share * (p_of(right) - p_of(right - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_heaps_far_apart_have_the_largest_dip() {
        let mut xs = vec![0.0; 50];
        xs.extend(vec![1.0; 50]);
        let found = dip(&xs).unwrap();
        assert_eq!(found.d, 0.25);
        assert!(found.p < 1e-3, "{found:?}");
    }

    #[test]
    fn even_spacing_equal_values_and_few_values_have_the_smallest_dip() {
        let even: Vec<f64> = (0..40).map(f64::from).collect();
        assert_eq!(dip(&even), Some(Dip { d: 1.0 / 80.0, p: 1.0 }));
        assert_eq!(dip(&[5.0; 10]), Some(Dip { d: 0.05, p: 1.0 }));
        assert_eq!(dip(&[1.0, 2.0]), Some(Dip { d: 0.25, p: 1.0 }));
        assert_eq!(dip(&[]), None);
    }

    #[test]
    fn the_mirror_image_has_the_same_dip() {
        let xs: Vec<f64> =
            crate::descriptive::sorted(&(0..97).map(|i| f64::from(i * i % 89)).collect::<Vec<_>>());
        let mirrored: Vec<f64> = xs.iter().rev().map(|x| 100.0 - x).collect();
        let (one, other) = (dip(&xs).unwrap(), dip(&mirrored).unwrap());
        assert!((one.d - other.d).abs() < 1e-15, "{one:?} {other:?}");
    }

    #[test]
    fn p_values_are_read_off_the_table() {
        // For 4 values ten columns are equal: the mean of their probabilities is 0.218, that of the
        // next one 0.7.
        let between = (0.25 + 0.265_62) / 2.0;
        assert!((p_value(between / 2.0, 4) - (1.0 - (0.218 + 0.7) / 2.0)).abs() < 1e-4);
        assert!((p_value(0.265_62 / 2.0, 4) - 0.3).abs() < 1e-4);
        // 12 values are two fifths of the way from 10 to 15: these are the quantiles there of the
        // probabilities ½ and 0.6.
        let half = 0.309_26 + 0.4 * (0.324_00 - 0.309_26);
        let more = 0.323_12 + 0.4 * (0.341_37 - 0.323_12);
        let root = 12f64.sqrt();
        assert!((p_value(half / root, 12) - 0.5).abs() < 1e-3);
        assert!((p_value(more / root, 12) - 0.4).abs() < 1e-3);
        assert!((p_value((half + more) / 2.0 / root, 12) - 0.45).abs() < 1e-3);
    }

    #[test]
    fn bends_are_where_the_chord_touches_all_before_and_all_behind() {
        let xs: Vec<f64> =
            (0..60).map(|i| f64::from(i * 7 % 60) + f64::from(i * i % 11) / 8.0).collect();
        let xs = crate::descriptive::sorted(&xs);
        let (below, above) = (neighbours_below(&xs), neighbours_above(&xs));
        let slope = |i: usize, j: usize| (j - i) as f64 / (xs[j] - xs[i]);
        for at in 0..xs.len() {
            if at > 0 {
                let steepest = (0..at).map(|i| slope(i, at)).fold(0.0, f64::max);
                assert!((slope(below[at], at) / steepest - 1.0).abs() < 1e-12, "{at}");
            }
            if at + 1 < xs.len() {
                let steepest = (at + 1..xs.len()).map(|j| slope(at, j)).fold(0.0, f64::max);
                assert!((slope(at, above[at]) / steepest - 1.0).abs() < 1e-12, "{at}");
            }
        }
    }
}

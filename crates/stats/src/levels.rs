//! Nested repetitions: how much each level contributes to the variance of a measurement, and where
//! more repetitions are worthwhile.
//!
//! Follows Kalibera and Jones ("Rigorous benchmarking in reasonable time", 2013): values are
//! grouped in levels (build > process > iteration); the variance that each level adds is estimated
//! without bias by subtracting the contribution of the levels below it; the optimal repetitions
//! follow from the ratios of costs and of variances; and the interval of the mean is Student's over
//! the outermost units, since only those were drawn independently. For levels of unequal size the
//! mean of the reciprocal sizes is used, which keeps the estimates unbiased for two levels and
//! nearly so for more (Searle, Casella and McCulloch, "Variance Components", chapter 4). The ratio
//! of two means is Fieller's (1954), each side with its own variance.

use crate::{Interval, descriptive, student_t};

/// One level of the nesting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Total number of units of this level.
    pub units: usize,
    /// Mean number of units of this level within one unit of the level above; for the outermost
    /// level, the number of all its units.
    pub repetitions: f64,
    /// Variance of the units' means within one unit of the level above (S²).
    pub variance: f64,
    /// The variance that this level itself adds (T²), unbiased and possibly negative by chance.
    pub component: f64,
    /// This level's share of the variance of the mean, in 0..=1; a negative component counts as 0.
    /// All shares are 0 if all values are equal.
    pub share: f64,
}

/// Nested values, level by level.
#[derive(Clone, Debug, PartialEq)]
pub struct Levels {
    /// The mean of the means of the outermost units, each of which is the mean of the means of the
    /// units within it, and so on.
    pub mean: f64,
    /// The levels, outermost first.
    pub levels: Vec<Level>,
    /// The squared standard error of the mean.
    pub squared_error: f64,
}

/// A unit: its mean, and the sums of each level below it.
struct Unit {
    mean: f64,
    below: Vec<Sums>,
}

/// Sums over one level within a unit.
#[derive(Clone, Copy, Default)]
struct Sums {
    /// Squared distances of the level's units from the mean of their parent.
    squares: f64,
    /// Degrees of freedom of `squares`.
    df: f64,
    /// Number of units of the level.
    units: f64,
    /// Number of units of the level above.
    parents: f64,
    /// Sum of 1/size over the units of the level above.
    reciprocals: f64,
}

impl Levels {
    /// Decomposes the variance of the values by their `keys`. The key of a value contains the
    /// indices of the units it belongs to, outermost first. O(n log n · levels).
    ///
    /// If several values have the same key, these repetitions form an additional level below the
    /// last. Returns `None` unless there are as many keys as values, all keys have the same length
    /// of at least 1, and there are at least two outermost units. Values must be finite.
    #[must_use]
    pub fn of(values: &[f64], keys: &[&[u32]]) -> Option<Self> {
        let depth = keys.first()?.len();
        if depth == 0 || values.len() != keys.len() || keys.iter().any(|key| key.len() != depth) {
            return None;
        }
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| keys[a].cmp(keys[b]));
        let sorted_keys: Vec<&[u32]> = order.iter().map(|&index| keys[index]).collect();
        // Uses deviations from one of the values, so that a large common offset does not cost
        // precision.
        let reference = values[0];
        let sorted: Vec<f64> = order.iter().map(|&index| values[index] - reference).collect();
        let repeated = sorted_keys.windows(2).any(|pair| pair[0] == pair[1]);
        let levels = depth + usize::from(repeated);
        let whole = unit(&sorted, &sorted_keys, 0, levels);
        if whole.below[0].units < 2.0 {
            return None;
        }
        let found = whole.below;
        let mut described: Vec<Level> = Vec::new();
        for (index, sums) in found.iter().enumerate() {
            let variance = if sums.df > 0.0 { sums.squares / sums.df } else { f64::NAN };
            let inner = found.get(index + 1).map_or(0.0, |below| {
                let inner = if below.df > 0.0 { below.squares / below.df } else { 0.0 };
                inner * below.reciprocals / below.parents
            });
            described.push(Level {
                units: sums.units as usize,
                repetitions: sums.units / sums.parents,
                variance,
                component: variance - inner,
                share: 0.0,
            });
        }
        let squared_error = described[0].variance / described[0].repetitions;
        // The contribution of a level is its component divided by the product of its own
        // repetitions and those of all levels above it.
        let mut repetitions = 1.0;
        let parts: Vec<f64> = described
            .iter()
            .map(|level| {
                repetitions *= level.repetitions;
                let part = level.component.max(0.0) / repetitions;
                if part.is_nan() { 0.0 } else { part }
            })
            .collect();
        let all: f64 = parts.iter().sum();
        if all > 0.0 {
            described.iter_mut().zip(parts).for_each(|(level, part)| level.share = part / all);
        }
        Some(Levels { mean: reference + whole.mean, levels: described, squared_error })
    }

    /// Degrees of freedom of the mean: number of outermost units minus one.
    #[must_use]
    pub fn df(&self) -> f64 {
        self.levels[0].units as f64 - 1.0
    }

    /// Returns Student's interval for the mean, based on the means of the outermost units. `None`
    /// if `confidence` is outside 0..1.
    #[must_use]
    pub fn mean_interval(&self, confidence: f64) -> Option<Interval> {
        if !(0.0..1.0).contains(&confidence) {
            return None;
        }
        let reach = student_t::two_sided(confidence, self.df()) * self.squared_error.sqrt();
        Some(Interval { lower: self.mean - reach, upper: self.mean + reach })
    }

    /// Returns, for each level except the outermost, the number of repetitions within one unit of
    /// the level above that makes the mean most precise for a given total time.
    ///
    /// `costs` gives for each level, outermost first, the cost of one more unit without its content
    /// (for example building, starting and warming up, one iteration). Costs must be positive. The
    /// number is √(c_above/c · T²/T²_above), where c is the cost and T² the variance component of a
    /// level, but at least 1. It is `None` if the level above adds no variance, because repeating
    /// this level then gains nothing over repeating the level above. The result is empty unless
    /// there is exactly one positive cost per level.
    #[must_use]
    pub fn best_repetitions(&self, costs: &[f64]) -> Vec<Option<f64>> {
        if costs.len() != self.levels.len() || !costs.iter().all(|cost| *cost > 0.0) {
            return Vec::new();
        }
        self.levels
            .windows(2)
            .zip(costs.windows(2))
            .map(|(levels, costs)| {
                let (above, here) = (levels[0].component, levels[1].component.max(0.0));
                let best = (costs[0] / costs[1] * here / above).sqrt();
                (above > 0.0 && best.is_finite()).then(|| best.max(1.0))
            })
            .collect()
    }
}

/// Computes the unit that consists of these values, with its means grouped at `level`, out of
/// `levels` levels in total. `level` 0 stands for the whole data set.
fn unit(values: &[f64], keys: &[&[u32]], level: usize, levels: usize) -> Unit {
    let mut below = vec![Sums::default(); levels - level];
    if level == levels {
        // Below the last level, a unit consists of a single value.
        return Unit { mean: values[0], below };
    }
    let mut means = Vec::new();
    let mut start = 0;
    while start < values.len() {
        // At the level of repeated values, each value is a unit.
        let mut end = start + 1;
        if level < keys[start].len() {
            while end < values.len() && keys[end][level] == keys[start][level] {
                end += 1;
            }
        }
        let inner = unit(&values[start..end], &keys[start..end], level + 1, levels);
        means.push(inner.mean);
        for (sums, of_unit) in below[1..].iter_mut().zip(inner.below) {
            sums.squares += of_unit.squares;
            sums.df += of_unit.df;
            sums.units += of_unit.units;
            sums.parents += of_unit.parents;
            sums.reciprocals += of_unit.reciprocals;
        }
        start = end;
    }
    let mean = descriptive::mean(&means);
    let size = means.len() as f64;
    below[0] = Sums {
        squares: means.iter().map(|m| (m - mean) * (m - mean)).sum(),
        df: size - 1.0,
        units: size,
        parents: 1.0,
        reciprocals: 1.0 / size,
    };
    Unit { mean, below }
}

/// Returns the interval for the ratio of two means, `y` over `x`, based on their outermost units.
/// It is Fieller's interval with Satterthwaite's degrees of freedom.
///
/// [`Interval::UNBOUNDED`] if the mean of `x` cannot be distinguished from 0; `None` if
/// `confidence` is outside 0..1.
#[must_use]
pub fn ratio_interval(x: &Levels, y: &Levels, confidence: f64) -> Option<Interval> {
    if !(0.0..1.0).contains(&confidence) {
        return None;
    }
    // The variance of y − ratio · x at the observed ratio.
    let (of_x, of_y) = (x.squared_error * (y.mean / x.mean).powi(2), y.squared_error);
    let all = of_x + of_y;
    if all == 0.0 {
        let ratio = y.mean / x.mean;
        return Some(Interval { lower: ratio, upper: ratio });
    }
    let df = all * all / (of_x * of_x / x.df() + of_y * of_y / y.df());
    let t = student_t::two_sided(confidence, df);
    let square = t * t;
    let lead = x.mean * x.mean - square * x.squared_error;
    let middle = x.mean * y.mean;
    let last = y.mean * y.mean - square * y.squared_error;
    let root = middle * middle - lead * last;
    if lead <= 0.0 || lead.is_nan() || root < 0.0 {
        return Some(Interval::UNBOUNDED);
    }
    Some(Interval { lower: (middle - root.sqrt()) / lead, upper: (middle + root.sqrt()) / lead })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resampling::Stream;

    /// Simulates builds, processes and iterations around a mean of 100, with the given number of
    /// units and standard deviation per level.
    fn nested(stream: &mut Stream, counts: [usize; 3], sds: [f64; 3]) -> (Vec<f64>, Vec<Vec<u32>>) {
        let (mut values, mut keys) = (Vec::new(), Vec::new());
        for build in 0..counts[0] {
            let of_build = 100.0 + sds[0] * stream.normal();
            for process in 0..counts[1] {
                let of_process = of_build + sds[1] * stream.normal();
                for iteration in 0..counts[2] {
                    values.push(of_process + sds[2] * stream.normal());
                    keys.push(vec![build as u32, process as u32, iteration as u32]);
                }
            }
        }
        (values, keys)
    }

    fn levels_of(values: &[f64], keys: &[Vec<u32>]) -> Levels {
        Levels::of(values, &keys.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn components_are_found_without_bias() {
        let mut sums = [0.0; 3];
        let mut unequal = [0.0; 3];
        for number in 0..400 {
            let mut stream = Stream::new(12, number);
            let (values, keys) = nested(&mut stream, [6, 5, 4], [2.0, 1.0, 3.0]);
            let found = levels_of(&values, &keys);
            found.levels.iter().zip(&mut sums).for_each(|(l, sum)| *sum += l.component / 400.0);
            let kept: Vec<usize> = (0..values.len()).filter(|_| stream.uniform() < 0.7).collect();
            let of = levels_of(
                &kept.iter().map(|&i| values[i]).collect::<Vec<_>>(),
                &kept.iter().map(|&i| keys[i].clone()).collect::<Vec<_>>(),
            );
            of.levels.iter().zip(&mut unequal).for_each(|(l, sum)| *sum += l.component / 400.0);
        }
        for (found, truth) in sums.iter().chain(&unequal).zip([4.0, 1.0, 9.0, 4.0, 1.0, 9.0]) {
            assert!((found - truth).abs() < 0.15 * truth.max(3.0), "{sums:?} {unequal:?}");
        }
    }

    #[test]
    fn the_mean_is_known_as_well_as_the_outermost_units_allow() {
        let (mut nested_holds, mut flat_holds) = (0, 0);
        for number in 0..500 {
            let mut stream = Stream::new(13, number);
            let (values, keys) = nested(&mut stream, [5, 4, 10], [2.0, 1.0, 1.0]);
            let interval = levels_of(&values, &keys).mean_interval(0.95).unwrap();
            nested_holds += u32::from(interval.contains(100.0));
            let flat = crate::groups::t_interval(&values, 0.95).unwrap();
            flat_holds += u32::from(flat.contains(100.0));
        }
        assert!((460..=490).contains(&nested_holds), "{nested_holds}");
        assert!(flat_holds < 250, "{flat_holds}");
    }

    #[test]
    fn the_ratio_of_two_nested_means_is_held() {
        let mut holds = 0;
        for number in 0..500 {
            let mut stream = Stream::new(14, number);
            let (x, x_keys) = nested(&mut stream, [6, 3, 3], [8.0, 3.0, 3.0]);
            let (y, y_keys) = nested(&mut stream, [8, 3, 3], [4.0, 3.0, 3.0]);
            let y: Vec<f64> = y.iter().map(|y| 1.5 * y).collect();
            let found = ratio_interval(&levels_of(&x, &x_keys), &levels_of(&y, &y_keys), 0.95);
            holds += u32::from(found.unwrap().contains(1.5));
        }
        assert!((460..=490).contains(&holds), "{holds}");
    }

    #[test]
    fn a_ratio_to_nothing_is_not_known() {
        let noise = |values: &[f64]| {
            let keys: Vec<Vec<u32>> = (0..values.len()).map(|i| vec![i as u32]).collect();
            levels_of(values, &keys)
        };
        let (zero, one) = (noise(&[-1.0, 1.0, 0.5]), noise(&[10.0, 11.0, 12.0]));
        assert_eq!(ratio_interval(&zero, &one, 0.95), Some(Interval::UNBOUNDED));
        let same = ratio_interval(&noise(&[2.0, 2.0]), &noise(&[3.0, 3.0]), 0.95).unwrap();
        assert_eq!((same.lower, same.upper), (1.5, 1.5));
    }

    #[test]
    fn one_level_is_students_interval() {
        let values = [1e12 + 1.0, 1e12 + 4.0, 1e12 + 2.0, 1e12 + 9.0];
        let keys: Vec<Vec<u32>> = (0..4).map(|i| vec![i]).collect();
        let found = levels_of(&values, &keys);
        let expected = crate::groups::t_interval(&values, 0.95).unwrap();
        let interval = found.mean_interval(0.95).unwrap();
        assert!((interval.lower - expected.lower).abs() < 1e-3);
        assert_eq!((found.levels.len(), found.levels[0].share), (1, 1.0));
    }

    #[test]
    fn repeated_keys_make_a_level_of_their_own() {
        let keys: [&[u32]; 5] = [&[0], &[0], &[1], &[1], &[1]];
        let found = Levels::of(&[1.0, 3.0, 5.0, 6.0, 7.0], &keys).unwrap();
        assert_eq!((found.levels[0].units, found.levels[1].units), (2, 5));
        assert_eq!((found.mean, found.levels[1].repetitions), (4.0, 2.5));
        // The component within units is (2 + 2)/3. The component between units is 8, minus 4/3
        // times the mean of 1/2 and 1/3.
        assert!((found.levels[1].component - 4.0 / 3.0).abs() < 1e-14);
        assert!((found.levels[0].component - (8.0 - 4.0 / 3.0 * 5.0 / 12.0)).abs() < 1e-14);
    }

    #[test]
    fn repetitions_go_where_they_are_cheap_and_the_spread_is() {
        let mut stream = Stream::new(15, 0);
        let (values, keys) = nested(&mut stream, [200, 4, 4], [1.0, 1.0, 4.0]);
        let found = levels_of(&values, &keys);
        let best = found.best_repetitions(&[100.0, 25.0, 1.0]);
        // The optimum is √(100/25 · 1) = 2 processes per build and √(25/1 · 16) = 20 iterations per
        // process.
        assert!((1.0..4.0).contains(&best[0].unwrap()), "{best:?}");
        assert!((14.0..30.0).contains(&best[1].unwrap()), "{best:?}");
        assert!(found.best_repetitions(&[1.0]).is_empty());
        let only_inner = Levels::of(&[1.0, 2.0, 1.0, 2.0], &[&[0], &[0], &[1], &[1]]).unwrap();
        assert_eq!(only_inner.best_repetitions(&[5.0, 1.0]), [None]);
        assert_eq!((only_inner.levels[0].share, only_inner.levels[1].share), (0.0, 1.0));
    }

    #[test]
    fn what_is_not_nested_is_refused() {
        assert_eq!(Levels::of(&[], &[]), None);
        assert_eq!(Levels::of(&[1.0, 2.0], &[&[], &[]]), None);
        assert_eq!(Levels::of(&[1.0, 2.0], &[&[0], &[0, 1]]), None);
        assert_eq!(Levels::of(&[1.0, 2.0], &[&[0], &[0]]), None);
        assert_eq!(Levels::of(&[1.0], &[&[0], &[1]]), None);
    }
}

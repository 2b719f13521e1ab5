//! E-divisive on ranks: splits at the largest energy distance, tests the split by permutation, then
//! splits the parts.
//!
//! The energy distance between the two sides of a split is 2 E|X − Y| − E|X − X'| − E|Y − Y'|,
//! weighted by nm/(n + m); on ranks it is the two-sample statistic of Cramér and von Mises. Moving
//! the split by one value changes each sum by the distances of one value to all those on its left,
//! which a binary indexed tree (Fenwick, 1994) gives in O(log n). The level is divided among the
//! parts by their length, so that a series with changes is not split further by chance more often
//! than one without.
//!
//! If a part has several changes, its first split is biased towards the others. Therefore, once all
//! are found, each is located again between its neighbors, twice (the repartition of Bai,
//! "Estimating multiple breaks one at a time", 1997), which neither adds nor removes any.

use crate::resampling::Stream;

/// Minimum number of permutations for a test, unless it fails sooner.
const PERMUTATIONS: u32 = 999;

/// There are enough permutations that about this many may reach a split that is still significant:
/// with fewer, chance would decide whether a split near a small level is significant.
const REACHING: f64 = 10.0;

/// The places at which a new part begins, ascending. `ranks`: distinct ranks of the whole series;
/// `tau` ≥ 1 divides the statistic; `shortest` ≥ 2.
pub(super) fn divide(
    ranks: &[usize],
    level: f64,
    tau: f64,
    shortest: usize,
    seed: u64,
) -> Vec<usize> {
    let mut places = Vec::new();
    let mut parts = vec![(0, ranks.len())];
    while let Some((from, to)) = parts.pop() {
        let share = level * (to - from) as f64 / ranks.len() as f64;
        let part = ranks_within(&ranks[from..to]);
        // Every part has its own permutations, independent of earlier steps.
        let mut stream = Stream::new(seed, 1 + (from * ranks.len() + to) as u64);
        if let Some(place) = split(&part, share, tau, shortest, &mut stream) {
            places.push(from + place);
            parts.push((from, from + place));
            parts.push((from + place, to));
        }
    }
    places.sort_unstable();
    for _ in 0..2 {
        place_anew(&mut places, ranks, shortest);
    }
    places
}

/// Moves each place to the best split between the neighboring places.
fn place_anew(places: &mut [usize], ranks: &[usize], shortest: usize) {
    for at in 0..places.len() {
        let from = if at == 0 { 0 } else { places[at - 1] };
        let to = places.get(at + 1).copied().unwrap_or(ranks.len());
        let part = ranks_within(&ranks[from..to]);
        places[at] = from + largest_distance(&part, shortest, &mut Tree::new(part.len())).1;
    }
}

/// Ranks of the values of a part among themselves.
fn ranks_within(part: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..part.len()).collect();
    order.sort_unstable_by_key(|&index| part[index]);
    let mut ranks = vec![0; part.len()];
    for (rank, index) in order.into_iter().enumerate() {
        ranks[index] = rank;
    }
    ranks
}

/// The best split, if it is significant: less than a share `level` of the permutations have a split
/// with at least its statistic divided by `tau`.
fn split(
    ranks: &[usize],
    level: f64,
    tau: f64,
    shortest: usize,
    stream: &mut Stream,
) -> Option<usize> {
    if ranks.len() < 2 * shortest {
        return None;
    }
    let mut tree = Tree::new(ranks.len());
    let (statistic, place) = largest_distance(ranks, shortest, &mut tree);
    let asked = statistic / tau;
    // Significant if (reached + 1)/(permutations + 1) ≤ level: decided as soon as too many reach
    // it. A short part has so small a share of the level that few permutations cannot reach it.
    let permutations = PERMUTATIONS.max((REACHING / level).ceil() as u32);
    let allowed = (level * f64::from(permutations + 1)).floor() as u32;
    let mut shuffled = ranks.to_vec();
    let mut reached = 0;
    for _ in 0..permutations {
        if reached >= allowed {
            return None;
        }
        stream.shuffle(&mut shuffled);
        reached += u32::from(largest_distance(&shuffled, shortest, &mut tree).0 >= asked);
    }
    (reached < allowed).then_some(place)
}

/// The largest weighted energy distance over all splits that leave `shortest` values on each side,
/// and the first index of its right side. `ranks`: distinct ranks 0..n; O(n log n).
fn largest_distance(ranks: &[usize], shortest: usize, tree: &mut Tree) -> (f64, usize) {
    let count = ranks.len();
    tree.clear();
    let all = count as f64;
    // Sums over unordered pairs; at first everything is on the right.
    let mut within_right = (all * all * all - all) / 6.0;
    let (mut within_left, mut across) = (0.0, 0.0);
    let mut best = (f64::NEG_INFINITY, shortest);
    for (index, &rank) in ranks.iter().enumerate() {
        let left = index as f64;
        let (fewer, sum_below, sum) = tree.below(rank);
        let r = rank as f64;
        let to_left = r * fewer - sum_below + (sum - sum_below) - r * (left - fewer);
        // Distances from this rank to all: 1 + ... + r below, 1 + ... + (n − 1 − r) above.
        let above = all - 1.0 - r;
        let to_right = r * (r + 1.0) / 2.0 + above * (above + 1.0) / 2.0 - to_left;
        within_left += to_left;
        within_right -= to_right;
        across += to_right - to_left;
        tree.add(rank);
        let (n, m) = (left + 1.0, all - left - 1.0);
        if index + 1 < shortest || index + 1 + shortest > count {
            continue;
        }
        let distance =
            2.0 * across / (n * m) - 2.0 * within_left / (n * n) - 2.0 * within_right / (m * m);
        let weighted = distance * n * m / all;
        if weighted > best.0 {
            best = (weighted, index + 1);
        }
    }
    best
}

/// A binary indexed tree that gives the number and the sum of the added ranks below any rank.
struct Tree {
    nodes: Vec<(u32, f64)>,
    sum: f64,
}

impl Tree {
    fn new(n: usize) -> Self {
        Tree { nodes: vec![(0, 0.0); n + 1], sum: 0.0 }
    }

    fn clear(&mut self) {
        self.nodes.fill((0, 0.0));
        self.sum = 0.0;
    }

    fn add(&mut self, rank: usize) {
        self.sum += rank as f64;
        let mut node = rank + 1;
        while node < self.nodes.len() {
            self.nodes[node].0 += 1;
            self.nodes[node].1 += rank as f64;
            node += node & node.wrapping_neg();
        }
    }

    /// The number of ranks below `rank`, their sum, and the sum of all.
    fn below(&self, rank: usize) -> (f64, f64, f64) {
        let (mut count, mut sum) = (0, 0.0);
        let mut node = rank;
        while node > 0 {
            count += self.nodes[node].0;
            sum += self.nodes[node].1;
            node &= node - 1;
        }
        (f64::from(count), sum, self.sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_part_is_split_at_its_small_share_of_the_level() {
        // Twenty of 300 values in two levels: a share of less than 0.001.
        let part: Vec<usize> = (0..20).map(|i| if i < 10 { i } else { 29 - i }).collect();
        let mut stream = Stream::new(1, 0);
        assert_eq!(split(&part, 0.01 * 20.0 / 300.0, 1.0, 5, &mut stream), Some(10));
    }

    #[test]
    fn a_place_is_the_best_between_its_neighbours() {
        // Three levels with changes at 30 and 50; both given places are slightly off.
        let mut stream = Stream::new(2, 0);
        let mut ranks: Vec<usize> = (0..80).collect();
        for level in [0..30, 30..50, 50..80] {
            stream.shuffle(&mut ranks[level]);
        }
        let mut places = vec![33, 48];
        for _ in 0..2 {
            place_anew(&mut places, &ranks, 5);
        }
        assert_eq!(places, [30, 50]);
    }

    #[test]
    fn the_distance_is_its_definition() {
        let mut stream = Stream::new(3, 0);
        for n in [4, 9, 30] {
            let mut ranks: Vec<usize> = (0..n).collect();
            stream.shuffle(&mut ranks);
            let mean = |a: &[usize], b: &[usize]| {
                let all = a.iter().flat_map(|x| b.iter().map(|y| x.abs_diff(*y) as f64));
                all.sum::<f64>() / (a.len() * b.len()) as f64
            };
            let by_pairs = (2..=n - 2).map(|place| {
                let (a, b) = ranks.split_at(place);
                let distance = 2.0 * mean(a, b) - mean(a, a) - mean(b, b);
                (distance * (a.len() * b.len()) as f64 / n as f64, place)
            });
            let expected = by_pairs.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
            let found = largest_distance(&ranks, 2, &mut Tree::new(n));
            assert!((found.0 - expected.0).abs() < 1e-9 && found.1 == expected.1, "{found:?}");
        }
    }
}

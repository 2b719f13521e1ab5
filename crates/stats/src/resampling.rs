//! Random numbers for resampling and simulation; the crate uses no others.
//!
//! Every draw comes from a seed passed in by the caller, through a [`Stream`]: the permuted
//! congruential generator `pcg64_mcg` (O'Neill, "PCG: A Family of Simple Fast Space-Efficient
//! Statistically Good Algorithms for Random Number Generation", 2014). Work shared among threads is
//! divided into chunks that do not depend on the number of threads, and every chunk has its own
//! stream, so that the same seed gives the same digits on any machine. Not suitable for
//! cryptography.

use crate::normal;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Up to this size, each half of a 64-bit number gives an index; see [`Stream::next_two_indices`].
const HALVES_UP_TO: usize = 1 << 20;

/// A stream of random numbers determined by a seed and a chunk number.
#[derive(Clone, Debug)]
pub struct Stream(Pcg64Mcg);

impl Stream {
    /// The stream of chunk number `chunk` under `seed`. Neighboring chunks and seeds are
    /// unrelated: both are mixed (Steele, Lea and Flood's SplitMix64) to form the state.
    #[must_use]
    pub fn new(seed: u64, chunk: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(mixed(mixed(seed) ^ chunk)))
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// An index below `n`; 0 for `n` = 0.
    ///
    /// The upper half of the product of `n` and a 64-bit number: the relative bias of an index is
    /// at most n / 2⁶⁴.
    pub fn next_index(&mut self, n: usize) -> usize {
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }

    /// Two indices below `n`, for tight loops: for `n` up to 2²⁰ from a single number, whose bias
    /// of n / 2³² (at most 0.03 %) is far below what any number of resamples can detect.
    pub fn next_two_indices(&mut self, n: usize) -> (usize, usize) {
        if n > HALVES_UP_TO {
            return (self.next_index(n), self.next_index(n));
        }
        let bits = self.next_u64();
        let half = |bits: u64| ((bits * n as u64) >> 32) as usize;
        (half(bits >> 32), half(bits & 0xFFFF_FFFF))
    }

    /// A number strictly between 0 and 1: a multiple of 2⁻⁵³, plus 2⁻⁵⁴.
    pub fn uniform(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1u64 << 53) as f64;
        // The last number below 1 would be rounded up to it.
        (((self.next_u64() >> 11) as f64 + 0.5) * STEP).min(1.0 - STEP)
    }

    /// A standard normal number, by inversion: it uses exactly one uniform number, so that two
    /// series drawn in parallel stay in step.
    pub fn normal(&mut self) -> f64 {
        normal::quantile(self.uniform())
    }

    /// A number from the exponential distribution with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    /// A number from the gamma distribution with shape `shape` ≥ 1 and scale 1: Marsaglia and
    /// Tsang, "A simple method for generating gamma variables", 2000.
    pub fn gamma(&mut self, shape: f64) -> f64 {
        let d = shape.max(1.0) - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let z = self.polar_normal();
            let v = (1.0 + c * z).powi(3);
            if v > 0.0 && self.uniform().ln() < 0.5 * z * z + d * (1.0 - v + v.ln()) {
                return d * v;
            }
        }
    }

    /// A standard normal number by Marsaglia's polar method: faster, but not in step with other
    /// streams.
    fn polar_normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = x * x + y * y;
            if square < 1.0 && square > 0.0 {
                return x * (-2.0 * square.ln() / square).sqrt();
            }
        }
    }

    /// Shuffles the values (Fisher and Yates). O(n).
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.next_index(last + 1));
        }
    }
}

fn mixed(bits: u64) -> u64 {
    let mut z = bits.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptive;

    const MANY: usize = 100_000;

    fn drawn(mut one: impl FnMut() -> f64) -> Vec<f64> {
        (0..MANY).map(|_| one()).collect()
    }

    #[test]
    fn a_seed_repeats_itself_and_its_chunks_differ() {
        let first = |seed, chunk| Stream::new(seed, chunk).next_u64();
        assert_eq!(first(7, 3), first(7, 3));
        let mut seen: Vec<u64> = (0..50).flat_map(|s| (0..50).map(move |c| first(s, c))).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 2500);
    }

    #[test]
    fn chunks_of_one_seed_are_not_correlated() {
        let (mut a, mut b) = (Stream::new(1, 0), Stream::new(1, 1));
        let product = drawn(|| a.normal() * b.normal());
        assert!(descriptive::mean(&product).abs() < 4.0 / (MANY as f64).sqrt());
    }

    #[test]
    fn every_index_comes_as_often_as_the_others() {
        let mut stream = Stream::new(11, 0);
        for n in [1, 2, 7, 1000] {
            let mut counts = vec![0.0; n];
            for _ in 0..MANY {
                counts[stream.next_index(n)] += 1.0;
                let (a, b) = stream.next_two_indices(n);
                counts[a] += 1.0;
                counts[b] += 1.0;
            }
            let expected = 3.0 * MANY as f64 / n as f64;
            let squares = counts.iter().map(|c| (c - expected) * (c - expected) / expected);
            let (excess, sd) = (squares.sum::<f64>() - (n as f64 - 1.0), (2.0 * n as f64).sqrt());
            assert!(excess.abs() < 4.0 * sd, "{n}: {excess}");
        }
        assert_eq!(stream.next_index(0), 0);
        let large = HALVES_UP_TO * 8;
        let (a, b) = stream.next_two_indices(large);
        assert!(a < large && b < large);
    }

    #[test]
    fn the_distributions_have_their_moments() {
        let mut stream = Stream::new(5, 0);
        for (mean, variance, xs) in [
            (0.5, 1.0 / 12.0, drawn(|| stream.uniform())),
            (0.0, 1.0, drawn(|| stream.normal())),
            (1.0, 1.0, drawn(|| stream.exponential())),
            (1.0, 1.0, drawn(|| stream.gamma(1.0))),
            (40.5, 40.5, drawn(|| stream.gamma(40.5))),
        ] {
            let error = (variance / MANY as f64).sqrt();
            assert!((descriptive::mean(&xs) - mean).abs() < 4.0 * error, "{mean}");
            assert!((descriptive::variance(&xs) / variance - 1.0).abs() < 0.05, "{mean}");
        }
    }

    #[test]
    fn a_shuffle_keeps_the_values() {
        let mut values: Vec<usize> = (0..100).collect();
        Stream::new(2, 0).shuffle(&mut values);
        assert!(values.windows(2).any(|pair| pair[0] > pair[1]));
        values.sort_unstable();
        assert!(values.into_iter().eq(0..100));
    }

    #[test]
    fn bits_are_mixed_as_published() {
        // SplitMix64 (Steele, Lea and Flood, 2014): the first two numbers of seed 0.
        assert_eq!(mixed(0), 0xE220_A839_7B1D_CDAF);
        assert_eq!(mixed(0x9E37_79B9_7F4A_7C15), 0x6E78_9E6A_A1B9_65F4);
    }
}

//! Sorts numbers, with a radix sort where that is faster than a comparison sort.
//!
//! Radix sort with eleven-bit digits (Knuth, "The Art of Computer Programming", volume 3, 5.2.5) is
//! faster as long as all data fit in the processor's cache: sorting a hundred thousand doubles
//! takes half as long as with a comparison sort, but needs as much additional memory as the values.
//! A million doubles take about as long either way, so they are sorted in place by comparison. The
//! order is that of `f64::total_cmp`.

/// Below this number of values a comparison sort is as fast.
const FEW: usize = 2048;

/// Above this number of values a comparison sort is also as fast, and needs no second array.
const MANY: usize = 1 << 18;

const DIGIT_BITS: u32 = 11;
const BUCKETS: usize = 1 << DIGIT_BITS;
/// Number of digits in 64 bits.
const DIGITS: usize = 6;

/// Sorts in place, in the order of `f64::total_cmp`. O(n), or O(n log n) above 262,144 values.
pub fn sort(values: &mut [f64]) {
    if values.len() < FEW || values.len() > MANY {
        values.sort_unstable_by(f64::total_cmp);
        return;
    }
    if values.is_sorted_by(|a, b| a.total_cmp(b).is_le()) {
        return;
    }
    let mut counts = vec![[0_usize; BUCKETS]; DIGITS];
    for &value in values.iter() {
        let key = key(value);
        for (place, counts) in counts.iter_mut().enumerate() {
            counts[digit(key, place)] += 1;
        }
    }
    let mut scratch = vec![0.0; values.len()];
    let mut swapped = false;
    for (place, counts) in counts.iter_mut().enumerate() {
        // Skips digits that are equal in all values: timings differ in few of their high bits, and
        // whole numbers in few of their low bits.
        if counts.contains(&values.len()) {
            continue;
        }
        let mut before = 0;
        for count in counts.iter_mut() {
            before += std::mem::replace(count, before);
        }
        let (from, to) =
            if swapped { (&scratch[..], &mut *values) } else { (&*values, &mut scratch[..]) };
        for &value in from {
            let next = &mut counts[digit(key(value), place)];
            to[*next] = value;
            *next += 1;
        }
        swapped = !swapped;
    }
    if swapped {
        values.copy_from_slice(&scratch);
    }
}

/// Returns a key that sorts like the value: the sign bit is flipped, and for negative values all
/// other bits too.
pub(crate) fn key(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

/// Returns the value that has this [`key`].
pub(crate) fn of_key(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

fn digit(key: u64, place: usize) -> usize {
    (key >> (DIGIT_BITS * place as u32)) as usize & (BUCKETS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resampling::Stream;
    use proptest::prelude::*;

    fn agrees(values: &[f64]) {
        let (mut ours, mut expected) = (values.to_vec(), values.to_vec());
        sort(&mut ours);
        expected.sort_by(f64::total_cmp);
        let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&ours), bits(&expected));
    }

    #[test]
    fn few_values_many_and_special_ones_come_into_their_total_order() {
        let special = [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1e-310];
        for n in [0, 1, FEW - 1, FEW, 3 * FEW + 7, MANY + 1] {
            let mut random = Stream::new(n as u64, 0);
            let mixed: Vec<f64> = (0..n)
                .map(|i| {
                    let wild = (random.next_u64() >> 11) as f64;
                    if i % 97 == 0 { special[i % 7] } else { (wild - 4e15) * 1e-9 }
                })
                .collect();
            agrees(&mixed);
            agrees(&vec![2.5; n]);
            agrees(&(0..n).map(|i| (n - i) as f64).collect::<Vec<_>>());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn any_bits_are_sorted(bits in prop::collection::vec(any::<u64>(), FEW..FEW + 500)) {
            agrees(&bits.into_iter().map(f64::from_bits).collect::<Vec<_>>());
        }
    }
}

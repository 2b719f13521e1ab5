//! A known amount of work.

/// Adds up `n` numbers in a way that cannot be optimized to a closed form.
pub fn sum(n: u64) -> u64 {
    (0..std::hint::black_box(n)).fold(0, |total, i| total ^ (i + total))
}

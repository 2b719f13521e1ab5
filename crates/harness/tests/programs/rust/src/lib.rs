//! Work whose amount is known.

/// Adds up `n` numbers in a way that nobody can shorten.
pub fn sum(n: u64) -> u64 {
    (0..std::hint::black_box(n)).fold(0, |total, i| total ^ (i + total))
}

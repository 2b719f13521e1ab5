//! Benchmarks for testing the driver of divan.

#[global_allocator]
static ALLOC: divan::AllocProfiler = divan::AllocProfiler::system();

fn main() {
    divan::main();
}

#[divan::bench]
fn sum() -> u64 {
    sums::sum(1000)
}

/// Shares a prefix with another name.
#[divan::bench(max_time = 0.001, sample_count = 20)]
fn sum_all() -> u64 {
    sums::sum(2000)
}

mod grow {
    #[divan::bench(args = [16, 64])]
    fn push(n: u64) -> Vec<u64> {
        let mut all = Vec::new();
        (0..n).for_each(|i| all.push(i));
        all
    }

    #[divan::bench(threads = [1, 2])]
    fn shared() -> Vec<u8> {
        vec![1; 10]
    }
}

/// Contains characters special in regular expressions.
#[divan::bench(args = ["a (b::c)+"])]
fn named(text: &str) -> usize {
    text.len()
}

#[divan::bench]
fn broken() -> u64 {
    assert!(std::env::var_os("SUMS_BROKEN").is_none(), "no luck today");
    sums::sum(10)
}

//! Benchmarks for testing the driver of criterion.

use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion};
use sums::sum;

fn sums(c: &mut Criterion) {
    c.bench_function("sum", |b| b.iter(|| sum(1000)));
    // Shares a prefix with another name, and contains characters special in regular expressions.
    c.bench_function("sum (all) [2+]", |b| b.iter(|| sum(2000)));
    let mut group = c.benchmark_group("grow/vec");
    for n in [16_u64, 64] {
        group.bench_with_input(BenchmarkId::new("push", n), &n, |b, &n| {
            b.iter(|| (0..n).collect::<Vec<_>>());
        });
    }
    group.finish();
    c.bench_function("broken", |b| {
        assert!(std::env::var_os("SUMS_BROKEN").is_none(), "no luck today");
        b.iter(|| sum(10));
    });
}

criterion_group!(benches, sums);
criterion_main!(benches);

use criterion::{criterion_group, criterion_main, Criterion};
use itertools::Itertools;
use std::hint::black_box;

fn speed(c: &mut Criterion) {
    let numbers: Vec<u32> = (0..2000u32).map(|n| n.wrapping_mul(2_654_435_761) >> 20).collect();
    let sorted: Vec<u32> = numbers.iter().copied().sorted().collect();
    c.bench_function("k_smallest_by", |b| b.iter(|| black_box(&numbers).iter().k_smallest_by(200, |x, y| x.cmp(y)).count()));
    c.bench_function("unique", |b| b.iter(|| black_box(&numbers).iter().unique().count()));
    c.bench_function("join", |b| b.iter(|| black_box(&numbers).iter().join(", ").len()));
    c.bench_function("combinations", |b| {
        b.iter(|| black_box(&numbers)[..24].iter().combinations(3).map(|own| *own[2]).max())
    });
    c.bench_function("kmerge", |b| {
        b.iter(|| black_box(&sorted).chunks(250).kmerge().fold(0u32, |sum, n| sum.wrapping_add(*n)))
    });
    c.bench_function("chunk_by", |b| {
        b.iter(|| {
            let chunks = black_box(&sorted).iter().chunk_by(|n| **n / 16);
            chunks.into_iter().map(|(_, own)| own.count()).max()
        })
    });
    c.bench_function("dedup", |b| b.iter(|| black_box(&sorted).iter().dedup().count()));
    c.bench_function("tuple_windows", |b| {
        b.iter(|| black_box(&numbers).iter().tuple_windows().filter(|(x, y, z)| x < y && y < z).count())
    });
}

criterion_group!(benches, speed);
criterion_main!(benches);

//! Generates `src/dip/table.rs`: simulated quantiles of the dip of uniform samples.
//!
//!     cargo run -p assay-stats --example dip_table > table.rs && mv table.rs crates/stats/src/dip/ && cargo fmt
//!
//! Takes about five minutes. Each row has its own seed, so rows can be computed separately.

#![allow(clippy::print_stdout, reason = "what it prints is the table")]

use assay_stats::dip;

const SIZES: [usize; 21] = [
    4, 5, 6, 7, 8, 9, 10, 15, 20, 30, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 40_000,
    72_000,
];
const PROBABILITIES: [f64; 21] = [
    0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995,
    0.998, 0.999, 0.9995, 1.0,
];

/// Steele, Lea & Flood's SplitMix64: sufficient for a table of three digits.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Number of samples for a row: fewer for large `n`, where each costs more.
fn samples(n: usize) -> usize {
    (600_000_000 / n).clamp(40_000, 400_000)
}

fn main() {
    println!(
        "//! Quantiles of √n times the dip of uniform samples, made by `examples/dip_table.rs`."
    );
    println!();
    println!(
        "/// The probabilities of the columns; the first and last are the extremes that occurred."
    );
    println!(
        "pub(super) const PROBABILITIES: [f64; {}] =\n    {PROBABILITIES:?};\n",
        PROBABILITIES.len()
    );
    println!("/// For every number of values the scaled quantiles.");
    println!(
        "pub(super) const QUANTILES: [(usize, [f32; {}]); {}] = [",
        PROBABILITIES.len(),
        SIZES.len()
    );
    for n in SIZES {
        let mut random = Random(n as u64);
        let mut xs = vec![0.0; n];
        let mut dips: Vec<f64> = (0..samples(n))
            .map(|_| {
                // Sums of exponentials are uniform order statistics, up to an irrelevant scale.
                let mut sum = 0.0;
                for x in &mut xs {
                    sum -= (1.0 - random.uniform()).ln();
                    *x = sum;
                }
                dip::statistic(&xs).unwrap_or(0.0) * (n as f64).sqrt()
            })
            .collect();
        dips.sort_unstable_by(f64::total_cmp);
        let quantiles: Vec<String> = PROBABILITIES
            .iter()
            .map(|p| format!("{:.5}", assay_stats::descriptive::quantile_sorted(&dips, *p)))
            .collect();
        println!("    ({n}, [{}]),", quantiles.join(", "));
    }
    println!("];");
}

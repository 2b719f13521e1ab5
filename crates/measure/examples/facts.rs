//! Prints the facts recorded about this machine, and the time that takes.
//! `cargo run --example facts`

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::time::Instant;

use assay_measure::environment;

fn main() {
    let start = Instant::now();
    let facts = environment::capture();
    let took = start.elapsed();
    for (name, value) in facts {
        println!("{name}: {value}");
    }
    println!("({:.1} ms)", took.as_secs_f64() * 1e3);
}

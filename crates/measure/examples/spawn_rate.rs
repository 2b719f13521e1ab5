//! Measures the maximum rate of runs. `cargo run --release --example spawn_rate -- 1000 /bin/true`
//!
//! Prints the wall time of each run in nanoseconds, one per line, and the rate of the whole loop on
//! standard error, like `bench/floor.c`, to which it should be compared.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example shows what it found")]

use std::time::Instant;

use assay_measure::{Command, MeasureError, RunOptions, Runner};

fn main() -> Result<(), MeasureError> {
    let mut words = std::env::args().skip(1);
    let runs: usize = words.next().and_then(|n| n.parse().ok()).unwrap_or(1000);
    let mut command: Vec<String> = words.collect();
    if command.is_empty() {
        command.push("/bin/true".to_owned());
    }
    let mut runner = Runner::start()?;
    let subject = runner.add(&Command::new(command)?)?;
    let mut wall = Vec::with_capacity(runs);
    let start = Instant::now();
    for i in 0..runs {
        let options = RunOptions { pad: (i * 61 % 4096) as u16, ..RunOptions::default() };
        wall.push(runner.run(subject, options)?.wall_seconds);
    }
    let rate = runs as f64 / start.elapsed().as_secs_f64();
    for seconds in wall {
        println!("{:.0}", seconds * 1e9);
    }
    eprintln!("{rate:.1} runs/s");
    Ok(())
}

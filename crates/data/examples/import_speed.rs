//! Measures how long it takes to import a file:
//! `cargo run --release -p assay-data --example import_speed -- FILE`.

use assay_data::import::{ImportOptions, load};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let began = Instant::now();
    let samples = load(&files, &ImportOptions::default())?;
    let seconds = began.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM: unknown");
    let (n, metrics) = (samples.len(), samples.metrics.len());
    std::io::Write::write_fmt(
        &mut std::io::stdout(),
        format_args!("{n} observations of {metrics} metrics in {seconds:.2} s; {peak}\n"),
    )?;
    Ok(())
}

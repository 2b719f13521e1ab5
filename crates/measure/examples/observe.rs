//! What does one run of a command yield? `cargo run --example observe -- sleep 0.1`

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use assay_measure::{Command, MeasureError, RunOptions, Runner};

fn main() -> Result<(), MeasureError> {
    let mut runner = Runner::start()?;
    let subject = runner.add(&Command::new(std::env::args_os().skip(1))?)?;
    let options = RunOptions { capture_stderr: true, ..RunOptions::default() };
    println!("{:#?}", runner.run(subject, options)?);
    Ok(())
}

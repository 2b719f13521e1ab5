//! Prints the results of one run of a command. `cargo run --example observe -- sleep 0.1`
//!
//! `--pin CPU` and `--fifo PRIORITY`, in this order, may come before the command.

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use assay_measure::{Command, LastWords, RunOptions, Runner};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words: Vec<_> = std::env::args_os().skip(1).collect();
    let mut option = |name: &str| {
        let value = words.get(1).filter(|_| words[0] == name)?.to_string_lossy().into_owned();
        words.drain(..2);
        Some(value)
    };
    let (pin, fifo) = (option("--pin"), option("--fifo"));
    let mut command = Command::new(words)?;
    command.control.cpus = pin.map(|cpu| cpu.parse()).transpose()?.into_iter().collect();
    command.control.fifo = fifo.map(|priority| priority.parse()).transpose()?;
    let mut runner = Runner::start()?;
    let subject = runner.add(&command)?;
    let options = RunOptions { last_words: LastWords::Piped, ..RunOptions::default() };
    println!("{:#?}", runner.run(subject, options)?);
    Ok(())
}

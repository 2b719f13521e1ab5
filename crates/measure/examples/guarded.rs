//! Demonstrates that a killed process restores a file.
//! `cargo run --example guarded -- FILE NEW-VALUE`
//!
//! It writes the value into the file and sleeps. The old value is restored however the process
//! ends.

use std::fs;
use std::path::PathBuf;

use assay_measure::{Guard, MeasureError};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args_os().skip(1);
    let (Some(file), Some(value)) = (words.next().map(PathBuf::from), words.next()) else {
        return Err("give a file and a value".into());
    };
    let mut guard = Guard::start()?;
    guard.remember(&file, &fs::read_to_string(&file)?)?;
    fs::write(&file, value.as_encoded_bytes())?;
    std::thread::sleep(std::time::Duration::from_secs(60));
    guard.restore().map_err(|error: MeasureError| error.into())
}

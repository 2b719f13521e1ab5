//! Sampling profiles: where a program spends its time, as far as samples can tell.
//!
//! A profile is a bag of stacks, each seen so many times. This crate holds the model ([`Profile`]), reads and writes the formats of
//! other tools ([`mod@import`], [`export`]), and says what samples are worth: the share of every function with its interval
//! ([`shares`]), whether the sampler delivered what it was asked for ([`checks`]), and how two profiles differ ([`difference`] for two
//! files, [`runs`] for runs taken by turns, whose verdicts are those of every other comparison).
//!
//! Pure: no processes, no clock, no files, no printing. Parsers take bytes from anywhere and never panic.
//!
//! ```
//! use assay_profiles::{export::Format, import, shares::Shares};
//!
//! let profile = import::load_bytes(b"main;parse 3\nmain;draw 1\n", "out.collapsed")?;
//! let shares = Shares::of(&profile, 0.95);
//! assert_eq!(shares.functions[0].function.name, "parse");
//! assert_eq!(shares.functions[0].flat, 0.75);
//! assert!(Format::Text.write(&profile)?.starts_with(b"Total: 4 samples\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::panic,
        reason = "in a test a failed unwrap is a failed test"
    )
)]

mod builder;
pub mod checks;
mod counted;
pub mod difference;
pub mod export;
mod functions;
pub mod import;
pub mod marked;
mod model;
mod pairing;
pub mod policy;
mod proto;
pub mod runs;
pub mod shares;
pub mod tree;

pub use builder::Builder;
pub use counted::Counted;
pub use functions::{Function, Functions};
pub use model::{Frame, Profile, Stack};
pub use pairing::Pairing;

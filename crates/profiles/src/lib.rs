//! Sampling profiles: where a program spends its time, as far as samples can tell.
//!
//! A profile is a multiset of stacks. This crate provides the data model ([`Profile`]), reads and
//! writes the formats of other tools ([`mod@import`], [`export`]), and evaluates samples: the share
//! of each function with its interval ([`shares`]), whether the sampler delivered the requested
//! rate ([`checks`]), and how two profiles differ ([`difference`] for two files, [`runs`] for
//! alternating runs, whose verdicts are those of every other comparison).
//!
//! The crate is pure: it uses no processes, clocks or files, and prints nothing. Parsers accept
//! untrusted bytes and never panic.
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

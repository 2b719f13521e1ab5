//! Mutants of source code: small changes that a project's tests should detect.
//!
//! A [`Generator`] parses a file in its language and returns its [`Mutants`], using the table of
//! that language; [`Operator`] lists the kinds of change. Each mutant is one change to the text
//! ([`Mutant::applied`], [`Mutant::diff`]). docs/internals/008-mutation.md explains what is
//! changed, and why.
//!
//! [`Generator::rewrites`] returns equivalent changes, which no test should detect.
//!
//! This module runs nothing, reads no files and prints nothing. The program `assay-mutate` does all
//! of this.

mod absent;
mod alike;
mod alone;
pub mod controls;
mod doubt;
mod emitted;
mod generate;
mod keep;
mod literal;
mod milder;
mod mutant;
mod nothing;
mod operator;
mod passed;
pub mod policy;
mod pragmas;
mod rewrites;
pub mod switch;
mod tables;
mod trial;

#[cfg(test)]
mod tests;

pub use absent::{BuildPlatform, ExcludedLines, modules_off};
pub use alone::{IsolatedFunction, alone};
pub use assay_suites::coverage::Language;
pub use doubt::doubts;
pub use emitted::{EmittedFunction, emitted};
pub use generate::{Generator, Mutants};
pub use milder::is_same;
pub use mutant::{Mutant, Unit, line_starts};
pub use operator::Operator;
pub use passed::why_passed;

//! The integration tests of this crate, as one program, so that it is linked once.

mod choosing;
mod compiled;
mod coupling;
mod equivalents;
mod forks_of_ruby;
mod mutate;
mod project;

//! The example runs.
#![allow(clippy::unwrap_used)]

#[path = "../../examples/own_source.rs"]
mod example;

#[test]
fn the_example_comes_to_a_verdict() {
    example::main().unwrap();
}

//! The example runs.
#![allow(clippy::unwrap_used)]

#[path = "../../examples/own_source.rs"]
mod own_source;

#[test]
fn the_example_comes_to_a_verdict() {
    own_source::main().unwrap();
}

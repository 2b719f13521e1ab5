//! How release builds of the program are linked.

#[path = "../assay/linking.rs"]
mod linking;

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed=build.rs");
    linking::release()
}

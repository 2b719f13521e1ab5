//! Links release builds of the program.

#[path = "../assay/linking.rs"]
mod linking;

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed=build.rs");
    linking::release()
}

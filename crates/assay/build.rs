//! Links the binary to a fixed address: a position-independent program of this size touches fifty pages more to start, only to write
//! addresses into them, and a start of the tool is itself measured.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    // Tests run the binary as well, but nobody times them.
    if is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && is("PROFILE", "release")
    {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

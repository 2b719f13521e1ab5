//! Differences of an emulated processor: `scripts/arm64-tests.sh` detects them, and passes them to
//! the tests.

#![allow(dead_code, clippy::print_stdout)]

/// Possible differences between a real system and a processor emulator, which is registered with
/// the kernel in a namespace.
#[derive(Clone, Copy)]
pub enum Emulated {
    /// A child of vfork has its own memory, so that its report of a failed exec is lost.
    Vfork,
    /// The peak memory of a program includes that of the emulator.
    Peak,
    /// Memory marked to be wiped in forked children is not wiped.
    Wipe,
    /// Everything takes longer.
    Time,
    /// Orphans can't be adopted (PR_SET_CHILD_SUBREAPER).
    Orphans,
    /// There is only one user.
    Users,
    /// The system's own programs are for another architecture.
    Machine,
}

/// Returns true, and prints the reason, if a test has to be skipped because it would test the
/// emulator instead of our code. Small programs in `scripts/arm64-tests.sh` detect the emulator's
/// differences and list them in ASSAY_EMULATED.
pub fn ignored_under_emulation(what: Emulated) -> bool {
    let (_, why) = told(what);
    let ignored = is_emulated(what);
    if ignored {
        println!("ignored under emulation: {why}");
    }
    ignored
}

/// Returns true if the difference exists here.
pub fn is_emulated(what: Emulated) -> bool {
    let (name, _) = told(what);
    let found = std::env::var("ASSAY_EMULATED").unwrap_or_default();
    found.split(' ').any(|word| word == name)
}

fn told(what: Emulated) -> (&'static str, &'static str) {
    match what {
        Emulated::Vfork => ("vfork", "a child of vfork has memory of its own"),
        Emulated::Peak => ("peak", "the peak memory of a program is that of the emulator"),
        Emulated::Wipe => ("wipe", "memory is not wiped in a forked child that is to be"),
        Emulated::Time => ("time", "everything takes longer"),
        Emulated::Orphans => ("orphans", "no process can take in orphans"),
        Emulated::Users => ("users", "there is one user in the namespace"),
        Emulated::Machine => ("machine", "the system's own programs are for another machine"),
    }
}

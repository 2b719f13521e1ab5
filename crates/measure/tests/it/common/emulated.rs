//! What is otherwise under an emulator of processors: `scripts/arm64-tests.sh` finds it out, and says it to the tests.

#![allow(dead_code, clippy::print_stdout)]

/// What an emulator of processors, and the namespace in which the kernel knows of it, may do otherwise than the system that they stand for.
#[derive(Clone, Copy)]
pub enum Emulated {
    /// A child of vfork has memory of its own, in which whatever it says of an exec that failed is lost.
    Vfork,
    /// The largest memory of a program is that of the emulator.
    Peak,
    /// Memory is not wiped in a forked child that is to be.
    Wipe,
    /// Everything takes longer.
    Time,
    /// Orphans can't be taken in (PR_SET_CHILD_SUBREAPER).
    Orphans,
    /// There is one user.
    Users,
    /// The system's own programs are for another machine.
    Machine,
}

/// Whether a test has to be left out because it would see an emulator, and not us; then it is said why. What the emulator does
/// otherwise is found out by programs of a few lines in `scripts/arm64-tests.sh`, which says it in ASSAY_EMULATED.
pub fn ignored_under_emulation(what: Emulated) -> bool {
    let (_, why) = told(what);
    let ignored = is_emulated(what);
    if ignored {
        println!("ignored under emulation: {why}");
    }
    ignored
}

/// Whether it is so here.
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

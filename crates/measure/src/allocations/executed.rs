//! The programs executed by the processes of a counted run, as recorded by the counting library
//! (`c/alloc/exec.c`), and which of them were not counted. The allocations of uncounted programs
//! are missing from the total of the run.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::refusal::{Refusal, RefusalReason, refusal};

/// Marks a record of a program whose environment makes the dynamic linker load the counting
/// library.
const HANDED_ON: u8 = b'+';

/// A program that a counted process has executed or tried to execute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Executed {
    /// Path of the program, which may be a script.
    pub program: PathBuf,
    /// True if the program's environment makes the dynamic linker load the counting library.
    pub handed_on: bool,
}

impl Executed {
    /// Returns the reason why the program was not counted. Returns `None` if nothing prevented
    /// counting, if the program's own record gives the reason, or if the program cannot have run.
    /// O(bytes of its file).
    pub fn uncounted(&self) -> Option<Refusal> {
        // The file may not exist, because a shell tries each directory of PATH in turn. A path in
        // /proc refers to a different file when read from this process. It is usually the counted
        // process's own program, which was counted.
        if !self.program.is_file() || self.program.starts_with("/proc") {
            return None;
        }
        match refusal(&self.program) {
            // The system could not execute the file. If a shell then interpreted it, the shell has
            // a record of its own.
            Some(Refusal { why: RefusalReason::NotAProgram, .. }) => None,
            Some(Refusal { why: RefusalReason::OwnMalloc, .. }) | None => {
                let program = self.program.clone();
                (!self.handed_on)
                    .then_some(Refusal { program, why: RefusalReason::OtherEnvironment })
            }
            refused => refused,
        }
    }
}

/// Parses the records of executed programs. An incomplete last record is dropped, because its
/// writer was killed.
pub(super) fn parse(bytes: &[u8]) -> BTreeSet<Executed> {
    let Some(end) = bytes.iter().rposition(|&byte| byte == 0) else { return BTreeSet::new() };
    let entries = bytes[..end].split(|&byte| byte == 0).filter_map(|entry| entry.split_first());
    let executed = |(mark, path): (&u8, &[u8])| Executed {
        program: PathBuf::from(OsStr::from_bytes(path)),
        handed_on: *mark == HANDED_ON,
    };
    entries.map(executed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_is_told_once_and_what_was_cut_off_not_at_all() {
        let found = parse(b"+/bin/b\0-/bin/a\0+/bin/b\0\0+/bin/hal");
        let told: Vec<_> = found.iter().map(|e| (e.program.to_str(), e.handed_on)).collect();
        assert_eq!(told, [(Some("/bin/a"), false), (Some("/bin/b"), true)]);
        assert!(parse(b"").is_empty() && parse(b"+/bin/hal").is_empty());
    }

    #[test]
    fn a_program_that_is_not_there_or_is_none_is_not_missing() {
        for program in ["/no/such/program", "/etc/passwd", "/", "/proc/self/exe"] {
            let executed = Executed { program: program.into(), handed_on: true };
            assert_eq!(executed.uncounted(), None, "{program}");
        }
    }
}

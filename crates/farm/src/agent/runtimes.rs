//! The runtimes of this machine that the sandbox's user can run, with one target for each. Runtimes
//! in a home directory that this user cannot read are reported when the agent starts, and not used.

use super::platform;
use super::walls::Walls;
use assay_farm::builds::model::{Facts, digest};
use assay_farm::builds::wire::NewTarget;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A runtime: its name in facts, the names of its programs, the arguments that query its version,
/// and the programs that jobs find.
struct RuntimeEntry {
    name: &'static str,
    programs: &'static [&'static str],
    version_arguments: &'static [&'static str],
    /// Names under which a job finds the program.
    called: &'static [&'static str],
    /// Other programs in the same directory that belong to the runtime.
    beside: &'static [&'static str],
}

/// Maximum number of unusable programs listed per reason.
const NAMED: usize = 2;

const PYTHON: &str = "import sys; print('%d.%d.%d' % sys.version_info[:3])";

const ALL: [RuntimeEntry; 5] = [
    RuntimeEntry {
        name: "ruby",
        programs: &["ruby", "ruby3.1", "ruby3.2", "ruby3.3", "ruby3.4", "ruby3.5"],
        version_arguments: &["-e", "print RUBY_VERSION"],
        called: &["ruby"],
        beside: &["gem", "bundle", "bundler", "rake", "irb", "rspec"],
    },
    RuntimeEntry {
        name: "python",
        programs: &[
            "python3",
            "python3.8",
            "python3.9",
            "python3.10",
            "python3.11",
            "python3.12",
            "python3.13",
            "python3.14",
            "python3.15",
        ],
        version_arguments: &["-c", PYTHON],
        called: &["python3", "python"],
        beside: &[],
    },
    RuntimeEntry {
        name: "node",
        programs: &["node", "nodejs"],
        version_arguments: &["--version"],
        called: &["node"],
        beside: &["npm", "npx", "corepack"],
    },
    RuntimeEntry {
        name: "go",
        programs: &["go"],
        version_arguments: &["env", "GOVERSION"],
        called: &["go"],
        beside: &["gofmt"],
    },
    RuntimeEntry {
        name: "rust",
        programs: &["rustc"],
        version_arguments: &["--version"],
        called: &["rustc"],
        beside: &["cargo", "rustdoc"],
    },
];

/// A runtime that jobs can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Runtime {
    /// `ruby`, `python`, `node`, `go`, `rust`.
    pub name: &'static str,
    pub version: String,
    /// The programs that a job finds, by name.
    pub programs: Vec<(String, PathBuf)>,
    /// Paths that the runtime must be able to read, in addition to those of the system.
    pub reads: Vec<PathBuf>,
}

/// A target for jobs on this machine.
#[derive(Clone, Debug)]
pub(super) struct LocalTarget {
    pub digest: String,
    pub target: NewTarget,
    pub runtime: Runtime,
}

/// The targets found, and notes about them.
pub(super) struct LocalTargets {
    pub targets: Vec<LocalTarget>,
    pub notes: Vec<String>,
}

/// Returns the names of all known runtimes.
pub(super) fn names() -> String {
    ALL.iter().map(|known| known.name).collect::<Vec<_>>().join(", ")
}

/// Searches PATH for runtimes. `only` restricts them by names such as `python3.11` or `ruby`; empty
/// means all.
pub(super) fn find(walls: &mut Walls, only: &[String]) -> LocalTargets {
    let facts = platform::facts();
    let (mut targets, mut left_out): (Vec<LocalTarget>, Vec<UnusablePrograms>) =
        (Vec::new(), Vec::new());
    for known in &ALL {
        for (called, program) in on_path(known.programs) {
            let is_meant = |own: &String| {
                let real = program.canonicalize().unwrap_or_default();
                own == known.name || *own == called || real.file_name().is_some_and(|n| n == &**own)
            };
            if !only.is_empty() && !only.iter().any(is_meant) {
                continue;
            }
            match query(walls, known, &program) {
                Err(why) => match left_out.iter_mut().find(|other| other.why == why) {
                    Some(other) => other.programs.push(program),
                    None => left_out.push(UnusablePrograms { why, programs: vec![program] }),
                },
                Ok(runtime) => {
                    let is_there = |own: &LocalTarget| {
                        own.runtime.name == known.name && own.runtime.version == runtime.version
                    };
                    if !targets.iter().any(is_there) {
                        targets.push(target(&facts, runtime));
                    }
                }
            }
        }
    }
    LocalTargets { targets, notes: left_out.iter().map(UnusablePrograms::note).collect() }
}

/// Programs that are all unusable for the same reason.
struct UnusablePrograms {
    why: String,
    programs: Vec<PathBuf>,
}

impl UnusablePrograms {
    fn note(&self) -> String {
        let mut names: Vec<String> =
            self.programs.iter().take(NAMED).map(|own| own.display().to_string()).collect();
        let more = self.programs.len() - names.len();
        if more > 0 {
            names.push(format!("{more} more"));
        }
        let last = names.pop().unwrap_or_default();
        match names.is_empty() {
            true => format!("{last} is left out: {}", self.why),
            false => format!("{} and {last} are left out: {}", names.join(", "), self.why),
        }
    }
}

/// Returns the programs on PATH that have one of these names; each file is returned once.
fn on_path(names: &[&str]) -> Vec<(String, PathBuf)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut found = Vec::new();
    for name in names {
        for directory in std::env::split_paths(&path).filter(|own| own.is_absolute()) {
            let program = directory.join(name);
            let Ok(real) = program.canonicalize() else { continue };
            if real.is_file() && !seen.contains(&real) {
                seen.push(real);
                found.push(((*name).to_owned(), program));
            }
        }
    }
    found
}

/// Runs a program in the sandbox to query its version, and returns its runtime. The error is the
/// reason why the program cannot be used.
fn query(walls: &mut Walls, known: &RuntimeEntry, program: &Path) -> Result<Runtime, String> {
    let real = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    let reads = place(&real);
    let policy = assay_measure::sandbox::Policy::default();
    let mut beside = reads.clone();
    beside.push(real.clone());
    if let Err(error) = walls.sandbox.check(&policy, &beside) {
        return Err(error.to_string());
    }
    let mut argv = vec![real.clone().into_os_string()];
    argv.extend(known.version_arguments.iter().map(OsString::from));
    let said = walls.query(&argv, &reads);
    let version = said.as_deref().and_then(version);
    let Some(version) = version else {
        return Err("the program does not run in the sandbox".to_owned());
    };
    let mut programs: Vec<(String, PathBuf)> =
        known.called.iter().map(|own| ((*own).to_owned(), real.clone())).collect();
    // In the same directory, or where the system has links to such programs.
    for own in known.beside {
        let places = [real.parent(), program.parent()];
        let beside = places.into_iter().flatten().map(|place| place.join(own));
        if let Some(beside) = beside.into_iter().find(|own| own.is_file()) {
            programs.push(((*own).to_owned(), beside));
        }
    }
    Ok(Runtime { name: known.name, version, programs, reads })
}

/// Returns the directory that a program must be able to read: the parent of the directory that
/// contains it, or nothing if that belongs to the system.
fn place(program: &Path) -> Vec<PathBuf> {
    let is_system = ["/usr", "/bin", "/sbin", "/opt", "/nix/store", "/gnu/store"];
    if is_system.iter().any(|own| program.starts_with(own)) {
        return Vec::new();
    }
    let above = program.parent().and_then(Path::parent);
    above.filter(|own| own.parent().is_some()).map(Path::to_owned).into_iter().collect()
}

/// Returns the first word of a program's output that is a version.
fn version(said: &str) -> Option<String> {
    let words = said.split_whitespace().map(|word| word.trim_start_matches(['v', 'g', 'o']));
    let is_one = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_digit())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+'))
    };
    words.into_iter().find(is_one).map(str::to_owned)
}

fn target(facts: &Facts, runtime: Runtime) -> LocalTarget {
    let mut own = facts.clone();
    own.insert(format!("runtime.{}", runtime.name), runtime.version.clone());
    let name = format!("{} {}, {}", runtime.name, runtime.version, platform::name(facts));
    LocalTarget { digest: digest(&own), target: NewTarget { name, facts: own }, runtime }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        for (said, found) in [
            ("3.1.2", "3.1.2"),
            ("v18.20.4", "18.20.4"),
            ("go1.25.1", "1.25.1"),
            ("rustc 1.95.0 (abc 2026-01-01)", "1.95.0"),
        ] {
            assert_eq!(version(said).as_deref(), Some(found), "{said}");
        }
        assert_eq!(version("no such thing"), None);
    }

    #[test]
    fn programs_that_are_left_out_for_one_reason_are_named_together() {
        let said = |programs: &[&str]| {
            let programs = programs.iter().map(PathBuf::from).collect();
            UnusablePrograms { why: "/home/me can't be read".to_owned(), programs }.note()
        };
        assert_eq!(said(&["/a"]), "/a is left out: /home/me can't be read");
        assert_eq!(said(&["/a", "/b"]), "/a and /b are left out: /home/me can't be read");
        assert!(said(&["/a", "/b", "/c", "/d"]).starts_with("/a, /b and 2 more are left out"));
    }

    #[test]
    fn what_lies_below_a_home_is_read_with_what_is_beside_it() {
        assert!(place(Path::new("/usr/local/go/bin/go")).is_empty());
        let own = place(Path::new("/home/me/.rbenv/versions/3.4.1/bin/ruby"));
        assert_eq!(own, [PathBuf::from("/home/me/.rbenv/versions/3.4.1")]);
    }
}

//! Determines, before anything is measured, which libraries the sides load if they are the same
//! program in different environments or directories. Two sides that load the same files are equal
//! whatever their variables, so they are rejected with the reason.
//!
//! `assay-measure` queries the loader, and this module compares its answers.

use super::Side;
use anyhow::bail;
use assay_data::code;
use assay_data::{Action, Finding};
use assay_harness::Kind;
use assay_measure::fingerprint::Fingerprints;
use assay_measure::libraries::{Library, Loads, loaded, search_paths};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Variables that make glibc's loader choose or add libraries.
const VARIABLES: [&str; 3] = ["LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT"];
/// Interpreters, which load libraries at run time for the scripts that they run.
const INTERPRETERS: [&str; 7] = ["java", "jruby", "node", "perl", "pypy", "python", "ruby"];
/// Maximum number of differences or libraries that are named.
const NAMED: usize = 4;

/// Which libraries the sides load, and where they differ.
#[derive(Debug, Default)]
pub(crate) struct Proof {
    /// Differences between the sides, and facts that could not be determined.
    pub findings: Vec<Finding>,
    different: Vec<(usize, usize)>,
}

impl Proof {
    /// Queries the loader for every two sides that are the same program in different environments
    /// or directories, and records on each side the files in which they differ.
    ///
    /// # Errors
    ///
    /// Fails if two sides whose loader variables differ load the same files and this is not
    /// intended (`meant`), if one of these sides lacks a library, or if a program cannot be run.
    pub fn of(sides: &mut [Side], meant: bool) -> anyhow::Result<Self> {
        let mut proof = Self::default();
        let mut files = Fingerprints::default();
        let mut known: Vec<Option<Loads>> = vec![None; sides.len()];
        for second in 1..sides.len() {
            for first in 0..second {
                let (one, other) = (&sides[first], &sides[second]);
                let paths = (one.command.resolve()?, other.command.resolve()?);
                let digest = files.digest(paths.0.clone());
                let named = variables(one) != variables(other);
                let elsewhere = paths.0 != paths.1 || one.command.cwd != other.command.cwd;
                let same = digest.is_some() && digest == files.digest(paths.1);
                if !same || !(named || elsewhere) {
                    continue;
                }
                for side in [first, second] {
                    if known[side].is_none() {
                        known[side] = Some(loaded(&sides[side].command, &mut files)?);
                    }
                }
                if let (Some(one), Some(other)) = (&known[first], &known[second]) {
                    proof.hold(sides, (first, second), (one, other), named, meant)?;
                }
            }
        }
        Ok(proof)
    }

    /// Returns true if two sides of one program load different libraries.
    pub fn differ(&self, first: usize, second: usize) -> bool {
        self.different.contains(&(first, second))
    }

    fn hold(
        &mut self,
        sides: &mut [Side],
        (first, second): (usize, usize),
        loads: (&Loads, &Loads),
        named: bool,
        meant: bool,
    ) -> anyhow::Result<()> {
        let (one, other) = (&sides[first], &sides[second]);
        let unknown = match loads {
            (Loads::Unknown(why), _) | (_, Loads::Unknown(why)) => Some(why.clone()),
            (
                Loads::Libraries { libraries: a, said: said_a },
                Loads::Libraries { libraries: b, said: said_b },
            ) => {
                let differences = differences(a, b);
                if named {
                    check_found(one, a)?;
                    check_found(other, b)?;
                }
                if !differences.is_empty() {
                    self.different.push((first, second));
                    self.findings.push(found_different(one, other, &differences, sides.len()));
                    for (a, b) in differences {
                        note(&mut sides[first], a);
                        note(&mut sides[second], b);
                    }
                    return Ok(());
                }
                let interpreted = is_interpreted(one)?;
                if named && !meant && !interpreted {
                    let said = [said_a, said_b].into_iter().find(|said| !said.is_empty());
                    bail!("{}", refusal(one, other, a, b, said.map(String::as_str)));
                }
                interpreted.then(|| {
                    "its interpreter loads the same ones, and opens others while it runs".to_owned()
                })
            }
            _ => {
                if named && !meant {
                    bail!(
                        "`{}` and `{}` are the same: the program is linked statically, so {} changes nothing; to measure them anyway, use --aa",
                        one.name,
                        other.name,
                        differing(one, other).join(" and ")
                    );
                }
                None
            }
        };
        if let Some(why) = unknown.filter(|_| named) {
            let message = format!(
                "which libraries `{}` and `{}` load could not be determined: {why}",
                one.name, other.name
            );
            let finding = Finding::new(code::LIBRARIES, message);
            self.findings.push(finding.advise(Action::text(
                "check that the sides load what they should, with LD_DEBUG=libs or by the program's own version",
            )));
        }
        Ok(())
    }
}

/// Returns true if a side's program is run by an interpreter, which opens its libraries at run
/// time.
fn is_interpreted(side: &Side) -> anyhow::Result<bool> {
    let program = side.program()?;
    let by_name = INTERPRETERS.iter().any(|name| program.is_called(name));
    Ok(by_name || program.kind != Kind::Executable)
}

fn variables(side: &Side) -> [Option<String>; 3] {
    VARIABLES.map(|name| side.variable(name))
}

/// Returns the loader's variables in which two sides differ.
fn differing(one: &Side, other: &Side) -> Vec<&'static str> {
    VARIABLES.into_iter().filter(|name| one.variable(name) != other.variable(name)).collect()
}

/// Returns the libraries that differ in content between two sides or that only one of them loads.
fn differences<'a>(
    one: &'a [Library],
    other: &'a [Library],
) -> Vec<(Option<&'a Library>, Option<&'a Library>)> {
    let of = |libraries: &'a [Library], name: &str| {
        libraries.iter().find(|library| library.name == name)
    };
    let same = |a: &Library, b: &Library| match (&a.digest, &b.digest) {
        (Some(a), Some(b)) => a == b,
        _ => a.path == b.path,
    };
    let first = one.iter().filter_map(|a| match of(other, &a.name) {
        Some(b) if same(a, b) => None,
        b => Some((Some(a), b)),
    });
    let alone = other.iter().filter(|b| of(one, &b.name).is_none()).map(|b| (None, Some(b)));
    first.chain(alone).collect()
}

/// Records on a side the library file that it loads, if its path and digest are known.
fn note(side: &mut Side, library: Option<&Library>) {
    let Some(Library { path: Some(path), digest: Some(digest), .. }) = library else { return };
    let own = (located(side, path).display().to_string(), digest.clone());
    if !side.libraries.contains(&own) {
        side.libraries.push(own);
    }
}

/// Returns the absolute form of a path that a side's program uses.
fn located(side: &Side, path: &Path) -> PathBuf {
    let path = side.command.cwd.as_ref().map_or(path.to_owned(), |cwd| cwd.join(path));
    std::path::absolute(&path).unwrap_or(path)
}

fn found_different(
    one: &Side,
    other: &Side,
    differences: &[(Option<&Library>, Option<&Library>)],
    sides: usize,
) -> Finding {
    let path = |library: Option<&Library>| match library.map(|library| &library.path) {
        Some(Some(path)) => path.display().to_string(),
        Some(None) => "not found".to_owned(),
        None => "none".to_owned(),
    };
    let mut told: Vec<String> = differences
        .iter()
        .take(NAMED)
        .map(|&(a, b)| {
            let name = a.or(b).map(|library| library.name.as_str()).unwrap_or_default();
            format!("{name}: {} against {}", path(a), path(b))
        })
        .collect();
    if differences.len() > NAMED {
        told.push(format!("and {} more", differences.len() - NAMED));
    }
    let whose = match sides {
        2 => String::new(),
        _ => format!("{} against {}: ", one.name, other.name),
    };
    Finding::new(code::LIBRARIES, format!("{whose}{}", told.join("; ")))
        .with("libraries", differences.len() as f64)
}

/// Checks that a side finds all of its libraries.
fn check_found(side: &Side, libraries: &[Library]) -> anyhow::Result<()> {
    let Some(missing) = libraries.iter().find(|library| library.path.is_none()) else {
        return Ok(());
    };
    let looked: Vec<String> = directories(side)
        .into_iter()
        .map(|directory| match located(side, Path::new(&directory)).is_dir() {
            true => format!("`{directory}/{}` does not exist", missing.name),
            false => format!("the directory `{directory}` does not exist"),
        })
        .collect();
    let looked = match looked.is_empty() {
        true => "LD_LIBRARY_PATH names no directory for it".to_owned(),
        false => looked.join(", "),
    };
    bail!("{}: the library {} was not found: {looked}", side.name, missing.name)
}

/// Returns the directories in a side's LD_LIBRARY_PATH.
fn directories(side: &Side) -> Vec<String> {
    let path = side.variable("LD_LIBRARY_PATH").unwrap_or_default();
    path.split([':', ';']).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Returns a message saying that two sides load the same libraries, which ones, and why.
fn refusal(one: &Side, other: &Side, a: &[Library], b: &[Library], said: Option<&str>) -> String {
    let mut concerned: Vec<&Library> = Vec::new();
    let mut reasons: Vec<String> = Vec::new();
    for (side, libraries) in [(one, a), (other, b)] {
        for directory in directories(side) {
            let place = located(side, Path::new(&directory));
            let held: Vec<&Library> =
                libraries.iter().filter(|library| place.join(&library.name).is_file()).collect();
            if !place.is_dir() {
                reasons.push(format!("the directory `{directory}` does not exist"));
            } else if held.is_empty() {
                reasons.push(format!(
                    "`{directory}` contains none of the libraries that the program loads"
                ));
            }
            for library in held {
                reasons.push(why(side, &directory, library));
                if concerned.iter().all(|known| known.name != library.name) {
                    concerned.push(library);
                }
            }
        }
        let preloaded = side.variable("LD_PRELOAD").unwrap_or_default();
        for file in preloaded.split([' ', ':']).filter(|file| file.contains('/')) {
            if !located(side, Path::new(file)).is_file() {
                reasons.push(format!("`{file}` does not exist"));
            }
        }
    }
    reasons.extend(
        said.and_then(|said| said.lines().next()).map(|said| format!("the loader says: {said}")),
    );
    reasons.dedup();
    if concerned.is_empty() {
        // The loader is in the list as well, but does not show which libraries were chosen.
        concerned = a.iter().filter(|library| !library.name.starts_with("ld-")).collect();
    }
    let files: Vec<String> = concerned
        .iter()
        .take(NAMED)
        .filter_map(|library| {
            Some(format!("{} is {}", library.name, library.path.as_ref()?.display()))
        })
        .collect();
    let reasons: Vec<String> = reasons.iter().map(|reason| format!("\n  {reason}")).collect();
    format!(
        "`{}` and `{}` load the same libraries: {} on both sides.{}\nIf that is meant, or the program opens other libraries by itself: --aa",
        one.name,
        other.name,
        files.join(", "),
        reasons.concat()
    )
}

/// Returns the reason why both sides load the same library, although a directory in this side's
/// variable contains a library of that name.
fn why(side: &Side, directory: &str, library: &Library) -> String {
    let own = format!("{directory}/{}", library.name);
    let real = |path: &Path| located(side, path).canonicalize().ok();
    let loaded = library.path.as_deref().unwrap_or(Path::new(""));
    if real(Path::new(&own)) == real(loaded) {
        return format!("`{own}` is loaded, and is the same as the other side's to the last byte");
    }
    let program = side.command.resolve().ok();
    let search = program.as_deref().and_then(search_paths).unwrap_or_default();
    match (search.rpath, search.runpath) {
        (Some(rpath), None) => format!(
            "`{own}` is there, but the program's RPATH (`{rpath}`) is searched before LD_LIBRARY_PATH; link it with \
             -Wl,--enable-new-dtags, or remove the path: patchelf --remove-rpath"
        ),
        _ => format!("`{own}` is there, but `{}` is found before it", loaded.display()),
    }
}

/// Checks that no two sides are the same program with the same arguments and libraries, unless the
/// user requests that.
///
/// # Errors
///
/// Returns an error that names the two sides.
pub(crate) fn check_differ(sides: &[Side], proof: &Proof) -> anyhow::Result<()> {
    let mut files = Fingerprints::default();
    let known: Vec<_> = sides.iter().map(|side| files.files_of(&side.command)).collect();
    let arguments = |side: &Side| side.command.argv.iter().skip(1).cloned().collect::<Vec<_>>();
    let pattern = |side: &Side| side.versus.as_ref().map(|p| p.as_str().to_owned());
    for (second, side) in sides.iter().enumerate() {
        for (first, other) in sides.iter().enumerate().take(second) {
            let digests =
                |of: usize| known[of].iter().map(|(_, digest)| digest).collect::<Vec<_>>();
            let alike = digests(first) == digests(second)
                && !known[first].is_empty()
                && side.command.env == other.command.env
                && side.command.cwd == other.command.cwd
                && same_but_files(&arguments(side), &arguments(other))
                && pattern(side) == pattern(other)
                && !proof.differ(first, second);
            if alike {
                anyhow::bail!(
                    "`{}` and `{}` are byte-for-byte identical, so there is nothing to compare; to see this machine's false positives, use --aa",
                    other.name,
                    side.name
                );
            }
        }
    }
    Ok(())
}

/// Returns true if arguments are equal, apart from file names, whose contents were compared.
fn same_but_files(one: &[OsString], other: &[OsString]) -> bool {
    let same = |(a, b): (&OsString, &OsString)| {
        a == b || (Path::new(a).is_file() && Path::new(b).is_file())
    };
    one.len() == other.len() && one.iter().zip(other).all(same)
}

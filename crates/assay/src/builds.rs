//! `--builds` of `assay run` and `assay bench`: several builds per side, so that the effect of
//! memory placement is measured rather than mistaken for a change. This module finds the files. The
//! engine alternates between them, and the interval covers their spread.

use crate::args::any_words;
use crate::bench::{self, Build, Side};
use crate::patterns::matching;
use anyhow::{Context, bail};
use assay_analysis::policy::FEWEST_BUILDS;
use assay_data::Finding;
use assay_data::code;
use assay_measure::Command;
use assay_measure::fingerprint::Fingerprints;
use clap::builder::TypedValueParser;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Value of `--builds`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Builds {
    /// Number of times that every revision is linked.
    Links(u32),
    /// Name of each side, with the patterns of its files.
    Files(Vec<(String, Vec<String>)>),
}

/// Maximum number of links per revision. A larger number is treated as a typing error.
const MOST_LINKS: u32 = 100;

impl std::str::FromStr for Builds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(links) = text.parse::<u32>() {
            let fewest = FEWEST_BUILDS as u32;
            return match links {
                n if n < fewest => Err(format!(
                    "{n} builds say nothing about how builds differ; use at least {fewest}"
                )),
                n if n > MOST_LINKS => Err(format!("use at most {MOST_LINKS}")),
                n => Ok(Self::Links(n)),
            };
        }
        let sides: Vec<Vec<String>> = text
            .split(',')
            .map(|side| side.split_whitespace().map(str::to_owned).collect())
            .collect();
        if sides.len() < 2 || sides.iter().any(Vec::is_empty) {
            return Err("name the files of at least two sides, with a comma between the sides: 'old-*,new-*'".to_owned());
        }
        let mut names: Vec<String> = sides.iter().map(|side| name_of(side)).collect();
        if !bench::all_differ(&names) {
            names = bench::numbered(names.into_iter());
        }
        Ok(Self::Files(names.into_iter().zip(sides).collect()))
    }
}

/// Returns a parser for the value of `--builds`. File names need not be UTF-8.
pub(crate) fn any_builds() -> impl TypedValueParser<Value = Builds> {
    any_words().try_map(|text| text.parse::<Builds>())
}

/// Returns the name of a side: the part of its first pattern before the wildcard, or the whole
/// pattern if the wildcard is not at the end.
fn name_of(side: &[String]) -> String {
    let pattern = side[0].as_str();
    let stem = pattern.trim_end_matches(['*', '?']).trim_end_matches(['-', '_', '.', '/']);
    if stem.is_empty() || stem.contains(['*', '?']) { pattern.to_owned() } else { stem.to_owned() }
}

/// Names of the sides, and the builds of each side as commands.
pub(crate) type NamedSides = (Vec<String>, Vec<Vec<Command>>);

impl Builds {
    /// Returns the sides given by files; `None` if revisions are to be linked several times.
    ///
    /// # Errors
    ///
    /// Fails if a pattern matches no file.
    pub fn commands(&self) -> anyhow::Result<Option<NamedSides>> {
        let Self::Files(sides) = self else { return Ok(None) };
        let mut all = Vec::with_capacity(sides.len());
        for (_, patterns) in sides {
            let mut files: Vec<PathBuf> = Vec::new();
            for pattern in patterns {
                let found = matching(pattern, |path| path.is_file())
                    .with_context(|| format!("--builds: {pattern}"))?;
                files.extend(
                    found.into_iter().filter(|file| !files.contains(file)).collect::<Vec<_>>(),
                );
            }
            let command = |file: PathBuf| Command::new([program(file)]);
            all.push(files.into_iter().map(command).collect::<Result<Vec<_>, _>>()?);
        }
        Ok(Some((sides.iter().map(|(name, _)| name.clone()).collect(), all)))
    }
}

/// Returns a file as a program. A bare name gets a directory, because it would otherwise be looked
/// up in PATH.
fn program(file: PathBuf) -> OsString {
    if file.components().count() > 1 { file.into() } else { Path::new(".").join(file).into() }
}

/// Sets the builds of each side, which share its settings and differ only in the program file.
/// Files that are byte-for-byte identical to an earlier one are left out and reported.
///
/// # Errors
///
/// Fails if a side has too few different builds.
pub(crate) fn settle(
    sides: &mut [Side],
    builds: Vec<Vec<Command>>,
) -> anyhow::Result<Vec<Finding>> {
    let mut digests = Fingerprints::default();
    let mut found = Vec::new();
    for (side, commands) in sides.iter_mut().zip(builds) {
        let own = commands.into_iter().map(|build| {
            let mut command = side.command.clone();
            command.argv[0].clone_from(&build.argv[0]);
            command
        });
        let own = different(&side.name, own.collect(), &mut digests, &mut found)?;
        side.command = own[0].clone();
        let name = |command: &Command| command.argv[0].to_string_lossy().into_owned();
        side.builds =
            own.into_iter().map(|command| Build { name: name(&command), command }).collect();
    }
    Ok(found)
}

/// Returns the builds of a side whose files differ from all earlier ones, and adds a finding about
/// those that are left out to `found`.
///
/// # Errors
///
/// Fails if too few builds remain.
pub(crate) fn different(
    side: &str,
    builds: Vec<Command>,
    digests: &mut Fingerprints,
    found: &mut Vec<Finding>,
) -> anyhow::Result<Vec<Command>> {
    let all = builds.len();
    let mut known = Vec::new();
    let mut own = Vec::new();
    for command in builds {
        let path = command.resolve().with_context(|| format!("--builds: {side}"))?;
        let digest = digests.digest(path);
        if digest.is_some() && known.contains(&digest) {
            continue;
        }
        known.push(digest);
        own.push(command);
    }
    if own.len() < FEWEST_BUILDS {
        let same = match all - own.len() {
            0 => String::new(),
            n => format!(
                " ({n} more are byte-for-byte identical to one of these: the linker or the build line ignores the seed)"
            ),
        };
        bail!(
            "--builds: `{side}` has {} different builds{same}; fewer than {FEWEST_BUILDS} say nothing about the effects of placement",
            own.len()
        );
    }
    if own.len() < all {
        found.push(same_builds(side, all, own.len()));
    }
    Ok(own)
}

fn same_builds(side: &str, all: usize, differ: usize) -> Finding {
    let message = format!(
        "of {all} builds of `{side}` only {differ} differ; the others are byte-identical, and left out"
    );
    Finding::new(code::SAME_INPUT, message)
        .about(side)
        .with("builds", all as f64)
        .with("differ", differ as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_told_apart_by_commas_and_named_by_what_their_files_share() {
        let names = |text: &str| match text.parse() {
            Ok(Builds::Files(sides)) => sides.into_iter().map(|(name, _)| name).collect(),
            other => vec![format!("{other:?}")],
        };
        assert_eq!(names("old-*,new-*"), ["old", "new"]);
        assert_eq!(names("build/old/*,build/new/*"), ["build/old", "build/new"]);
        assert_eq!(names("old-*/bm,new-*/bm"), ["old-*/bm", "new-*/bm"]);
        assert_eq!(names("a b c,d e f"), ["a", "d"]);
        assert_eq!("5".parse(), Ok(Builds::Links(5)));
        for wrong in ["2", "1000", "old-*", "old-*,", ""] {
            assert!(wrong.parse::<Builds>().is_err(), "{wrong}");
        }
    }
}

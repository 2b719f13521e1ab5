//! `assay run --builds`: each side consists of several executables. The command is typed once, with
//! `{build}` in place of the executable.

use super::commands::{HowArgs, prepared};
use super::control::ControlArgs;
use crate::builds::{Builds, different};
use crate::commands::Prepared;
use crate::scan::Scan;
use anyhow::bail;
use assay_data::Finding;
use assay_measure::Command;
use assay_measure::fingerprint::Fingerprints;

/// Placeholder for the executable in the command.
const PLACE: &str = "{build}";

/// Returns the command of each side with all of its builds, and findings about builds that were
/// left out.
///
/// # Errors
///
/// Returns an error if the builds are not given as files, too few builds of a side differ, or the
/// command has no placeholder.
pub(super) fn of_builds(
    builds: &Builds,
    typed: &[String],
    how: &HowArgs,
    control: &ControlArgs,
) -> anyhow::Result<(Vec<Prepared>, Vec<Finding>)> {
    let Some((names, sides)) = builds.commands()? else {
        bail!(
            "--builds N applies to git revisions, which `assay bench --rev` measures; name the files of both sides, as in --builds 'old-*,new-*'"
        );
    };
    let template = match typed {
        [] => PLACE,
        [one] if one.contains(PLACE) => one,
        _ => bail!(
            "--builds: give one command, with {PLACE} in place of the executable, as in --builds 'old-*,new-*' '{PLACE} data.txt'"
        ),
    };
    let how = match how.name[..] {
        [] => HowArgs { name: names.clone(), ..how.clone() },
        _ => how.clone(),
    };
    let (mut digests, mut found) = (Fingerprints::default(), Vec::new());
    let mut texts: Vec<Vec<String>> = Vec::new();
    for (name, own) in names.iter().zip(sides) {
        let own = different(name, own, &mut digests, &mut found)?;
        let text = |build: &Command| {
            let path = build.argv[0].to_string_lossy();
            template.replace(PLACE, &shell_words::quote(&path))
        };
        texts.push(own.iter().map(text).collect());
    }
    let none = Scan::parse(&[], false, texts.len())?;
    let of = |number: usize| {
        let last = |own: &Vec<String>| own[number.min(own.len() - 1)].clone();
        prepared(&texts.iter().map(last).collect::<Vec<_>>(), &how, control, &none)
    };
    let mut commands = of(0)?;
    for number in 0..texts.iter().map(Vec::len).max().unwrap_or(0) {
        for ((command, own), built) in commands.iter_mut().zip(&texts).zip(of(number)?) {
            if number < own.len() {
                command.builds.push(built.command);
            }
        }
    }
    Ok((commands, found))
}

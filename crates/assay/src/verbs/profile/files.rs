//! Profiles that were taken already: one to look at or to turn into another format, two to compare.

use super::{Args, exporting};
use crate::{Ending, output, present};
use anyhow::{Context, bail};
use assay_profiles::difference::Difference;
use assay_profiles::shares::Shares;
use assay_profiles::{Profile, checks, import};
use assay_report::profile::{ProfileReport, difference, json};
use std::io::Read;
use std::path::Path;

/// The confidence unless another is asked for.
pub(super) const CONFIDENCE: f64 = 0.95;

/// Shows a profile, and writes it in other formats.
pub(super) fn one(args: &Args, file: &Path) -> anyhow::Result<Ending> {
    exporting::check_single(&args.show)?;
    let profile = read(file)?;
    let mut shares = Shares::of(&profile, args.judge.confidence.unwrap_or(CONFIDENCE));
    if let Some(text) = &args.show.focus {
        shares.focus(text);
    }
    let findings = checks::findings(&profile);
    let report = ProfileReport {
        profile: &profile,
        shares: &shares,
        findings: &findings,
        cost: &[],
        live: false,
        top: args.show.top,
    };
    exporting::present(&report, &args.show).map(|()| Ending::Fine)
}

/// Compares two recordings, function by function.
pub(super) fn two(args: &Args, old: &Path, new: &Path) -> anyhow::Result<Ending> {
    if let Some(path) = args.show.export.first() {
        bail!(
            "--export {}: the difference of two recordings is printed, or given by --json; export each profile by itself",
            path.display()
        );
    }
    if !args.judge.fail_if.is_empty() {
        bail!(
            "--fail-if: two recordings can't prove programs different; give two commands, which are run by turns"
        );
    }
    let (old, new) = (read(old)?, read(new)?);
    let confidence = args.judge.confidence.unwrap_or(CONFIDENCE);
    let mut found = Difference::of(&old, &new, confidence)?;
    if let Some(text) = &args.show.focus {
        found.rows.retain(|row| row.name.contains(text.as_str()));
    }
    let mut findings = Vec::new();
    for profile in [&old, &new] {
        findings.extend(
            checks::findings(profile).into_iter().map(|finding| finding.about(&profile.name)),
        );
    }
    for finding in &mut findings {
        if let Some(name) = &finding.subject {
            finding.message = format!("{name}: {}", finding.message);
        }
    }
    if args.show.json {
        output::print(&format!("{:#}\n", json::difference(&found, &findings)))?;
    } else {
        let screen = present::screen(args.show.color);
        output::print(&difference::render(&found, &findings, args.show.top, &screen))?;
    }
    Ok(Ending::Fine)
}

/// Reads a file, or standard input.
fn read(file: &Path) -> anyhow::Result<Profile> {
    let name = file.display().to_string();
    let bytes = if name == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).context("standard input")?;
        bytes
    } else {
        std::fs::read(file).with_context(|| name.clone())?
    };
    let profile = import::load_bytes(&bytes, &name);
    profile.map_err(|error| match interpreter_for(file) {
        Some(interpreter) => anyhow::anyhow!(
            "{error}\nIf it is a program that is to be sampled, write: assay profile '{interpreter} {name}'"
        ),
        None => error.into(),
    })
}

/// What runs a script of that ending.
fn interpreter_for(file: &Path) -> Option<&'static str> {
    match file.extension()?.to_str()? {
        "rb" => Some("ruby"),
        "py" => Some("python3"),
        "sh" => Some("sh"),
        "js" => Some("node"),
        _ => None,
    }
}

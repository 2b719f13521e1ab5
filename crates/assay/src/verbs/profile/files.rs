//! Recorded profiles: one to show or to convert to another format, two to compare.

use super::{Args, exporting};
use crate::advice::{Dialect, spell};
use crate::{Ending, output, present};
use anyhow::{Context, bail};
use assay_profiles::difference::Difference;
use assay_profiles::shares::Shares;
use assay_profiles::{Pairing, Profile, checks, import};
use assay_report::json;
use assay_report::profile::differential::Differential;
use assay_report::profile::{ProfileReport, difference};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Default confidence level of intervals.
pub(super) const CONFIDENCE: f64 = 0.95;

/// Shows a recorded profile, and writes it in the requested formats.
pub(super) fn one(args: &Args, file: &Path) -> anyhow::Result<Ending> {
    exporting::check_single(&args.show.export)?;
    let mut profile = read(file)?;
    if args.show.lines {
        by_line(std::slice::from_mut(&mut profile))?;
    }
    let mut shares = Shares::of(&profile, args.judge.confidence.unwrap_or(CONFIDENCE));
    if let Some(text) = &args.show.focus {
        shares.focus(text);
    }
    let mut findings = checks::findings(&profile);
    spell(Dialect::Recording, &mut findings);
    let report = ProfileReport {
        profile: &profile,
        shares: &shares,
        findings: &findings,
        overhead: None,
        live: false,
        top: args.show.top,
    };
    exporting::present(&report, &args.show).map(|()| Ending::Fine)
}

/// Makes all profiles count lines instead of functions, for `--lines`.
pub(super) fn by_line(profiles: &mut [Profile]) -> anyhow::Result<()> {
    // Applied to every profile, because a run that ended early may have no lines.
    if profiles.iter_mut().map(Profile::by_line).fold(false, |known, own| known | own) {
        return Ok(());
    }
    let tool = profiles.first().and_then(|own| own.tool.as_deref()).unwrap_or("whatever wrote it");
    bail!("--lines: {tool} does not report which lines were running; py-spy, rbspy and pprof do");
}

/// Compares two recorded profiles, function by function.
pub(super) fn two(args: &Args, old: &Path, new: &Path) -> anyhow::Result<Ending> {
    if let Some(path) = args.show.export.iter().find(|path| !exporting::is_picture(path)) {
        bail!(
            "--export {}: for two recordings, only a differential flame graph can be exported, as .svg or .html (and --json prints the numbers); export each profile by itself",
            path.display()
        );
    }
    if !args.judge.fail_if.is_empty() {
        bail!(
            "--fail-if: two recordings cannot prove that programs differ; give two commands, which are run in blocks"
        );
    }
    let (old, mut new) = (read(old)?, read(new)?);
    Pairing::of([&old], [&new]).apply(&mut new);
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
    spell(Dialect::Recording, &mut findings);
    // A flame graph that cannot be written must not prevent the output to the terminal.
    let written =
        exporting::pictures(&Differential::of_files([&old, &new], &found), &findings, &args.show);
    if args.show.json {
        output::print(&json::text(&json::ProfileDifference::of(&found, &findings))?)?;
    } else {
        let screen = present::screen(args.show.color);
        output::print(&difference::render(
            &found,
            &findings,
            args.show.top,
            args.show.remarks(),
            &screen,
        ))?;
    }
    written.map(|()| Ending::Fine)
}

/// Reads a profile from a file, or from standard input.
fn read(file: &Path) -> anyhow::Result<Profile> {
    let name = file.display().to_string();
    let bytes = if name == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).context("standard input")?;
        bytes
    } else {
        std::fs::read(file).with_context(|| name.clone())?
    };
    let program = |advice| anyhow::anyhow!("`{name}` is a program, not a profile. {advice}");
    // Checked first, because a line such as `puts 1` would be parsed as a stack.
    if interpreter_for(file).is_some()
        && let Some(advice) = program_line(file, &bytes)
    {
        return Err(program(advice));
    }
    import::load_bytes(&bytes, &name).map_err(|error| match program_line(file, &bytes) {
        Some(advice) => program(advice),
        None => error.into(),
    })
}

/// Returns advice on sampling a file that is a program instead of a profile.
fn program_line(file: &Path, bytes: &[u8]) -> Option<String> {
    let name = file.display();
    if bytes.starts_with(b"\x7fELF") {
        let place = if file.components().count() == 1 { "./" } else { "" };
        let mode = file.metadata().ok()?.permissions().mode();
        let may_run =
            if mode & 0o111 == 0 { format!("chmod +x {name}\n  ") } else { String::new() };
        return Some(format!("To sample it:\n  {may_run}assay profile -- {place}{name}"));
    }
    let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let named = first.strip_prefix(b"#!").and_then(|line| {
        let line = String::from_utf8_lossy(line).into_owned();
        let words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
        words.into_iter().find(|word| *word != "env" && !word.starts_with('-')).map(str::to_owned)
    });
    let interpreter = named.or_else(|| interpreter_for(file).map(str::to_owned))?;
    let plain = |c: char| c.is_alphanumeric() || "/._-+@%:,=".contains(c);
    Some(match name.to_string().chars().all(plain) {
        true => format!("To sample it: assay profile '{interpreter} {name}'"),
        false => format!("To sample it: assay profile -- {interpreter} '{name}'"),
    })
}

/// Returns the interpreter for the extension of a script.
pub(super) fn interpreter_for(file: &Path) -> Option<&'static str> {
    match file.extension()?.to_str()? {
        "rb" => Some("ruby"),
        "py" => Some("python3"),
        "pl" => Some("perl"),
        "sh" => Some("sh"),
        "js" => Some("node"),
        _ => None,
    }
}

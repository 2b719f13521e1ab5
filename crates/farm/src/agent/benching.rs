//! A `bench` job: base and version are fetched and committed to one repository, and
//! `assay bench --rev` measures the two commits alternately, within one lease on one node. The
//! results are read from its JSON; the samples are submitted unchanged.

use super::commands::Commands;
use super::directory::disarm;
use super::judging::{self, Stop};
use super::testing::{TestJobResult, no_room, refused};
use anyhow::Context;
use assay_farm::builds::model::State;
use assay_farm::builds::wire::{BenchmarkComparison, LeasedJob};
use assay_measure::Outcome;
use serde::Deserialize;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The name of the base. The server identifies the sides of the samples by this name and by
/// [`VERSION`] (`server/samples.rs`).
const BASE: &str = "base";
/// The name of the version that is compared with the base.
const VERSION: &str = "version";
/// A script that commits the contents of the directories `$2` and `$3` to a new repository `$1`,
/// one after the other, and tags the commits `base` and `version`.
const COMMITS: &str = r#"set -e
rm -rf "$2/.git" "$3/.git"
git init --quiet "$1"
cd "$1"
one() {
  find . -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} +
  cp -R "$1/." .
  git add --all --force
  git -c user.name=assay -c user.email=assay@localhost commit --quiet --allow-empty --no-verify --message "$2"
  git tag "$2"
}
one "$2" base
one "$3" version"#;
/// Maximum size of a result and of the samples, bytes.
const LONGEST: u64 = 256 << 20;

/// The result of a benchmark, and the path of its samples.
pub(super) struct BenchJobResult {
    pub found: TestJobResult,
    pub comparisons: Vec<BenchmarkComparison>,
    pub samples: Option<PathBuf>,
}

impl BenchJobResult {
    fn of(found: TestJobResult) -> Self {
        Self { found, comparisons: Vec::new(), samples: None }
    }

    fn errored(why: impl Into<String>) -> Self {
        Self::of(TestJobResult::of((State::Errored, None, why.into())))
    }
}

/// Runs the benchmark. `assay` is the program that measures; the sandbox's user must be able to
/// read it.
///
/// # Errors
/// If no sandbox can be created, which is the machine's fault.
pub(super) fn bench(
    commands: &mut Commands<'_>,
    leased: &LeasedJob,
    assay: &Path,
) -> anyhow::Result<BenchJobResult> {
    if let Some(found) = no_room(commands) {
        return Ok(BenchJobResult::of(found));
    }
    let recipe = &leased.project.of.recipe;
    let Some(base) = &leased.base else {
        return Ok(BenchJobResult::errored("the job has no base version to compare with"));
    };
    let Some(words) = &recipe.bench else {
        return Ok(BenchJobResult::errored("the project's recipe defines no benchmarks"));
    };
    let words = match shell_words::split(words) {
        Ok(words) => words,
        Err(error) => return Ok(BenchJobResult::errored(format!("its benchmarks: {error}"))),
    };
    let mut tops = Vec::new();
    for (version, directory) in
        [(base, commands.job.base()), (&leased.version, commands.job.work())]
    {
        match commands.fetch(&leased.project, version, &directory) {
            Ok(fetched) => {
                // A gem of the same name would conflict with the next one.
                if let Some(gem) = &fetched.gem {
                    fs::remove_file(gem).with_context(|| gem.display().to_string())?;
                }
                tops.push(fetched.top);
            }
            Err(error) => return Ok(BenchJobResult::of(refused(commands, &error))),
        }
    }
    let home = commands.job.home();
    let repository = home.join("repository");
    let argv = ["sh", "-c", COMMITS, "sh"].map(OsString::from).into_iter();
    let argv: Vec<OsString> = argv
        .chain([repository.clone().into()])
        .chain(tops.into_iter().map(OsString::from))
        .collect();
    let came = commands.run(&argv, Vec::new(), (&home, false), true)?;
    if let Some(Stop::Unwanted(why)) = came.stop {
        return Ok(BenchJobResult::of(TestJobResult::unwanted(why)));
    }
    if let Some(judged) = judging::installed(&came.ended(false), "git commit") {
        return Ok(BenchJobResult::of(TestJobResult::of(judged)));
    }
    let (result, samples) = (home.join("result.json"), home.join("run.assay"));
    let mut argv: Vec<OsString> = vec![assay.into(), "bench".into()];
    argv.extend(["--rev", BASE, "--rev", VERSION, "--quiet", "--export"].map(OsString::from));
    argv.extend([result.clone().into(), "--save".into(), samples.clone().into()]);
    let builds = words.iter().any(|word| word == "--build" || word.starts_with("--build="));
    if !builds && !recipe.install.is_empty() {
        argv.extend(["--build".into(), recipe.install.join(" && ").into()]);
    }
    argv.extend(words.iter().map(OsString::from));
    let line = shell_words::join(argv.iter().map(|word| word.to_string_lossy().into_owned()));
    commands.log.say(&format!("$ {line}"));
    let network = recipe.network || !recipe.install.is_empty();
    let came = commands.run(&argv, Vec::new(), (&repository, network), false)?;
    if let Some(Stop::Unwanted(why)) = came.stop {
        return Ok(BenchJobResult::of(TestJobResult::unwanted(why)));
    }
    disarm(&home, LONGEST).with_context(|| home.display().to_string())?;
    let comparisons = fs::read(&result).ok().and_then(|text| compared(&text));
    let comparisons = comparisons.unwrap_or_default();
    let judged = judged(&came.ended(true), &comparisons);
    let kept = samples.is_file().then(|| commands.job.beside().join("samples"));
    if let Some(kept) = &kept {
        fs::copy(&samples, kept).with_context(|| kept.display().to_string())?;
    }
    Ok(BenchJobResult { found: TestJobResult::of(judged), comparisons, samples: kept })
}

fn judged(
    ended: &judging::CommandEnd<'_>,
    comparisons: &[BenchmarkComparison],
) -> judging::Judgement {
    let machine = judging::installed(ended, "assay bench");
    match (comparisons.len(), ended.outcome) {
        // The exit status also says which `--fail-if` conditions were met, so these values are
        // successes.
        (1.., Outcome::Exited(0 | 1 | 3)) => {
            let slower = comparisons.iter().filter(|own| own.verdict == "slower").count();
            let all = crate::plain::counted(comparisons.len(), "benchmark");
            let slower = if slower == 0 { "none".to_owned() } else { slower.to_string() };
            (State::Passed, None, format!("{all} compared, {slower} slower"))
        }
        (0, Outcome::Exited(0)) => (State::NotTested, None, "nothing was compared".to_owned()),
        _ => match machine {
            Some((State::InstallFailed, fault, why)) => (State::Errored, fault, why),
            Some(other) => other,
            None => (State::Errored, None, "nothing was compared".to_owned()),
        },
    }
}

/// The part of the output of `assay bench` from which the submitted comparisons are read.
#[derive(Deserialize)]
struct Result {
    comparisons: Vec<Comparison>,
}

#[derive(Deserialize)]
struct Comparison {
    of: String,
    row: String,
    metric: String,
    family: String,
    verdict: String,
    ratio: Option<Estimate>,
    blocks: Option<u64>,
}

#[derive(Deserialize)]
struct Estimate {
    estimate: f64,
    lower: Option<f64>,
    upper: Option<f64>,
}

/// Returns the comparisons of the primary metric between the version and its base.
fn compared(text: &[u8]) -> Option<Vec<BenchmarkComparison>> {
    let result: Result = serde_json::from_slice(text).ok()?;
    let primary = result.comparisons.into_iter();
    let primary = primary.filter(|own| own.family == "primary" && own.of == VERSION);
    let all = primary.filter_map(|own| {
        let ratio = own.ratio?;
        Some(BenchmarkComparison {
            benchmark: crate::plain::line(&own.row),
            metric: crate::plain::line(&own.metric),
            verdict: crate::plain::line(&own.verdict),
            ratio: ratio.estimate,
            // An open interval may contain any value.
            lower: ratio.lower.unwrap_or(0.0),
            upper: ratio.upper.unwrap_or(f64::MAX),
            n: own.blocks.unwrap_or(0),
        })
    });
    Some(all.collect())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn what_decides_is_handed_in() {
        let text = br#"{"comparisons":[
            {"of":"version","row":"sum","metric":"wall","family":"primary","verdict":"slower","ratio":{"estimate":1.05,"lower":1.02,"upper":1.08},"blocks":40},
            {"of":"version","row":"sum","metric":"cpu","family":"secondary","verdict":"slower","ratio":{"estimate":1.05,"lower":1.02,"upper":null},"blocks":40},
            {"of":"version","row":"odd","metric":"wall","family":"primary","verdict":"inconclusive","ratio":null,"blocks":2}]}"#;
        let all = compared(text).unwrap();
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].benchmark.as_str(), all[0].n, all[0].upper), ("sum", 40, 1.08));
        assert!(compared(b"no JSON").is_none());
    }
}

//! `assay check`: finds out, in one command, whether a change makes the benchmarks of a project
//! slower.

use crate::args::{FailIf, LookArgs, any_words, confidence, seconds, threshold};
use crate::check::{
    self, Base, Config, FILE, Measured, Measuring, ProjectBenchmarks, find_base, hook,
};
use crate::revisions::{self, told};
use crate::{Ending, output, present, whole_file};
use anyhow::{Context, bail};
use assay_analysis::check::{CheckedProgram, OPEN, Standing};
use assay_data::{Threshold, private};
use assay_measure::interrupt;
use assay_measure::revisions::{Repository, Revision};
use assay_report::check::{CheckReport, Compared, Explained, ExplainedProgram, Search, Unmeasured};
use assay_report::console::outputs;
use assay_report::json::{self, Checked, Explanation};
use std::path::{Path, PathBuf};

/// Default time budget for measuring, in seconds.
const BUDGET: f64 = 300.0;
/// Default confidence level of all verdicts together.
const CONFIDENCE: f64 = 0.95;

/// Arguments of `assay check`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
`assay check` compares the working tree with the commit at which the current branch diverged from the default branch. Both are built in \
the cache directory; \
the working tree is not touched. Benchmarks are detected from the project's files: Cargo (criterion, divan, gungraun), Go, CMake with \
Google Benchmark, pytest-benchmark, pyperf, vitest, tinybench, mitata, benchmark-ips. To use others, name their build and run commands \
in assay.toml at the top of the repository (docs/guides/check.md).

Examples:
  assay check                                 this branch, before it is merged
  assay check --explain                       what would be built and measured?
  assay check --base release-2 --threshold 3%
  assay check --budget 2min --comment comment.md
  assay check --install-hook                  check before each git push

Exit codes: 0 no benchmark is known to be slower by the threshold or more, 1 a benchmark is slower, 2 usage or input error, or no \
benchmarks were found, 3 some verdicts are unknown (only with --fail-if), 4 a program could not be measured, 130 interrupted.")]
pub(crate) struct Args {
    /// Branch or commit to compare with, at the point where HEAD diverged from it [default: the
    /// base of the pull request, otherwise the default branch]
    #[arg(long, value_name = "REVISION", value_parser = any_words())]
    base: Option<String>,

    /// Show what was found, how it would be built and measured, and what was left out; run nothing
    #[arg(long)]
    explain: bool,

    /// Time budget for measuring, not counting builds [default: 5min]
    ///
    /// A quarter of it is reserved for confirming alarms with a second build.
    #[arg(long, value_name = "SPAN", value_parser = seconds, help_heading = "Deciding")]
    budget: Option<f64>,

    /// Smallest difference that matters, as in 2% or 250us [default: 1%]
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = "Deciding")]
    threshold: Option<Size>,

    /// Confidence level of all verdicts together [default: 95%]
    #[arg(long, value_name = "PERCENT", value_parser = confidence, help_heading = "Deciding")]
    confidence: Option<f64>,

    /// Metric that decides [default: wall, or the first]
    #[arg(long, value_name = "METRIC", help_heading = "Deciding")]
    metric: Option<String>,

    /// Do not confirm alarms by measuring again
    #[arg(long, help_heading = "Deciding")]
    no_confirm: bool,

    /// Exit with status 1 on these verdicts, and with status 3 if some are unknown [default: 1 if a
    /// benchmark is slower, otherwise 0]
    #[arg(
        long,
        value_name = "VERDICT",
        value_enum,
        value_delimiter = ',',
        help_heading = "Deciding"
    )]
    fail_if: Vec<FailIf>,

    /// Also write the answer as Markdown, for a comment on the pull request
    ///
    /// Its first line is a hidden marker that lets the next check find the comment. If git does not
    /// track the file, it is not part of the change.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    comment: Option<PathBuf>,

    /// Keep the samples of every program in this directory, for `assay compare`
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    save: Option<PathBuf>,

    #[command(flatten)]
    look: LookArgs,

    /// Install a git hook that checks before each push; `git push --no-verify` skips it
    ///
    /// An existing pre-push hook is not replaced.
    #[arg(long, help_heading = "Hook", conflicts_with_all = ["remove_hook", "explain", "comment", "save"])]
    install_hook: bool,

    /// Remove the hook that --install-hook installed
    #[arg(long, help_heading = "Hook", conflicts_with_all = ["explain", "comment", "save"])]
    remove_hook: bool,
}

/// A threshold, and the text that the user typed.
#[derive(Clone, Debug, PartialEq)]
struct Size {
    text: String,
    value: Threshold,
}

fn size(text: &str) -> Result<Size, String> {
    threshold(text).map(|value| Size { text: text.to_owned(), value })
}

/// Checks the change, explains how it would be checked, or installs or removes the hook.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    interrupt::install()?;
    if let Some(path) = &args.comment {
        outputs::check(&[], &[("--comment", path, "comment.md")])?;
    }
    let mut repository = revisions::repository()?;
    if args.install_hook {
        return hook::install(&mut repository).map(|()| Ending::Fine);
    }
    if args.remove_hook {
        return hook::remove(&mut repository).map(|()| Ending::Fine);
    }
    let top = repository.top().to_owned();
    let config = Config::read(&top)?;
    let asked = CheckSettings::of(args, &config);
    let head = repository.snapshot_without(&own_files(args, &top)).map_err(told)?;
    let commit = head.as_ref().and_then(|head| head.commit.as_deref());
    let files = commit.map_or(Ok(Vec::new()), |commit| repository.files(commit));
    let found = ProjectBenchmarks::of(&top, files.map_err(told)?, &config);
    let sides = sides(args, &config, &mut repository, head);
    if args.explain {
        let compared = sides.as_ref().map(|(compared, _)| compared.clone());
        return explain(args, &asked, &found, compared.map_err(output::told));
    }
    let (compared, revisions) = sides?;
    if found.ways.is_empty() {
        bail!(nothing_found(&found, &top));
    }
    measure(args, &asked, &config, found, &mut repository, &compared, revisions)
}

/// Returns the files in the repository that this check writes, relative to the repository's root,
/// so that the next check does not count them as changes.
fn own_files(args: &Args, top: &Path) -> Vec<PathBuf> {
    let from_top = |path: &PathBuf| {
        let path = std::path::absolute(path).ok()?;
        let directory = path.parent()?.canonicalize().ok()?;
        let path = directory.join(path.file_name()?);
        path.strip_prefix(top.canonicalize().ok()?).map(Path::to_owned).ok()
    };
    args.comment.iter().chain(&args.save).filter_map(from_top).collect()
}

/// The effective settings, which come from the options, otherwise from the configuration file,
/// otherwise from the defaults.
struct CheckSettings {
    threshold: Threshold,
    threshold_text: Option<String>,
    budget: f64,
    metric: Option<String>,
    confidence: f64,
}

impl CheckSettings {
    fn of(args: &Args, config: &Config) -> Self {
        let size = args.threshold.as_ref();
        let size = size.map(|size| (size.text.clone(), size.value.clone()));
        let size = size.or_else(|| config.threshold.clone());
        Self {
            threshold_text: size.as_ref().map(|(text, _)| text.clone()),
            threshold: size.map(|(_, value)| value).unwrap_or_default(),
            budget: args.budget.or(config.budget).unwrap_or(BUDGET),
            metric: args.metric.clone().or_else(|| config.metric.clone()),
            confidence: args.confidence.unwrap_or(CONFIDENCE),
        }
    }
}

/// Determines the two revisions to compare, and the files that differ.
fn sides(
    args: &Args,
    config: &Config,
    repository: &mut Repository,
    head: Option<Revision>,
) -> anyhow::Result<(Compared, [Revision; 2])> {
    let head = head.context("there is no commit yet, so there is nothing to compare with")?;
    let own = repository.revision(".").map_err(told)?.commit.unwrap_or_default();
    let asked = match (&args.base, &config.base) {
        (Some(base), _) => Some((base.as_str(), "--base")),
        (None, Some(base)) => Some((base.as_str(), FILE)),
        (None, None) => None,
    };
    let Base { commit, branch, source } = find_base(repository, asked, &own)?;
    let measured = head.commit.clone().unwrap_or_default();
    let compared = Compared {
        files: repository.changed(&commit, &measured).map_err(told)?,
        is_changed: measured != own,
        branch,
        source: source.to_owned(),
        head: measured,
        base: commit.clone(),
    };
    let base =
        Revision { written: "the base".to_owned(), commit: Some(commit), is_working_tree: false };
    let written = if compared.is_changed { "the working tree" } else { "HEAD" }.to_owned();
    Ok((compared, [base, Revision { written, ..head }]))
}

/// Returns true for files that no program reads: documents and settings at the root, and everything
/// in directories for documentation or continuous integration.
fn is_document(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or_default();
    let is_page = [".md", ".rst", ".adoc"].iter().any(|ending| path.ends_with(ending));
    match path.contains('/') {
        true => ["docs", "doc", ".github", ".gitlab"].contains(&first),
        false => {
            is_page
                || path.starts_with("LICENSE")
                || [".gitignore", ".gitattributes", ".editorconfig", ".gitlab-ci.yml"]
                    .contains(&path)
        }
    }
}

fn measure(
    args: &Args,
    asked: &CheckSettings,
    config: &Config,
    mut found: ProjectBenchmarks,
    repository: &mut Repository,
    compared: &Compared,
    revisions: [Revision; 2],
) -> anyhow::Result<Ending> {
    let short = compared.base.get(..12).unwrap_or_default();
    if compared.files.is_empty() {
        let nothing = format!(
            "Nothing changed since {short}, where this branch diverged from {}, so nothing was measured. To compare with another commit: assay check --base HEAD~1",
            compared.branch
        );
        return show(args, asked, compared, &Measured::default(), &[], &nothing);
    }
    if compared.files.iter().all(|path| is_document(path)) {
        let nothing = "Not measured: only documents and settings of the project changed, which no benchmark reads.";
        return show(args, asked, compared, &Measured::default(), &[], nothing);
    }
    let mut left_out = Vec::new();
    if !config.names_programs() {
        // A program that exists in only one revision can't be compared.
        let mut say = |_: assay_measure::revisions::Stage<'_>| {};
        let tree = repository.ready(&revisions[0], revisions::NO_BUILD, None, &mut say);
        let files = repository.files(&compared.base).map_err(told)?;
        let before =
            ProjectBenchmarks::of(&tree.map_err(told)?.directory, files, &Config::default());
        left_out = found.keep_common(&before);
        if found.ways.is_empty() {
            let nothing = format!(
                "Not measured: the base {short} has no benchmark to compare with. New here: {}.",
                left_out.join(", ")
            );
            return show(args, asked, compared, &Measured::default(), &[], &nothing);
        }
    }
    let room = tempfile::tempdir().context("a temporary directory")?;
    if let Some(directory) = &args.save {
        private::directory(directory).with_context(|| format!("--save {}", directory.display()))?;
    }
    let directory = args.save.clone().unwrap_or_else(|| room.path().to_owned());
    let directory = std::path::absolute(&directory).context("--save")?;
    let programs: Vec<check::Program> = found.programs().cloned().collect();
    let mut measuring = Measuring {
        repository,
        revisions,
        ways: found.ways,
        threshold: asked.threshold_text.clone(),
        metric: asked.metric.clone(),
        confidence: asked.confidence,
        budget: asked.budget,
        confirms: !args.no_confirm,
        room: directory,
        quiet: args.look.quiet,
    };
    let mut measured = measuring.run()?;
    let is_changed = |path: &&String| compared.files.contains(path);
    let sources: Vec<String> =
        programs.iter().flat_map(|own| &own.sources).filter(is_changed).cloned().collect();
    measured.unmeasured.extend(left_out.into_iter().map(|program| {
        let why = "the base does not have it".to_owned();
        Unmeasured { program, why, is_failure: false }
    }));
    let all = &measured.unmeasured;
    if measured.programs.is_empty() && !all.is_empty() && all.iter().all(|own| own.is_failure) {
        let all = all.iter();
        let told: Vec<String> = all.map(|own| format!("{}: {}", own.program, own.why)).collect();
        bail!("no program could be measured:\n  {}", told.join("\n  "));
    }
    let failed = all.iter().any(|own| own.is_failure);
    let nothing = match (measured.programs.is_empty(), failed) {
        (true, false) => {
            "Not measured: the change reaches no benchmark. What they execute is the same in both revisions."
        }
        (true, true) => {
            "Not measured: the change reaches no benchmark of the programs that could be built."
        }
        (false, _) => "",
    };
    show(args, asked, compared, &measured, &sources, nothing)
}

fn show(
    args: &Args,
    asked: &CheckSettings,
    compared: &Compared,
    measured: &Measured,
    changed_benchmarks: &[String],
    nothing: &str,
) -> anyhow::Result<Ending> {
    let report = CheckReport {
        compared,
        programs: &measured.programs,
        unmeasured: &measured.unmeasured,
        nothing,
        threshold: &asked.threshold,
        confidence: asked.confidence,
        budget: asked.budget,
        changed_benchmarks,
        is_shuffled: measured.is_shuffled,
    };
    // A comment that can't be written must not prevent the output on the terminal.
    let written = args.comment.as_ref().map_or(Ok(()), |path| {
        let text = assay_report::check::markdown(&report);
        whole_file::replace(path, text.as_bytes()).with_context(|| "--comment")
    });
    output::print(&match args.look.json {
        true => json::text(&Checked::of(&report))?,
        false => assay_report::check::screen(&report, &present::screen(args.look.color)),
    })?;
    written?;
    Ok(ending(args, measured))
}

/// Returns the exit status for the verdicts and failures.
fn ending(args: &Args, measured: &Measured) -> Ending {
    let rows = || measured.programs.iter().flat_map(|own: &CheckedProgram| &own.rows);
    let any = |of: &[Standing]| rows().any(|row| of.contains(&row.standing));
    let failed = measured.unmeasured.iter().any(|own| own.is_failure);
    let default = [FailIf::Slower];
    let fail_if = if args.fail_if.is_empty() { &default[..] } else { &args.fail_if };
    let came_true = fail_if.iter().any(|condition| match condition {
        FailIf::Slower => any(&[Standing::Slower]),
        FailIf::Faster => any(&[Standing::Faster]),
        FailIf::Different => any(&[Standing::Slower, Standing::Faster]),
        FailIf::Equivalent => any(&[Standing::Equivalent]),
    });
    if came_true {
        Ending::FailIfCameTrue
    } else if failed {
        Ending::CommandFailed
    } else if !args.fail_if.is_empty() && any(&OPEN) {
        Ending::InconclusiveUnderFailIf
    } else {
        Ending::Fine
    }
}

/// Returns the message that a project has no benchmarks, with what was looked for.
fn nothing_found(found: &ProjectBenchmarks, top: &Path) -> String {
    let looked: Vec<String> = found
        .looked
        .iter()
        .map(|own| format!("  {}: {}\n    {}", own.tool, own.sought, own.notes.join("\n    ")))
        .collect();
    format!(
        "no benchmarks were found in {}. Looked for:\n{}\nWrite to {FILE} at the top what to build and to run:\n  build = \"make\"                  # nothing, if nothing has to be built\n  bench = \"build/benchmarks\"      # a benchmark program, as for `assay bench`\n  run = \"./app data.txt\"          # or a command to time, as for `assay run`",
        top.display(),
        looked.join("\n")
    )
}

fn explain(
    args: &Args,
    asked: &CheckSettings,
    found: &ProjectBenchmarks,
    compared: Result<Compared, String>,
) -> anyhow::Result<Ending> {
    let source = |given: bool, of_file: bool| match (given, of_file) {
        (true, _) => "option",
        (false, true) => FILE,
        (false, false) => "default",
    };
    let threshold = asked.threshold_text.clone().unwrap_or_else(|| "1%".to_owned());
    let has = |given: bool, value: bool| source(given, value && !given).to_owned();
    let is_threshold = asked.threshold_text.is_some();
    let is_budget = (asked.budget - BUDGET).abs() > f64::EPSILON;
    let settings = vec![
        ("threshold".to_owned(), threshold, has(args.threshold.is_some(), is_threshold)),
        (
            "budget".to_owned(),
            assay_report::number::duration(asked.budget),
            has(args.budget.is_some(), is_budget),
        ),
        (
            "metric".to_owned(),
            asked.metric.clone().unwrap_or_else(|| "wall, or the first".to_owned()),
            has(args.metric.is_some(), asked.metric.is_some()),
        ),
    ];
    let programs = found.ways.iter().flat_map(|way| {
        way.programs.iter().map(|own| ExplainedProgram {
            name: own.name.clone(),
            tool: way.tool.to_owned(),
            evidence: way.evidence.clone(),
            command: own.command.clone(),
            verb: if own.is_timed { "run" } else { "bench" }.to_owned(),
            directory: own.directory.clone().unwrap_or_default(),
            variables: own.variables.clone(),
            sources: own.sources.clone(),
        })
    });
    let searches = found.looked.iter().map(|own| Search {
        tool: own.tool.to_owned(),
        sought: own.sought.to_owned(),
        notes: own.notes.clone(),
        programs: found.ways.iter().filter(|w| w.tool == own.tool).map(|w| w.programs.len()).sum(),
    });
    let (compared, no_base) = match compared {
        Ok(compared) => (Some(compared), String::new()),
        Err(why) => (None, why),
    };
    let explained = Explained {
        compared,
        no_base,
        build: found.line().unwrap_or_default(),
        programs: programs.collect(),
        searches: searches.collect(),
        settings,
    };
    output::print(&match args.look.json {
        true => json::text(&Explanation::of(&explained))?,
        false => assay_report::check::explained(&explained, present::screen(args.look.color).width),
    })?;
    Ok(if found.ways.is_empty() { Ending::InputError } else { Ending::Fine })
}

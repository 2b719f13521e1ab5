//! Finds the sources of a project and their mutants: which files are changed, and in which parts.
//! Files are read, but nothing is run.

use crate::copies::{CMAKE, is_temporary};
use crate::settings::Settings;
use anyhow::{Context, bail};
use assay_data::mutation::{Fate, LineColumn, MutantResult, MutatedFile, MutatedUnit};
use assay_data::system_error::reason;
use assay_data::threads;
use assay_measure::git;
use assay_mutate::mutants::{
    Generator, IsolatedFunction, Language, Mutant, Mutants, line_starts, why_passed,
};
use assay_suites::coverage::Project;
use assay_suites::coverage::rules::is_third_party;
use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::{fs, io, thread};

/// A source file with its mutants.
#[derive(Debug)]
pub(crate) struct Source {
    /// Path relative to the root of the project.
    pub path: String,
    pub language: Language,
    pub text: Vec<u8>,
    pub found: Mutants,
    /// The condition that excludes the whole file from the program on this machine, if any.
    pub absent: Option<String>,
    /// The kind of the file if tests need not use it, such as an example.
    pub beside: Option<&'static str>,
    /// For each unit, the code needed to compile it by itself. Computed on first use.
    alone: OnceLock<Vec<Option<IsolatedFunction>>>,
}

impl Source {
    /// Creates a source from its path, text and mutants.
    pub fn new(path: impl Into<String>, language: Language, text: Vec<u8>, found: Mutants) -> Self {
        let (absent, beside, alone) = (None, None, OnceLock::new());
        Self { path: path.into(), language, text, found, absent, beside, alone }
    }

    /// Returns a unit's name, without the enclosing classes, together with what is needed to
    /// compile the unit by itself. `None` if this is not possible.
    pub fn function(&self, unit: usize) -> Option<(&str, &IsolatedFunction)> {
        let all = || assay_mutate::mutants::alone(self.language, &self.text, &self.found.units);
        let alone = self.alone.get_or_init(all).get(unit)?.as_ref()?;
        Some((self.found.units.get(unit)?.name.rsplit('.').next()?, alone))
    }
}

/// The root directory of a project, and the current directory in it.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    pub top: PathBuf,
    /// The current directory, relative to `top`.
    pub below: PathBuf,
}

impl Root {
    /// Returns the project of the current directory. Its root is that of the Git repository or
    /// workspace, or otherwise the directory itself.
    ///
    /// # Errors
    ///
    /// Fails if the current directory does not exist.
    pub fn here() -> anyhow::Result<Self> {
        let here = Path::new(".").canonicalize().context("the directory here")?;
        let top = git::top(&here).or_else(|| workspace(&here));
        let top = top.unwrap_or_else(|| here.clone());
        let below = here.strip_prefix(&top).unwrap_or(Path::new("")).to_owned();
        Ok(Self { top, below })
    }
}

/// Manifests of workspace members, the corresponding manifests of workspaces, and a word that the
/// latter contain.
const WORKSPACES: [(&str, &str, &str); 4] = [
    ("Cargo.toml", "Cargo.toml", "[workspace]"),
    ("go.mod", "go.work", "use"),
    ("package.json", "package.json", "\"workspaces\""),
    ("package.json", "pnpm-workspace.yaml", "packages"),
];

/// Returns the root of the workspace to which a directory belongs, according to the manifests above
/// the directory.
fn workspace(here: &Path) -> Option<PathBuf> {
    let is_above = |above: &&Path| {
        WORKSPACES.iter().any(|(own, file, word)| {
            let text = || fs::read_to_string(above.join(file)).unwrap_or_default();
            here.join(own).is_file() && text().contains(word)
        })
    };
    here.ancestors().skip(1).find(is_above).map(Path::to_owned)
}

/// The user's selection of what to change.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SourceSelection<'a> {
    /// Files and directories to change. If this is empty, all are changed.
    pub files: &'a [PathBuf],
    /// Limits the changes to lines that differ from this revision.
    pub since: Option<&'a str>,
    /// If set, the share of the functions to change, as number (from 1) and total.
    pub shard: Option<(u32, u32)>,
    /// The command that runs the tests.
    pub command: &'a [OsString],
}

/// Returns the sources with their mutants, ordered by path, and notes about named files that are
/// skipped.
///
/// # Errors
///
/// Fails if a named file does not exist or cannot be read, or if git does not know the revision.
pub(crate) fn of(
    root: &Root,
    asked: SourceSelection<'_>,
) -> anyhow::Result<(Vec<Source>, Vec<String>)> {
    let mut notes = Vec::new();
    let mut paths = named(root, asked.files, &mut notes)?;
    let lines = match asked.since {
        None => None,
        Some(revision) => Some(since(root, revision)?),
    };
    if let Some(lines) = &lines {
        paths.retain(|(path, _)| lines.contains_key(path));
    }
    let all = Project::of(&root.top).files();
    let settings = Settings::of(&root.top, &root.below, all, asked.command);
    let made = generated(root, &paths, &settings, !asked.files.is_empty())?;
    let mut sources = Vec::new();
    for own in made {
        match own {
            Ok(source) => sources.push(source),
            Err(note) => notes.extend(note),
        }
    }
    for source in &mut sources {
        keep(source, lines.as_ref(), asked.shard);
    }
    sources.retain(|source| !source.found.all.is_empty());
    Ok((sources, notes))
}

/// Returns the lines of each file that differ from a revision.
fn since(root: &Root, revision: &str) -> anyhow::Result<BTreeMap<String, Vec<(u32, u32)>>> {
    if git::top(&root.top).is_none() {
        bail!(
            "--since {revision}: {} is not in a git repository (or git is not installed), so the changed lines are unknown; name the changed files instead, as in `assay mutate src/stack.py -- pytest`",
            root.top.display()
        );
    }
    let lines = git::changed_lines(&root.top, revision);
    lines.with_context(|| {
        format!("--since {revision}: `{revision}` is not a revision of this repository; `git rev-parse {revision}` shows why")
    })
}

/// Returns the selected paths, relative to the root of the project, with their languages.
fn named(
    root: &Root,
    files: &[PathBuf],
    notes: &mut Vec<String>,
) -> anyhow::Result<Vec<(String, Language)>> {
    let mut all = Project::of(&root.top).files();
    all.retain(|path| !is_temporary(path));
    without_builds(&mut all);
    let of_language = |path: &String| {
        let language = Language::of_source(Path::new(path))?;
        Some((path.clone(), language))
    };
    if files.is_empty() {
        let below = root.below.to_str().unwrap_or_default();
        let is_below = |path: &&String| below.is_empty() || Path::new(path).starts_with(below);
        let own = all.iter().filter(is_below).filter(|path| !is_foreign(path, &root.below));
        return Ok(own.filter_map(of_language).collect());
    }
    let mut paths = BTreeMap::new();
    for file in files {
        let place = file.canonicalize().with_context(|| {
            format!(
                "{} is not a file or directory to change; put the command that runs the tests after --",
                file.display()
            )
        })?;
        let Ok(own) = place.strip_prefix(&root.top) else {
            bail!("{}: is not below {}", file.display(), root.top.display());
        };
        let before = paths.len();
        if place.is_dir() {
            let below = all.iter().filter(|path| Path::new(path).starts_with(own));
            paths.extend(below.filter(|path| !is_foreign(path, own)).filter_map(of_language));
        } else {
            let own = own
                .to_str()
                .with_context(|| format!("{}: its name is not UTF-8", file.display()))?;
            paths.extend(of_language(&own.to_owned()));
        }
        if paths.len() == before {
            notes.push(format!("{}: not a source file of a supported language", file.display()));
        }
    }
    Ok(paths.into_iter().collect())
}

/// Removes files generated by CMake: the directories that contain its settings, and the directories
/// that it creates in a build next to the sources.
fn without_builds(files: &mut Vec<String>) {
    let built = |path: &String| path.strip_suffix(CMAKE)?.strip_suffix('/').map(str::to_owned);
    let built: Vec<String> = files.iter().filter_map(built).collect();
    files.retain(|path| {
        let path = Path::new(path);
        !built.iter().any(|own| path.starts_with(own))
            && !path.iter().any(|part| part == "CMakeFiles")
    });
}

/// Returns true for third-party code below a directory, and for JavaScript that a bundler wrote.
fn is_foreign(path: &str, directory: &Path) -> bool {
    let below = Path::new(path).strip_prefix(directory).unwrap_or(Path::new(path));
    let is_script = [".js", ".mjs", ".cjs"].iter().any(|ending| path.ends_with(ending));
    let mut above = below.parent().into_iter().flat_map(Path::iter).filter_map(OsStr::to_str);
    let is_bundle = below.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with(".min"));
    is_script && is_bundle || above.any(|name| is_third_party(name) || is_script && name == "dist")
}

type SourceResult = Result<Source, Option<String>>;

/// Generates the mutants of all files in parallel.
fn generated(
    root: &Root,
    paths: &[(String, Language)],
    settings: &Settings,
    says: bool,
) -> anyhow::Result<Vec<SourceResult>> {
    let next = AtomicUsize::new(0);
    let made: Mutex<Vec<(usize, anyhow::Result<SourceResult>)>> = Mutex::new(Vec::new());
    let count = thread::available_parallelism().map_or(1, usize::from).min(paths.len().max(1));
    thread::scope(|scope| -> io::Result<()> {
        for _ in 0..count {
            threads::start_in(scope, || {
                let mut generators: HashMap<Language, Option<Generator>> = HashMap::new();
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some((path, language)) = paths.get(index) else { return };
                    let own =
                        generators.entry(*language).or_insert_with(|| Generator::new(*language));
                    let one = made_of(root, path, *language, own.as_mut(), (settings, says));
                    if let Ok(mut all) = made.lock() {
                        all.push((index, one));
                    }
                }
            })?;
        }
        Ok(())
    })?;
    let mut made = made.into_inner().unwrap_or_default();
    made.sort_by_key(|(index, _)| *index);
    made.into_iter().map(|(_, one)| one).collect()
}

fn made_of(
    root: &Root,
    path: &str,
    language: Language,
    generator: Option<&mut Generator>,
    (settings, says): (&Settings, bool),
) -> anyhow::Result<SourceResult> {
    let place = root.top.join(path);
    let text = match fs::read(&place) {
        Ok(text) => text,
        Err(error) if says => return Err(error).with_context(|| place.display().to_string()),
        Err(error) => return Ok(Err(Some(format!("{path}: {}", reason(&error))))),
    };
    if let Some(why) = why_passed(language, path, &text) {
        return Ok(Err(says.then(|| format!("{path}: skipped, because it {why}"))));
    }
    let Some(generator) = generator else { return Ok(Err(None)) };
    let found = generator.mutants_here(path, &text, &settings.here(path));
    if found.is_broken && found.all.is_empty() {
        return Ok(Err(Some(format!(
            "{path}: skipped, because it can't be parsed as {}",
            language.name()
        ))));
    }
    // Interpreted code is considered excluded only if no test uses it.
    let is_seen = matches!(language, Language::Python | Language::Ruby);
    let beside = settings.beside(language, path);
    let absent = settings.absent(language, path);
    let absent = absent.or_else(|| beside.filter(|_| !is_seen).map(str::to_owned));
    Ok(Ok(Source { absent, beside, ..Source::new(path, language, text, found) }))
}

/// Keeps only the selected mutants.
fn keep(
    source: &mut Source,
    lines: Option<&BTreeMap<String, Vec<(u32, u32)>>>,
    shard: Option<(u32, u32)>,
) {
    let units = &source.found.units;
    let of_shard: Vec<bool> = units
        .iter()
        .map(|unit| {
            let Some((own, of)) = shard else { return true };
            let sum =
                assay_suites::coverage::sum(format!("{}\n{}", source.path, unit.name).as_bytes());
            sum % u64::from(of) == u64::from(own - 1)
        })
        .collect();
    let changed = lines.map(|lines| lines.get(&source.path).map_or(&[][..], Vec::as_slice));
    source.found.all.retain(|own| {
        let unit = &units[own.unit];
        // A mutant of a whole body is selected if any line of its unit has changed.
        let (first, last) = match own.operator.is_extreme() {
            true => (unit.begin, unit.end),
            false => (own.line, own.last_line),
        };
        let touches = |(from, to): &(u32, u32)| *from <= last && first <= *to;
        of_shard[own.unit] && changed.is_none_or(|changed| changed.iter().any(touches))
    });
}

/// The files, units and mutants of a result, with nothing known about the mutants yet. For each
/// mutant, the last element gives the index of its source and its index within that source.
pub(crate) type Table =
    (Vec<MutatedFile>, Vec<MutatedUnit>, Vec<MutantResult>, Vec<(usize, usize)>);

/// Returns the table of all sources. O(bytes).
pub(crate) fn table(sources: &[Source]) -> Table {
    let (mut files, mut units, mut mutants, mut origins) = Table::default();
    for (file, source) in sources.iter().enumerate() {
        files.push(MutatedFile {
            path: source.path.clone(),
            language: source.language.name().to_owned(),
            source: String::from_utf8_lossy(&source.text).into_owned(),
        });
        // Units without selected mutants are left out.
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        let lines = line_starts(&source.text);
        for (index, own) in source.found.all.iter().enumerate() {
            let unit = *numbers.entry(own.unit).or_insert_with(|| {
                let unit = &source.found.units[own.unit];
                let (name, begin, end) = (unit.name.clone(), unit.begin, unit.end);
                units.push(MutatedUnit { file, name, begin, end });
                units.len() - 1
            });
            mutants.push(result(source, own, unit, &lines));
            origins.push((file, index));
        }
    }
    (files, units, mutants, origins)
}

/// Converts a mutant to the form used in results, with nothing known about it yet.
pub(crate) fn result(source: &Source, own: &Mutant, unit: usize, lines: &[usize]) -> MutantResult {
    let place = |at: usize| {
        let row = lines.partition_point(|start| *start <= at) - 1;
        let before = String::from_utf8_lossy(&source.text[lines[row]..at]);
        let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX).saturating_add(1);
        LineColumn { line: number(row), column: number(before.chars().count()) }
    };
    let absent = source.absent.clone().or_else(|| own.absent.clone());
    let (fate, reason) = match (absent, &own.kept) {
        (Some(why), _) => (Fate::Absent, Some(why)),
        (None, Some(reason)) => (Fate::Kept, Some(reason.clone())),
        (None, None) => (Fate::Pending, None),
    };
    MutantResult {
        id: own.id.clone(),
        unit,
        operator: own.operator.name().to_owned(),
        what: own.operator.words().to_owned(),
        begin: place(own.range.start),
        end: place(own.range.end),
        replacement: own.replacement.clone(),
        diff: own.diff_at(&source.text, lines),
        fate,
        reason,
        ..MutantResult::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn third_party_code_is_no_source_unless_its_directory_is_named() {
        let is = |path| is_foreign(path, Path::new(""));
        assert!(is("vendor/a/a.go") && is("x/third_party/b.c") && is("node_modules/c/c.js"));
        assert!(is("dist/d.mjs") && is("lib/e.min.js") && is("venv/site-packages/f.py"));
        assert!(!is("vendor.go") && !is("dist/g.py") && !is("admin.js") && !is("vendors/h.go"));
        let named = |path| is_foreign(path, Path::new("vendor/a"));
        assert!(!named("vendor/a/a.go") && named("vendor/a/vendor/b.go"));
    }

    #[test]
    fn what_cmake_generates_is_no_source() {
        let files = ["a.c", "build/CMakeCache.txt", "build/x/y.c", "builder/b.c", "CMakeFiles/c.c"];
        let mut files: Vec<String> = files.map(str::to_owned).to_vec();
        without_builds(&mut files);
        assert_eq!(files, ["a.c", "builder/b.c"]);
    }
}

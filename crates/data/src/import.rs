//! Reads samples from any file that the user may have, such as `.assay` files, columns of numbers,
//! or CSV. The format is recognized by content, never by file name, and several inputs become one
//! [`Samples`].
//!
//! There is one module per format, which documents the files that it accepts;
//! `docs/reference/input-files.md` does so for users. A new format needs a module and one line in
//! [`formats`]. Importers read values and convert units. They do not judge or drop values, and
//! anything that cannot be read with certainty is an error with advice.

mod asv;
mod benchmark_dotnet;
mod benchmark_dotnet_table;
mod benchmark_ips;
mod benchmark_js;
mod cargo_bench_history;
mod catch2;
mod catch2_text;
mod columns;
mod comments;
mod context;
mod criterion;
mod criterion_text;
mod csv;
mod divan;
mod error;
mod exported;
mod formats;
mod go_bench;
mod go_names;
mod google;
mod gungraun;
mod http_load;
mod httperf;
mod hyperfine;
mod javascript;
mod jmh;
mod json;
mod layout;
mod libtest;
mod line_values;
mod logfmt;
mod merge;
mod named_times;
mod names;
mod nanobench;
mod number;
mod options;
mod pattern;
mod perf_print;
mod perf_stat;
mod pyperf;
mod pytest;
mod recorder;
mod recordings;
mod report;
mod ruby_benchmark;
mod runs;
mod single_values;
pub mod stores;
mod test_reports;
mod time_command;
mod times;
mod tinybench_table;
mod troubles;
mod unknown;
mod valgrind_totals;

#[cfg(test)]
mod tests;

use context::{Context, Head, Part, Reopen};
pub use error::{ImportError, TableColumns};
use formats::{FORMATS, Format, Group};
pub(crate) use go_names::{NAMED, OriginalName, metric_of_unit};
pub use merge::is_about_deciding_metric;
pub(crate) use names::labels;
pub use options::{ColumnRef, ImportOptions};
use recordings::Recording;
pub use recordings::SideFiles;

use crate::input::Input;
use crate::limits::too_many;
use crate::lines::Lines;
use crate::number::{Conclusion, Marks, Style, stands_in};
use crate::read_error::{FilePosition, ReadError};
use crate::samples::Samples;
use crate::test_results::TestResults;
use std::cell::RefCell;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum number of bytes searched for the first line of data. A file whose first megabytes are
/// comments is read as columns, whose reader reports the problem.
const LONGEST_HEAD: usize = 4 * 1024 * 1024;

/// Maximum number of bytes of standard input that are kept for a second reading.
const KEPT_OF_STDIN: u64 = 64 * 1024 * 1024;

/// The origin of an input.
enum Source<'a> {
    File(&'a Path),
    /// The bytes kept of standard input, and true if they are all of it.
    Stdin(Arc<[u8]>, bool),
}

impl<'a> Source<'a> {
    fn stdin() -> Result<Self, ReadError> {
        let mut kept = Vec::new();
        let read = std::io::stdin().take(KEPT_OF_STDIN).read_to_end(&mut kept);
        read.map_err(|source| ReadError::Io { file: STDIN.to_owned(), source })?;
        let is_whole = (kept.len() as u64) < KEPT_OF_STDIN;
        Ok(Self::Stdin(kept.into(), is_whole))
    }

    /// Returns the input, and a function that opens it again.
    #[allow(clippy::type_complexity)]
    fn open(
        self,
    ) -> Result<(Input, Box<dyn Fn() -> Option<Result<Input, ReadError>> + 'a>), ReadError> {
        match self {
            Self::File(path) => Ok((Input::open(path)?, Box::new(move || Some(Input::open(path))))),
            Self::Stdin(kept, is_whole) => {
                let rest = Cursor::new(Arc::clone(&kept)).chain(std::io::stdin());
                let again = move || {
                    let kept = Cursor::new(Arc::clone(&kept));
                    is_whole.then(|| Input::of(kept, STDIN))
                };
                Ok((Input::of(rest, STDIN)?, Box::new(again)))
            }
        }
    }
}

/// Name of standard input in messages.
const STDIN: &str = "stdin";

/// Reads all inputs into one. `-` is standard input. A single sample file keeps its blocks; several
/// inputs lose theirs, because recordings made separately do not form blocks. O(bytes).
///
/// # Errors
/// If an input cannot be read, has no known format, or is not compatible with the others.
pub fn load<P: AsRef<Path>>(inputs: &[P], options: &ImportOptions) -> Result<Samples, ImportError> {
    let side = |input: &P| SideFiles { name: None, files: vec![input.as_ref().to_owned()] };
    load_sides(&inputs.iter().map(side).collect::<Vec<_>>(), options)
}

/// Reads all sides into one. Each side is a file, or several recordings, which are then the units
/// that are compared. O(bytes).
///
/// # Errors
/// As for [`load`].
pub fn load_sides(sides: &[SideFiles], options: &ImportOptions) -> Result<Samples, ImportError> {
    let paths = || sides.iter().flat_map(|side| &side.files).map(PathBuf::as_path);
    if paths().filter(|path| path.as_os_str() == "-").count() > 1 {
        return Err(ImportError::StdinTwice);
    }
    let named = |side: &SideFiles| side.name.as_deref().map(PathBuf::from);
    let first = |side: &SideFiles| named(side).or_else(|| side.files.first().cloned());
    let shown: Vec<PathBuf> = sides.iter().filter_map(first).collect();
    let labels = names::labels(&shown.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    let labels = sides.iter().zip(labels);
    let labels = labels.map(|(side, label)| side.name.clone().unwrap_or(label)).collect();
    let mut parts = Vec::with_capacity(sides.len());
    for (side, label) in sides.iter().zip(names::told_apart(labels)) {
        let mut found = Vec::new();
        for path in &side.files {
            found.extend(recordings_of(path, &label, options)?);
        }
        if found.len() > 1 {
            let of_file = |one: &Recording| recordings::digest_of_file(Path::new(&one.file));
            found.iter_mut().for_each(|one| one.digest = one.digest.or_else(|| of_file(one)));
        }
        parts.push(recordings::pooled(&label, found, options)?);
    }
    if let (Some(name), Some(first)) = (&options.metric, parts.first())
        && parts.iter().all(|one| one.part.is_ours)
    {
        let (file, name) = (first.file.clone(), name.clone());
        return Err(ImportError::MetricsNamed { file, name });
    }
    let mut samples = merge::merge(parts, options)?;
    for metric in samples.metrics.iter_mut().filter(|metric| metric.undirected) {
        *metric = options.directed(metric.clone());
    }
    leave_out(&mut samples, options)?;
    samples.findings.extend(times::findings(&samples));
    Ok(samples)
}

/// Returns the recordings at a path: one, or those in a directory or in a file of several
/// documents.
fn recordings_of(
    path: &Path,
    label: &str,
    options: &ImportOptions,
) -> Result<Vec<Recording>, ImportError> {
    let is_stdin = path.as_os_str() == "-";
    if !is_stdin && criterion::is_directory(path) {
        let file = path.display().to_string();
        let marks = &Marks::default();
        let context = Context { options, label, file: &file, tests: None, marks };
        return match (criterion::read_directory(path, &context), recordings::files_of(path)) {
            // A directory without criterion benchmarks is a directory of recordings.
            (Err(ImportError::Directory { .. }), Some(files)) => {
                let found = files.iter().map(|file| recordings_of(file, label, options));
                Ok(found.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
            }
            (part, _) => Ok(vec![Recording { file, part: part?, digest: None }]),
        };
    }
    let source = if is_stdin { Source::stdin()? } else { Source::File(path) };
    let (input, again) = source.open()?;
    let file = input.file.clone();
    let marks = &Marks::default();
    let context = Context { options, label, file: &file, tests: None, marks };
    match read_marked(input, &context, &again) {
        Ok(part) => Ok(vec![Recording { file, part, digest: None }]),
        Err(error) => match documents(&context, &again) {
            Some(found) => found,
            None => Err(tried(error, &context, &again)),
        },
    }
}

/// Returns the documents of a file as recordings if it holds several of known formats. Errors name
/// the document.
fn documents(
    context: &Context<'_>,
    again: Reopen<'_>,
) -> Option<Result<Vec<Recording>, ImportError>> {
    let documents = recordings::documents(again)?;
    let is_known = |bytes: &[u8]| {
        format_of(&Head::of(valid_text(bytes))).is_some_and(|format| format.group == Group::Json)
    };
    if !documents.iter().all(|(_, bytes)| is_known(bytes)) {
        return None;
    }
    let read = |(number, (line, bytes)): (usize, (u64, Vec<u8>))| {
        let digest = Some(recordings::digest(&bytes));
        let file = format!("{}, document {} (line {line})", context.file, number + 1);
        let bytes: Arc<[u8]> = bytes.into();
        let again = || Some(Input::of(Cursor::new(Arc::clone(&bytes)), &file));
        let input = Input::of(Cursor::new(Arc::clone(&bytes)), &file)?;
        let part = read_marked(input, &Context { file: &file, ..*context }, &again)?;
        Ok(Recording { file, part, digest })
    };
    Some(documents.into_iter().enumerate().map(read).collect())
}

/// Removes the data that the filter excludes, then the beginning of every series.
fn leave_out(samples: &mut Samples, options: &ImportOptions) -> Result<(), ImportError> {
    if let Some(filter) = &options.filter {
        filter.apply(samples)?;
    }
    let skip = options.skip;
    if skip == 0 {
        return Ok(());
    }
    let before = samples.counts();
    samples.skip_first(skip);
    let counts = before.into_iter().zip(samples.counts());
    for (subject, (observations, left)) in samples.subjects.iter().zip(counts) {
        if observations > 0 && left == 0 {
            let subject = subject.name.clone();
            return Err(ImportError::NothingLeft { skip, subject, observations });
        }
    }
    Ok(())
}

/// Reads one input from memory, for callers without a file; `name` identifies it in messages.
///
/// # Errors
/// As for [`load`].
pub fn load_bytes(
    bytes: Vec<u8>,
    name: &str,
    options: &ImportOptions,
) -> Result<Samples, ImportError> {
    let label = names::labels(&[Path::new(name)]).remove(0);
    let bytes: Arc<[u8]> = bytes.into();
    let input = || Input::of(Cursor::new(Arc::clone(&bytes)), name);
    let again = || Some(input());
    let context =
        Context { options, label: &label, file: name, tests: None, marks: &Marks::default() };
    let part = read_marked(input()?, &context, &again);
    let part = part.map_err(|error| tried(error, &context, &again))?;
    let mut samples = part.samples;
    leave_out(&mut samples, options)?;
    Ok(samples)
}

/// Reads the report of a test framework from memory, test by test; `name` identifies it in
/// messages. O(bytes).
///
/// # Errors
/// If the bytes are not such a report, or if it is truncated. Tests without times and reports
/// without tests are not errors.
pub fn read_tests(bytes: Vec<u8>, name: &str) -> Result<TestResults, ImportError> {
    let (kept, options) = (RefCell::default(), ImportOptions::default());
    // Everything is in memory, so everything is examined: a program may print much before its first
    // result, and the plan of TAP may be its last line.
    let format = {
        let head = Head::of(valid_text(&bytes));
        let format = format_of(&head).filter(|format| matches!(format.group, Group::Tests));
        format.ok_or_else(|| ImportError::Unknown {
            file: name.to_owned(),
            seen: unknown::seen(&head),
            known: unknown::known(),
        })?
    };
    let bytes: Arc<[u8]> = bytes.into();
    let again = || Some(Input::of(Cursor::new(Arc::clone(&bytes)), name));
    let input = Input::of(Cursor::new(Arc::clone(&bytes)), name)?;
    let context = Context {
        options: &options,
        label: name,
        file: name,
        tests: Some(&kept),
        marks: &Marks::default(),
    };
    let read_once = |input: Input, context: &Context<'_>| {
        // Only the tests of the last reading are kept.
        kept.take();
        (format.read)(input, context)
    };
    let read = by_marks(input, &context, &again, &read_once);
    let results = kept.into_inner();
    match read {
        // Tests without times give no samples, but they were run.
        Err(ImportError::NoNumbers { .. }) if results.is_whole => Ok(results),
        Err(error) => Err(error),
        Ok(_) => Ok(results),
    }
}

/// Returns the error, with its advice only if the file can be read by following that advice.
fn tried(mut error: ImportError, context: &Context<'_>, again: Reopen<'_>) -> ImportError {
    if let ImportError::WhichColumn { advice, .. } = &mut error {
        let reads = |columns: &TableColumns| {
            let TableColumns { by, value } = columns.clone();
            let options = ImportOptions { by, value: Some(value), ..context.options.clone() };
            let context = Context { options: &options, ..*context };
            let read = |input| read_marked(input, &context, again);
            again().and_then(Result::ok).is_some_and(|input| read(input).is_ok())
        };
        *advice = advice.take().filter(reads);
    }
    error
}

/// Calls [`read_one`] with the decimal marks that all numbers of the input imply.
fn read_marked(
    input: Input,
    context: &Context<'_>,
    again: Reopen<'_>,
) -> Result<Part, ImportError> {
    by_marks(input, context, again, &read_one)
}

/// Reads an input, and reads it again if its numbers turn out to have decimal commas.
fn by_marks(
    input: Input,
    context: &Context<'_>,
    again: Reopen<'_>,
    read: &dyn Fn(Input, &Context<'_>) -> Result<Part, ImportError>,
) -> Result<Part, ImportError> {
    let marks = Marks::default();
    let mut part = read(input, &Context { marks: &marks, ..*context });
    let mut conclusion = marks.conclusion();
    if conclusion == Conclusion::DecimalCommas {
        let commas = Marks::of(Style::Comma);
        let Some(input) = again() else {
            let file = context.file.to_owned();
            let what = "has decimal commas, and is too long to be read twice from a pipe; save it to a file first";
            return Err(ImportError::Refused { file, what });
        };
        part = read(input?, &Context { marks: &commas, ..*context });
        conclusion = commas.conclusion();
    }
    match (part, conclusion) {
        (Ok(_), Conclusion::Unclear(text, problem)) => {
            let line = line_with(&text, again);
            let place = FilePosition { file: context.file.to_owned(), line, column: None };
            Err(ReadError::Line { place, problem }.into())
        }
        (part, _) => part,
    }
}

/// Returns the first line that contains the number `text`, or 1 if it cannot be found again.
fn line_with(text: &str, again: Reopen<'_>) -> u64 {
    let Some(Ok(input)) = again() else { return 1 };
    let file = input.file.clone();
    let mut lines = Lines::new(input.into_reader(), &file);
    while let Ok(Some(line)) = lines.next() {
        if stands_in(line.text, text) {
            return line.number;
        }
    }
    1
}

fn read_one(mut input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let file = context.file.to_owned();
    if input.head.is_empty() {
        let expected = "numbers, one a line, or another known format";
        return Err(ReadError::Empty { file, expected }.into());
    }
    if let Some(what) = binary_kind(&input.head) {
        return Err(ImportError::Binary { file, what });
    }
    if let Some(pattern) = &context.options.pattern {
        return within_limits(pattern::read(input, context, pattern)?, file);
    }
    // Other tools may write long notes before the first number.
    while Head::of(valid_text(&input.head)).second.is_empty()
        && input.head.len() < LONGEST_HEAD
        && input.extend_head()?
    {}
    let head = Head::of(valid_text(&input.head));
    let options = context.options;
    let is_told = options.by.is_some() || options.value_column().is_some();
    if let Some(what) = unknown::refused(&head).filter(|_| !is_told) {
        return Err(ImportError::Refused { file, what });
    }
    if report::is_report(&head) {
        return Err(ImportError::Content { file, problem: report::problem(input) });
    }
    let Some(format) = format_of(&head) else {
        let (seen, known) = (unknown::seen(&head), unknown::known());
        return Err(ImportError::Unknown { file, seen, known });
    };
    within_limits((format.read)(input, context)?, file)
}

fn within_limits(part: Part, file: String) -> Result<Part, ImportError> {
    match part.samples.unbounded() {
        Some(samples) => Ok(Part { samples, ..part }),
        None => Err(ImportError::TooMany { file, problem: too_many("values") }),
    }
}

fn format_of(head: &Head<'_>) -> Option<&'static Format> {
    FORMATS.iter().find(|format| (format.recognise)(head))
}

/// Returns the text before the first invalid byte, for recognition; that byte is reported with its
/// position when its line is read.
fn valid_text(head: &[u8]) -> &str {
    head.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}

const UTF_16: &str = "UTF-16 text; save it as UTF-8";

/// Returns the kind of a file that is not text; `None` for text.
fn binary_kind(head: &[u8]) -> Option<&'static str> {
    const MAGIC: [(&[u8], &str); 13] = [
        (b"\xff\xfe", UTF_16),
        (b"\xfe\xff", UTF_16),
        (b"\x28\xb5\x2f\xfd", "compressed with zstd; unpack it first"),
        (b"\xfd7zXZ", "compressed with xz; unpack it first"),
        (b"BZh", "compressed with bzip2; unpack it first"),
        (b"PK\x03\x04", "a zip archive or a spreadsheet; unpack it or export it as CSV"),
        (b"\x89PNG", "an image (PNG); expected the numbers as text"),
        (b"\xff\xd8\xff", "an image (JPEG); expected the numbers as text"),
        (b"GIF8", "an image (GIF); expected the numbers as text"),
        (b"%PDF-", "a PDF; expected the numbers as text"),
        (b"\x7fELF", "a program; to measure it, use `assay run`"),
        (
            b"PERFILE2",
            "a recording of `perf record`; `perf stat -x,` writes numbers that can be compared",
        ),
        (b"SQLite format 3", "an SQLite database; export the numbers as CSV"),
    ];
    let known = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)).map(|&(_, what)| what);
    // UTF-16 text in Latin letters, without a byte-order mark.
    let is_wide = |zero: usize| {
        let start = head.get(..8.min(head.len() & !1)).unwrap_or_default();
        start.len() >= 4 && start.iter().enumerate().all(|(at, &b)| (b == 0) == (at % 2 == zero))
    };
    let wide = || (is_wide(0) || is_wide(1)).then_some(UTF_16);
    known.or_else(wide).or_else(|| head.contains(&0).then_some("binary; expected text"))
}

//! The current files of a project, by checksum. They are read on demand, and again when they
//! change. This is the only module of `coverage` that reads the contents of the project's files; it
//! writes none.

use crate::coverage::blocks::{ABSENT, Blocks, Cutter, DIRECTORY, Sum, Uncut, sum};
use crate::coverage::extent::Extent;
use crate::coverage::language::Language;
use ignore::WalkBuilder;
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Directories without hand-written content, which are skipped even if no `.gitignore` excludes
/// them. The flag is true for installed dependencies, which the project needs to run.
pub const NOT_WRITTEN: [(&str, bool); 12] = [
    (".assay", false),
    (".git", false),
    (".hg", false),
    (".mypy_cache", false),
    (".nox", false),
    (".pytest_cache", false),
    (".svn", false),
    (".tox", false),
    (".venv", true),
    ("__pycache__", false),
    ("node_modules", true),
    ("venv", true),
];

/// Maximum size of a file that is read and divided into blocks, in bytes. Larger files are
/// identified only by their metadata.
const LONGEST: u64 = 64 << 20;
/// Approximate number of bytes passed to the cutter at a time.
const REQUEST: usize = 4 << 20;

/// The current state of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState {
    /// Checksum of the whole content, or [`ABSENT`] if there is no file, or [`DIRECTORY`] for a
    /// directory.
    pub content: Sum,
    /// Blocks of the file, if its language is known and the cutter can divide it.
    pub blocks: Option<Blocks>,
}

/// Metadata that shows whether a file was written since it was last examined: inode, size, and
/// modification time in seconds and nanoseconds.
pub type Stamp = (u64, u64, i64, i64);

/// The state of a file when it was last examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileRecord {
    /// Metadata for detecting changes.
    pub stamp: Stamp,
    /// Checksum of the whole content.
    pub content: Sum,
}

/// The current files of a project.
#[derive(Debug)]
pub struct Project {
    top: PathBuf,
    known: HashMap<String, (Option<Stamp>, Rc<FileState>)>,
    /// The paths of all files, sorted; `None` until they are needed.
    all: Option<Vec<String>>,
    cutter: Box<dyn Cutter>,
}

/// The result of examining a file, not yet recorded.
struct ExaminedFile {
    stamp: Option<Stamp>,
    content: Sum,
    /// The text to divide into blocks, if its language is known.
    text: Option<(Language, Vec<u8>)>,
}

impl Project {
    /// Returns the project with this root directory, without a cutter, so each file is tracked as a
    /// whole.
    pub fn of(top: &Path) -> Self {
        Self { top: top.to_owned(), known: HashMap::new(), all: None, cutter: Box::new(Uncut) }
    }

    /// Returns the project with a cutter that divides its files into blocks.
    #[must_use]
    pub fn cut_by(self, cutter: impl Cutter + 'static) -> Self {
        Self { cutter: Box::new(cutter), ..self }
    }

    /// Returns the root directory.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// Returns the current state of a file, given its path relative to the root directory.
    pub fn now(&mut self, path: &str) -> Rc<FileState> {
        if let Some(ExaminedFile { stamp, content, text }) = self.looked(path) {
            let text = text.as_ref().map(|(language, text)| (*language, &text[..]));
            let blocks = text.and_then(|text| self.cutter.cut(&[text]).pop().flatten());
            self.known.insert(path.to_owned(), (stamp, Rc::new(FileState { content, blocks })));
        }
        self.known.get(path).map_or_else(absent, |(_, now)| now.clone())
    }

    /// Examines many files in advance, which is cheaper than examining each on demand.
    pub fn ahead<'a>(&mut self, paths: impl IntoIterator<Item = &'a str>) {
        let (mut held, mut bytes) = (Vec::new(), 0);
        for path in paths {
            if let Some(looked) = self.looked(path) {
                bytes += looked.text.as_ref().map_or(0, |(_, text)| text.len());
                held.push((path, looked));
            }
            if bytes > REQUEST {
                self.cut(std::mem::take(&mut held));
                bytes = 0;
            }
        }
        self.cut(held);
    }

    fn cut(&mut self, held: Vec<(&str, ExaminedFile)>) {
        let texts = held.iter().filter_map(|(_, own)| own.text.as_ref());
        let texts: Vec<_> = texts.map(|(language, text)| (*language, &text[..])).collect();
        let mut cut = match texts.is_empty() {
            true => Vec::new(),
            false => self.cutter.cut(&texts),
        }
        .into_iter();
        for (path, ExaminedFile { stamp, content, text }) in held {
            let blocks = text.and_then(|_| cut.next().flatten());
            self.known.insert(path.to_owned(), (stamp, Rc::new(FileState { content, blocks })));
        }
    }

    /// Reads a file, or returns `None` if its recorded state is current.
    fn looked(&self, path: &str) -> Option<ExaminedFile> {
        let place = self.top.join(path);
        let metadata = fs::metadata(&place).ok().filter(|own| own.is_file() || own.is_dir());
        let stamp = metadata.as_ref().map(stamp);
        if self.known.get(path).is_some_and(|(known, _)| *known == stamp) {
            return None;
        }
        let (content, text) = match metadata {
            Some(metadata) if metadata.is_dir() => (DIRECTORY, None),
            Some(metadata) if metadata.len() > LONGEST => {
                (sum(format!("{stamp:?}").as_bytes()), None)
            }
            Some(_) => match fs::read(&place) {
                Ok(text) => (sum(&text), Language::of(&place).map(|language| (language, text))),
                Err(_) => (ABSENT, None),
            },
            None => (ABSENT, None),
        };
        Some(ExaminedFile { stamp, content, text })
    }

    /// Returns the paths of all files of the project, relative to the root directory and sorted.
    /// Files that `.gitignore` excludes and files of tools are not included.
    pub fn files(&self) -> Vec<String> {
        let mut walk = WalkBuilder::new(&self.top);
        // Includes files that begin with a dot, since they configure frameworks.
        walk.hidden(false).require_git(false).follow_links(false);
        walk.filter_entry(|entry| {
            let is_left_out = NOT_WRITTEN.iter().any(|(name, _)| entry.file_name() == *name);
            // Excludes Python virtual environments, whatever their names.
            !is_left_out && !entry.path().join("pyvenv.cfg").is_file()
        });
        let found = walk
            .build()
            .flatten()
            .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
        let path = |entry: ignore::DirEntry| {
            entry.path().strip_prefix(&self.top).ok()?.to_str().map(str::to_owned)
        };
        let mut paths: Vec<String> = found.filter_map(path).collect();
        paths.sort();
        paths
    }

    /// Discards the list of files. Contents are checked for changes in any case.
    pub fn refresh(&mut self) {
        self.all = None;
    }

    /// Updates the list of files after one was written, created or removed, and returns the record
    /// of that file, or `None` if there is no such file.
    pub fn noted(&mut self, path: &str) -> Option<FileRecord> {
        let content = self.now(path).content;
        let stamp = self.known.get(path).and_then(|(stamp, _)| *stamp);
        let stamp = stamp.filter(|_| content != DIRECTORY);
        if let Some(all) = &mut self.all {
            match (all.binary_search_by(|own| own.as_str().cmp(path)), stamp) {
                (Err(place), Some(_)) => all.insert(place, path.to_owned()),
                (Ok(place), None) => drop(all.remove(place)),
                _ => {}
            }
        }
        Some(FileRecord { stamp: stamp?, content })
    }

    /// Returns the current files, and the paths of changed, new and removed files since `before`.
    /// Files with unchanged metadata are not read.
    pub fn compared(
        &mut self,
        before: &BTreeMap<String, FileRecord>,
    ) -> (BTreeMap<String, FileRecord>, Vec<String>) {
        let mut all = BTreeMap::new();
        let mut changed = Vec::new();
        let files = self.files();
        for path in &files {
            let place = self.top.join(path);
            let Ok(metadata) = fs::metadata(&place) else { continue };
            let stamp = stamp(&metadata);
            let known = before.get(path);
            let content = match known {
                Some(known) if known.stamp == stamp => known.content,
                _ if metadata.len() > LONGEST => sum(format!("{stamp:?}").as_bytes()),
                _ => fs::read(&place).map_or(ABSENT, |text| sum(&text)),
            };
            if known.is_none_or(|known| known.content != content) {
                changed.push(path.clone());
            }
            all.insert(path.clone(), FileRecord { stamp, content });
        }
        self.all = Some(files);
        changed.extend(before.keys().filter(|path| !all.contains_key(*path)).cloned());
        (all, changed)
    }

    /// Returns the project's files below a directory as of the last comparison. The path of the
    /// directory ends in a slash or is empty.
    pub fn below<'a>(&'a mut self, prefix: &'a str) -> impl Iterator<Item = &'a str> {
        if self.all.is_none() {
            self.all = Some(self.files());
        }
        let all = self.all.as_deref().unwrap_or_default();
        let from = all.partition_point(|own| own.as_str() < prefix);
        all[from..].iter().map(String::as_str).take_while(move |own| own.starts_with(prefix))
    }

    /// Returns a checksum of the names of the project's files and directories directly in `path`,
    /// as of the last comparison, or, for `PATH/**`, of the paths of all files below it. Sources
    /// are excluded unless `with_sources` is true.
    pub fn listing(&mut self, path: &str, with_sources: bool) -> Sum {
        let above = path.strip_suffix("**");
        let path = above.unwrap_or(path).trim_matches('/').trim_start_matches("./");
        let prefix =
            if path.is_empty() || path == "." { String::new() } else { format!("{path}/") };
        let below = self.below(&prefix).filter_map(|own| own.strip_prefix(&prefix));
        let asked = below.filter(|own| with_sources || Language::of(Path::new(own)).is_none());
        let named = asked.map(|own| match above {
            Some(_) => own,
            None => own.split('/').next().unwrap_or_default(),
        });
        let mut names: Vec<&str> = named.collect();
        names.dedup();
        of_names(&names)
    }

    /// Returns a checksum of the paths of all files in a part of the project.
    pub(crate) fn extent(&mut self, extent: &Extent<'_>) -> Sum {
        let names: Vec<&str> = self.below("").filter(|path| extent.holds(path)).collect();
        of_names(&names)
    }

    /// Returns true if a file was written at or after `moment`, in seconds since 1970.
    pub fn is_later(&self, path: &str, moment: f64) -> bool {
        match fs::metadata(self.top.join(path)) {
            Ok(metadata) => {
                let written = metadata.mtime() as f64 + metadata.mtime_nsec() as f64 / 1e9;
                written >= moment
            }
            Err(_) => false,
        }
    }
}

fn absent() -> Rc<FileState> {
    Rc::new(FileState { content: ABSENT, blocks: None })
}

fn of_names(names: &[&str]) -> Sum {
    if names.is_empty() { ABSENT } else { sum(names.join("\0").as_bytes()) }
}

fn stamp(metadata: &Metadata) -> Stamp {
    (metadata.ino(), metadata.len(), metadata.mtime(), metadata.mtime_nsec())
}

//! The files of a project as they are now, by checksums: read when they are asked for, and again when they changed. Files are read here and
//! nowhere else in this crate; none is written.

use crate::blocks::{ABSENT, Blocks, Sum, sum};
use crate::language::Language;
use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Files longer than this are not cut into blocks, nor read: they are known by their size and time alone.
const LONGEST: u64 = 64 << 20;

/// A file as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Now {
    /// The checksum of all of it; [`ABSENT`] where there is none.
    pub content: Sum,
    /// Its blocks, where its language is known.
    pub blocks: Option<Blocks>,
}

/// By what one sees that a file was not written since: its inode, size and time in nanoseconds.
type Stamp = (u64, u64, i64, i64);

/// A project's files.
#[derive(Debug)]
pub struct Project {
    top: PathBuf,
    known: HashMap<String, (Option<Stamp>, Rc<Now>)>,
}

impl Project {
    /// The files below a directory.
    pub fn of(top: &Path) -> Self {
        Self { top: top.to_owned(), known: HashMap::new() }
    }

    /// Its top.
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// A file, by its path from the top.
    pub fn now(&mut self, path: &str) -> Rc<Now> {
        let place = self.top.join(path);
        let metadata = fs::metadata(&place).ok().filter(Metadata::is_file);
        let stamp = metadata.as_ref().map(stamp);
        if let Some((known, now)) = self.known.get(path)
            && *known == stamp
        {
            return now.clone();
        }
        let now = Rc::new(match metadata {
            Some(metadata) if metadata.len() > LONGEST => {
                Now { content: sum(format!("{stamp:?}").as_bytes()), blocks: None }
            }
            Some(_) => match fs::read(&place) {
                Ok(text) => {
                    let language = Language::of(&place);
                    let blocks = language.map(|language| Blocks::of(language, &text));
                    Now { content: sum(&text), blocks }
                }
                Err(_) => Now { content: ABSENT, blocks: None },
            },
            None => Now { content: ABSENT, blocks: None },
        });
        self.known.insert(path.to_owned(), (stamp, now.clone()));
        now
    }

    /// The checksum of the names in a directory, without those that begin with a dot.
    pub fn listing(&self, path: &str) -> Sum {
        let Ok(entries) = fs::read_dir(self.top.join(path)) else { return ABSENT };
        let names = entries.flatten().map(|entry| entry.file_name());
        let mut names: Vec<Vec<u8>> = names
            .map(|name| name.as_encoded_bytes().to_vec())
            .filter(|name| !name.starts_with(b"."))
            .collect();
        names.sort();
        sum(&names.join(&0))
    }

    /// Whether a file was written after a moment, s since 1970; so is one that is gone.
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

fn stamp(metadata: &Metadata) -> Stamp {
    (metadata.ino(), metadata.len(), metadata.mtime(), metadata.mtime_nsec())
}

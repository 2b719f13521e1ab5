//! Writes all pages of a history to a directory. Each file is replaced as a whole, and pages left
//! over from an earlier version are removed at the end.

use crate::whole_file;
use anyhow::{Context, bail};
use assay_history::Store;
use assay_history::site::{Out, Site};
use assay_report::site;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The start of the tag that marks every page written by `assay`.
const OURS: &str = "<meta name=\"generator\" content=\"assay ";

/// Number and size of the written files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    /// Number of written files.
    pub files: usize,
    /// Total size of the written files, in bytes.
    pub bytes: u64,
}

/// A directory to which pages are being written.
struct Directory<'a> {
    path: &'a Path,
    written: Written,
    names: HashSet<PathBuf>,
    /// Files that are still being written, by name.
    open: BTreeMap<String, BufWriter<NamedTempFile>>,
}

impl Directory<'_> {
    fn count(&mut self, path: PathBuf, bytes: u64) {
        self.written.files += 1;
        self.written.bytes += bytes;
        self.names.insert(path);
    }

    /// Removes pages left over from an earlier version.
    fn tidy(&self) -> anyhow::Result<()> {
        for (directory, ending) in [(site::BENCHMARKS, "html"), (site::DATA, "js")] {
            for entry in fs::read_dir(self.path.join(directory))? {
                let path = entry?.path();
                let is_page = path.extension().is_some_and(|found| found == ending);
                if is_page && !self.names.contains(&path) {
                    fs::remove_file(&path).with_context(|| path.display().to_string())?;
                }
            }
        }
        Ok(())
    }
}

impl Out for Directory<'_> {
    fn put(&mut self, name: &str, text: &str) -> anyhow::Result<()> {
        let path = self.path.join(name);
        whole_file::replace(&path, text.as_bytes())?;
        self.count(path, text.len() as u64);
        Ok(())
    }

    fn append(&mut self, name: &str, text: &str) -> anyhow::Result<()> {
        if let Some(file) = self.open.get_mut(name) {
            return Ok(file.write_all(text.as_bytes())?);
        }
        let path = self.path.join(name);
        let directory = path.parent().context("a file without a directory")?;
        let mut file = BufWriter::new(whole_file::new_file(directory)?);
        file.write_all(text.as_bytes())?;
        self.open.insert(name.to_owned(), file);
        Ok(())
    }

    fn close(&mut self) -> anyhow::Result<()> {
        for (name, file) in std::mem::take(&mut self.open) {
            let file = file.into_inner().map_err(|error| error.into_error())?;
            let path = self.path.join(name);
            let bytes = file.as_file().metadata()?.len();
            file.persist(&path).map_err(|error| error.error)?;
            self.count(path, bytes);
        }
        Ok(())
    }
}

/// Writes all pages of a project. Calls `told` with the number of finished benchmarks and their
/// total number.
///
/// # Errors
///
/// Returns an error if the directory contains pages of other origin or cannot be written, or if the
/// store cannot be read.
pub(super) fn write(
    pages: &mut Site<Store>,
    out: &Path,
    told: &mut dyn FnMut(usize, usize),
) -> anyhow::Result<Written> {
    let first = out.join("index.html");
    let is_ours = fs::read_to_string(&first).map_or(!first.exists(), |text| text.contains(OURS));
    if !is_ours {
        bail!("{} was not written by assay; name another directory", first.display());
    }
    for part in [site::BENCHMARKS, site::DATA, site::ASSETS] {
        let path = out.join(part);
        fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
    }
    let mut directory = Directory {
        path: out,
        written: Written::default(),
        names: HashSet::new(),
        open: BTreeMap::new(),
    };
    pages.all(&mut directory, told)?;
    directory.tidy()?;
    Ok(directory.written)
}

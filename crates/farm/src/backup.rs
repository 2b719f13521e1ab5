//! Backups. A backup is one file with all rows of the store, the logs and the samples, each with a
//! checksum.
//!
//! The file is a tar archive. It contains `store.jsonl` ([`assay_history::Store::copy_out`]),
//! `logs/…`, `samples/…`, and as its last entry `manifest.json`. A file without a manifest is
//! incomplete. The rows are a consistent snapshot. Logs are copied after the rows, so that each log
//! is at least as long as its row states. Nothing is restored before all checksums have been
//! verified.

use anyhow::{Context, bail, ensure};
use assay_farm::builds::Store;
use assay_history::{Access, StoreLocation};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

/// Version of the backup format.
const FORMAT: u64 = 1;
/// Name of the archive entry with the rows of the store.
const ROWS: &str = "store.jsonl";
/// Name of the last archive entry, which lists all others with their checksums.
const MANIFEST: &str = "manifest.json";
/// Directories that are backed up along with the store.
const DIRECTORIES: [&str; 2] = ["logs", "samples"];
/// Maximum size of a manifest, in bytes. A manifest has more than a hundred bytes for each file.
const LARGEST_MANIFEST: u64 = 4 << 30;

/// The manifest of a backup, which lists its contents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// Version of the backup format.
    pub format: u64,
    /// Name and version of the program that wrote the backup.
    pub tool: String,
    /// Time at which the backup was written.
    pub made: String,
    /// Version of the farm's tables.
    pub version: i64,
    /// Number of rows of the store.
    pub rows: u64,
    /// Size and checksum of each file in the backup, by name.
    pub files: BTreeMap<String, FileChecksum>,
}

/// Size and checksum of a file in a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileChecksum {
    /// Size in bytes.
    pub bytes: u64,
    /// SHA-256 of the contents, in hexadecimal digits.
    pub sha256: String,
}

/// Writes a backup. The file appears only when it is complete, and only its owner can read it.
///
/// # Errors
/// If the store, the logs or the samples cannot be read, or the file already exists or cannot be
/// written.
pub(crate) fn write(
    data: &Path,
    place: &StoreLocation,
    file: &Path,
    made: String,
) -> anyhow::Result<Manifest> {
    ensure!(!file.exists(), "{} already exists: name another file", file.display());
    let mut under_way = file.as_os_str().to_owned();
    under_way.push(".part");
    let under_way = TemporaryFile(PathBuf::from(under_way));
    let mut options = fs::OpenOptions::new();
    let out = options.write(true).create(true).truncate(true).mode(0o600).open(&under_way.0);
    let out = out.with_context(|| under_way.0.display().to_string())?;
    let mut archive = tar::Builder::new(BufWriter::new(out));
    let mut files = BTreeMap::new();

    let directory = file.parent().filter(|directory| !directory.as_os_str().is_empty());
    let mut rows = tempfile_in(directory.unwrap_or(Path::new(".")))?;
    let store = Store::look_at(place)?.with_context(|| format!("there is no farm at {place}"))?;
    let count = {
        let mut lines = BufWriter::new(&mut rows);
        let count = store.history_read().copy_out(&mut lines)?;
        lines.flush()?;
        count
    };
    append(&mut archive, &mut files, ROWS, &mut rows)?;
    for name in DIRECTORIES {
        for path in files_below(&data.join(name))? {
            let inner = path.strip_prefix(data).context("a file outside of its directory")?;
            let Some(inner) = inner.to_str().map(str::to_owned) else { continue };
            match File::open(&path) {
                Ok(mut file) => append(&mut archive, &mut files, &inner, &mut file)
                    .with_context(|| path.display().to_string())?,
                // The server removes old logs, possibly between listing and opening them.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error).with_context(|| path.display().to_string()),
            }
        }
    }
    let manifest = Manifest {
        format: FORMAT,
        tool: concat!("assay-farm ", env!("CARGO_PKG_VERSION")).to_owned(),
        made,
        version: store.version()?,
        rows: count,
        files,
    };
    let text = serde_json::to_vec_pretty(&manifest)?;
    archive.append_data(&mut header(text.len() as u64), MANIFEST, text.as_slice())?;
    let out = archive.into_inner()?.into_inner().map_err(|error| error.into_error())?;
    out.sync_all()?;
    fs::rename(&under_way.0, file).with_context(|| file.display().to_string())?;
    Ok(manifest)
}

/// Returns an unnamed temporary file. It holds data whose size must be known before the data can be
/// added to the archive.
fn tempfile_in(directory: &Path) -> anyhow::Result<File> {
    let name = directory.join(format!(".assay-farm-{}", std::process::id()));
    let mut options = fs::OpenOptions::new();
    let file = options.read(true).write(true).create_new(true).mode(0o600).open(&name);
    let file = file.with_context(|| name.display().to_string())?;
    fs::remove_file(&name)?;
    Ok(file)
}

/// A file that is removed on drop unless it has been renamed.
struct TemporaryFile(PathBuf);

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _renamed = fs::remove_file(&self.0);
    }
}

fn header(bytes: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes);
    header.set_mode(0o600);
    header
}

/// Adds a file to the archive at its current length. Data appended to the file while it is copied
/// is left for a later backup.
fn append(
    archive: &mut tar::Builder<BufWriter<File>>,
    files: &mut BTreeMap<String, FileChecksum>,
    name: &str,
    file: &mut File,
) -> io::Result<()> {
    file.rewind()?;
    let bytes = file.metadata()?.len();
    let mut summing = HashingReader::new(file.take(bytes));
    archive.append_data(&mut header(bytes), name, &mut summing)?;
    let summed = summing.sum();
    if summed.bytes != bytes {
        return Err(io::Error::other("it was truncated while being copied"));
    }
    files.insert(name.to_owned(), summed);
    Ok(())
}

/// Returns all files below a directory, sorted by path. The list is empty if the directory does not
/// exist.
fn files_below(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(path) = open.pop() {
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).with_context(|| path.display().to_string()),
        };
        for entry in entries {
            let entry = entry?;
            match entry.file_type()? {
                kind if kind.is_dir() => open.push(entry.path()),
                kind if kind.is_file() => found.push(entry.path()),
                // The server creates only files and directories.
                _ => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

/// A reader that counts and hashes the bytes read through it.
struct HashingReader<R> {
    of: R,
    hash: Sha256,
    bytes: u64,
}

impl<R: Read> HashingReader<R> {
    fn new(of: R) -> Self {
        Self { of, hash: Sha256::new(), bytes: 0 }
    }

    fn sum(self) -> FileChecksum {
        let mut sha256 = String::with_capacity(64);
        for byte in self.hash.finalize() {
            let _never_fails = write!(sha256, "{byte:02x}");
        }
        FileChecksum { bytes: self.bytes, sha256 }
    }
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.of.read(into)?;
        self.hash.update(&into[..read]);
        self.bytes += read as u64;
        Ok(read)
    }
}

/// Reads a whole backup and verifies its checksums.
///
/// # Errors
/// If the file cannot be read, is not a complete backup, or its contents differ from the manifest.
pub(crate) fn verify(file: &Path) -> anyhow::Result<Manifest> {
    let mut found = BTreeMap::new();
    let mut manifest: Option<Manifest> = None;
    each(file, &mut |name, content| {
        if name == MANIFEST {
            let text = content.take(LARGEST_MANIFEST);
            manifest = Some(serde_json::from_reader(BufReader::new(text)).context(MANIFEST)?);
            return Ok(());
        }
        let mut summing = HashingReader::new(content);
        io::copy(&mut summing, &mut io::sink())?;
        let is_again = found.insert(name.to_owned(), summing.sum()).is_some();
        ensure!(!is_again, "it contains {name} twice");
        Ok(())
    })?;
    let Some(manifest) = manifest else { bail!("{}: the backup is incomplete", file.display()) };
    ensure!(
        manifest.format == FORMAT,
        "{}: the backup has format {}, but this program reads {FORMAT}",
        file.display(),
        manifest.format
    );
    for (name, summed) in &manifest.files {
        ensure!(
            found.get(name) == Some(summed),
            "{}: {name} was changed after it was written",
            file.display()
        );
    }
    if let Some(name) = found.keys().find(|name| !manifest.files.contains_key(*name)) {
        bail!("{}: {name} was added later", file.display());
    }
    ensure!(
        manifest.files.contains_key(ROWS),
        "{}: it contains no rows of a store",
        file.display()
    );
    Ok(manifest)
}

/// Calls `take` with the name and contents of every file in a backup.
fn each(
    file: &Path,
    take: &mut dyn FnMut(&str, &mut dyn Read) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let named = || file.display().to_string();
    let opened = File::open(file).with_context(named)?;
    let mut archive = tar::Archive::new(BufReader::new(opened));
    for entry in archive.entries().with_context(named)? {
        let mut entry =
            entry.with_context(|| format!("{}: not a backup of a farm, or damaged", named()))?;
        let path = entry.path()?.into_owned();
        let name = path.to_str().filter(|_| stays_below(&path));
        let Some(name) = name.map(str::to_owned) else {
            bail!("{}: a file in it is called `{}`", named(), path.display())
        };
        ensure!(entry.header().entry_type().is_file(), "{}: {name} in it is not a file", named());
        take(&name, &mut entry).with_context(|| format!("{}: {name}", named()))?;
    }
    Ok(())
}

/// Returns true if a relative path cannot leave the directory to which it is appended.
fn stays_below(path: &Path) -> bool {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    path.components().all(is_plain) && path.components().next().is_some()
}

/// Creates a new farm from a backup.
///
/// # Errors
/// If a farm already exists, the backup is damaged or has tables of another version, or a file or
/// the store cannot be written. After an error, the files written so far are removed, but a
/// PostgreSQL database keeps its tables and any rows already copied.
pub(crate) fn restore(file: &Path, data: &Path, place: &StoreLocation) -> anyhow::Result<Manifest> {
    let manifest = verify(file)?;
    ensure!(
        manifest.version == Store::VERSION,
        "{}: its tables have version {}, those of this program version {}: restore it with {}, then run `assay farm upgrade`",
        file.display(),
        manifest.version,
        Store::VERSION,
        manifest.tool
    );
    ensure!(is_empty(place)?, "{place} already has a store: restore the backup to an empty place");
    for name in DIRECTORIES {
        let there = files_below(&data.join(name))?;
        ensure!(
            there.is_empty(),
            "{} already has files: restore the backup to an empty directory",
            data.join(name).display()
        );
    }
    private_directory(data)?;
    let mut made = UnfinishedFiles::default();
    if let StoreLocation::File(path) = place {
        made.0.extend(["", "-wal", "-shm"].map(|end| {
            let mut name = path.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        }));
    }
    let store = Store::open(place, Access::Write)?;
    each(file, &mut |name, content| {
        if name == MANIFEST {
            return Ok(());
        }
        if name == ROWS {
            let rows = store.history_read().copy_in(&mut BufReader::new(content))?;
            ensure!(rows == manifest.rows, "it contains {rows} rows instead of {}", manifest.rows);
            return Ok(());
        }
        let is_known =
            DIRECTORIES.iter().any(|directory| name.starts_with(&format!("{directory}/")));
        ensure!(is_known, "a file that is not part of a farm");
        let path = data.join(name);
        private_directory(path.parent().context("a file without a directory")?)?;
        let mut options = fs::OpenOptions::new();
        let mut out = options.write(true).create_new(true).mode(0o600).open(&path)?;
        made.0.push(path);
        io::copy(content, &mut out)?;
        Ok(())
    })?;
    made.0.clear();
    Ok(manifest)
}

/// Returns true if there is no store, or the store has never had any contents.
fn is_empty(place: &StoreLocation) -> anyhow::Result<bool> {
    let Some(store) = Store::look_at(place)? else { return Ok(true) };
    if !store.history_read().projects()?.is_empty() {
        return Ok(false);
    }
    Ok(store.version()? == 0 || !store.has_tokens()? && store.owners(None, 1)?.items.is_empty())
}

fn private_directory(path: &Path) -> anyhow::Result<()> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.with_context(|| path.display().to_string())
}

/// Files that are removed on drop, unless the list has been cleared.
#[derive(Default)]
struct UnfinishedFiles(Vec<PathBuf>);

impl Drop for UnfinishedFiles {
    fn drop(&mut self) {
        for path in &self.0 {
            let _was_never_there = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests;

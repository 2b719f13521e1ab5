//! Unpacks untrusted archives so that nothing ends up outside of the directory. Absolute names,
//! names with `..`, links that lead out, devices, and entries behind a link of the archive itself
//! are rejected. The unpacked size is limited, whatever size the archive declares.
//!
//! A link may only go up first and then down, at most as far up as its own depth, and all
//! directories above it must be real ones. Therefore chains of links cannot leave the directory
//! either.

use crate::agent::policy::{FILES, UNPACKED};
use anyhow::{Context, bail};
use flate2::read::MultiGzDecoder;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};
use tar::{Archive, Entry, EntryType};

/// The remaining numbers of bytes and files that may be unpacked.
pub(super) struct UnpackQuota {
    bytes: u64,
    files: u64,
}

impl UnpackQuota {
    /// Creates a quota of `bytes` bytes, and of the maximum number of files that any archive may
    /// contain.
    pub fn new(bytes: u64) -> Self {
        Self { bytes, files: FILES }
    }

    /// Counts a file.
    ///
    /// # Errors
    /// If there are too many.
    pub fn file(&mut self) -> anyhow::Result<()> {
        self.files = self.files.checked_sub(1).context("the archive contains too many files")?;
        Ok(())
    }
}

/// Unpacks a compressed tar archive into an existing empty directory.
///
/// # Errors
/// The first entry that may not be unpacked; what was unpacked before remains.
pub(in crate::agent) fn unpack_gz(from: impl Read, to: &Path) -> anyhow::Result<()> {
    unpack(MultiGzDecoder::new(from), to, UNPACKED)
}

/// Unpacks an uncompressed tar archive, with a limit on bytes.
///
/// # Errors
/// As for [`unpack_gz`].
pub(in crate::agent) fn unpack(from: impl Read, to: &Path, most: u64) -> anyhow::Result<()> {
    let mut left = UnpackQuota::new(most);
    // The limit includes headers, since an archive may consist only of headers.
    let mut archive = Archive::new(from.take(most.saturating_add(FILES * 1024)));
    for entry in archive.entries()? {
        let mut entry = entry.context("the archive can't be read")?;
        let name = entry.path().context("a name is not a path")?.into_owned();
        one(&mut entry, &name, to, &mut left).with_context(|| {
            format!("`{}` in the archive", crate::plain::line(&name.to_string_lossy()))
        })?;
    }
    Ok(())
}

fn one<R: Read>(
    entry: &mut Entry<'_, R>,
    name: &Path,
    to: &Path,
    left: &mut UnpackQuota,
) -> anyhow::Result<()> {
    let kind = entry.header().entry_type();
    if kind == EntryType::XGlobalHeader {
        return Ok(());
    }
    let parts = inside(name)?;
    left.file()?;
    let Some((last, above)) = parts.split_last() else {
        // The directory itself.
        return Ok(());
    };
    let directory = made(to, above)?;
    let path = directory.join(last);
    let mode = entry.header().mode().unwrap_or(0o644);
    match kind {
        EntryType::Directory => {
            made(to, &parts)?;
        }
        EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
            regular(entry, &path, mode, left)?;
        }
        EntryType::Symlink => {
            let target = entry.link_name()?.context("a link without a target")?.into_owned();
            link(&target, &path, above.len())?;
        }
        EntryType::Link => {
            let target = entry.link_name()?.context("a link without a target")?.into_owned();
            let target = existing(to, &inside(&target)?)?;
            removed(&path)?;
            fs::hard_link(&target, &path)?;
        }
        other => bail!("it is neither a file, a directory nor a link ({:?})", other),
    }
    Ok(())
}

/// Writes a file, replacing anything that an earlier entry left there.
pub(super) fn regular(
    from: &mut dyn Read,
    path: &Path,
    mode: u32,
    left: &mut UnpackQuota,
) -> anyhow::Result<()> {
    removed(path)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let written = io::copy(&mut from.take(left.bytes.saturating_add(1)), &mut file)?;
    left.bytes = left.bytes.checked_sub(written).context("its unpacked contents are too large")?;
    // Without setuid bits, and not writable for others.
    let mode = if mode & 0o111 == 0 { 0o644 } else { 0o755 };
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    Ok(())
}

/// Creates a symbolic link in a directory at this depth, if its target is inside.
pub(super) fn link(target: &Path, path: &Path, depth: usize) -> anyhow::Result<()> {
    leads_inside(target, depth)?;
    removed(path)?;
    symlink(target, path)?;
    Ok(())
}

/// Returns the components of a name, if the name stays inside the directory.
pub(super) fn inside(name: &Path) -> anyhow::Result<Vec<&std::ffi::OsStr>> {
    let mut parts = Vec::new();
    for part in name.components() {
        match part {
            Component::Normal(own) => parts.push(own),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                bail!("its name leads out of the directory")
            }
        }
    }
    Ok(parts)
}

/// Returns a directory below `to`, creating it if necessary; every directory on the way must be a
/// real one.
pub(super) fn made(to: &Path, parts: &[&std::ffi::OsStr]) -> anyhow::Result<PathBuf> {
    let mut path = to.to_owned();
    for part in parts {
        path.push(part);
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => bail!("a part of its path is not a directory"),
            Err(_) => fs::create_dir(&path)?,
        }
    }
    Ok(path)
}

/// Returns a file that was unpacked before, reached without links.
fn existing(to: &Path, parts: &[&std::ffi::OsStr]) -> anyhow::Result<PathBuf> {
    let Some((last, above)) = parts.split_last() else { bail!("a link to the directory itself") };
    let mut path = to.to_owned();
    for part in above {
        path.push(part);
        if !fs::symlink_metadata(&path)?.is_dir() {
            bail!("a part of its link's target is not a directory");
        }
    }
    path.push(last);
    match fs::symlink_metadata(&path)?.is_file() {
        true => Ok(path),
        false => bail!("its link's target is not a file"),
    }
}

/// Removes a file that an earlier entry left under the name, unless it is a directory.
fn removed(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

/// Checks that a symbolic link at this directory depth leads to something inside.
fn leads_inside(target: &Path, depth: usize) -> anyhow::Result<()> {
    let (mut up, mut is_going_down) = (0, false);
    for part in target.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(_) => is_going_down = true,
            Component::ParentDir if !is_going_down => up += 1,
            _ => bail!("it is a link that leads out of the directory"),
        }
    }
    match up <= depth {
        true => Ok(()),
        false => bail!("it is a link that leads out of the directory"),
    }
}

/// Returns the contents of a regular file in a tar archive, such as those within a gem, if they are
/// at most `most` bytes.
///
/// # Errors
/// If the file cannot be read, does not exist, or is larger.
pub(in crate::agent) fn member(path: &Path, name: &str, most: u64) -> anyhow::Result<Vec<u8>> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let mut archive = Archive::new(file);
    for entry in archive.entries()? {
        let entry = entry?;
        if entry.path()?.as_os_str() == name && entry.header().entry_type() == EntryType::Regular {
            let mut bytes = Vec::new();
            entry.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
            if bytes.len() as u64 > most {
                bail!("{name} is larger than {most} bytes");
            }
            return Ok(bytes);
        }
    }
    bail!("it contains no {name}")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;
    use std::os::unix::fs::MetadataExt;
    use tar::{Builder, Header};

    enum ArchiveEntry<'a> {
        File(&'a str, u32),
        Symlink(&'a str),
        Link(&'a str),
        Kind(EntryType),
    }

    /// Creates an archive with these entries, including invalid names.
    fn archive(entries: &[(&str, ArchiveEntry<'_>)]) -> Vec<u8> {
        let mut builder = Builder::new(Vec::new());
        for (name, what) in entries {
            let mut header = Header::new_gnu();
            let mut bytes: &[u8] = b"";
            let mut link = None;
            match what {
                ArchiveEntry::File(text, mode) => {
                    bytes = text.as_bytes();
                    header.set_entry_type(EntryType::Regular);
                    header.set_mode(*mode);
                }
                ArchiveEntry::Symlink(target) => {
                    header.set_entry_type(EntryType::Symlink);
                    link = Some(*target);
                }
                ArchiveEntry::Link(target) => {
                    header.set_entry_type(EntryType::Link);
                    link = Some(*target);
                }
                ArchiveEntry::Kind(kind) => header.set_entry_type(*kind),
            }
            header.set_size(bytes.len() as u64);
            // Written by hand, since the library refuses such names.
            let old = header.as_old_mut();
            old.name[..name.len()].copy_from_slice(name.as_bytes());
            if let Some(link) = link {
                old.linkname[..link.len()].copy_from_slice(link.as_bytes());
            }
            header.set_cksum();
            builder.append(&header, bytes).unwrap();
        }
        builder.into_inner().unwrap()
    }

    /// Unpacks into the subdirectory `inner` of a temporary directory, and then checks that nothing
    /// was created outside of it.
    fn tried(entries: &[(&str, ArchiveEntry<'_>)]) -> (tempfile::TempDir, anyhow::Result<()>) {
        let room = tempfile::tempdir().unwrap();
        let inner = room.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let came = unpack(&archive(entries)[..], &inner, 1000);
        let outside: Vec<_> = fs::read_dir(room.path()).unwrap().flatten().collect();
        assert_eq!(outside.len(), 1, "{outside:?}");
        (room, came)
    }

    #[test]
    fn usual_archives_come_out() {
        let (room, came) = tried(&[
            ("p-1/", ArchiveEntry::Kind(EntryType::Directory)),
            ("p-1/bin/run", ArchiveEntry::File("#!", 0o4777)),
            ("./p-1/lib/a", ArchiveEntry::File("text", 0o600)),
            ("p-1/lib/b", ArchiveEntry::Symlink("../bin/run")),
            ("p-1/c", ArchiveEntry::Link("p-1/lib/a")),
        ]);
        came.unwrap();
        let inner = room.path().join("inner/p-1");
        assert_eq!(fs::read_to_string(inner.join("lib/b")).unwrap(), "#!");
        assert_eq!(fs::read_to_string(inner.join("c")).unwrap(), "text");
        // Without the setuid bit.
        assert_eq!(fs::metadata(inner.join("bin/run")).unwrap().mode() & 0o7777, 0o755);
    }

    #[test]
    fn nothing_leaves_the_directory() {
        let file = || ArchiveEntry::File("x", 0o644);
        let ways: [&[(&str, ArchiveEntry<'_>)]; 13] = [
            &[("../out", file())],
            &[("a/../../out", file())],
            &[("/tmp/assay-farm-out", file())],
            &[("l", ArchiveEntry::Symlink("/etc"))],
            &[("l", ArchiveEntry::Symlink(".."))],
            &[("a/l", ArchiveEntry::Symlink("../../out"))],
            // A target that seems to stay inside, but leads out through another link.
            &[("d", ArchiveEntry::Symlink(".")), ("x", ArchiveEntry::Symlink("d/.."))],
            &[("d", ArchiveEntry::Symlink(".")), ("d/x", ArchiveEntry::Symlink(".."))],
            // Through a link of the archive itself.
            &[("d", ArchiveEntry::Symlink("a")), ("d/x", file())],
            &[("h", ArchiveEntry::Link("../secret"))],
            &[("h", ArchiveEntry::Link("/etc/passwd"))],
            &[("dev", ArchiveEntry::Kind(EntryType::Char))],
            &[("pipe", ArchiveEntry::Kind(EntryType::Fifo))],
        ];
        for (number, way) in ways.iter().enumerate() {
            let (_room, came) = tried(way);
            assert!(came.is_err(), "way {number}");
        }
        assert!(!Path::new("/tmp/assay-farm-out").exists());
    }

    #[test]
    fn a_file_in_place_of_a_link_does_not_write_through_it() {
        let (room, came) = tried(&[
            ("a", ArchiveEntry::File("first", 0o644)),
            ("l", ArchiveEntry::Symlink("a")),
            ("l", ArchiveEntry::File("second", 0o644)),
        ]);
        came.unwrap();
        assert_eq!(fs::read_to_string(room.path().join("inner/a")).unwrap(), "first");
    }

    #[test]
    fn bombs_end_early() {
        let large = "x".repeat(600);
        let (_room, came) = tried(&[
            ("a", ArchiveEntry::File(&large, 0o644)),
            ("b", ArchiveEntry::File(&large, 0o644)),
        ]);
        assert!(format!("{:#}", came.unwrap_err()).contains("too large"));
        // An archive that is thousands of times larger when unpacked.
        let room = tempfile::tempdir().unwrap();
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        io::copy(&mut io::repeat(0).take(8 << 20), &mut packed).unwrap();
        let packed = packed.finish().unwrap();
        let mut header = Header::new_gnu();
        header.set_size(u64::MAX >> 1);
        header.set_path("huge").unwrap();
        header.set_cksum();
        let all = header.as_bytes().chain(MultiGzDecoder::new(&packed[..]));
        assert!(unpack(all, room.path(), 1 << 20).is_err());
        let most = fs::metadata(room.path().join("huge")).map_or(0, |own| own.len());
        assert!(most <= (1 << 20) + 1, "{most}");
    }
}

//! Untrusted zip archives, used by some Python source archives. They are unpacked under the same
//! rules as tar archives in `archive`: nothing ends up outside of the directory, and the unpacked
//! size is limited. The entries are read from the central directory at the end; the sizes recorded
//! there are verified.

use super::archive::{UnpackQuota, inside, link, made, regular};
use anyhow::{Context, bail};
use flate2::read::DeflateDecoder;
use rawzip::{CompressionMethod, RECOMMENDED_BUFFER_SIZE, ZipArchive, ZipArchiveEntryWayfinder};
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// The bits of a file's mode that contain its type.
const KIND: u32 = 0o170_000;
/// The type of a regular file.
const REGULAR: u32 = 0o100_000;
/// The type of a directory.
const DIRECTORY: u32 = 0o040_000;
/// The type of a symbolic link.
const LINK: u32 = 0o120_000;
/// Maximum length of a link's target.
const LONGEST_LINK: u64 = 4096;

/// An entry of the central directory.
struct Entry {
    name: PathBuf,
    is_directory: bool,
    mode: u32,
    method: CompressionMethod,
    place: ZipArchiveEntryWayfinder,
}

/// Unpacks an archive into an existing empty directory, with a limit on bytes.
///
/// # Errors
/// If an entry may not be unpacked or does not match its description. Entries unpacked before it
/// remain.
pub(super) fn unpack(from: File, to: &Path, most: u64) -> anyhow::Result<()> {
    let mut left = UnpackQuota::new(most);
    let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
    let archive = ZipArchive::from_file(from, &mut buffer).context("the archive can't be read")?;
    let mut entries = archive.entries(&mut buffer);
    while let Some(found) = entries.next_entry().context("the archive can't be read")? {
        let entry = Entry {
            name: PathBuf::from(OsString::from_vec(found.file_path().as_bytes().to_vec())),
            is_directory: found.is_dir(),
            mode: found.mode().value(),
            method: found.compression_method(),
            place: found.wayfinder(),
        };
        let shown = || {
            let name = crate::plain::line(&entry.name.to_string_lossy());
            format!("`{name}` in the archive")
        };
        if found.flags().is_encrypted() {
            return Err(anyhow::anyhow!("it is encrypted")).with_context(shown);
        }
        let within = archive.get_entry(entry.place).with_context(shown)?;
        let packed = within.reader();
        let came = match entry.method {
            CompressionMethod::STORE => {
                one(&entry, &mut within.verifying_reader(packed), to, &mut left)
            }
            CompressionMethod::DEFLATE => {
                let plain = DeflateDecoder::new(packed);
                one(&entry, &mut within.verifying_reader(plain), to, &mut left)
            }
            other => Err(anyhow::anyhow!("its compression method is not supported ({other:?})")),
        };
        came.with_context(shown)?;
    }
    Ok(())
}

fn one(
    entry: &Entry,
    from: &mut dyn Read,
    to: &Path,
    left: &mut UnpackQuota,
) -> anyhow::Result<()> {
    let parts = inside(&entry.name)?;
    left.file()?;
    let Some((last, above)) = parts.split_last() else {
        // The directory itself.
        return Ok(());
    };
    let directory = made(to, above)?;
    let path = directory.join(last);
    match entry.mode & KIND {
        _ if entry.is_directory => drop(made(to, &parts)?),
        DIRECTORY => drop(made(to, &parts)?),
        // Archives created on other systems than Unix have no type.
        0 | REGULAR => regular(from, &path, entry.mode, left)?,
        LINK => {
            let mut target = Vec::new();
            from.take(LONGEST_LINK).read_to_end(&mut target)?;
            link(Path::new(&OsString::from_vec(target)), &path, above.len())?;
        }
        _ => bail!("it is neither a file, a directory nor a link"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;
    use flate2::Compression;
    use flate2::write::DeflateEncoder;
    use rawzip::ZipArchiveWriter;
    use rawzip::path::EntryPath;
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    use tempfile::TempDir;

    /// Creates an archive with these entries (name, mode, text), including invalid names.
    fn archive(entries: &[(&str, u32, &[u8])]) -> Vec<u8> {
        let mut writer = ZipArchiveWriter::new(Vec::new());
        for (name, mode, text) in entries {
            let path = EntryPath::verbatim(name.as_bytes());
            let file = writer.new_file(path).unix_permissions(*mode);
            let (mut entry, config) =
                file.compression_method(CompressionMethod::DEFLATE).start().unwrap();
            let mut data = config.wrap(DeflateEncoder::new(&mut entry, Compression::best()));
            data.write_all(text).unwrap();
            let (encoder, descriptor) = data.finish().unwrap();
            encoder.finish().unwrap();
            entry.finish(descriptor).unwrap();
        }
        writer.finish().unwrap()
    }

    /// Unpacks into `inner` of a temporary directory, and checks that nothing else is in it
    /// afterwards.
    fn tried(bytes: &[u8]) -> (TempDir, anyhow::Result<()>) {
        let (room, packed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let inner = room.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let file = packed.path().join("version.zip");
        fs::write(&file, bytes).unwrap();
        let came = unpack(File::open(&file).unwrap(), &inner, 1000);
        let outside: Vec<_> = fs::read_dir(room.path()).unwrap().flatten().collect();
        assert_eq!(outside.len(), 1, "{outside:?}");
        (room, came)
    }

    #[test]
    fn usual_archives_come_out() {
        let (room, came) = tried(&archive(&[
            ("p-1/setup.py", 0o100_644, b"text"),
            ("p-1/bin/run", 0o104_777, b"#!"),
            ("p-1/lib/b", 0o120_777, b"../bin/run"),
            ("p-1/of-windows", 0, b"text"),
        ]));
        came.unwrap();
        let inner = room.path().join("inner/p-1");
        assert_eq!(fs::read_to_string(inner.join("lib/b")).unwrap(), "#!");
        assert_eq!(fs::read_to_string(inner.join("of-windows")).unwrap(), "text");
        let mode = |name: &str| inner.join(name).metadata().unwrap().permissions().mode() & 0o7777;
        assert_eq!((mode("bin/run"), mode("setup.py")), (0o755, 0o644));
    }

    #[test]
    fn nothing_leaves_the_directory() {
        let (file, to) = (0o100_644, 0o120_777);
        let ways: [&[(&str, u32, &[u8])]; 9] = [
            &[("../out", file, b"x")],
            &[("a/../../out", file, b"x")],
            &[("/tmp/assay-farm-out-of-zip", file, b"x")],
            &[("l", to, b"/etc")],
            &[("l", to, b"..")],
            &[("a/l", to, b"../../out")],
            &[("d", to, b"."), ("d/x", to, b"..")],
            // Through a link of the archive itself.
            &[("d", to, b"a"), ("d/x", file, b"x")],
            &[("pipe", 0o010_644, b"")],
        ];
        for (number, way) in ways.iter().enumerate() {
            let (_room, came) = tried(&archive(way));
            assert!(came.is_err(), "way {number}");
        }
        assert!(!Path::new("/tmp/assay-farm-out-of-zip").exists());
        // A path separator of another system is an ordinary character here.
        tried(&archive(&[("..\\out", file, b"x")])).1.unwrap();
    }

    #[test]
    fn bombs_end_early_and_damage_is_seen() {
        let (room, came) = tried(&archive(&[("a", 0o100_644, &[0; 1 << 20])]));
        assert!(format!("{:#}", came.unwrap_err()).contains("too large"));
        assert!(room.path().join("inner/a").metadata().unwrap().len() <= 1001);
        let mut bytes = archive(&[("a", 0o100_644, b"some text that is packed")]);
        let at = bytes.windows(4).position(|part| part == b"PK\x01\x02").unwrap();
        // Corrupts the checksum in the central directory.
        bytes[at + 16] ^= 1;
        assert!(tried(&bytes).1.is_err());
        assert!(tried(b"no archive").1.is_err());
    }
}

//! Tests of complete and damaged backups, and of backups of a store that is growing.
#![expect(clippy::unwrap_used, reason = "a test may fail")]
use super::*;
use assay_farm::builds::model::Scope;
use assay_farm::builds::wire::NewToken;
use tempfile::TempDir;

/// Creates a farm with an owner, a token, a log and samples.
fn farm() -> (TempDir, StoreLocation) {
    let room = tempfile::tempdir().unwrap();
    let place = StoreLocation::File(room.path().join("farm.sqlite"));
    let store = Store::open(&place, Access::Write).unwrap();
    store.add_owner("alice").unwrap();
    let new = NewToken {
        name: "me".to_owned(),
        scope: Scope::Read,
        node: None,
        owner: None,
        until: None,
    };
    store.add_token(&new, 0).unwrap();
    for (name, text) in
        [("logs/00/1.log", "passed\n"), ("logs/01/257.log", ""), ("samples/a.assay", "x")]
    {
        let path = room.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    (room, place)
}

fn below(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let all = DIRECTORIES.iter().flat_map(|name| files_below(&directory.join(name)).unwrap());
    all.map(|path| (path.strip_prefix(directory).unwrap().to_owned(), fs::read(&path).unwrap()))
        .collect()
}

fn rows(place: &StoreLocation) -> Vec<u8> {
    let mut lines = Vec::new();
    Store::look_at(place).unwrap().unwrap().history_read().copy_out(&mut lines).unwrap();
    lines
}

#[test]
fn a_farm_is_the_same_behind_a_backup() {
    let (room, place) = farm();
    let file = room.path().join("b.tar");
    let written = write(room.path(), &place, &file, "now".to_owned()).unwrap();
    assert_eq!(verify(&file).unwrap(), written);
    assert_eq!(written.files.len(), 4);
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(write(room.path(), &place, &file, "now".to_owned()).is_err(), "it is there already");

    let other = tempfile::tempdir().unwrap();
    let there = StoreLocation::File(other.path().join("farm.sqlite"));
    restore(&file, other.path(), &there).unwrap();
    assert_eq!(rows(&there), rows(&place));
    assert_eq!(below(other.path()), below(room.path()));
    let said = restore(&file, other.path(), &there).unwrap_err().to_string();
    assert!(said.contains("already has a store"), "{said}");
    assert_eq!(
        fs::read_dir(room.path())
            .unwrap()
            .filter(|entry| {
                entry.as_ref().unwrap().file_name().to_string_lossy().contains("part")
            })
            .count(),
        0
    );
}

#[test]
fn a_damaged_backup_is_not_restored() {
    let (room, place) = farm();
    let file = room.path().join("b.tar");
    write(room.path(), &place, &file, "now".to_owned()).unwrap();
    let whole = fs::read(&file).unwrap();
    let passed = whole.windows(7).position(|bytes| bytes == b"passed\n").unwrap();
    let mut changed = whole.clone();
    changed[passed] = b'P';
    let manifest =
        whole.windows(MANIFEST.len()).position(|bytes| bytes == MANIFEST.as_bytes()).unwrap();
    let cut = [&whole[..manifest], &[0; 1024]].concat();
    let (half, none) = (whole[..whole.len() / 2].to_vec(), b"no archive at all".repeat(100));
    for damaged in [changed, cut, half, none, Vec::new()] {
        let bad = room.path().join("bad.tar");
        fs::write(&bad, &damaged).unwrap();
        let other = tempfile::tempdir().unwrap();
        let there = StoreLocation::File(other.path().join("farm.sqlite"));
        assert!(restore(&bad, other.path(), &there).is_err());
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0, "nothing is left of it");
    }
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let room = tempfile::tempdir().unwrap();
    let file = room.path().join("b.tar");
    let mut archive = tar::Builder::new(File::create(&file).unwrap());
    let mut header = header(1);
    // The tar library refuses to write a path with `..`, so the header is patched.
    header.as_old_mut().name[..11].copy_from_slice(b"../out.log\0");
    header.set_cksum();
    archive.append(&header, &b"x"[..]).unwrap();
    archive.into_inner().unwrap();
    let said = verify(&file).unwrap_err().to_string();
    assert!(said.contains("../out.log"), "{said}");
}

#[test]
fn a_log_that_grows_meanwhile_is_copied_as_far_as_it_was() {
    let (room, place) = farm();
    let log = room.path().join("logs/00/1.log");
    let grows = std::thread::spawn({
        let log = log.clone();
        move || {
            for _ in 0..200 {
                let mut file = fs::OpenOptions::new().append(true).open(&log).unwrap();
                file.write_all(&[b'x'; 1000]).unwrap();
            }
        }
    });
    let file = room.path().join("b.tar");
    write(room.path(), &place, &file, "now".to_owned()).unwrap();
    grows.join().unwrap();
    verify(&file).unwrap();
}

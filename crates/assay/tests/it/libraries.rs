//! `assay bench` on one program and two libraries: verifies which libraries were really loaded, and
//! rejects identical ones.

use crate::room::{Ended, Room, codes, finish};
use std::path::Path;

/// Returns a room with a program and its library in `a`, `b` (twice as costly), and `same` (like
/// `a`). `flags` go to the linker of the program.
fn furnished(flags: &str) -> Room {
    let room = Room::new();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench/loads-a-library.c");
    let line = format!(
        "mkdir a b same empty && echo 'int cost(void) {{ return 100; }}' > a.c && echo 'int cost(void) {{ return 50; }}' > b.c && \
         for d in a b; do cc -shared -fPIC -Wl,-soname,libx.so.1 -o $d/libx.so.1 $d.c || exit 1; done && cp a/libx.so.1 same && \
         cc -o bm '{}' a/libx.so.1 {flags}",
        program.display()
    );
    finish(room.shell(&line)).ends(0);
    room
}

fn bench(room: &Room, old: &str, new: &str, more: &[&str]) -> Ended {
    let words = ["bench", "./bm", "--old-env", old, "--new-env", new, "--runs", "8"];
    room.run(&[&words[..], &["--run-time", "1ms", "--save", "s.assay"], more].concat())
}

#[test]
fn two_libraries_are_named_as_they_were_loaded() {
    let room = furnished("");
    let ended = bench(&room, "LD_LIBRARY_PATH=a", "LD_LIBRARY_PATH=b", &["--json"]).ends(0);
    let ended = ended.complains("libraries: libx.so.1: a/libx.so.1 against b/libx.so.1");
    let result = ended.json();
    assert!(codes(&result).contains(&"LIBRARIES"), "{result:#}");
    assert!(result.to_string().contains("\"verdict\":\"faster\""), "{result:#}");
    // The record contains both files, with their identification.
    let subjects = room.records("s.assay", "subject");
    for (subject, directory) in subjects.iter().zip(["a", "b"]) {
        let text = subject.to_string();
        assert!(text.contains(&format!("/{directory}/libx.so.1")), "{text}");
    }
}

#[test]
fn the_same_bytes_in_two_places_are_the_same_library() {
    let room = furnished("");
    bench(&room, "LD_LIBRARY_PATH=a", "LD_LIBRARY_PATH=same", &[])
        .ends(2)
        .complains("load the same libraries: libx.so.1 is a/libx.so.1 on both sides")
        .complains("the same as the other side's to the last byte");
    bench(&room, "LD_LIBRARY_PATH=a", "LD_LIBRARY_PATH=same", &["--aa"]).ends(0);
}

#[test]
fn an_rpath_wins_over_the_variable_and_a_runpath_does_not() {
    let room = furnished("-Wl,--disable-new-dtags,-rpath,'$ORIGIN/a'");
    bench(&room, "LD_LIBRARY_PATH=a", "LD_LIBRARY_PATH=b", &[])
        .ends(2)
        .complains("`b/libx.so.1` is there, but the program's RPATH (`$ORIGIN/a`)");
    let room = furnished("-Wl,--enable-new-dtags,-rpath,'$ORIGIN/a'");
    bench(&room, "LD_LIBRARY_PATH=a", "LD_LIBRARY_PATH=b", &[]).ends(0);
}

#[test]
fn a_directory_that_does_not_hold_the_library_is_named() {
    let room = furnished("");
    bench(&room, "LD_LIBRARY_PATH=a", "LD_LIBRARY_PATH=empty", &[])
        .ends(2)
        .complains("libx.so.1 was not found: `empty/libx.so.1` does not exist");
    let room = furnished("-Wl,-rpath,'$ORIGIN/a'");
    bench(&room, "LD_LIBRARY_PATH=empty", "LD_LIBRARY_PATH=nonesuch", &[])
        .ends(2)
        .complains("`empty` contains none of the libraries")
        .complains("the directory `nonesuch` does not exist");
}

#[test]
fn a_preloaded_library_counts_and_one_that_is_not_there_is_named() {
    let room = furnished("-Wl,-rpath,'$ORIGIN/a'");
    bench(&room, "X=1", "LD_PRELOAD=b/libx.so.1", &[]).ends(0).complains("against b/libx.so.1");
    bench(&room, "X=1", "LD_PRELOAD=./nonesuch.so", &[])
        .ends(2)
        .complains("`./nonesuch.so` does not exist");
}

#[test]
fn two_copies_of_a_program_beside_different_libraries_are_different() {
    let room = furnished("-Wl,-rpath,'$ORIGIN'");
    finish(room.shell("cp bm a && cp bm b && cp bm same")).ends(0);
    let short = ["--runs", "8", "--run-time", "1ms", "--no-save"];
    room.run(&[&["bench", "a/bm", "b/bm"][..], &short].concat())
        .ends(0)
        .complains("a/libx.so.1 against");
    room.run(&["bench", "a/bm", "same/bm"]).ends(2).complains("are byte-for-byte identical");
}

#[test]
fn a_static_program_and_a_script_are_told_apart_from_proof() {
    let room = furnished("");
    let line = "echo 'int main(void) { return 0; }' > s.c && cc -static -o static s.c";
    finish(room.shell(line)).ends(0);
    let environments = ["--old-env", "LD_LIBRARY_PATH=a", "--new-env", "LD_LIBRARY_PATH=b"];
    room.run(&[&["bench", "./static"][..], &environments].concat())
        .ends(2)
        .complains("linked statically, so LD_LIBRARY_PATH changes nothing");
    let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench/fake-harness.sh");
    let harness = harness.display().to_string();
    room.write("speed", "100\n");
    let short = ["--runs", "8", "--run-time", "1ms", "--no-save", "--json"];
    let ended =
        room.run(&[&["bench", harness.as_str()][..], &environments, &short].concat()).ends(0);
    assert!(codes(&ended.json()).contains(&"LIBRARIES"));
}

//! Allocation counting, on small programs with known allocations: counts are exact, whatever
//! happens to threads, children and descriptors; and programs that can't be counted are refused,
//! never reported as zero.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use crate::common;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Output, Stdio};
use std::sync::LazyLock;

use assay_measure::Command;
use assay_measure::allocations::{
    Counting, Counts, Executed, Note, Record, RefusalReason, notes, refusal,
};
use common::Emulated;

/// A program with many small actions, one per first argument.
const KIT: &str = include_str!("allocations/kit.c");

static ROOM: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir().unwrap());

/// Compiles a program or a library into the directory shared by these tests.
fn made(name: &str, source: &str, compiler: &str, flags: &[&str]) -> PathBuf {
    let directory = ROOM.path().join(name);
    fs::create_dir_all(&directory).unwrap();
    let (text, program) = (directory.join("source.c"), directory.join(name));
    fs::write(&text, source).unwrap();
    let mut process = Process::new(compiler);
    // Without -fno-builtin, compilers at -O1 remove pairs of malloc and free.
    process.args(["-O1", "-fno-builtin", "-pthread", "-o"]).arg(&program).args(flags).arg(&text);
    let output = process.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let headers = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../../c");
    made("kit", KIT, "cc", &[headers])
});

/// Runs a program under the counter, with additional variables.
fn counted_with(program: &Path, arguments: &[&str], env: &[(&str, &str)]) -> (Output, Vec<Record>) {
    let (output, records, _) = executed_with(program, arguments, env);
    (output, records)
}

/// Like [`counted_with`], and also returns the programs that were run.
fn executed_with(
    program: &Path,
    arguments: &[&str],
    env: &[(&str, &str)],
) -> (Output, Vec<Record>, BTreeSet<Executed>) {
    let counting = Counting::start().unwrap();
    let mut command = Command::new([program]).unwrap();
    command.env.extend(env.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())));
    command.env.extend(counting.environment(&command).unwrap());
    let output = Process::new(program)
        .args(arguments)
        .envs(command.env.clone())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let executed = counting.take_executed().unwrap();
    assert!(counting.take_executed().unwrap().is_empty(), "taken once");
    (output, counting.read().unwrap(), executed)
}

/// Returns the kit's output and the counts; it must have succeeded.
fn kit(arguments: &[&str]) -> (String, Vec<Record>) {
    let (output, records) = counted_with(&PROGRAM, arguments, &[]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{arguments:?}: {} {said}", output.status);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    (said, records)
}

fn counts(record: &Record) -> Counts {
    record.counts.unwrap()
}

/// Returns the only record of a run.
fn only(records: &[Record]) -> Counts {
    let [record] = records else { panic!("{records:?}") };
    assert_eq!(record.program, fs::canonicalize(&*PROGRAM).unwrap());
    counts(record)
}

/// Parses the numbers printed by the kit.
fn numbers(said: &str) -> Vec<u64> {
    said.split_whitespace().map(|word| word.parse().unwrap()).collect()
}

#[test]
fn every_call_counts_as_what_it_is_and_failed_ones_do_not() {
    let (said, records) = kit(&["calls"]);
    let [allocations, reallocs, frees, asked, freed, peak] = numbers(&said)[..] else {
        panic!("{said}")
    };
    let expected = Counts {
        allocations,
        reallocs,
        frees,
        allocated_bytes: asked,
        freed_bytes: Some(freed),
        peak_bytes: Some(peak),
    };
    assert_eq!(only(&records), expected);
}

#[test]
fn a_program_that_does_nothing_has_a_record_of_nothing() {
    let (_, records) = kit(&["nothing"]);
    let expected = Counts { freed_bytes: Some(0), peak_bytes: Some(0), ..Counts::default() };
    assert_eq!(only(&records), expected);
}

#[test]
fn the_program_itself_sees_the_same_counts() {
    let (said, records) = kit(&["snapshot"]);
    assert_eq!(numbers(&said), [7, 700]);
    assert!(only(&records).allocations >= 7);
    // Without counting the weak reference is null, and the program detects that.
    let alone = Process::new(&*PROGRAM).arg("snapshot").output().unwrap();
    assert_eq!(String::from_utf8(alone.stdout).unwrap(), "not counted\n");
}

#[test]
fn the_first_call_of_all_leaves_errno_alone() {
    kit(&["errno"]);
}

#[test]
fn allocations_of_cpp_are_those_of_malloc() {
    if common::ignored_under_emulation(Emulated::Machine) {
        return;
    }
    if Process::new("c++").arg("--version").output().is_err() {
        println!("skipped: there is no c++");
        return;
    }
    let source = "int main(int c, char **) { int *volatile p[1000]; \
                  for (int i = 0; c > 1 && i < 1000; i++) p[i] = new int(i); \
                  for (int i = 0; c > 1 && i < 500; i++) delete p[i]; }";
    let program = made("cpp", source, "c++", &["-x", "c++"]);
    let without = counts(&counted_with(&program, &[], &[]).1[0]);
    let with = counts(&counted_with(&program, &["new"], &[]).1[0]);
    assert_eq!(with.allocations - without.allocations, 1000);
    assert_eq!(with.frees - without.frees, 500);
    assert_eq!(with.allocated_bytes - without.allocated_bytes, 4000);
}

#[test]
fn no_call_of_any_thread_is_lost_also_of_those_that_end() {
    // Threads run in parallel, one after the other, and in a greater number than there are slots.
    for (how, threads) in [("together", 8_u64), ("by-turns", 500), ("together", 300)] {
        let run = |calls: u64| only(&kit(&[how, &threads.to_string(), &calls.to_string()]).1);
        let (none, some) = (run(0), run(10_000));
        assert_eq!(some.allocations - none.allocations, threads * 10_000, "{how} {threads}");
        assert_eq!(some.frees - none.frees, threads * 10_000, "{how} {threads}");
        assert_eq!(some.allocated_bytes - none.allocated_bytes, threads * 10_000 * 100);
    }
}

#[test]
fn the_peak_of_several_threads_is_within_the_error_that_is_stated() {
    const GRAIN: u64 = 32 * 1024;
    for threads in [1_u64, 4, 40] {
        let (said, records) = kit(&["hold", &threads.to_string()]);
        let held = numbers(&said)[0];
        let peak = only(&records).peak_bytes.unwrap();
        // In addition to the blocks, each thread needs some memory.
        let own = threads * 4096;
        assert!(peak + GRAIN * (threads - 1) >= held, "{threads}: {peak} of {held}");
        assert!(peak <= held + own + GRAIN * (threads - 1), "{threads}: {peak} of {held}");
    }
}

#[test]
fn a_forked_child_counts_from_nothing_in_a_file_of_its_own() {
    if common::ignored_under_emulation(Emulated::Wipe) {
        return;
    }
    for how in ["fork", "raw-fork", "threads-fork", "bare-environment"] {
        let (_, records) = kit(&[how]);
        let [parent, child, grandchild] = &records[..] else { panic!("{how}: {records:?}") };
        assert_eq!(child.ppid, parent.pid, "{how}");
        assert_eq!(grandchild.ppid, child.pid, "{how}");
        assert_eq!(counts(child).allocations, 20, "{how}");
        assert_eq!(counts(child).allocated_bytes, 2000, "{how}");
        // It also frees inherited blocks.
        assert_eq!(counts(child).frees, 30, "{how}");
        assert_eq!(counts(grandchild).allocations, 1, "{how}");
        if how != "threads-fork" {
            assert_eq!((counts(parent).allocations, counts(parent).frees), (10, 10), "{how}");
        }
    }
}

#[test]
fn a_program_that_another_makes_room_for_has_a_record_of_its_own() {
    let (_, records) = kit(&["exec"]);
    let [before, after] = &records[..] else { panic!("{records:?}") };
    assert_eq!(before.pid, after.pid);
    assert!(before.started_ns < after.started_ns);
    assert_eq!((counts(before).allocations, counts(after).allocations), (5, 0));
    // A child started with vfork that only executes has no counts before that.
    let (_, records) = kit(&["spawn"]);
    let [spawner, spawned] = &records[..] else { panic!("{records:?}") };
    assert_eq!(spawned.ppid, spawner.pid);
    assert_eq!(counts(spawned).allocations, 0);
}

#[test]
fn counts_are_there_whatever_ends_the_process() {
    for (how, signal) in [("_exit", None), ("kill", Some(9)), ("abort", Some(6))] {
        let (output, records) = counted_with(&PROGRAM, &[how], &[]);
        assert_eq!(output.status.signal(), signal, "{how}");
        assert_eq!(only(&records).allocations, 1234, "{how}");
    }
}

#[test]
fn a_daemon_that_closes_everything_and_leaves_its_directory_is_counted() {
    if common::ignored_under_emulation(Emulated::Wipe) {
        return;
    }
    let (_, records) = kit(&["daemon"]);
    let [_, daemon] = &records[..] else { panic!("{records:?}") };
    assert_eq!(counts(daemon).allocations, 77);
}

#[test]
fn counts_can_be_read_while_the_process_goes_on() {
    let counting = Counting::start().unwrap();
    let environment = counting.environment(&Command::new([&*PROGRAM]).unwrap()).unwrap();
    let mut process = Process::new(&*PROGRAM);
    let mut child = process.arg("endless").envs(environment).spawn().unwrap();
    let seen = |most: u64| {
        common::eventually(|| {
            let records = counting.read().unwrap();
            records.first().map(|r| counts(r).allocations).filter(|&count| count > most)
        })
    };
    let first = seen(0);
    assert!(seen(first) > first);
    child.kill().unwrap();
    child.wait().unwrap();
    // The next run starts with an empty directory.
    assert_eq!(counting.take().unwrap().len(), 1);
    assert_eq!(counting.read().unwrap(), []);
}

#[test]
fn where_no_file_can_be_made_the_program_runs_as_it_is() {
    let counting = Counting::start().unwrap();
    let mut environment = counting.environment(&Command::new([&*PROGRAM]).unwrap()).unwrap();
    for directory in ["/no/such/place", "relative", "", "/dev/null"] {
        environment[1].1 = directory.to_owned();
        let output = Process::new(&*PROGRAM).arg("calls").envs(environment.clone()).output();
        let output = output.unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{directory}: {output:?}");
        assert_eq!(counting.read().unwrap(), []);
    }
}

#[test]
fn another_preloaded_library_stays_behind_the_counter() {
    // This allocator keeps its own header in each block, so that the C library does not know the
    // sizes.
    let source = r#"
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <stdlib.h>
        #include <unistd.h>
        void *malloc(size_t n)
        {
            char *p = ((void *(*)(size_t))dlsym(RTLD_NEXT, "malloc"))(n + 64);
            return p ? p + 64 : p;
        }
        void free(void *p)
        {
            if (p)
                ((void (*)(void *))dlsym(RTLD_NEXT, "free"))((char *)p - 64);
        }
        __attribute__((destructor)) static void end(void)
        {
            if (write(1, "here\n", 5) != 5)
                _exit(9);
        }"#;
    let other = made("other.so", source, "cc", &["-shared", "-fPIC"]);
    let other = other.to_str().unwrap();
    let (output, records) = counted_with(&PROGRAM, &["plain"], &[("LD_PRELOAD", other)]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "here\n");
    let expected =
        Counts { allocations: 50, frees: 40, allocated_bytes: 5000, ..Counts::default() };
    assert_eq!(only(&records), expected);
}

#[test]
fn a_program_with_a_malloc_of_its_own_is_refused_and_has_no_counts() {
    let source = r#"
        #include <stddef.h>
        static _Alignas(16) char room[1 << 20];
        static size_t used;
        void *malloc(size_t n) { void *p = room + used; used += (n + 31) / 16 * 16; return p; }
        void *calloc(size_t n, size_t m) { return malloc(n * m); }
        void *realloc(void *p, size_t n) { (void)p; return malloc(n); }
        void free(void *p) { (void)p; }
        int main(void) { return malloc(100) == NULL; }"#;
    let program = made("own", source, "cc", &["-rdynamic"]);
    assert_eq!(refusal(&program).unwrap().why, RefusalReason::OwnMalloc);
    let (output, records) = counted_with(&program, &[], &[]);
    assert!(output.status.success());
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].counts, None);
}

#[test]
fn a_static_program_is_refused_and_leaves_no_record() {
    for (name, flags) in [("static", &["-static"][..]), ("static-pie", &["-static-pie"])] {
        let program = made(name, "int main(void) { return 0; }", "cc", flags);
        assert_eq!(refusal(&program).unwrap().why, RefusalReason::Static, "{name}");
        assert_eq!(counted_with(&program, &[], &[]).1, []);
        let script = ROOM.path().join(format!("{name}.script"));
        fs::write(&script, format!("#!{}\n", program.display())).unwrap();
        assert_eq!(refusal(&script).unwrap().program, program);
    }
    assert_eq!(refusal(&PROGRAM), None);
    let whys = refusal(Path::new("/bin/sh")).map(|refusal| refusal.why);
    assert_eq!(whys, common::is_emulated(Emulated::Machine).then_some(RefusalReason::OtherMachine));
}

#[test]
fn a_static_program_that_a_counted_one_runs_is_missed_however_it_is_run() {
    let program = made("static-child", "int main(void) { return 0; }", "cc", &["-static"]);
    let directory = program.parent().unwrap().display().to_string();
    let ways = ["execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle"];
    for how in ways.into_iter().chain(["posix_spawn", "posix_spawnp"]) {
        // Variants that search PATH get the bare name; the others get the full path.
        let is_searched = how.contains('p') && how != "posix_spawn";
        let name = if is_searched { "static-child" } else { program.to_str().unwrap() };
        let search = format!("/no/such:{directory}:/bin");
        let run = executed_with(&PROGRAM, &["run", how, name], &[("PATH", &search)]);
        let (output, records, executed) = run;
        assert!(output.status.success(), "{how}: {output:?}");
        assert_eq!(only(&records).allocations, 0, "{how}: noting allocates nothing");
        let missing: Vec<_> = executed.iter().filter_map(Executed::uncounted).collect();
        let [missing] = &missing[..] else { panic!("{how}: {executed:?}") };
        assert_eq!((&missing.program, missing.why), (&program, RefusalReason::Static), "{how}");
        assert_eq!(executed.first().unwrap().handed_on, how != "execle", "{how}");
    }
}

#[test]
fn a_child_that_is_counted_or_is_not_there_is_not_missed_and_one_without_its_environment_is() {
    if common::ignored_under_emulation(Emulated::Machine) {
        return;
    }
    let shell = |line: &str| {
        let (output, _, executed) = executed_with(Path::new("/bin/sh"), &["-c", line], &[]);
        assert!(output.status.success(), "{line}: {output:?}");
        executed.iter().filter_map(Executed::uncounted).map(|r| r.why).collect::<Vec<_>>()
    };
    assert_eq!(shell("cat /dev/null; true"), []);
    assert_eq!(shell("/no/such/program 2> /dev/null || true; true"), []);
    assert_eq!(shell("env -i /bin/cat /dev/null; true"), [RefusalReason::OtherEnvironment]);
}

#[test]
fn a_static_program_of_go_is_known_by_the_note_of_its_build() {
    let program = made("go", "int main(void) { return 0; }", "cc", &["-static"]);
    let section = format!(".note.go.buildid={}", ROOM.path().join("go/source.c").display());
    let added = Process::new("objcopy").args(["--add-section", &section]).arg(&program).status();
    assert!(added.unwrap().success());
    assert_eq!(refusal(&program).unwrap().why, RefusalReason::Go);
}

#[test]
fn a_program_with_address_sanitizer_is_refused_and_not_broken() {
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("asan");
    let mut compiler = Process::new("cc");
    compiler.args(["-fsanitize=address", "-x", "c", "-o"]).arg(&program).arg("-");
    let mut compiling = compiler.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    compiling.stdin.take().unwrap().write_all(b"int main(void) { return 0; }").unwrap();
    if !compiling.wait().unwrap().success() {
        println!("skipped: this compiler has no AddressSanitizer");
        return;
    }
    let refused = refusal(&program).unwrap();
    // Some compilers link it in, with its own malloc.
    assert!(
        matches!(refused.why, RefusalReason::Sanitizer | RefusalReason::OwnMalloc),
        "{refused}"
    );
}

#[test]
fn a_program_that_gains_rights_is_refused_but_not_for_its_owner() {
    let copy = ROOM.path().join("setuid");
    fs::copy(&*PROGRAM, &copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o4755)).unwrap();
    // The bit changes nothing for its owner.
    assert_eq!(refusal(&copy), None);
    let (_, records) = counted_with(&copy, &["plain"], &[]);
    assert_eq!(counts(&records[0]).allocations, 50);
    if chown(&copy, Some(12345), None).is_err() {
        println!("skipped: only root can give files away");
        return;
    }
    // Changing the owner cleared the bit.
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o4755)).unwrap();
    assert_eq!(refusal(&copy).unwrap().why, RefusalReason::Setuid);
    assert_eq!(counted_with(&copy, &["plain"], &[]).1, []);
}

#[test]
fn python_keeps_objects_from_malloc_and_that_is_noted() {
    if common::ignored_under_emulation(Emulated::Machine) {
        return;
    }
    let python = Command::new(["python3"]).unwrap().resolve();
    let Ok(python) = python else {
        println!("skipped: there is no python3");
        return;
    };
    let work = ["-c", "[str(i) for i in range(100000)]"];
    let all = |records: &[Record]| {
        records.iter().filter_map(|r| r.counts).map(|c| c.allocations).sum::<u64>()
    };
    let (_, records) = counted_with(&python, &work, &[]);
    let shown = counted_with(&python, &work, &[("PYTHONMALLOC", "malloc")]).1;
    assert!(all(&shown) > all(&records) + 90_000);
    // `python3` may be a script that locates the interpreter: the record names the latter.
    let noted: Vec<Note> = records.iter().flat_map(|record| notes(&record.program)).collect();
    assert!(noted.iter().any(|note| note.runtime == "CPython"), "{noted:?}");
}

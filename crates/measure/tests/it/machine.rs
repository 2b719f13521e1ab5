//! Settings on a synthetic machine made of files, and one real setting if root permits. The tests
//! that lock memory or look for busy processes use the real machine.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use assay_measure::machine::{
    Change, Journal, Knob, KnobError, Machine, Undone, busiest, lock_files, privileges,
};
use assay_measure::workload;

/// A machine in a directory.
struct MadeUp {
    directory: tempfile::TempDir,
    machine: Machine,
}

impl MadeUp {
    fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let machine = Machine::at(directory.path());
        let made = Self { directory, machine };
        files.iter().for_each(|(path, text)| made.set(path, text));
        made
    }

    fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    fn set(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), format!("{text}\n")).unwrap();
    }

    fn says(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap().trim().to_owned()
    }
}

const POLICY_0: &str = "sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
/// The same file by another path.
const NEAR: &str = "sys/devices/system/cpu/cpufreq/policy2/../policy0/scaling_governor";
const POLICY_2: &str = "sys/devices/system/cpu/cpufreq/policy2/scaling_governor";
const POLICY_10: &str = "sys/devices/system/cpu/cpufreq/policy10/scaling_governor";
const NO_TURBO: &str = "sys/devices/system/cpu/intel_pstate/no_turbo";
const BOOST: &str = "sys/devices/system/cpu/cpufreq/boost";
const RT: &str = "proc/sys/kernel/sched_rt_runtime_us";
const AUTOGROUP: &str = "proc/sys/kernel/sched_autogroup_enabled";

/// Makes a machine with three policies, the middle one already as desired.
fn laptop() -> MadeUp {
    let made = MadeUp::new(&[
        (POLICY_0, "powersave"),
        (POLICY_2, "performance"),
        (POLICY_10, "powersave"),
    ]);
    for policy in [POLICY_0, POLICY_2, POLICY_10] {
        let offered = policy.replace("scaling_governor", "scaling_available_governors");
        made.set(&offered, "performance powersave");
    }
    made
}

fn performance() -> Knob {
    Knob::Governor("performance".to_owned())
}

/// Undoes changes, none of which may fail.
fn restored(machine: &Machine, changes: &[Change]) -> Vec<Undone> {
    machine.restore(changes).into_iter().map(Result::unwrap).collect()
}

#[test]
fn a_governor_is_planned_only_where_it_differs_made_and_put_back() {
    let made = laptop();
    let changes = made.machine.plan(&performance()).unwrap();
    let paths: Vec<&Path> = changes.iter().map(|change| change.path.as_path()).collect();
    assert_eq!(paths, [made.path(POLICY_0), made.path(POLICY_10)]);
    assert!(changes.iter().all(|c| c.knob == "governor" && c.before == "powersave"));
    // A plan changes nothing.
    assert_eq!(made.says(POLICY_0), "powersave");
    made.machine.apply(&changes).unwrap();
    assert_eq!([POLICY_0, POLICY_2, POLICY_10].map(|p| made.says(p)), ["performance"; 3]);
    assert_eq!(made.machine.plan(&performance()).unwrap(), []);
    assert_eq!(restored(&made.machine, &changes), [Undone::Restored, Undone::Restored]);
    let left = Undone::LeftAlone { now: "powersave".to_owned() };
    assert_eq!(restored(&made.machine, &changes), [left.clone(), left]);
    let now = [POLICY_0, POLICY_2, POLICY_10].map(|p| made.says(p));
    assert_eq!(now, ["powersave", "performance", "powersave"]);
}

#[test]
fn a_governor_that_is_not_offered_is_refused_with_those_that_are() {
    let made = laptop();
    let error = made.machine.plan(&Knob::Governor("turbo".to_owned())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`governor` cannot be `turbo`: this machine offers performance, powersave"
    );
}

#[test]
fn a_kernel_without_policies_is_set_processor_by_processor() {
    let old = "sys/devices/system/cpu/cpu3/cpufreq";
    let made = MadeUp::new(&[]);
    made.set(&format!("{old}/scaling_governor"), "ondemand");
    made.set(&format!("{old}/scaling_available_governors"), "ondemand performance");
    made.set("sys/devices/system/cpu/cpuidle/current_driver", "none");
    let changes = made.machine.plan(&performance()).unwrap();
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].path, made.path(&format!("{old}/scaling_governor")));
    made.machine.apply(&changes).unwrap();
    assert_eq!(made.says(&format!("{old}/scaling_governor")), "performance");
}

#[test]
fn turbo_is_written_the_wrong_way_round_for_intel_and_the_right_way_for_others() {
    let intel = MadeUp::new(&[(NO_TURBO, "0"), (BOOST, "1")]);
    let changes = intel.machine.plan(&Knob::Turbo(false)).unwrap();
    intel.machine.apply(&changes).unwrap();
    assert_eq!((intel.says(NO_TURBO), intel.says(BOOST)), ("1".to_owned(), "1".to_owned()));
    assert_eq!(intel.machine.plan(&Knob::Turbo(false)).unwrap(), []);
    let other = MadeUp::new(&[(BOOST, "1")]);
    assert_eq!(other.machine.plan(&Knob::Turbo(true)).unwrap(), []);
    let changes = other.machine.plan(&Knob::Turbo(false)).unwrap();
    other.machine.apply(&changes).unwrap();
    assert_eq!(other.says(BOOST), "0");
}

#[test]
fn real_time_may_take_a_part_of_its_period_or_all() {
    let made = MadeUp::new(&[(RT, "950000"), ("proc/sys/kernel/sched_rt_period_us", "1000000")]);
    let all = made.machine.plan(&Knob::RtRuntime(None)).unwrap();
    assert_eq!((all[0].before.as_str(), all[0].after.as_str()), ("950000", "-1"));
    assert_eq!(made.machine.plan(&Knob::RtRuntime(Some(950_000))).unwrap(), []);
    let error = made.machine.plan(&Knob::RtRuntime(Some(2_000_000))).unwrap_err();
    assert!(error.to_string().contains("0 to 1000000 us, no limit"), "{error}");
    made.machine.apply(&all).unwrap();
    assert_eq!(restored(&made.machine, &all), [Undone::Restored]);
    assert_eq!(made.says(RT), "950000");
}

#[test]
fn what_a_machine_does_not_have_is_not_offered() {
    let made = MadeUp::new(&[]);
    for knob in [performance(), Knob::Turbo(true), Knob::RtRuntime(None), Knob::Autogroup(false)] {
        let error = made.machine.plan(&knob).unwrap_err();
        assert!(matches!(error, KnobError::NotOffered { .. }), "{error}");
        assert!(error.to_string().starts_with(&format!("`{}` cannot be set", knob.name())));
    }
    let error = made.machine.drop_caches().unwrap_err();
    assert!(matches!(error, KnobError::NotOffered { .. }), "{error}");
}

#[test]
fn caches_are_dropped_by_writing_3() {
    let made = MadeUp::new(&[("proc/sys/vm/drop_caches", "0")]);
    made.machine.drop_caches().unwrap();
    assert_eq!(made.says("proc/sys/vm/drop_caches"), "3");
}

#[test]
fn what_somebody_else_has_set_since_is_left_as_it_is() {
    let made = laptop();
    let changes = made.machine.plan(&performance()).unwrap();
    made.machine.apply(&changes).unwrap();
    made.set(POLICY_0, "schedutil");
    let left = Undone::LeftAlone { now: "schedutil".to_owned() };
    assert_eq!(restored(&made.machine, &changes), [left, Undone::Restored]);
    assert_eq!([POLICY_0, POLICY_10].map(|p| made.says(p)), ["schedutil", "powersave"]);
}

#[test]
fn one_that_cannot_be_put_back_does_not_keep_the_others_from_it() {
    let made = laptop();
    let changes = made.machine.plan(&performance()).unwrap();
    made.machine.apply(&changes).unwrap();
    fs::remove_file(made.path(POLICY_10)).unwrap();
    let results = made.machine.restore(&changes);
    assert_eq!(results[0].as_ref().unwrap(), &Undone::Restored);
    let error = results[1].as_ref().unwrap_err();
    assert!(error.to_string().contains("policy10"), "{error}");
    assert_eq!(made.says(POLICY_0), "powersave");
}

#[test]
fn changes_made_on_top_of_each_other_are_undone_in_reverse() {
    let made = MadeUp::new(&[(RT, "950000")]);
    let mut all = made.machine.plan(&Knob::RtRuntime(Some(1))).unwrap();
    made.machine.apply(&all).unwrap();
    let second = made.machine.plan(&Knob::RtRuntime(None)).unwrap();
    made.machine.apply(&second).unwrap();
    all.extend(second);
    assert_eq!(restored(&made.machine, &all), [Undone::Restored, Undone::Restored]);
    assert_eq!(made.says(RT), "950000");
}

/// Anybody may have written a journal: root must not be made to write to arbitrary files.
#[test]
fn a_change_that_no_plan_could_hold_is_not_made() {
    let made = laptop();
    made.set(RT, "950000");
    made.set(AUTOGROUP, "1");
    made.set("etc/secret", "performance");
    let change = |knob, path: &str, before: &str, after: &str| Change {
        knob,
        path: made.path(path),
        before: before.to_owned(),
        after: after.to_owned(),
    };
    let forged = [
        change("governor", "etc/secret", "root", "performance"),
        change("governor", RT, "powersave", "950000"),
        change("governor", NEAR, "a", "powersave"),
        change("governor", POLICY_0, "a b\nc", "powersave"),
        change("governor", POLICY_0, "", "powersave"),
        change("rt-runtime", RT, "many", "950000"),
        change("autogroup", AUTOGROUP, "2", "1"),
        change("synthetic", RT, "1", "950000"),
    ];
    for change in forged {
        let refused = made.machine.restore(std::slice::from_ref(&change)).remove(0);
        assert!(matches!(refused, Err(KnobError::NotOurs { .. })), "{change:?} {refused:?}");
        let Change { before, after, .. } = change.clone();
        let turned = Change { before: after, after: before, ..change };
        // A valid change along with it is not made either.
        let sound = made.machine.plan(&performance()).unwrap();
        let refused = made.machine.apply(&[&sound[..], &[turned]].concat()).unwrap_err();
        assert!(matches!(refused, KnobError::NotOurs { .. }), "{refused}");
    }
    assert_eq!((made.says("etc/secret"), made.says(RT)), ("performance".into(), "950000".into()));
    assert_eq!(made.says(POLICY_0), "powersave");
}

#[test]
fn who_may_not_write_is_told_what_it_takes() {
    let made = laptop();
    fs::set_permissions(made.path(POLICY_0), fs::Permissions::from_mode(0o444)).unwrap();
    if privileges().root {
        eprintln!("who_may_not_write: skipped: root may");
        return;
    }
    let error = made.machine.plan(&performance()).unwrap_err();
    assert!(matches!(error, KnobError::NotPermitted { needs: "root", .. }), "{error}");
    // Settings that already have the desired value need no permission.
    assert_eq!(made.machine.plan(&Knob::Governor("powersave".to_owned())).unwrap().len(), 1);
}

#[test]
fn autogroup_is_set_and_put_back_for_real_where_that_is_permitted() {
    let machine = Machine::here();
    let read = |machine: &Machine| machine.read(&Knob::Autogroup(true)).map(|all| all[0].1.clone());
    let before = match read(&machine) {
        Ok(before) => before,
        Err(error) => return eprintln!("autogroup_is_set: skipped: {error}"),
    };
    let changes = match machine.plan(&Knob::Autogroup(before == "0")) {
        Ok(changes) => changes,
        Err(error) => return eprintln!("autogroup_is_set: skipped: {error}"),
    };
    let directory = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(directory.path()).unwrap();
    journal.record(&changes).unwrap();
    let applied = machine.apply(&changes);
    let during = read(&machine);
    restored(&machine, &changes);
    assert_eq!(read(&machine).unwrap(), before);
    applied.unwrap();
    assert_ne!(during.unwrap(), before);
    journal.clear().unwrap();
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

/// The complete procedure: changes that a process had no time to restore are restored by another
/// one.
#[test]
fn what_a_killed_process_left_behind_is_restored_by_the_next() {
    let made = laptop();
    let state = tempfile::tempdir().unwrap();
    let changes = made.machine.plan(&performance()).unwrap();
    let mut journal = Journal::open(state.path()).unwrap();
    journal.record(&changes).unwrap();
    made.machine.apply(&changes).unwrap();
    // Simulates a journal of an earlier process with the same ID.
    let file = fs::read_dir(state.path()).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("\"started\":", "\"started\":1", 1)).unwrap();
    let left = Journal::left_behind(state.path()).unwrap().remove(0);
    assert_eq!(left.changes, changes);
    assert_eq!(restored(&made.machine, &left.changes), [Undone::Restored, Undone::Restored]);
    left.forget().unwrap();
    assert_eq!([POLICY_0, POLICY_10].map(|p| made.says(p)), ["powersave"; 2]);
    assert_eq!(fs::read_dir(state.path()).unwrap().count(), 0);
}

/// Returns the memory locked by this process as reported by the kernel, KiB.
fn locked_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmLck:")).unwrap();
    line.split_ascii_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn files_are_locked_until_dropped_and_each_failure_is_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: usize| {
        let path = directory.path().join(name);
        fs::write(&path, vec![1; bytes]).unwrap();
        path
    };
    let (good, empty) = (file("good", 20_000), file("empty", 0));
    let missing = directory.path().join("missing");
    let pipe = directory.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let paths = [good.clone(), empty, missing, pipe, directory.path().to_owned()];
    let before = locked_kib();
    let results = lock_files(&paths);
    assert_eq!(results.iter().map(|(path, _)| path).collect::<Vec<_>>(), Vec::from_iter(&paths));
    assert_eq!(results[0].1.as_ref().unwrap().bytes(), 20_000);
    assert!(locked_kib() >= before + 20);
    let text = |i: usize| results[i].1.as_ref().unwrap_err().to_string();
    assert!(text(1).contains("empty"));
    assert!(text(2).contains("No such file"));
    assert!(text(3).contains("not a regular file") && text(4).contains("not a regular file"));
    drop(results);
    assert_eq!(locked_kib(), before);
}

#[test]
fn a_process_that_spins_is_the_busiest_and_we_are_not_in_the_list() {
    let directory = tempfile::tempdir().unwrap();
    let program = workload::unpack(directory.path(), "spinning(x) y").unwrap();
    let mut busy = Command::new(&program).args(["spin", "100000000000000"]).spawn().unwrap();
    // On a busy machine it may take a while until the process gets 1 %.
    let found = (0..20).find_map(|_| {
        let all = busiest(Duration::from_millis(300));
        assert!(all.iter().all(|b| b.process != std::process::id() && b.share > 0.01));
        assert!(all.is_sorted_by(|a, b| a.share >= b.share));
        all.into_iter().find(|b| b.process == busy.id())
    });
    busy.kill().unwrap();
    busy.wait().unwrap();
    let found = found.unwrap();
    assert_eq!(found.name, "spinning(x) y");
    assert!(found.share < 1.5, "{found:?}");
}

//! Tests that hold and restore settings on a simulated machine made of files.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use super::*;
use std::fs;
use tempfile::TempDir;

const SYSTEM_SETTINGS: &str = "proc/sys/kernel/sched_autogroup_enabled";
const RT: &str = "proc/sys/kernel/sched_rt_runtime_us";
const GOVERNOR: &str = "sys/devices/system/cpu/cpufreq/policy0/scaling_governor";
const GOVERNORS: &str = "sys/devices/system/cpu/cpufreq/policy0/scaling_available_governors";
/// Directory of the journals.
const STATE: &str = "state/assay";

/// A simulated machine in a directory, with a state directory next to it.
struct MadeUp(TempDir);

impl MadeUp {
    fn new() -> Self {
        let made = Self(tempfile::tempdir().unwrap());
        made.set(SYSTEM_SETTINGS, "1");
        made.set(RT, "950000");
        fs::create_dir_all(made.path(STATE)).unwrap();
        made
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn set(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), format!("{text}\n")).unwrap();
    }

    fn says(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap().trim().to_owned()
    }

    fn machine(&self) -> Machine {
        Machine::at(self.0.path())
    }

    fn hold(&self, knobs: &[Knob]) -> (Option<SettingsGuard>, Vec<Finding>) {
        hold_on(self.machine(), Some(self.path(STATE)), knobs).unwrap()
    }

    /// Leaves the journal of a process that no longer exists: its pid is that of this process, but
    /// its start time differs.
    fn left(&self, started: u64, changes: &[(&str, &str, &str, &str)]) {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        let process = std::process::id();
        let mut text = format!(
            "{}\n",
            serde_json::json!({"process": process, "started": started, "boot": boot.trim()})
        );
        for (knob, path, before, after) in changes {
            let path = self.path(path);
            text += &serde_json::json!(
                {"knob": knob, "path": path, "before": before, "after": after}
            )
            .to_string();
            text.push('\n');
        }
        let name = format!("{STATE}/changed-by-{process}-{started}.jsonl");
        fs::write(self.path(&name), text).unwrap();
    }

    fn journals(&self) -> usize {
        fs::read_dir(self.path(STATE)).unwrap().count()
    }

    fn mend(&self) -> Vec<String> {
        mend_on(&self.machine(), &self.path(STATE))
    }
}

#[test]
fn what_is_put_back_is_told_and_what_needs_no_putting_back_is_not() {
    let made = MadeUp::new();
    made.left(1, &[("autogroup", SYSTEM_SETTINGS, "1", "0"), ("rt-runtime", RT, "950000", "-1")]);
    made.set(RT, "-1");
    assert_eq!(
        made.mend(),
        ["note: a run that was killed had left rt-runtime at -1; it is 950000 again"]
    );
    assert_eq!((made.says(RT).as_str(), made.says(SYSTEM_SETTINGS).as_str()), ("950000", "1"));
    assert_eq!(made.journals(), 0);
    assert_eq!(made.mend(), [""; 0]);
}

#[test]
fn changes_on_top_of_each_other_are_undone_to_the_first_value_and_told_once() {
    let made = MadeUp::new();
    made.left(1, &[("rt-runtime", RT, "950000", "5")]);
    made.left(2, &[("rt-runtime", RT, "5", "6"), ("rt-runtime", RT, "6", "7")]);
    made.set(RT, "7");
    assert_eq!(
        made.mend(),
        ["note: a run that was killed had left rt-runtime at 7; it is 950000 again"]
    );
    assert_eq!((made.says(RT).as_str(), made.journals()), ("950000", 0));
}

#[test]
fn what_can_not_be_put_back_now_is_put_back_later() {
    let made = MadeUp::new();
    // The later journal cannot be undone, so the earlier one must be kept.
    made.left(1, &[("rt-runtime", RT, "950000", "5")]);
    made.left(2, &[("autogroup", SYSTEM_SETTINGS, "1", "0"), ("rt-runtime", RT, "5", "6")]);
    made.set(SYSTEM_SETTINGS, "0");
    fs::remove_file(made.path(RT)).unwrap();
    let said = made.mend();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with("warning: ") && said[0].contains("rt_runtime"), "{said:?}");
    assert!(said[1].ends_with("autogroup at 0; it is 1 again"), "{said:?}");
    assert_eq!(made.journals(), 2);
    made.set(RT, "6");
    assert_eq!(
        made.mend(),
        ["note: a run that was killed had left rt-runtime at 6; it is 950000 again"]
    );
    assert_eq!((made.says(RT).as_str(), made.journals()), ("950000", 0));
}

#[test]
fn a_line_that_is_none_of_ours_is_told_once_and_forgotten() {
    let made = MadeUp::new();
    made.set("etc/secret", "1");
    made.left(1, &[("autogroup", "etc/secret", "0", "1")]);
    let said = made.mend();
    assert!(said.len() == 1 && said[0].contains("left as it is"), "{said:?}");
    assert_eq!((made.says("etc/secret").as_str(), made.journals()), ("1", 0));
}

#[test]
fn what_somebody_else_has_set_meanwhile_stays_when_we_end() {
    let made = MadeUp::new();
    let (held, findings) = made.hold(&[Knob::Autogroup(false), Knob::RtRuntime(None)]);
    assert_eq!((findings.len(), findings[0].code.as_str()), (1, "MACHINE_SET"));
    assert_eq!((made.says(RT).as_str(), made.says(SYSTEM_SETTINGS).as_str()), ("-1", "0"));
    made.set(RT, "777");
    held.unwrap().release().unwrap();
    assert_eq!((made.says(RT).as_str(), made.says(SYSTEM_SETTINGS).as_str()), ("777", "1"));
    assert_eq!(made.journals(), 0);
}

#[test]
fn what_can_not_be_put_back_at_the_end_stays_in_the_journal() {
    let made = MadeUp::new();
    let (held, _) = made.hold(&[Knob::Autogroup(false)]);
    fs::remove_file(made.path(SYSTEM_SETTINGS)).unwrap();
    let error = format!("{:#}", held.unwrap().release().unwrap_err());
    assert!(error.contains("autogroup"), "{error}");
    assert_eq!(made.journals(), 1);
}

#[test]
fn only_what_can_be_had_is_mendable() {
    let made = MadeUp::new();
    made.set(GOVERNOR, "powersave");
    made.set(GOVERNORS, "powersave schedutil");
    let performance = Knob::Governor("performance".to_owned());
    let knobs = [performance, Knob::Turbo(false), Knob::RtRuntime(None), Knob::Autogroup(true)];
    // An unknown value is an error if the user asked for it, and otherwise it is not offered as a
    // fix.
    let refused = hold_on(made.machine(), Some(made.path(STATE)), &knobs).err().unwrap();
    assert!(refused.to_string().contains("`performance`"), "{refused}");
    let mendable = mendable_on(&made.machine(), knobs.to_vec());
    assert_eq!(mendable, [Knob::RtRuntime(None), Knob::Autogroup(true)]);
    let (held, _) = made.hold(&mendable);
    assert_eq!(made.says(RT), "-1");
    held.unwrap().release().unwrap();
}

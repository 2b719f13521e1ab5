//! Findings about the measuring machine: facts that disturb measurements, with advice on what to do
//! about them.
//!
//! These are pure functions of recorded facts, so a file gives the same findings on every machine.
//! Missing facts produce no finding.

use crate::policy;
use assay_data::code;
use assay_data::{Action, Environment, Finding, Metric, Severity, Threshold};

/// Returns the findings about the machine that follow from the recorded facts.
pub fn findings(environment: &Environment) -> Vec<Finding> {
    let checks =
        [load, cpu_share, governor, turbo, clock_source, quota, steal, battery, layout, runner];
    checks.iter().filter_map(|check| check(environment)).collect()
}

/// Returns the finding about the limits of the portable runner; `None` for any other runner.
pub fn runner(e: &Environment) -> Option<Finding> {
    (e.text("runner")? == "portable").then(|| {
        Finding::new(code::PORTABLE_RUNNER, "measured by the portable runner: it counts no events or allocations, and applies no settings to programs or the machine. Starting a program takes \
             longer than with the launcher on Linux, by the same amount for all programs, and peak memory below that of assay itself cannot be measured")
        .advise(Action::Read { page: "docs/reference/systems.md".to_owned() })
    })
}

fn load(e: &Environment) -> Option<Finding> {
    let (load, cpus) = (e.number("load_1m")?, e.number("cpus_online")?.max(1.0));
    (load / cpus > policy::BUSY_PER_CPU).then(|| {
        Finding::new(
            code::MACHINE_BUSY,
            format!("the machine was busy at the start: load {load:.1} on {cpus} CPUs"),
        )
        .at(Severity::Warning)
        .with("load_1m", load)
        .with("cpus_online", cpus)
        .advise(Action::StopOtherWork)
        .advise(Action::decide_by("cpu"))
    })
}

fn cpu_share(e: &Environment) -> Option<Finding> {
    let share = e.number("cpu_share")?;
    (share < policy::FULL_SHARE).then(|| {
        Finding::new(
            code::MACHINE_BUSY,
            format!("a spinning program got {:.0} % of a CPU here", share * 100.0),
        )
        .at(Severity::Warning)
        .with("cpu_share", share)
        .advise(Action::StopOtherWork)
    })
}

fn governor(e: &Environment) -> Option<Finding> {
    let governor = e.text("governor")?;
    (governor != "performance").then(|| {
        Finding::new(
            code::CPU_FREQUENCY,
            format!("the CPU frequency follows the load (governor `{governor}`)"),
        )
        .with("follows_load", 1.0)
        .advise(Action::run("fix the frequency", "cpupower frequency-set -g performance"))
    })
}

fn turbo(e: &Environment) -> Option<Finding> {
    (e.text("turbo")? == "on").then(|| {
        Finding::new(
            code::CPU_FREQUENCY,
            "turbo is on: the frequency depends on heat and on the other cores",
        )
        .with("turbo", 1.0)
        .advise(Action::run(
            "turn it off (Intel)",
            "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo",
        ))
        .advise(Action::run("turn it off (AMD)", "echo 0 > /sys/devices/system/cpu/cpufreq/boost"))
    })
}

fn clock_source(e: &Environment) -> Option<Finding> {
    let source = e.text("clock_source")?;
    let slow = matches!(source, "hpet" | "acpi_pm" | "jiffies" | "refined-jiffies");
    slow.then(|| {
        Finding::new(
            code::SYSTEM_SETTINGS,
            format!("the clock source `{source}` is slow or coarse"),
        )
        .at(Severity::Warning)
        .with("clock_cost_seconds", e.number("clock_cost_seconds").unwrap_or(f64::NAN))
        .advise(Action::run(
            "use the processor's counter if it is available",
            "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource",
        ))
    })
}

fn quota(e: &Environment) -> Option<Finding> {
    let quota = e.number("cgroup_cpu_quota")?;
    Some(
        Finding::new(code::MACHINE_BUSY, format!("a control group allows {quota:.2} CPUs: a program that needs more is paused again and again")).at(Severity::Warning)
        .with("cgroup_cpu_quota", quota)
        .advise(Action::text("run outside the container"))
        .advise(Action::text("run without a CPU limit")),
    )
}

fn steal(e: &Environment) -> Option<Finding> {
    let share = e.number("steal_share_of_run").or_else(|| e.number("steal_share"))?;
    (share > policy::STOLEN_OF_MACHINE).then(|| {
        Finding::new(
            code::MACHINE_BUSY,
            format!("the hypervisor gave {:.1} % of the CPU time to others", share * 100.0),
        )
        .at(Severity::Warning)
        .with("steal_share", share)
        .advise(Action::text("measure on a machine that is not shared"))
        .advise(Action::decide_by("cpu"))
    })
}

fn battery(e: &Environment) -> Option<Finding> {
    e.flag("on_battery")?.then(|| {
        Finding::new(code::CPU_FREQUENCY, "the machine runs on battery")
            .at(Severity::Warning)
            .advise(Action::text("plug it in"))
    })
}

fn layout(e: &Environment) -> Option<Finding> {
    (e.number("aslr")? < 1.0).then(|| {
        Finding::new(code::SYSTEM_SETTINGS, "address randomization is off: every run has the same memory layout, and its luck looks like a property of the code")
        .advise(Action::run("turn it on", "sysctl kernel.randomize_va_space=2"))
    })
}

/// Returns a finding if the threshold is below the smallest difference in wall or CPU time that
/// this machine detected within a minute at its last calibration. That difference is the fact
/// `calibrated_wall_60s` or `calibrated_cpu_60s` (a fraction), if present. Absolute thresholds are
/// not judged, since the calibration used another program.
pub fn detectable(
    metric: &Metric,
    threshold: &Threshold,
    environment: &Environment,
) -> Option<Finding> {
    let fact = |metric: &str| match metric {
        "wall" => environment.number("calibrated_wall_60s"),
        "cpu" => environment.number("calibrated_cpu_60s"),
        _ => None,
    };
    let seen = fact(&metric.name)?;
    let Threshold::Relative(wanted) = *threshold else { return None };
    if wanted >= seen {
        return None;
    }
    let when = environment.text("calibrated_at").map_or_else(String::new, |at| format!(" ({at})"));
    let by_cpu = metric.name == "wall" && fact("cpu").is_some_and(|cpu| cpu <= wanted);
    let mut finding =
        Finding::new(code::BELOW_DETECTABLE, format!(
                "the threshold is {}, but when this machine was calibrated{when} a run of one minute could detect no less than {} in {}",
                percent(wanted),
                percent(seen),
                metric.name
            ))
        .with("threshold", wanted)
        .with("detectable", seen)
        .advise(Action::LargerThreshold);
    if by_cpu {
        finding = finding.advise(Action::decide_by("cpu"));
    }
    Some(
        finding
            .advise(Action::MeasureLonger { seconds: None })
            .advise(Action::CheckMachine)
            .advise(Action::Calibrate),
    )
}

/// Formats a fraction in percent with two digits: `0.8 %`.
fn percent(fraction: f64) -> String {
    let number = fraction * 100.0;
    let decimals = if number > 0.0 { (1.0 - number.log10().floor()).clamp(0.0, 9.0) } else { 0.0 };
    let text = format!("{number:.*}", decimals as usize);
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_below_what_the_machine_could_see_is_told() {
        let mut environment = Environment::default();
        let told = |e: &Environment, metric: &Metric, t: f64| {
            detectable(metric, &Threshold::Relative(t), e)
        };
        let cpu = Metric { name: "cpu".to_owned(), ..Metric::wall() };
        assert_eq!(told(&environment, &Metric::wall(), 0.001), None);
        environment.set("calibrated_wall_60s", 0.0214);
        environment.set("calibrated_cpu_60s", 0.004);
        environment.set("calibrated_at", "2026-03-01");
        let found = told(&environment, &Metric::wall(), 0.01).expect("1 % is below 2.1 %");
        assert_eq!(
            found.message,
            "the threshold is 1 %, but when this machine was calibrated (2026-03-01) a run of one minute could detect no less than 2.1 % in wall"
        );
        assert!(found.advice.contains(&Action::decide_by("cpu").into()));
        assert_eq!(told(&environment, &Metric::wall(), 0.03), None);
        assert_eq!(told(&environment, &cpu, 0.01), None);
        let finer = told(&environment, &cpu, 0.001).expect("0.1 % is below 0.4 %");
        assert!(!finer.advice.contains(&Action::decide_by("cpu").into()));
        let memory = Metric { name: "max_rss".to_owned(), ..Metric::wall() };
        assert_eq!(told(&environment, &memory, 0.0001), None);
        let absolute = Threshold::Absolute { value: 1e-9, unit: assay_data::Unit::Second };
        assert_eq!(detectable(&Metric::wall(), &absolute, &environment), None);
    }

    fn codes(facts: &[(&str, serde_json::Value)]) -> Vec<String> {
        let facts = facts.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        findings(&Environment::from_facts(facts)).into_iter().map(|f| f.code).collect()
    }

    #[test]
    fn a_quiet_machine_gives_no_findings_and_an_unknown_one_neither() {
        let quiet =
            [("load_1m", 0.1.into()), ("cpus_online", 2.into()), ("cpu_share", 0.999.into())];
        assert!(codes(&quiet).is_empty());
        assert!(codes(&[]).is_empty());
    }

    #[test]
    fn every_disturbance_has_its_code() {
        let noisy = [
            ("load_1m", 3.0.into()),
            ("cpus_online", 2.into()),
            ("cpu_share", 0.6.into()),
            ("governor", "powersave".into()),
            ("turbo", "on".into()),
            ("clock_source", "hpet".into()),
            ("runner", "portable".into()),
            ("cgroup_cpu_quota", 0.5.into()),
            ("steal_share", 0.2.into()),
            ("on_battery", true.into()),
            ("aslr", 0.into()),
        ];
        let expected = [
            "MACHINE_BUSY",
            "MACHINE_BUSY",
            "CPU_FREQUENCY",
            "CPU_FREQUENCY",
            "SYSTEM_SETTINGS",
            "MACHINE_BUSY",
            "MACHINE_BUSY",
            "CPU_FREQUENCY",
            "SYSTEM_SETTINGS",
            "PORTABLE_RUNNER",
        ];
        assert_eq!(codes(&noisy), expected);
    }
}

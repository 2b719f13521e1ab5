//! What speaks against believing a profile: a sampler that did not deliver, too few samples, functions without names.
//!
//! Findings are data; every code has a section in `docs/reference/findings.md`, and a test holds the two together.

use crate::model::Profile;
use crate::policy;
use crate::shares::effective_samples;
use assay_data::{Action, Finding, Severity};

/// The findings about a profile, with those of its reading. O(stacks).
pub fn findings(profile: &Profile) -> Vec<Finding> {
    let mut found = profile.findings.clone();
    found.extend(rate(profile));
    found.extend(few(profile));
    found.extend(missed(profile));
    found.extend(stripped(profile));
    found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    found
}

fn rate(profile: &Profile) -> Option<Finding> {
    let (asked, delivered) = (profile.asked_hz?, profile.delivered_hz?);
    (delivered < policy::DELIVERED * asked).then(|| {
        let why = match profile.measure.as_str() {
            "cpu" => "a timer of CPU time fires no more often than the kernel ticks (CONFIG_HZ)",
            _ => "the sampler could not keep up",
        };
        let finding = Finding::new(
            "PROFILE_RATE",
            Severity::Warning,
            format!(
                "{asked:.0} samples a second were asked for and {delivered:.0} came: there are fewer samples than it seems, and times that are counted as samples × asked period are too short by that factor; {why}"
            ),
        )
        .with("asked_hz", asked)
        .with("delivered_hz", delivered)
        .advise(Action::SampleLess);
        match profile.measure.as_str() {
            "cpu" => finding.advise(Action::SampleByWall),
            _ => finding,
        }
    })
}

fn few(profile: &Profile) -> Option<Finding> {
    let samples = effective_samples(profile)?;
    (samples < policy::FEW_SAMPLES).then(|| {
        // Half of the interval's length; of a handful of samples it is all there is.
        let points = (98.0 / (samples as f64).sqrt()).min(50.0);
        let told = match samples {
            1 => "1 sample says".to_owned(),
            many => format!("{many} samples say"),
        };
        Finding::new(
            "PROFILE_FEW",
            Severity::Note,
            format!("{told} little: the share of a function that takes half of the time is known to ± {points:.0} points"),
        )
        .with("samples", samples as f64)
        .advise(Action::MeasureLonger { seconds: None })
        .advise(Action::SampleMore)
        .advise(Action::MoreRuns)
    })
}

fn missed(profile: &Profile) -> Option<Finding> {
    let share = profile.missed as f64 / (profile.samples().saturating_add(profile.missed)) as f64;
    (share > policy::MISSED).then(|| {
        Finding::new(
            "PROFILE_MISSED",
            if share > policy::MISSED_MANY { Severity::Warning } else { Severity::Note },
            format!("the sampler missed {} samples, {:.0} %: what it missed them in has too small a share", profile.missed, 100.0 * share),
        )
        .with("missed", profile.missed as f64)
        .advise(Action::SampleLess)
    })
}

fn stripped(profile: &Profile) -> Option<Finding> {
    let all = profile.samples();
    let nameless = profile.stacks.iter().filter(|stack| {
        let leaf = profile.frames_of(stack).next_back();
        leaf.is_some_and(|leaf| is_nameless(&leaf.name))
    });
    let share = nameless.map(|stack| stack.samples).sum::<u64>() as f64 / all as f64;
    (share > policy::NAMELESS).then(|| {
        Finding::new(
            "PROFILE_STRIPPED",
            Severity::Warning,
            format!("{:.0} % of the samples hit code whose function has no name: its symbols are stripped, or it was compiled at run time", 100.0 * share),
        )
        .with("share", share)
        .advise(Action::text("build with symbols (-g, no strip)"))
        .advise(Action::text("install the package of debug symbols (Debian: NAME-dbgsym)"))
    })
}

/// Names that importers give to code that has none: an object in brackets, an address.
fn is_nameless(name: &str) -> bool {
    let address = name.strip_prefix("0x").is_some_and(|a| a.bytes().all(|b| b.is_ascii_hexdigit()));
    address || name == "(unknown)" || (name.starts_with('[') && name.ends_with(']'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import;

    fn codes(profile: &Profile) -> Vec<String> {
        findings(profile).into_iter().map(|finding| finding.code).collect()
    }

    #[test]
    fn a_rate_that_was_not_delivered_is_told() {
        let mut profile = import::load_bytes(b"a 2000\n", "x").unwrap();
        (profile.asked_hz, profile.delivered_hz) = (Some(1000.0), Some(251.0));
        assert_eq!(codes(&profile), ["PROFILE_RATE"]);
        profile.delivered_hz = Some(960.0);
        assert!(codes(&profile).is_empty());
    }

    #[test]
    fn few_missed_and_nameless_samples_are_told() {
        let mut profile = import::load_bytes(b"a;[libz.so] 20\na 70\n", "x").unwrap();
        profile.missed = 3;
        assert_eq!(codes(&profile), ["PROFILE_STRIPPED", "PROFILE_FEW", "PROFILE_MISSED"]);
    }
}

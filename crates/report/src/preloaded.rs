//! Processes kept loaded by `assay warm`, listed for the terminal. Nothing is queried or decided
//! here.

use crate::layout::Screen;
use crate::layout::{Page, Tone};
use crate::number;
use crate::words::counted;
use assay_data::Unit;

/// A process that is kept loaded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PreloadedProcess {
    /// Command that started the process.
    pub command: String,
    /// Working directory.
    pub directory: String,
    /// ID of the keeper process.
    pub keeper: u64,
    /// ID of the process itself.
    pub process: u64,
    /// `ready`, `loading`, or the reason why the process is unavailable.
    pub standing: String,
    /// Time at which the process was started, such as `2026-11-25T20:15:00Z`.
    pub since: String,
    /// Time at which the process was last used.
    pub used: String,
    /// Number of runs requested from the process.
    pub runs: u64,
    /// Seconds until the process ends if it remains unused.
    pub ends_in: f64,
    /// Memory of all stages of the process, in bytes.
    pub memory: u64,
    /// Stages of the process, in order.
    pub stages: Vec<HeldStage>,
    /// State that a fork does not preserve, and files that could not be loaded.
    pub notes: Vec<String>,
}

/// A stage of a preloaded process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeldStage {
    /// Name of the stage.
    pub name: String,
    /// ID of the stage's process.
    pub process: u64,
    /// Number of files loaded.
    pub files: u64,
    /// Time taken to load the stage, in seconds.
    pub seconds: f64,
    /// The stage's share of the memory, in bytes.
    pub memory: Option<u64>,
}

/// Renders the list for the terminal. Every line ends with a newline.
pub fn screen(held: &[PreloadedProcess], screen: &Screen) -> String {
    let mut page = Page::new(screen);
    if held.is_empty() {
        page.paragraph(0, &[(Tone::Plain, "Nothing is kept loaded.".to_owned())]);
    }
    for (index, one) in held.iter().enumerate() {
        if index > 0 {
            page.gap();
        }
        one_held(&mut page, one);
    }
    page.finish()
}

fn one_held(page: &mut Page, held: &PreloadedProcess) {
    let memory = number::rough(held.memory as f64, &Unit::Byte);
    let tone = if held.standing == "ready" { Tone::Good } else { Tone::Plain };
    page.paragraph(2, &[(Tone::Strong, held.command.clone())]);
    page.paragraph(4, &[(Tone::Quiet, format!("  in {}", held.directory))]);
    let ends = match held.ends_in {
        short @ ..=90.0 => number::rough(short, &Unit::Second),
        long => format!("{} min", number::fixed(long / 60.0, 0)),
    };
    let told = format!(
        " · {memory} · process {} · {} since {} · ends if unused for {ends}",
        held.process,
        counted(usize::try_from(held.runs).unwrap_or(usize::MAX), "run"),
        minute(&held.since),
    );
    let told = page.spelled(&told);
    page.paragraph(
        4,
        &[(Tone::Plain, "  ".to_owned()), (tone, held.standing.clone()), (Tone::Plain, told)],
    );
    for stage in &held.stages {
        let memory = stage.memory.map_or(String::new(), |memory| {
            format!(", {}", number::rough(memory as f64, &Unit::Byte))
        });
        let files = counted(usize::try_from(stage.files).unwrap_or(usize::MAX), "file");
        let seconds = number::rough(stage.seconds, &Unit::Second);
        let line = format!("    {}: {files} in {seconds}{memory}", stage.name);
        page.paragraph(6, &[(Tone::Plain, line)]);
    }
    for note in &held.notes {
        page.paragraph(6, &[(Tone::Quiet, format!("    note: {note}"))]);
    }
}

/// Formats a time to the minute, since seconds are irrelevant here.
fn minute(at: &str) -> String {
    at.get(..16).unwrap_or(at).replace('T', " ") + " UTC"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_told_with_its_stages_and_what_they_hold() {
        let narrow = Screen { width: 60, color: false, unicode: true, whole: false };
        assert_eq!(screen(&[], &narrow), "Nothing is kept loaded.\n");
        let held = PreloadedProcess {
            command: "bundle exec rake routes".to_owned(),
            directory: "/home/me/shop".to_owned(),
            process: 4711,
            standing: "ready".to_owned(),
            since: "2026-11-25T20:15:42.5Z".to_owned(),
            runs: 3,
            ends_in: 1799.2,
            memory: 88 << 20,
            stages: vec![HeldStage {
                name: "application".to_owned(),
                files: 412,
                seconds: 2.25,
                memory: Some(80 << 20),
                ..HeldStage::default()
            }],
            notes: vec!["2 threads were alive".to_owned()],
            ..PreloadedProcess::default()
        };
        let told = screen(&[held], &narrow);
        for part in [
            "bundle exec rake routes",
            "88 MiB",
            "3 runs since 2026-11-25 20:15 UTC",
            "412 files",
            "note: 2 threads",
        ] {
            assert!(told.replace("\n   ", "").replace("  ", " ").contains(part), "{part}: {told}");
        }
        assert!(told.lines().all(|line| line.chars().count() <= 60), "{told}");
    }
}

//! Writes profiles for other tools: one room for every format. What a format can't hold is left out; the order in which samples were
//! taken is in none, since equal stacks are one here.

mod collapsed;
mod firefox;
mod pprof;
mod speedscope;
mod text;

use crate::model::Profile;
use std::io;
use std::path::Path;

/// A format that profiles are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Collapsed stacks: `main;parse 12`.
    Collapsed,
    /// pprof's protocol buffers, packed.
    Pprof,
    /// speedscope's JSON.
    Speedscope,
    /// JSON of the Firefox Profiler.
    Firefox,
    /// The table of `pprof --text`.
    Text,
}

/// Endings of file names, and what they mean.
pub const ENDINGS: [(&str, Format); 6] = [
    (".collapsed", Format::Collapsed),
    (".folded", Format::Collapsed),
    (".pb.gz", Format::Pprof),
    (".speedscope.json", Format::Speedscope),
    (".firefox.json", Format::Firefox),
    (".txt", Format::Text),
];

impl Format {
    /// The format that the ending of a file's name asks for.
    pub fn of_ending(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_lowercase();
        ENDINGS.iter().find(|(ending, _)| name.ends_with(ending)).map(|&(_, format)| format)
    }

    /// The file's bytes. O(frames of all stacks); JSON of sampled profiles also O(samples), up to 100 000.
    ///
    /// # Errors
    /// When packing fails, which it does not in memory.
    pub fn write(self, profile: &Profile) -> io::Result<Vec<u8>> {
        match self {
            Self::Collapsed => Ok(collapsed::write(profile).into_bytes()),
            Self::Pprof => pprof::write(profile),
            Self::Speedscope => Ok(speedscope::write(profile).to_string().into_bytes()),
            Self::Firefox => Ok(firefox::write(profile).to_string().into_bytes()),
            Self::Text => Ok(text::write(profile).into_bytes()),
        }
    }
}

/// Up to so many samples each has an entry of its own where a format counts entries; beyond it entries carry weights.
const MOST_ENTRIES: u64 = 100_000;

/// How many entries a stack gets, and the weight of each.
fn entries(profile: &Profile) -> impl Fn(&crate::Stack) -> (u64, f64) {
    let apart = profile.samples() <= MOST_ENTRIES;
    move |stack| {
        let entries = if apart { stack.samples.max(1) } else { 1 };
        (entries, stack.amount / entries as f64)
    }
}

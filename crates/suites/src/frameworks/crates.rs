//! Derives the names of crates from test programs.

use std::fs;
use std::path::Path;

/// Returns the prefix of a program's test names: the name of its crate, or `doc`.
pub(crate) fn crate_of(program: &str) -> Option<String> {
    let file = Path::new(program).file_name()?.to_string_lossy().into_owned();
    Some(match file.as_str() {
        "rustdoc" => "doc".to_owned(),
        file => file.rsplit_once('-').map_or(file, |(name, _)| name).to_owned(),
    })
}

/// Like [`crate_of`], but for a running program, using the file that the runner wrote about it.
pub(crate) fn crate_that_runs(about: &Path) -> Option<String> {
    let text = fs::read_to_string(about).ok()?;
    crate_of(text.trim_end().splitn(3, ' ').nth(2)?)
}

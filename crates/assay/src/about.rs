//! Details of this program for bug reports: `assay --version --verbose`. The commit and the target
//! are recorded by the build script (`build.rs`); nothing is looked up at run time.

use crate::others;
use std::ffi::OsString;

/// Returns true if a command line asks only for the version and its details.
pub(crate) fn is_asked(words: &[OsString]) -> bool {
    let is_version = |word: &OsString| word == "--version" || word == "-V";
    let is_verbose = |word: &OsString| word == "--verbose" || word == "-v";
    match words {
        [_, a, b] => (is_version(a) && is_verbose(b)) || (is_verbose(a) && is_version(b)),
        _ => false,
    }
}

/// Returns the lines below the version.
pub(crate) fn details() -> String {
    let features = match env!("ASSAY_FEATURES") {
        "" => "none",
        features => features,
    };
    let mut text = format!(
        "commit: {}\ntarget: {}\nfeatures: {features}\n",
        env!("ASSAY_COMMIT"),
        env!("ASSAY_TARGET"),
    );
    for (name, _) in others::SHIPPED {
        let place = others::program(name);
        let place = place.map_or("not found".to_owned(), |path| path.display().to_string());
        text += &format!("{}{name}: {place}\n", others::PREFIX);
    }
    text
}

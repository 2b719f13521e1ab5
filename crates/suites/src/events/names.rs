//! Makes the names of tests unique. Tests with the same name in several files are prefixed with
//! their file, and the remaining duplicates are numbered.

use crate::run::Test;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Prefixes tests that have the same name in several files with their file, because files that run
/// in parallel end in a different order in each run. Remaining duplicates are numbered from the
/// second on, as in reports.
pub(super) fn told_apart(tests: &mut [Test], names: &[String]) {
    let mut files: HashMap<&str, Option<&str>> = HashMap::new();
    let mut shared: HashSet<&str> = HashSet::new();
    for (test, name) in tests.iter().zip(names) {
        let Some(file) = test.file.as_deref() else { continue };
        if files.entry(name).or_insert(Some(file)).is_some_and(|first| first != file) {
            shared.insert(name);
        }
    }
    let mut times: HashMap<String, u32> = HashMap::new();
    let mut told = Vec::with_capacity(tests.len());
    for (test, name) in tests.iter().zip(names) {
        let file = test.file.as_deref().filter(|_| shared.contains(name.as_str()));
        let name = file.map_or_else(|| name.clone(), |file| in_file(file, name));
        let times = times.entry(name.clone()).or_default();
        *times += 1;
        told.push(if *times == 1 { name } else { format!("{name} #{times}") });
    }
    tests.iter_mut().zip(told).for_each(|(test, name)| test.name = name);
}

/// Returns a name prefixed with its file, replacing a prefix that is only the file's base name.
fn in_file(file: &str, name: &str) -> String {
    let last = Path::new(file).file_name().unwrap_or_default().to_string_lossy();
    let own = name.strip_prefix(&*last).and_then(|rest| rest.strip_prefix(": "));
    format!("{file}: {}", own.unwrap_or(name))
}

//! Labels for subjects that can only be named after their file: the file's stem, preceded by as
//! many directories as are needed to distinguish it from the other files.

use std::path::Path;

/// Returns one label per path. Different files with the same stem keep their extensions. If that is
/// not enough, the label also contains as many of the last directories as are needed. If a file
/// occurs twice, so does its label.
pub(crate) fn labels(paths: &[&Path]) -> Vec<String> {
    let short: Vec<_> = paths.iter().map(|path| components(path, stem)).collect();
    let parts: Vec<_> = paths
        .iter()
        .zip(&short)
        .map(|(path, own)| {
            let is_rival = |(other, parts): (&&Path, _)| other != path && parts == own;
            let is_ambiguous = paths.iter().zip(&short).any(is_rival);
            if is_ambiguous { components(path, |name| name) } else { own.clone() }
        })
        .collect();
    parts
        .iter()
        .map(|own| {
            let rivals = || parts.iter().filter(|other| *other != own);
            let differs =
                |depth: &usize| rivals().all(|other| tail(other, *depth) != tail(own, *depth));
            let depth = (1..=own.len()).find(differs).unwrap_or(own.len());
            tail(own, depth).join("/")
        })
        .collect()
}

fn tail(parts: &[String], depth: usize) -> &[String] {
    &parts[parts.len().saturating_sub(depth)..]
}

/// Returns the components of a path, the last one shortened.
fn components(path: &Path, shorten: fn(&str) -> &str) -> Vec<String> {
    let mut parts: Vec<String> =
        path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    match parts.last_mut() {
        Some(last) if last == "-" => "stdin".clone_into(last),
        Some(last) => *last = shorten(last).to_owned(),
        None => parts.push(String::new()),
    }
    parts
}

/// Returns a file name without `.gz` and without the last remaining extension.
fn stem(name: &str) -> &str {
    let name = name.strip_suffix(".gz").unwrap_or(name);
    match name.rfind('.') {
        Some(dot) if dot > 0 => &name[..dot],
        _ => name,
    }
}

/// Makes labels distinct by appending numbers, which is necessary if a file is given twice.
pub(super) fn told_apart(labels: Vec<String>) -> Vec<String> {
    let mut apart: Vec<String> = Vec::with_capacity(labels.len());
    for label in labels {
        let numbered = (2..=apart.len() + 1).map(|number| format!("{label} #{number}"));
        let free =
            std::iter::once(label.clone()).chain(numbered).find(|name| !apart.contains(name));
        apart.push(free.unwrap_or(label));
    }
    apart
}

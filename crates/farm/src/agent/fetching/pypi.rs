//! Versions of a Python distribution: the source archives listed by an index through the simple API
//! in JSON (PEP 503, PEP 691). Yanked files are skipped.

use super::{FetchError, OfferedVersion, web};
use crate::client::part;
use serde::Deserialize;

const INDEX: &str = "https://pypi.org/simple";
const ACCEPT: &str = "application/vnd.pypi.simple.v1+json";
/// Extensions of source archives that can be unpacked here; if a version has both, the first one is
/// used.
const ENDINGS: [&str; 2] = [".tar.gz", ".zip"];

#[derive(Deserialize)]
struct Page {
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    filename: String,
    url: String,
    #[serde(default)]
    hashes: Hashes,
    #[serde(default, rename = "upload-time")]
    published: Option<String>,
    /// `false`, `true`, or the reason for yanking the file.
    #[serde(default)]
    yanked: serde_json::Value,
}

#[derive(Default, Deserialize)]
struct Hashes {
    #[serde(default)]
    sha256: Option<String>,
}

/// Returns all versions with a source archive in the order of the index, usually the oldest first.
///
/// # Errors
/// If the index cannot be queried.
pub(super) fn offered(
    web: &web::Web,
    name: &str,
    index: Option<&str>,
) -> Result<Vec<OfferedVersion>, FetchError> {
    let base = index.unwrap_or(INDEX).trim_end_matches('/');
    let url = format!("{base}/{}/", part(&normal(name)));
    let text = web.text(&url, ACCEPT)?;
    read(&text, name, &url)
}

fn read(text: &[u8], name: &str, url: &str) -> Result<Vec<OfferedVersion>, FetchError> {
    let page: Page = serde_json::from_slice(text).map_err(|error| {
        FetchError::Version(format!("{url} is not a page of the simple API in JSON: {error}"))
    })?;
    let is_yanked = |own: &File| match &own.yanked {
        serde_json::Value::Bool(yes) => *yes,
        serde_json::Value::String(_) => true,
        _ => false,
    };
    let all = page.files.into_iter().filter(|own| !is_yanked(own));
    let archives = all.filter_map(|own| {
        let (ending, version) = version(&own.filename, name)?;
        let offered = OfferedVersion {
            version: version.to_owned(),
            address: Some(web::joined(url, own.url.split('#').next().unwrap_or_default())),
            sha256: own.hashes.sha256,
            published: own.published,
        };
        Some((ending, offered))
    });
    let mut offered: Vec<(usize, OfferedVersion)> = Vec::new();
    for (ending, own) in archives {
        match offered.iter_mut().find(|(_, other)| other.version == own.version) {
            Some(other) if ending < other.0 => *other = (ending, own),
            Some(_) => {}
            None => offered.push((ending, own)),
        }
    }
    Ok(offered.into_iter().map(|(_, own)| own).collect())
}

/// Returns a normalized name, as indexes compare them.
fn normal(name: &str) -> String {
    let parts: Vec<&str> = name.split(['-', '_', '.']).filter(|own| !own.is_empty()).collect();
    parts.join("-").to_lowercase()
}

/// Returns the index of a source archive's extension in [`ENDINGS`], and the version in the
/// archive's name.
fn version<'a>(file: &'a str, name: &str) -> Option<(usize, &'a str)> {
    let mut endings = ENDINGS.into_iter().enumerate();
    let (place, whole) =
        endings.find_map(|(place, ending)| Some((place, file.strip_suffix(ending)?)))?;
    // A version has no hyphen, but old names may have one.
    let (first, version) = whole.rsplit_once('-')?;
    (normal(first) == normal(name) && !version.is_empty()).then_some((place, version))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn source_archives_are_versions() {
        let page = br#"{"meta":{"api-version":"1.1"},"files":[
            {"filename":"Some_Thing-1.0.tar.gz","url":"/f/Some_Thing-1.0.tar.gz#x","hashes":{"sha256":"ab"},"upload-time":"2020-01-02T03:04:05Z","yanked":false},
            {"filename":"some_thing-1.1-py3-none-any.whl","url":"x.whl","hashes":{}},
            {"filename":"some-thing-1.2.tar.gz","url":"https://h/some-thing-1.2.tar.gz","hashes":{},"yanked":"broken"},
            {"filename":"some-thing-1.3.zip","url":"z","hashes":{}},
            {"filename":"some-thing-1.4.zip","url":"z","hashes":{}},
            {"filename":"some-thing-1.4.tar.gz","url":"t","hashes":{}},
            {"filename":"some-thing-1.4.zip","url":"z","hashes":{}},
            {"filename":"other-1.3.tar.gz","url":"x","hashes":{}}]}"#;
        let found = read(page, "some.thing", "http://i/simple/some-thing/").unwrap();
        let versions: Vec<_> = found.iter().map(|own| own.version.as_str()).collect();
        assert_eq!(versions, ["1.0", "1.3", "1.4"]);
        assert!(found[2].address.as_deref().unwrap().ends_with("/t"));
        assert_eq!(found[0].version, "1.0");
        assert_eq!(found[0].address.as_deref(), Some("http://i/f/Some_Thing-1.0.tar.gz"));
        assert_eq!(found[0].sha256.as_deref(), Some("ab"));
        assert!(read(b"<html>", "x", "u").is_err());
    }
}

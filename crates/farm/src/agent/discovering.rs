//! Discovers new versions. For each project with an origin, versions that exist there but not on
//! the server are added, the latest first if there are many; releases that no longer exist are
//! marked. The server queues a job for each target that needs one, so versions that have a build
//! for their target are not built again.

use super::fetching::{FetchContext, FetchError, OfferedVersion, offered};
use super::policy::DISCOVERED;
use crate::client::{Client, ClientError};
use assay_farm::builds::model::VersionKind;
use assay_farm::builds::wire::Version;
use std::collections::HashSet;

/// Looks at all projects. Projects that could not be looked at are reported through `says`.
///
/// # Errors
/// If the server cannot be reached.
pub(super) fn discover(
    client: &Client,
    means: &mut FetchContext<'_>,
    says: &mut dyn FnMut(&str),
) -> Result<u64, ClientError> {
    let mut added = 0;
    for owner in client.owners()? {
        for project in client.projects(&owner.name)? {
            let Some(origin) = &project.of.origin else { continue };
            if assay_measure::interrupt::count() > 0 {
                return Ok(added);
            }
            let place = (owner.name.as_str(), project.name.as_str());
            let all = client.versions(place.0, place.1)?;
            // A version that has reappeared is added again.
            let known = all.iter().filter(|own| !own.is_gone);
            let known: HashSet<String> = known.map(|own| own.name.clone()).collect();
            let found = match offered(origin, &known, means, says) {
                Ok(found) => found,
                Err(FetchError::Ended) => return Ok(added),
                Err(error) => {
                    says(&format!("{}/{}: {error}", place.0, place.1));
                    continue;
                }
            };
            for name in gone(&all, &found) {
                say_of(client.version_is_gone(place, name), says)?;
            }
            for (kind, own) in new(found, &known) {
                let name = own.version.clone();
                let new = client.add_version(place, &name, &own.added(kind));
                added += u64::from(say_of(new.map(drop), says)?);
            }
        }
    }
    Ok(added)
}

/// Returns true if the request succeeded. Refusals are reported and do not stop the other requests.
fn say_of(done: Result<(), ClientError>, says: &mut dyn FnMut(&str)) -> Result<bool, ClientError> {
    match done {
        Ok(()) => Ok(true),
        Err(error) if error.is_away() => Err(error),
        Err(error) => {
            says(&error.to_string());
            Ok(false)
        }
    }
}

/// Returns the known releases that are no longer offered. If an origin offers nothing at all, the
/// origin is assumed to be broken, and no release is returned.
fn gone<'a>(known: &'a [Version], found: &[(VersionKind, OfferedVersion)]) -> Vec<&'a str> {
    let there: HashSet<&str> = found.iter().map(|(_, own)| own.version.as_str()).collect();
    let releases = known.iter().filter(|own| own.of.kind == VersionKind::Release && !own.is_gone);
    let gone = releases.filter(|own| !there.is_empty() && !there.contains(own.name.as_str()));
    gone.map(|own| own.name.as_str()).collect()
}

/// Returns the versions that are not known yet: at most [`DISCOVERED`] of them, the latest by date,
/// or by the order of the origin if they have no dates.
fn new(
    found: Vec<(VersionKind, OfferedVersion)>,
    known: &HashSet<String>,
) -> Vec<(VersionKind, OfferedVersion)> {
    let mut new: Vec<_> =
        found.into_iter().filter(|(_, own)| !known.contains(&own.version)).collect();
    // A branch and a tag may be the same commit, and a release may exist as two archives.
    let mut seen = HashSet::new();
    new.retain(|(_, own)| seen.insert(own.version.clone()));
    let date = |own: &OfferedVersion| own.published.as_deref().and_then(|date| date.parse().ok());
    new.sort_by_cached_key(|(_, own)| date(own) as Option<jiff::Timestamp>);
    new.split_off(new.len().saturating_sub(DISCOVERED))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(version: &str) -> (VersionKind, OfferedVersion) {
        let version = version.to_owned();
        let own = OfferedVersion { version, address: None, sha256: None, published: None };
        (VersionKind::Release, own)
    }

    #[test]
    fn what_has_a_date_is_added_in_the_order_of_dates() {
        let at = |version: &str, date: &str| {
            let (kind, own) = offered(version);
            (kind, OfferedVersion { published: Some(date.to_owned()), ..own })
        };
        let all = vec![
            at("main", "2026-03-01T00:00:00Z"),
            at("v1.10", "2026-02-01T00:00:00Z"),
            at("v1.2", "2026-01-31T23:00:00-02:00"),
            at("v1.9", "2026-01-31T23:30:00Z"),
        ];
        let found = new(all, &HashSet::new());
        let names: Vec<_> = found.iter().map(|(_, own)| own.version.as_str()).collect();
        assert_eq!(names, ["v1.9", "v1.10", "v1.2", "main"]);
    }

    #[test]
    fn releases_that_are_not_offered_any_more_are_gone() {
        let version = |name: &str, kind, is_gone| {
            let of = offered(name).1.added(kind);
            let (owner, project) = (String::new(), String::new());
            Version { id: 1, owner, project, name: name.to_owned(), is_gone, of }
        };
        let known = [
            version("1.0", VersionKind::Release, false),
            version("1.1", VersionKind::Release, false),
            version("0.9", VersionKind::Release, true),
            // Branches change, so missing commits are not marked as gone.
            version("abc", VersionKind::Commit, false),
        ];
        assert_eq!(gone(&known, &[offered("1.1")]), ["1.0"]);
        assert!(gone(&known, &[]).is_empty());
    }

    #[test]
    fn what_is_known_is_not_added_and_of_many_the_latest_are() {
        let all: Vec<_> =
            (0..DISCOVERED + 10).chain([0]).map(|i| offered(&format!("1.{i}"))).collect();
        let known = HashSet::from([format!("1.{}", DISCOVERED + 9)]);
        let found = new(all, &known);
        assert_eq!(found.len(), DISCOVERED);
        assert_eq!(found[0].1.version, "1.9");
        assert_eq!(found[DISCOVERED - 1].1.version, format!("1.{}", DISCOVERED + 8));
    }
}

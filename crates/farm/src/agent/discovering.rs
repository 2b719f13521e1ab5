//! New versions, found by looking: of each project that says where its versions come from, what is there and not yet on the server is added, the latest
//! first where there are many. The server queues a job for each target that asks for it, so what has a build for its target is not built again.

use super::fetching::{FetchError, Means, Offered, offered};
use super::policy::DISCOVERED;
use crate::client::{Client, ClientError};
use assay_builds::model::VersionKind;
use std::collections::HashSet;

/// Looks at all projects. What could not be looked at is told to `says`.
///
/// # Errors
/// When the server can't be asked.
pub(super) fn discover(
    client: &Client,
    means: &mut Means<'_>,
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
            let found = match offered(origin, means) {
                Ok(found) => found,
                Err(FetchError::Ended) => return Ok(added),
                Err(error) => {
                    says(&format!("{}/{}: {error}", place.0, place.1));
                    continue;
                }
            };
            let known: HashSet<String> =
                client.versions(place.0, place.1)?.into_iter().map(|own| own.name).collect();
            for (kind, own) in new(found, &known) {
                let name = own.version.clone();
                match client.add_version(place, &name, &own.added(kind)) {
                    Ok(_) => added += 1,
                    Err(error) if error.is_away() => return Err(error),
                    Err(error) => says(&error.to_string()),
                }
            }
        }
    }
    Ok(added)
}

/// What is not known, at most so many of the last, in the order of the origin.
fn new(
    found: Vec<(VersionKind, Offered)>,
    known: &HashSet<String>,
) -> Vec<(VersionKind, Offered)> {
    let mut new: Vec<_> =
        found.into_iter().filter(|(_, own)| !known.contains(&own.version)).collect();
    // A branch and a tag may be the same commit, a release be there in two archives.
    let mut seen = HashSet::new();
    new.retain(|(_, own)| seen.insert(own.version.clone()));
    new.split_off(new.len().saturating_sub(DISCOVERED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_not_added_and_of_many_the_latest_are() {
        let offered = |version: String| Offered {
            version,
            address: None,
            sha256: None,
            published: None,
        };
        let all: Vec<_> = (0..DISCOVERED + 10)
            .chain([0])
            .map(|i| (VersionKind::Release, offered(format!("1.{i}"))))
            .collect();
        let known = HashSet::from([format!("1.{}", DISCOVERED + 9)]);
        let found = new(all, &known);
        assert_eq!(found.len(), DISCOVERED);
        assert_eq!(found[0].1.version, "1.9");
        assert_eq!(found[DISCOVERED - 1].1.version, format!("1.{}", DISCOVERED + 8));
    }
}

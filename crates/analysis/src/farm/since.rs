//! Determines from earlier results since which version a target is affected.

/// The range of versions in which a change occurred: after one version, and no later than another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Since {
    /// The last version known to be unaffected; `None` if there is none.
    pub after: Option<usize>,
    /// The first version known to be affected.
    pub first: usize,
}

impl Since {
    /// Returns the first version that may be affected.
    pub(super) fn earliest(self) -> usize {
        self.after.map_or(0, |after| after + 1)
    }

    /// Returns true if the first affected version is known exactly.
    pub fn is_exact(self) -> bool {
        self.after.is_some_and(|after| after + 1 == self.first)
    }

    /// Searches backwards from an affected version. `known` returns whether an earlier version was
    /// affected, or `None` if this is unknown. `floor` is a version that was certainly not
    /// affected.
    pub(super) fn back_from(
        version: usize,
        floor: Option<usize>,
        known: impl Fn(usize) -> Option<bool>,
    ) -> Self {
        let mut first = version;
        let begin = floor.map_or(0, |floor| floor + 1);
        for earlier in (begin..version).rev() {
            match known(earlier) {
                Some(true) => first = earlier,
                Some(false) => return Self { after: Some(earlier), first },
                None => {}
            }
        }
        Self { after: floor, first }
    }
}

/// Groups targets that may have been affected by the same change, into as few groups as possible.
/// Each group has the range of versions that fits all of its targets. Groups are in order of
/// versions. O(n log n).
pub(super) fn grouped(mut each: Vec<(usize, Since)>) -> Vec<(Vec<usize>, Since)> {
    each.sort_by_key(|&(target, since)| (since.first, target));
    let mut groups: Vec<(Vec<usize>, Since)> = Vec::new();
    for (target, since) in each {
        // A target joins the group if its change may have come with the version that first affected
        // the group's first target.
        match groups.last_mut() {
            Some((targets, shared)) if since.earliest() <= shared.first => {
                targets.push(target);
                shared.after = shared.after.max(since.after);
            }
            _ => groups.push((vec![target], since)),
        }
    }
    for (targets, _) in &mut groups {
        targets.sort_unstable();
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn since(after: Option<usize>, first: usize) -> Since {
        Since { after, first }
    }

    #[test]
    fn a_version_that_nobody_tested_may_have_been_the_first() {
        let known = [Some(false), None, Some(true), None, Some(true)];
        let found = Since::back_from(5, None, |version| known[version]);
        assert_eq!(found, since(Some(0), 2));
        assert!(!found.is_exact() && since(Some(1), 2).is_exact());
        assert_eq!(Since::back_from(5, Some(3), |version| known[version]), since(Some(3), 4));
        assert_eq!(Since::back_from(2, None, |_| Some(true)), since(None, 0));
    }

    #[test]
    fn targets_that_may_share_a_change_are_taken_for_one() {
        // Target 7 changed with 2 or 3, target 1 with 3 exactly, target 4 with 5 exactly.
        let each = vec![(7, since(Some(1), 3)), (4, since(Some(4), 5)), (1, since(Some(2), 3))];
        assert_eq!(grouped(each), [(vec![1, 7], since(Some(2), 3)), (vec![4], since(Some(4), 5))]);
        // A target without a known unaffected version fits any change.
        let each = vec![(0, since(None, 9)), (1, since(Some(2), 3))];
        assert_eq!(grouped(each), [(vec![0, 1], since(Some(2), 3))]);
    }
}

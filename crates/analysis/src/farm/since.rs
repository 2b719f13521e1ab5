//! Since which version something is so: from what was known before it, target by target.

/// Where a change lies: behind one version, at another one at the latest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Since {
    /// The last version of which it is known that it was not so; `None`: it was never seen
    /// otherwise.
    pub after: Option<usize>,
    /// The first version that was seen so.
    pub first: usize,
}

impl Since {
    /// The first version that may have it.
    pub(super) fn earliest(self) -> usize {
        self.after.map_or(0, |after| after + 1)
    }

    /// Whether it is known which version it was.
    pub fn is_exact(self) -> bool {
        self.after.is_some_and(|after| after + 1 == self.first)
    }

    /// Going back from a version that is so: `known` says of an earlier one whether it was; `None`:
    /// nobody knows. `floor`: a version that was surely not.
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

/// Targets by what may be one change: as few groups as possible, each with the versions that are
/// left for all of its targets. In the order of versions. O(n log n).
pub(super) fn grouped(mut each: Vec<(usize, Since)>) -> Vec<(Vec<usize>, Since)> {
    each.sort_by_key(|&(target, since)| (since.first, target));
    let mut groups: Vec<(Vec<usize>, Since)> = Vec::new();
    for (target, since) in each {
        // All that may have begun with the first version of the group's first target.
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
        // On 7 it came with 2 or 3, on 1 with 3 exactly, on 4 with 5 exactly.
        let each = vec![(7, since(Some(1), 3)), (4, since(Some(4), 5)), (1, since(Some(2), 3))];
        assert_eq!(grouped(each), [(vec![1, 7], since(Some(2), 3)), (vec![4], since(Some(4), 5))]);
        // One that was never seen otherwise may have any.
        let each = vec![(0, since(None, 9)), (1, since(Some(2), 3))];
        assert_eq!(grouped(each), [(vec![0, 1], since(Some(2), 3))]);
    }
}

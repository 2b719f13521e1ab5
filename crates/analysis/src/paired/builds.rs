//! Blocks of several builds a side: the interval over builds, and whether their effects are known
//! well enough.
//!
//! Method: [`assay_stats::crossed`]. The builds, not the blocks, are what is sampled. When to stop
//! is decided elsewhere.

use super::{Level, Paired};
use crate::dependence::Dependence;
use crate::policy;
use crate::verdict::Scale;
use assay_data::Threshold;
use assay_stats::Interval;
use assay_stats::crossed::{self, Crossed};

impl Paired {
    /// Says which builds gave the block that was added last. All blocks have theirs, or none.
    pub fn push_builds(&mut self, reference: u32, other: u32) {
        self.builds.push((reference, other));
    }

    /// Whether blocks are of several builds.
    pub fn has_builds(&self) -> bool {
        !self.builds.is_empty()
    }

    /// What differences of these blocks show over the builds of either side; `None` where there is
    /// one of each. O(blocks · log).
    pub fn over_builds(&self, differences: &[f64]) -> Option<Crossed> {
        crossed::difference(differences, &self.builds)
    }

    /// Whether more blocks would hardly narrow the interval over builds: their noise makes little
    /// of its error, or little of what matters. The difference itself has no say in it, so the
    /// interval is looked at once, however long that takes.
    pub fn are_builds_known(&self, threshold: &Threshold) -> bool {
        let scale = self.scale(threshold);
        let found = match scale {
            Scale::Ratio => self.over_builds(&self.log_ratios),
            Scale::Shift => self.over_builds(&self.shifts()),
        };
        found.filter(|found| found.between.is_some()).is_some_and(|found| {
            // It is in the effects of both sides.
            let noise = 2.0 * found.squared_noise;
            let matters = policy::NOISE_OF_THRESHOLD * self.threshold_on(scale, threshold);
            noise <= policy::NOISE_SHARE * found.squared_error || noise.sqrt() <= matters
        })
    }

    /// The difference on a scale: over builds, where there are several.
    pub fn effect_over_builds(
        &self,
        scale: Scale,
        level: Level,
    ) -> Option<(f64, Option<Interval>)> {
        let found = match scale {
            Scale::Ratio => self.over_builds(&self.log_ratios),
            Scale::Shift => self.over_builds(&self.shifts()),
        }?;
        Some((found.estimate, found.interval(1.0 - level.groups, policy::FEWEST_BUILDS)))
    }
}

/// The interval over builds, and what `dependence` of the blocks' differences, with an interval of
/// their own, makes of it. What wanders during the run is not the builds' doing, and widens their
/// interval as it does any other.
pub(super) fn interval(
    builds: &Crossed,
    level: Level,
    dependence: Dependence,
    own: Option<Interval>,
) -> Option<Interval> {
    let over = builds.interval(1.0 - level.groups, policy::FEWEST_BUILDS)?;
    match dependence {
        Dependence::Unseen | Dependence::Untested => Some(over),
        Dependence::Noticed => own.map(|own| over.covering(own)),
        Dependence::TooStrong => None,
    }
}

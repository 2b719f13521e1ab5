//! Blocks with several builds per side: the interval over builds, and a check that the builds'
//! effects are known well enough.
//!
//! The method is [`assay_stats::crossed`]. The sampled units are builds, not blocks.

use super::{Level, Paired};
use crate::dependence::Dependence;
use crate::policy;
use crate::verdict::Scale;
use assay_data::Threshold;
use assay_stats::Interval;
use assay_stats::crossed::{self, Crossed};

impl Paired {
    /// Sets the builds of the last block. Either all blocks have builds, or none has.
    pub fn push_builds(&mut self, reference: u32, other: u32) {
        self.builds.push((reference, other));
    }

    /// Returns true if the blocks have several builds.
    pub fn has_builds(&self) -> bool {
        !self.builds.is_empty()
    }

    /// Analyzes the differences of these blocks over the builds of both sides; `None` if each side
    /// has only one build. O(blocks · log).
    pub fn over_builds(&self, differences: &[f64]) -> Option<Crossed> {
        crossed::difference(differences, &self.builds)
    }

    /// Returns true if more blocks would hardly narrow the interval over builds, because block
    /// noise contributes little to its error, or little relative to the threshold. This does not
    /// depend on the difference itself, so the interval is still evaluated only once.
    pub fn are_builds_known(&self, threshold: &Threshold) -> bool {
        let scale = self.scale(threshold);
        let found = match scale {
            Scale::Ratio => self.over_builds(&self.log_ratios),
            Scale::Shift => self.over_builds(&self.shifts()),
        };
        found.filter(|found| found.between.is_some()).is_some_and(|found| {
            // The effects of both sides contain the noise, so it counts twice.
            let noise = 2.0 * found.squared_noise;
            let matters = policy::NOISE_OF_THRESHOLD * self.threshold_on(scale, threshold);
            noise <= policy::NOISE_SHARE * found.squared_error || noise.sqrt() <= matters
        })
    }

    /// Returns the difference on a scale and its interval over builds; `None` if each side has only
    /// one build.
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

/// Returns the interval over builds. It is widened to cover `own`, the interval over blocks, if the
/// `dependence` of their differences is noticed. `None` if the dependence is too strong or if there
/// are too few builds. Builds do not cause drift during the run, so drift widens this interval like
/// any other.
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

//! Comparison of sides that have several recordings. The mean of each recording is one value,
//! because all values of a recording share its peculiarities.
//!
//! The smallest two-sided p-value of a rank test is .10 with three recordings per side and .029
//! with four. So from [`RANKED_FROM`] recordings on, the rank test decides, as everywhere else.
//! With three, Welch's t interval decides. It assumes normally distributed recordings, which a
//! finding states (Kalibera and Jones 2013). With fewer, there is no interval. Sides with several
//! builds have the same minimum ([`policy::FEWEST_BUILDS`]).

use crate::checks;
use crate::comparison::Comparison;
use crate::levels;
use crate::policy;
use assay_data::code;
use assay_data::{Action, Finding, Severity};

/// Minimum number of recordings per side with which a rank test can show a difference at the usual
/// level.
pub(crate) const RANKED_FROM: usize = 4;

/// Returns the finding about a comparison of few recordings, if there is one.
pub(crate) fn finding(c: &Comparison, name: &str) -> Option<Finding> {
    let (n, m) = c.counts;
    let fewest = policy::FEWEST_BUILDS;
    let message = match c.decision.interval {
        Some(_) => format!(
            "with {n} and {m} recordings, ranks cannot decide: this is Student's t interval, which assumes that recordings are normally distributed; with {RANKED_FROM} or more a side, nothing is assumed"
        ),
        None if n.min(m) < fewest => {
            return Some(
                checks::too_few(format!(
                    "{n} and {m} recordings are too few for a verdict, since values of one recording are not independent: {fewest} on each side allow an interval, {RANKED_FROM} one without assumptions"
                ))
                .advise(Action::MoreUnits { units: levels::plural(levels::RECORDING) })
                .about(name)
                .with("of", m as f64)
                .with("against", n as f64),
            );
        }
        None => return None,
    };
    Some(
        Finding::new(code::UNITS_COMPARED, message)
            .at(Severity::Warning)
            .advise(Action::MoreUnits { units: levels::plural(levels::RECORDING) })
            .about(name)
            .with("of", m as f64)
            .with("against", n as f64),
    )
}

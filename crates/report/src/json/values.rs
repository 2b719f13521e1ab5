//! The small values shared by all JSON documents: intervals, estimates, names with values, and the
//! words for verdicts.
//!
//! Values that are unknown, not finite or meaningless are `null`: such a field is an `Option`, and
//! a NaN in it is also written as `null`.

use assay_analysis::{Effect, coverage::Optimistic};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// An interval. An end is `null` where it is infinite or there is no interval.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// Its lower end.
    pub lower: Option<f64>,
    /// Its upper end.
    pub upper: Option<f64>,
}

impl Interval {
    /// An interval of which both ends are `null` where there is none.
    pub(crate) fn ends(found: Option<assay_analysis::Interval>) -> Self {
        Self { lower: found.map(|i| i.lower), upper: found.map(|i| i.upper) }
    }
}

impl From<assay_analysis::Interval> for Interval {
    fn from(found: assay_analysis::Interval) -> Self {
        Self::ends(Some(found))
    }
}

/// A number with its interval. The ends are `null` where there is no interval.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The best estimate.
    pub estimate: Option<f64>,
    /// Lower end of its interval.
    pub lower: Option<f64>,
    /// Upper end of its interval.
    pub upper: Option<f64>,
}

impl Estimate {
    /// An estimate with its interval, if there is one.
    pub(crate) fn new(estimate: f64, interval: Option<assay_analysis::Interval>) -> Self {
        let Interval { lower, upper } = Interval::ends(interval);
        Self { estimate: Some(estimate), lower, upper }
    }
}

impl From<Effect> for Estimate {
    fn from(effect: Effect) -> Self {
        Self::new(effect.estimate, effect.interval)
    }
}

/// A number of each of the two that are compared.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Both {
    /// That of the side that the verdict is about.
    pub of: Option<f64>,
    /// That of the reference.
    pub against: Option<f64>,
}

impl Both {
    /// From a pair that names the reference first, as the analysis does.
    pub(crate) fn new((against, of): (f64, f64)) -> Self {
        Self { of: Some(of), against: Some(against) }
    }
}

/// How often such intervals hold, where that is less often than they promise.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Coverage {
    /// The confidence that the interval promises: 0.95.
    pub nominal: f64,
    /// The share of simulated experiments in which it held.
    pub simulated: f64,
    /// The kind of data that these values are like: `normal`, `lognormal`, `bimodal`, `heavy_tail`, `ties` or `ar1_0.5`; the
    /// worst of those that fit.
    pub situation: &'static str,
}

impl From<Optimistic> for Coverage {
    fn from(found: Optimistic) -> Self {
        Self {
            nominal: found.nominal,
            simulated: found.simulated,
            situation: found.situation.name(),
        }
    }
}

/// Values by name, in their order.
#[derive(Clone, Debug)]
pub struct Named<T>(pub Vec<(String, T)>);

impl<T> FromIterator<(String, T)> for Named<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Named<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("NamedOf{}", T::schema_name()).into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "object", "additionalProperties": generator.subschema_for::<T>()})
    }
}

/// A significance level, which is 1 minus a confidence: twelve digits, so that 0.05 is not 0.050000000000000044.
pub(crate) fn level(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

/// Makes an enum of words, and the conversion from the type of the analysis that it names.
macro_rules! words {
    (
        $(#[$of_all:meta])* $name:ident from $source:ty {
            $($(#[$of_one:meta])* $pattern:pat => $variant:ident),* $(,)?
        }
    ) => {
        $(#[$of_all])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$of_one])* $variant),*
        }

        impl From<&$source> for $name {
            fn from(source: &$source) -> Self {
                type Source = $source;
                match source {
                    $($pattern => Self::$variant),*
                }
            }
        }
    };
}
pub(crate) use words;

/// Makes an object of a document, and a constructor that names the source of each member beside its type.
macro_rules! view {
    (
        $(#[$of_all:meta])*
        $name:ident of ($($given:ident: $source:ty),*) {
            $($(#[$of_one:meta])* $member:ident: $kind:ty = $value:expr),* $(,)?
        }
    ) => {
        $(#[$of_all])*
        #[derive(Clone, Debug, serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $name {
            $($(#[$of_one])* pub $member: $kind),*
        }

        impl $name {
            /// From what it is about.
            pub fn of($($given: $source),*) -> Self {
                Self { $($member: $value),* }
            }
        }
    };
}
pub(crate) use view;

words! {
    /// What is known of a difference.
    Verdict from assay_analysis::Verdict {
        /// Better than the reference: for times, less.
        Source::Faster => Faster,
        /// Worse than the reference.
        Source::Slower => Slower,
        /// Any difference is within the threshold.
        Source::Equivalent => Equivalent,
        /// Not known.
        Source::Inconclusive => Inconclusive,
    }
}

words! {
    /// Which values are better.
    Better from assay_data::Better {
        /// Smaller ones.
        Source::Lower => Lower,
        /// Larger ones.
        Source::Higher => Higher,
    }
}

words! {
    /// How the samples were taken.
    Design from assay_data::Design {
        /// Everything that is compared once per block, in random order.
        Source::Blocks => Blocks,
        /// Recorded apart.
        Source::Unpaired => Unpaired,
        /// No values survive, only a summary of them.
        Source::Summary => Summary,
    }
}

words! {
    /// On which scale a difference is decided.
    Scale from assay_analysis::Scale {
        /// `of` / `against`.
        Source::Ratio => Ratio,
        /// `of` − `against`, in the metric's unit.
        Source::Shift => Shift,
    }
}

words! {
    /// Why measuring stopped.
    StopReason from assay_data::StopReason {
        /// Every comparison has its answer.
        Source::Clear => Clear,
        /// One command alone: its median is known well enough.
        Source::Precise => Precise,
        /// One command alone: twice as many runs hardly made the interval of its median narrower.
        Source::Diminishing => Diminishing,
        /// As many blocks as planned were taken.
        Source::Blocks => Blocks,
        /// The time was spent.
        Source::Budget => Budget,
        /// The user stopped it.
        Source::Interrupted => Interrupted,
        /// A command or a hook failed.
        Source::Failed => Failed,
        /// The condition of `--until` came true.
        Source::Until => Until,
    }
}

words! {
    /// How much a finding matters.
    Severity from assay_data::Severity {
        /// Worth knowing; the verdict stands.
        Source::Note => Note,
        /// The verdict may be off, or could be had more cheaply.
        Source::Warning => Warning,
        /// The verdict was changed or withheld because of this.
        Source::Serious => Serious,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_written_without_what_subtraction_left() {
        assert_eq!(level(1.0 - 0.95), 0.05);
        assert_eq!(level(1e-9 / 3.0), 3.333_333_333_33e-10);
        assert!(level(f64::NAN).is_nan());
    }

    #[test]
    fn what_is_not_finite_is_null() {
        let estimate = Estimate::new(f64::NAN, None);
        let text = serde_json::to_string(&estimate).unwrap_or_default();
        assert_eq!(text, r#"{"estimate":null,"lower":null,"upper":null}"#);
    }
}

//! The small values shared by all JSON documents: intervals, estimates, names with values, and the
//! words for verdicts.
//!
//! Values that are unknown, not finite or meaningless are `null`: such a field is an `Option`, and
//! a NaN in it is also written as `null`.

use assay_analysis::{Effect, coverage::Optimistic};
use assay_data::{ParameterValue, Unit};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// An interval. An end is `null` if it is infinite or if there is no interval.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// Lower end of the interval.
    pub lower: Option<f64>,
    /// Upper end of the interval.
    pub upper: Option<f64>,
}

impl Interval {
    /// Returns an interval, with `null` for both ends if there is none.
    pub(crate) fn ends(found: Option<assay_analysis::Interval>) -> Self {
        Self { lower: found.map(|i| i.lower), upper: found.map(|i| i.upper) }
    }
}

impl From<assay_analysis::Interval> for Interval {
    fn from(found: assay_analysis::Interval) -> Self {
        Self::ends(Some(found))
    }
}

/// An estimate with its interval. Both ends are `null` if there is no interval.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The best estimate.
    pub estimate: Option<f64>,
    /// Lower end of the interval.
    pub lower: Option<f64>,
    /// Upper end of the interval.
    pub upper: Option<f64>,
}

impl Estimate {
    /// Returns an estimate with its interval, if any.
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

/// A number for each of two compared sides.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Both {
    /// Value for the side that the verdict is about.
    pub of: Option<f64>,
    /// Value for the reference.
    pub against: Option<f64>,
}

impl Both {
    /// Returns the numbers from a pair in the order of the analysis, where the reference comes
    /// first.
    pub(crate) fn new((against, of): (f64, f64)) -> Self {
        Self { of: Some(of), against: Some(against) }
    }
}

/// Simulated coverage of an interval, if it is too low for its confidence.
#[derive(Clone, Debug, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Coverage {
    /// Nominal coverage of the interval: 0.95.
    pub nominal: f64,
    /// Share of simulated experiments in which the interval contained the true value.
    pub simulated: f64,
    /// The kind of simulated data most similar to these values: `normal`, `lognormal`, `bimodal`,
    /// `heavy_tail`, `ties` or `ar1_0.5`. If several are similar, the one with the lowest coverage.
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
pub struct NamedValues<T>(pub Vec<(String, T)>);

impl<T> FromIterator<(String, T)> for NamedValues<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl<T: Serialize> Serialize for NamedValues<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        self.0.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for NamedValues<T> {
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

/// Rounds a significance level, which is 1 minus the confidence, to twelve digits, so that 0.05 is
/// not written as 0.050000000000000044.
pub(crate) fn level(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

/// Defines an enum of words for JSON, and the conversion from the given type of the analysis.
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

        impl $crate::json::values::View<$source> for $name {
            fn view(source: &$source) -> Self {
                source.into()
            }
        }
    };
}
pub(crate) use words;

/// A member of a document that can be created from a source, usually the member of the same name.
pub(crate) trait View<S: ?Sized> {
    /// Returns the member.
    fn view(source: &S) -> Self;
}

macro_rules! same {
    ($($kind:ty),*) => { $(
        impl View<$kind> for $kind {
            fn view(source: &$kind) -> Self {
                source.clone()
            }
        }
    )* };
}
same!(bool, f64, i32, i64, u16, u32, u64, u8, usize, String, &'static str, Map<String, Value>);

/// A number that may be NaN, which JSON writes as `null`.
impl View<f64> for Option<f64> {
    fn view(source: &f64) -> Self {
        Some(*source)
    }
}

impl View<u32> for u64 {
    fn view(source: &u32) -> Self {
        (*source).into()
    }
}

impl View<str> for String {
    fn view(source: &str) -> Self {
        source.to_owned()
    }
}

/// The symbol of a unit.
impl View<Unit> for String {
    fn view(source: &Unit) -> Self {
        source.symbol().to_owned()
    }
}

impl<S: ?Sized, T: View<S>> View<&S> for T {
    fn view(source: &&S) -> Self {
        T::view(source)
    }
}

impl<S, T: View<S>> View<Box<S>> for T {
    fn view(source: &Box<S>) -> Self {
        T::view(source)
    }
}

impl<S, T: View<S>> View<Option<S>> for Option<T> {
    fn view(source: &Option<S>) -> Self {
        source.as_ref().map(T::view)
    }
}

impl<S, T: View<S>> View<[S]> for Vec<T> {
    fn view(source: &[S]) -> Self {
        source.iter().map(T::view).collect()
    }
}

impl<S, T: View<S>> View<Vec<S>> for Vec<T> {
    fn view(source: &Vec<S>) -> Self {
        Self::view(source.as_slice())
    }
}

impl<S, T: View<S>> View<BTreeMap<String, S>> for BTreeMap<String, T> {
    fn view(source: &BTreeMap<String, S>) -> Self {
        source.iter().map(|(name, value)| (name.clone(), T::view(value))).collect()
    }
}

impl<S, T: View<S>> View<Vec<(String, S)>> for NamedValues<T> {
    fn view(source: &Vec<(String, S)>) -> Self {
        source.iter().map(|(name, value)| (name.clone(), T::view(value))).collect()
    }
}

impl View<Vec<(String, ParameterValue)>> for Map<String, Value> {
    fn view(source: &Vec<(String, ParameterValue)>) -> Self {
        super::parameters(source)
    }
}

impl View<assay_analysis::Interval> for Interval {
    fn view(source: &assay_analysis::Interval) -> Self {
        (*source).into()
    }
}

impl View<Option<assay_analysis::Interval>> for Interval {
    fn view(source: &Option<assay_analysis::Interval>) -> Self {
        Self::ends(*source)
    }
}

impl View<Effect> for Estimate {
    fn view(source: &Effect) -> Self {
        (*source).into()
    }
}

/// A share with its interval, if any.
impl View<(f64, Option<assay_analysis::Interval>)> for Estimate {
    fn view(&(estimate, interval): &(f64, Option<assay_analysis::Interval>)) -> Self {
        Self::new(estimate, interval)
    }
}

impl View<[f64; 2]> for Both {
    fn view(source: &[f64; 2]) -> Self {
        Self::new((*source).into())
    }
}

/// Defines an object of a document and its constructor. A member is a [`View`] of the member of the
/// same name in the first source, or of the expression in `=> PLACE`. With `= VALUE` it is that
/// value.
macro_rules! view {
    (
        $(#[$of_all:meta])*
        $name:ident of ($given:ident: &$source:ty) { $($members:tt)* }
    ) => {
        view! { @object $(#[$of_all])* $name ($given; $given: &$source) { $($members)* } }

        impl $crate::json::values::View<$source> for $name {
            fn view(source: &$source) -> Self {
                Self::of(source)
            }
        }
    };
    (
        $(#[$of_all:meta])*
        $name:ident of ($first:ident: $source:ty $(, $given:ident: $more:ty)*) { $($members:tt)* }
    ) => {
        view! {
            @object $(#[$of_all])* $name ($first; $first: $source $(, $given: $more)*) { $($members)* }
        }
    };
    (
        @object
        $(#[$of_all:meta])*
        $name:ident ($first:ident; $($given:ident: $source:ty),*) {
            $($(#[$of_one:meta])* $member:ident: $kind:ty $(= $value:expr)? $(=> $place:expr)?),* $(,)?
        }
    ) => {
        $(#[$of_all])*
        #[derive(Clone, Debug, serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub struct $name {
            $($(#[$of_one])* pub $member: $kind),*
        }

        impl $name {
            /// Returns the object for a source.
            pub fn of($($given: $source),*) -> Self {
                Self { $($member: view!(@member $first $member $(= $value)? $(=> $place)?)),* }
            }
        }
    };
    (@member $first:ident $member:ident) => {
        $crate::json::values::View::view(&$first.$member)
    };
    (@member $first:ident $member:ident => $place:expr) => {
        $crate::json::values::View::view(&$place)
    };
    (@member $first:ident $member:ident = $value:expr) => {
        $value
    };
}
pub(crate) use view;

words! {
    /// Verdicts on a difference.
    Verdict from assay_analysis::Verdict {
        /// Better than the reference, such as less time.
        Source::Faster => Faster,
        /// Worse than the reference.
        Source::Slower => Slower,
        /// Any difference is within the threshold.
        Source::Equivalent => Equivalent,
        /// Unknown.
        Source::Inconclusive => Inconclusive,
    }
}

words! {
    /// Directions of better values.
    Better from assay_data::Better {
        /// Smaller values are better.
        Source::Lower => Lower,
        /// Larger values are better.
        Source::Higher => Higher,
    }
}

words! {
    /// Designs of an experiment.
    Design from assay_data::Design {
        /// All compared sides were measured once per block, in random order.
        Source::Blocks => Blocks,
        /// The sides were recorded separately.
        Source::Unpaired => Unpaired,
        /// Only summaries were recorded, without values.
        Source::Summary => Summary,
    }
}

words! {
    /// Scales of a difference.
    Scale from assay_analysis::Scale {
        /// `of` / `against`.
        Source::Ratio => Ratio,
        /// `of` − `against`, in the metric's unit.
        Source::Shift => Shift,
    }
}

words! {
    /// Reasons why measuring stopped.
    StopReason from assay_data::StopReason {
        /// Every comparison has a clear answer.
        Source::Clear => Clear,
        /// The median of a single command is known precisely enough.
        Source::Precise => Precise,
        /// Twice as many runs of a single command hardly narrowed the interval of its median.
        Source::Diminishing => Diminishing,
        /// The planned number of blocks was taken.
        Source::Blocks => Blocks,
        /// The time budget was spent.
        Source::Budget => Budget,
        /// The user stopped the run.
        Source::Interrupted => Interrupted,
        /// A command or a hook failed.
        Source::Failed => Failed,
        /// The condition of `--until` was met.
        Source::Until => Until,
    }
}

words! {
    /// Severities of findings.
    Severity from assay_data::Severity {
        /// Worth knowing, but the verdict is not affected.
        Source::Note => Note,
        /// The verdict may be wrong, or could be obtained at lower cost.
        Source::Warning => Warning,
        /// The verdict was changed or withheld because of the finding.
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

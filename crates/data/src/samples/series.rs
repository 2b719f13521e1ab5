//! The values of one metric of one subject in sequence, which is the form that most statistics
//! need. Code about blocks is in `blocks`.

use super::Samples;

/// The values of one metric of one subject, in the order of measuring, without missing ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// The values. Finite, in the metric's base unit.
    pub values: Vec<f64>,
    /// The index of the observation of each value.
    pub observations: Vec<usize>,
}

impl Samples {
    /// Returns the series of one metric of one subject. Missing and non-finite values are left out.
    /// O(observations).
    pub fn series(&self, subject: usize, metric: usize) -> Series {
        let mut series = Series::default();
        let Some(column) = self.observations.values.get(metric) else { return series };
        for (index, (&value, owner)) in
            column.iter().zip(self.observations.subject.iter()).enumerate()
        {
            if owner as usize == subject && value.is_finite() {
                series.values.push(value);
                series.observations.push(index);
            }
        }
        series
    }

    /// Returns the values of [`series`](Self::series) alone.
    pub fn values(&self, subject: usize, metric: usize) -> Vec<f64> {
        let Some(column) = self.observations.values.get(metric) else { return Vec::new() };
        let owners = column.iter().zip(self.observations.subject.iter());
        let own = owners.filter(|(value, owner)| *owner as usize == subject && value.is_finite());
        // Values are counted first because for a long recording, a growing vector would be half
        // empty.
        let mut values = Vec::with_capacity(own.clone().count());
        values.extend(own.map(|(value, _)| *value));
        values
    }
}

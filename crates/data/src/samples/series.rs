//! The values of one metric of one subject, one after the other, as most of statistics wants them. What belongs to blocks is in
//! `blocks`.

use super::Samples;

/// The values of one metric of one subject, in the order in which they were taken; missing ones are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// The values, finite, in base units.
    pub values: Vec<f64>,
    /// For each value the index of its observation.
    pub observations: Vec<usize>,
}

impl Samples {
    /// The series of one metric of one subject; values that are missing or not finite are left out. O(observations).
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

    /// The values of [`series`](Self::series) alone.
    pub fn values(&self, subject: usize, metric: usize) -> Vec<f64> {
        let Some(column) = self.observations.values.get(metric) else { return Vec::new() };
        let owners = column.iter().zip(self.observations.subject.iter());
        let own = owners.filter(|(value, owner)| *owner as usize == subject && value.is_finite());
        // Counted first: of a long recording what grows would stand half empty.
        let mut values = Vec::with_capacity(own.clone().count());
        values.extend(own.map(|(value, _)| *value));
        values
    }
}

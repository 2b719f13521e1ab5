//! The samples embedded in a page: every value as text, unless there are too many.

use assay_data::{Design, Samples};
use std::fmt::Write;

/// Maximum number of embedded values; more would make the page slow to open.
const MOST_VALUES: usize = 100_000;

/// The samples of a page, or where to find them.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// The samples as CSV.
    Embedded {
        /// The table.
        csv: String,
        /// Description of the contents.
        told: String,
        /// The command that reads the table.
        command: String,
    },
    /// A reference to the samples, which have too many values to embed.
    Elsewhere {
        /// Number of values.
        values: usize,
        /// Path of the file with the values, if any.
        file: Option<String>,
    },
}

impl Data {
    /// Embeds the samples if they have at most 100,000 values, and otherwise refers to `file`.
    /// O(values).
    ///
    /// Recordings of a single metric have one column per subject, which is compact. For everything
    /// else, the table is the one that `--export x.samples.csv` writes.
    pub fn of(samples: &Samples, file: Option<String>) -> Self {
        let values = samples.len() * samples.metrics.len();
        if values > MOST_VALUES {
            return Self::Elsewhere { values, file };
        }
        if samples.design() != Design::Blocks && samples.metrics.len() == 1 {
            return columns(samples);
        }
        let mut bytes = Vec::new();
        // Writing to a vector can't fail.
        if assay_data::export::csv(samples, &mut bytes).is_err() {
            return Self::Elsewhere { values, file };
        }
        Self::Embedded {
            csv: String::from_utf8_lossy(&bytes).into_owned(),
            told: "One row for every observation, in base units. Read it with".to_owned(),
            command: "assay compare samples.csv".to_owned(),
        }
    }
}

fn columns(samples: &Samples) -> Data {
    let series: Vec<Vec<f64>> =
        (0..samples.subjects.len()).map(|subject| samples.values(subject, 0)).collect();
    let mut csv = samples.subjects.iter().map(|s| quoted(&s.name)).collect::<Vec<_>>().join(",");
    csv.push('\n');
    let rows = series.iter().map(Vec::len).max().unwrap_or(0);
    for row in 0..rows {
        for (index, values) in series.iter().enumerate() {
            if index > 0 {
                csv.push(',');
            }
            if let Some(value) = values.get(row) {
                // Debug formatting gives the shortest decimals that parse to the same bits.
                let _infallible = write!(csv, "{value:?}");
            }
        }
        csv.push('\n');
    }
    let metric = &samples.metrics[0];
    let unit = metric.unit.symbol();
    let command = match unit {
        "1" => "assay compare samples.csv".to_owned(),
        _ => format!("assay compare --unit {unit} samples.csv"),
    };
    let told = "One column for every subject, in the order in which they were taken. Read it with";
    Data::Embedded { csv, told: told.to_owned(), command }
}

fn quoted(name: &str) -> String {
    let name = crate::names::clean(name);
    if name.contains([',', '"', '#']) || name.trim() != name {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_data::Metric;

    fn samples(values: &[(usize, f64)]) -> Samples {
        let mut samples = Samples::new(vec![Metric::wall()]);
        samples.add_subject("old");
        samples.add_subject("new, \"fast\"");
        values.iter().for_each(|&(subject, value)| samples.push_value(subject, value));
        samples
    }

    #[test]
    fn recordings_are_columns_with_every_digit() {
        let data = Data::of(&samples(&[(0, 0.1), (0, 1e-9), (1, 1.0 / 3.0)]), None);
        let told =
            "One column for every subject, in the order in which they were taken. Read it with";
        let command = "assay compare --unit s samples.csv".to_owned();
        let csv = "old,\"new, \"\"fast\"\"\"\n0.1,0.3333333333333333\n1e-9,\n";
        assert_eq!(data, Data::Embedded { csv: csv.to_owned(), told: told.to_owned(), command });
    }

    #[test]
    fn too_many_values_stay_where_they_are() {
        let many = samples(&vec![(0, 1.5); MOST_VALUES + 1]);
        let file = Some("run.assay".to_owned());
        assert_eq!(
            Data::of(&many, file.clone()),
            Data::Elsewhere { values: MOST_VALUES + 1, file }
        );
    }
}

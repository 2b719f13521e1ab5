//! Exports the latencies of a load test as HdrHistogram's log, version 1.3, for HdrHistogram's
//! plotters and `HistogramLogProcessor`. There is one line for each second of each slice, tagged
//! with its subject.

use crate::{Histogram, Samples};
use std::collections::HashMap;
use std::io::{self, Write};

/// Writes the log. Each line has the start of its second, in seconds since the start of the run,
/// the length of the interval (1 s), the longest latency in milliseconds, and the histogram.
///
/// # Errors
/// Returns an `InvalidInput` error if there are no histograms, and the error of the sink if writing
/// fails.
pub fn hdr_log(samples: &Samples, sink: &mut impl Write) -> io::Result<()> {
    if samples.histograms.is_empty() {
        let problem = "only load tests have histograms; these samples have none";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
    }
    let tool = samples.tool.as_deref().unwrap_or("assay");
    writeln!(sink, "#[{tool}: latencies from the moment at which requests were due, ns]")?;
    writeln!(sink, "#[Histogram log format version 1.3]")?;
    writeln!(sink, "#[StartTime: 0.000 (seconds since the run began)]")?;
    writeln!(
        sink,
        "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\""
    )?;
    let began: HashMap<(usize, u32), f64> = samples
        .observations()
        .filter_map(|own| Some(((own.subject, own.block?), own.time?)))
        .collect();
    for own in samples.histograms.iter().filter(|own| own.of == "latency") {
        let Some(second) = own.second else { continue };
        let began = began.get(&(own.subject, own.block)).copied().unwrap_or(0.0);
        let start = began + own.from.unwrap_or(0.0) + f64::from(second);
        // Histograms that cannot be decoded were refused when the samples were read.
        let longest = Histogram::decoded(&own.v2).map_or(0.0, |read| read.longest_seconds());
        let subject = samples.subjects.get(own.subject).map_or("", |subject| &subject.name);
        // A tag ends at the first comma or blank.
        let tag: String =
            subject.chars().map(|c| if c == ',' || c.is_whitespace() { '_' } else { c }).collect();
        let longest = longest * 1e3;
        writeln!(sink, "Tag={tag},{start:.3},1.000,{longest:.3},{}", own.v2)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Buckets;
    use crate::{Metric, Observation};

    #[test]
    fn a_log_has_a_line_for_each_second_that_reads_back() {
        let mut samples = Samples::new(vec![Metric::wall()]);
        assert!(hdr_log(&samples, &mut Vec::new()).is_err());
        let subject = samples.add_subject("a rate=10");
        let time = Some(2.5);
        samples.push(Observation {
            subject,
            block: Some(3),
            time,
            values: vec![1.0],
            ..Observation::default()
        });
        let mut histogram = Histogram::default();
        histogram.record(5_000_000);
        for second in [None, Some(0), Some(1)] {
            let (of, v2) = ("latency".to_owned(), histogram.encoded());
            samples.histograms.push(Buckets {
                subject,
                block: 3,
                of,
                second,
                v2,
                // As in a later slice of a search.
                from: Some(0.75),
                ..Buckets::default()
            });
        }
        let mut log = Vec::new();
        hdr_log(&samples, &mut log).expect("written");
        let log = String::from_utf8(log).expect("text");
        let lines: Vec<&str> = log.lines().filter(|line| line.starts_with("Tag=")).collect();
        assert_eq!(lines.len(), 2);
        let fields: Vec<&str> = lines[1].split(',').collect();
        assert_eq!(fields[..3], ["Tag=a_rate=10", "4.250", "1.000"]);
        assert_eq!(Histogram::decoded(fields[4]), Ok(histogram));
    }
}

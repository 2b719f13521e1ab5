//! The CSV file that `--record-requests` writes, with one row per request. It is written slice by
//! slice, so that measured data is kept if the run ends early.

use super::slot::LoadSlot;
use assay_data::Side;
use assay_load::{Arrivals, GeneratorJob, Load, Raw};
use std::fs::OpenOptions;
use std::io;
use std::path::Path;

/// Maximum number of requests recorded per slice. If there are more, an evenly spaced subset is
/// recorded.
pub(crate) const MOST: usize = 10_000;

/// The writer of the file.
pub(crate) struct Requests {
    file: csv::Writer<std::fs::File>,
    parameters: Vec<String>,
}

impl Requests {
    /// Creates the file, or appends to an existing one if `goes_on`.
    ///
    /// # Errors
    /// Fails if the file cannot be opened or written.
    pub fn create(path: &Path, places: &[LoadSlot], goes_on: bool) -> io::Result<Self> {
        let file = OpenOptions::new()
            .create(true)
            .write(true)
            .append(goes_on)
            .truncate(!goes_on)
            .open(path)?;
        let is_new = file.metadata()?.len() == 0;
        // The rate always has its own column, so it is not repeated as a parameter.
        let names = places.first().into_iter().flat_map(|place| &place.parameters);
        let parameters: Vec<String> =
            names.map(|(name, _)| name.clone()).filter(|name| name != "rate").collect();
        let mut own = Self { file: csv::Writer::from_writer(file), parameters };
        if is_new {
            let mut head = vec!["block", "side"];
            head.extend(own.parameters.iter().map(String::as_str));
            head.extend(["rate", "due_s", "sent_s", "first_byte_s", "ended_s", "latency_s"]);
            head.extend(["status", "failure"]);
            own.file.write_record(head)?;
            own.file.flush()?;
        }
        Ok(own)
    }

    /// Appends the requests of a slice. Times are in seconds since the start of the measured part
    /// of the slice. A cell is empty if the event did not happen.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn add(
        &mut self,
        block: u32,
        side: &Side,
        place: &LoadSlot,
        job: &GeneratorJob,
        requests: &[Raw],
    ) -> io::Result<()> {
        let rate = match &job.load {
            Load::Open(Arrivals::Constant { rate } | Arrivals::Poisson { rate, .. }) => {
                rate.to_string()
            }
            _ => String::new(),
        };
        let seconds = |ns: u64| match ns {
            0 => String::new(),
            ns => format!("{:.9}", ns as f64 * 1e-9),
        };
        for own in requests {
            let mut row = vec![(block + 1).to_string(), side.name.clone()];
            for name in &self.parameters {
                let value = place.parameters.iter().find(|(other, _)| other == name);
                row.push(value.map_or(String::new(), |(_, value)| value.to_string()));
            }
            let failure = own.failure();
            let latency = own.ended.saturating_sub(own.due);
            row.extend([
                rate.clone(),
                format!("{:.9}", own.due as f64 * 1e-9),
                seconds(own.sent),
                seconds(own.first),
                seconds(own.ended),
                if failure.is_none() { seconds(latency) } else { String::new() },
                if own.status == 0 { String::new() } else { own.status.to_string() },
                failure.map_or(String::new(), |failure| failure.name().to_owned()),
            ]);
            self.file.write_record(row)?;
        }
        self.file.flush()
    }
}

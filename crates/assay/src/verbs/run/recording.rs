//! Begins and ends the record of a run: what stands in it before the first observation and after the last.

use super::Args;
use crate::session::{Record, Session};
use crate::{present, store};
use assay_data::assay_file::{Header, Writer};
use assay_data::{Environment, Finding, Severity, StopReason};
use assay_measure::environment;

/// Writes the end of the record, and what was found while measuring.
pub(super) fn close(
    session: &mut Session,
    record: &mut Option<Record>,
    reason: StopReason,
    steal_before: Option<f64>,
) {
    session.samples.stop = Some(reason);
    let mut findings = session.findings();
    let late_facts = Environment::from_facts(steal_share(session, steal_before));
    session.samples.environment.facts.extend(late_facts.facts.clone());
    let blocks = session.samples.complete_blocks(0).len() as u32;
    if let Some(record) = record {
        for finding in session.samples.findings.iter().chain(&findings) {
            record.write(|writer| writer.finding(finding));
        }
        record.write(|writer| writer.environment(&late_facts));
        record.write(|writer| writer.stop(reason, blocks));
        if let Some(failure) = &record.failure {
            findings.push(
                Finding::new(
                    "NOT_SAVED",
                    Severity::Warning,
                    format!(
                        "the samples could not be saved to {}: {failure}",
                        record.path.display()
                    ),
                )
                .next("make room, or choose another place with --save FILE"),
            );
        }
    }
    session.samples.findings.extend(findings);
}

/// The share of the CPUs' time that the hypervisor gave to others while measuring.
fn steal_share(session: &Session, before: Option<f64>) -> Option<(String, serde_json::Value)> {
    let stolen = (environment::steal_seconds()? - before?).max(0.0);
    let cpus = session.samples.environment.number("cpus_online")?;
    let seconds = session.samples.observation(session.samples.len().checked_sub(1)?)?.time?;
    let share = stolen / (seconds * cpus);
    share.is_finite().then(|| ("steal_share_of_run".to_owned(), share.into()))
}

/// Opens the record. The state directory may be out of reach: that is told, and measuring goes on.
pub(super) fn open_record(
    args: &Args,
    began: &jiff::Timestamp,
    session: &mut Session,
) -> Option<Record> {
    if args.keep.no_save {
        return None;
    }
    let opened = match &args.keep.save {
        Some(path) => store::open_named("--save", path).map(|file| (path.clone(), file)),
        None => store::open_kept(began),
    };
    let (path, failure, writer) = match opened {
        Ok((path, file)) => {
            let samples = &session.samples;
            let header = Header { tool: Some(present::TOOL.to_owned()), ..Header::of(samples) };
            match Writer::start(
                file,
                &header,
                &samples.environment,
                &samples.subjects,
                &samples.metrics,
            ) {
                Ok(writer) => (path, None, Some(writer)),
                Err(error) => (path, Some(error.to_string()), None),
            }
        }
        Err(error) => {
            (args.keep.save.clone().unwrap_or_default(), Some(format!("{error:#}")), None)
        }
    };
    Some(Record { writer, path, failure })
}

//! Begins and ends the record of a run: what stands in it before the first observation and after the last.

use super::Args;
use crate::session::{Record, Session};
use crate::{present, store};
use assay_data::assay_file::{Header, Writer};
use assay_data::{Environment, Finding, Severity, StopReason};

/// Writes the end of the record, and what was found while measuring.
pub(super) fn close(session: &mut Session, record: &mut Option<Record>, reason: StopReason) {
    session.samples.stop = Some(reason);
    for finding in session.findings() {
        if !session.samples.findings.contains(&finding) {
            session.samples.findings.push(finding);
        }
    }
    let share = session.steal_share.map(|share| ("steal_share_of_run".to_owned(), share.into()));
    let late_facts = Environment::from_facts(share);
    session.samples.environment.facts.extend(late_facts.facts.clone());
    let blocks = session.samples.complete_blocks(0).len() as u32;
    let Some(record) = record else { return };
    for finding in session.samples.findings.iter().skip(record.findings_written) {
        record.write(|writer| writer.finding(finding));
    }
    record.write(|writer| writer.environment(&late_facts));
    record.write(|writer| writer.stop(reason, blocks));
    if let Some(failure) = &record.failure {
        session.samples.findings.push(
            Finding::new(
                "NOT_SAVED",
                Severity::Warning,
                format!("the samples could not be saved to {}: {failure}", record.path.display()),
            )
            .next("make room, or choose another place with --save FILE"),
        );
    }
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
    Some(Record { writer, path, failure, findings_written: 0 })
}

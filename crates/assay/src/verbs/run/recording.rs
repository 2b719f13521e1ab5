//! Begins and ends the record of a run: what stands in it before the first observation and after the last.

use super::Args;
use crate::session::{Record, Session};
use crate::store;
use assay_data::{Environment, StopReason};

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
    if let Some(record) = record {
        record.end(&mut session.samples, &late_facts, reason, blocks);
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
    Some(Record::begin(opened, args.keep.save.as_ref(), &session.samples))
}

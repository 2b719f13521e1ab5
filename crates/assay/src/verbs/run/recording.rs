//! Ends the record of a run: what stands in it after the last observation.

use crate::session::{Record, Session};
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
    let deciding = session.samples.plan.as_ref().map(|plan| plan.primary.as_str());
    let deciding = deciding.and_then(|name| session.samples.metric_index(name)).unwrap_or(0);
    let blocks = session.samples.complete_blocks(deciding).len() as u32;
    if let Some(record) = record {
        record.end(&mut session.samples, &late_facts, reason, blocks);
    }
}

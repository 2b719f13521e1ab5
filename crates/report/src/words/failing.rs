//! The sentence of a comparison of two servers that was decided by their failed requests.

use super::{Sentence, Teller};
use crate::number;
use assay_analysis::comparison::Failing;
use assay_analysis::policy;
use assay_data::Unit;

impl Teller<'_> {
    /// Returns the sentence if failed requests decided the comparison; otherwise `None`.
    pub(super) fn by_failures(&self) -> Option<Sentence> {
        let failing = self.c.failing.as_ref()?;
        let is_reference = failing.subject == self.c.against;
        let (name, other) =
            if is_reference { (&self.against, &self.of) } else { (&self.of, &self.against) };
        let name = match is_reference {
            true => format!("{name}, the reference,"),
            false => name.clone(),
        };
        let (share, other_share) = (percent(failing.share()), percent(failing.other_share));
        let claim = match failing.stopped {
            Some(1) => {
                format!("{name} answered no request; of those of {other}, {other_share} failed")
            }
            Some(since) if self.answers_wrongly(failing) => format!(
                "{name} failed every request from slice {since} of {} on: {share} of its requests failed; of those of {other}, {other_share}",
                failing.slices
            ),
            Some(since) => format!(
                "{name} stopped answering in slice {since} of {}: {share} of its requests failed; of those of {other}, {other_share}",
                failing.slices
            ),
            None => {
                let silent = match failing.silent_seconds {
                    own if own >= policy::ABSENT_SECONDS => format!(
                        ", and between slices it answered nothing for {}",
                        number::rough(own, &Unit::Second)
                    ),
                    _ => String::new(),
                };
                format!(
                    "{name} fails more: {share} of its requests failed{silent}; of those of {other}, {other_share}"
                )
            }
        };
        let verdict = if is_reference { "faster" } else { "slower" };
        Some(Sentence { claim, sureness: format!("{verdict}, by failures") })
    }

    /// Returns true if most failed requests were answered, but not as expected.
    fn answers_wrongly(&self, failing: &Failing) -> bool {
        let own = self.analysis.answers.iter().find(|own| own.subject == failing.subject);
        let ways = own.map(|own| own.failures()).unwrap_or_default();
        ways.first()
            .is_some_and(|(way, _)| way.starts_with("wrong_") || way.starts_with("redirect"))
    }
}

/// Returns the share of failed requests in a few words, for a table.
pub(super) fn in_short(failing: &Failing) -> String {
    format!("{} failed", percent(failing.share()))
}

/// Formats a share in percent; if it is exactly 0 % or 100 %, the result is `none` or `all`.
fn percent(share: f64) -> String {
    let shown = number::percent(share);
    match share {
        0.0 => "none".to_owned(),
        1.0 => "all".to_owned(),
        _ if shown.starts_with("100") => "almost all".to_owned(),
        _ => shown,
    }
}

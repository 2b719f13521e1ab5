//! Removes unwanted subjects and metrics from samples, and renumbers the remaining ones.

use crate::samples::{Metric, Samples, Subject};
use std::collections::HashMap;

impl Samples {
    /// Keeps the values that satisfy `wanted`. A subject or metric without any is removed with its
    /// summaries and findings. A subject that loses its reference is compared with the first
    /// remaining one in its row, if the row has a name. O(observations × metrics).
    pub fn keep(&mut self, wanted: impl Fn(&Samples, &Subject, &Metric) -> bool) {
        let table: Vec<Vec<bool>> = self
            .subjects
            .iter()
            .map(|subject| {
                self.metrics.iter().map(|metric| wanted(self, subject, metric)).collect()
            })
            .collect();
        let subject_stays: Vec<bool> = table.iter().map(|row| row.contains(&true)).collect();
        let metric_stays: Vec<bool> =
            (0..self.metrics.len()).map(|m| table.iter().any(|row| row[m])).collect();
        let numbers = |stays: &[bool]| -> Vec<Option<usize>> {
            let mut next = 0..;
            stays.iter().map(|&stays| if stays { next.next() } else { None }).collect()
        };
        let (subjects, metrics) = (numbers(&subject_stays), numbers(&metric_stays));

        self.keep_observations(&table, &subjects, &metrics);
        let old = std::mem::take(&mut self.subjects);
        let references: Vec<Option<usize>> =
            (0..old.len()).map(|index| old[index].against.or((index > 0).then_some(0))).collect();
        let explicit = old.iter().any(|subject| subject.against.is_some());
        let gone: Vec<String> = old
            .iter()
            .zip(&subjects)
            .filter(|(_, number)| number.is_none())
            .map(|(subject, _)| subject.name.clone())
            .collect();
        let mut first_of: HashMap<usize, usize> = HashMap::new();
        for (index, mut subject) in old.into_iter().enumerate() {
            let Some(own) = subjects[index] else { continue };
            let first = match self.rows[subject.row].name.as_str() {
                "" => own,
                _ => *first_of.entry(subject.row).or_insert(own),
            };
            if explicit {
                let reference = references[index].and_then(|r| subjects.get(r).copied().flatten());
                subject.against = Some(reference.unwrap_or(first));
            }
            self.subjects.push(subject);
        }
        self.drop_unused_keys();
        let metric_names: Vec<String> = self.metrics.iter().map(|m| m.name.clone()).collect();
        let stays = |name: &String| {
            metric_names.iter().zip(&metric_stays).any(|(metric, stays)| *stays && metric == name)
        };
        let renumbered = |subject: usize| subjects.get(subject).copied().flatten();
        self.summaries.retain_mut(|summary| {
            let metric = metric_names.iter().position(|name| *name == summary.metric);
            let is_wanted =
                metric.is_some_and(|m| table.get(summary.subject).is_some_and(|row| row[m]));
            summary.subject = renumbered(summary.subject).unwrap_or(usize::MAX);
            is_wanted && summary.subject != usize::MAX
        });
        self.inner.retain_mut(|inner| {
            let number = renumbered(inner.subject);
            inner.subject = number.unwrap_or_default();
            number.is_some() && stays(&inner.metric)
        });
        self.histograms.retain_mut(|own| {
            let number = renumbered(own.subject);
            own.subject = number.unwrap_or_default();
            number.is_some()
        });
        self.counts.retain_mut(|own| {
            let number = renumbered(own.subject);
            own.subject = number.unwrap_or_default();
            number.is_some()
        });
        self.findings.retain(|f| f.subject.as_ref().is_none_or(|name| !gone.contains(name)));
        let mut stays = metric_stays.iter().copied();
        self.metrics.retain(|_| stays.next().unwrap_or(false));
        if let Some(plan) = &mut self.plan {
            plan.secondary.retain(|name| self.metrics.iter().any(|m| m.name == *name));
        }
    }
}

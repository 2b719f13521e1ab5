//! Builds a profile: equal frames and equal stacks are merged, in any order. Amounts are checked,
//! so that importers cannot pass on values that are not numbers.

use crate::model::{Frame, NOTHING_KNOWN, Profile, Stack};
use std::collections::HashMap;

/// The frames and labels by which stacks are distinguished.
type Key = (Vec<u32>, Vec<(String, String)>);

/// A profile under construction.
#[derive(Debug, Default)]
pub struct Builder {
    /// The properties of the profile as a whole; its frames and stacks are managed by the builder.
    pub profile: Profile,
    frames: HashMap<Frame, u32>,
    stacks: HashMap<Key, usize>,
}

impl Builder {
    /// Creates an empty builder with the properties of another profile.
    pub fn like(profile: &Profile) -> Self {
        let Profile { frames: _, stacks: _, name, tool, measure, findings, .. } = profile;
        let about = Profile {
            name: name.clone(),
            tool: tool.clone(),
            measure: measure.clone(),
            unit: profile.unit.clone(),
            frames: Vec::new(),
            stacks: Vec::new(),
            asked_hz: profile.asked_hz,
            delivered_hz: profile.delivered_hz,
            seconds: profile.seconds,
            missed: profile.missed,
            findings: findings.clone(),
        };
        Self { profile: about, ..Self::default() }
    }

    /// Adds a frame, unless an equal one exists, and returns its index.
    pub fn frame(&mut self, frame: Frame) -> u32 {
        let next = self.profile.frames.len() as u32;
        let index = *self.frames.entry(frame.clone()).or_insert(next);
        if index == next {
            self.profile.frames.push(frame);
        }
        index
    }

    /// Adds samples of a stack (outermost frame first). An amount that is negative or not finite
    /// counts as 0. Returns the index of the stack; `None` if there is nothing to add.
    pub fn add(
        &mut self,
        frames: Vec<u32>,
        labels: Vec<(String, String)>,
        samples: u64,
        amount: f64,
    ) -> Option<usize> {
        let amount = countable(amount);
        if samples == 0 && amount == 0.0 {
            return None;
        }
        let next = self.profile.stacks.len();
        let key = (frames, labels);
        let index = *self.stacks.entry(key.clone()).or_insert(next);
        if index == next {
            let (frames, labels) = key;
            self.profile.stacks.push(Stack { frames, labels, samples: 0, amount: 0.0 });
        }
        self.add_to(index, samples, amount);
        Some(index)
    }

    /// Adds samples of the stack of this index, for importers that recognize a stack by its text.
    pub(crate) fn add_to(&mut self, stack: usize, samples: u64, amount: f64) {
        let stack = &mut self.profile.stacks[stack];
        stack.samples = stack.samples.saturating_add(samples);
        // The sum of two finite amounts may not be finite.
        stack.amount = (stack.amount + countable(amount)).min(f64::MAX);
    }

    /// Adds samples of a stack that is given by its frames.
    pub fn add_frames(&mut self, frames: impl IntoIterator<Item = Frame>, samples: u64) {
        let frames = frames.into_iter().map(|frame| self.frame(frame)).collect();
        self.add(frames, Vec::new(), samples, samples as f64);
    }

    /// Adds all samples of another profile: of another process of the same program, or of another
    /// run. The properties of the first profile are kept; missed samples and findings are combined.
    pub fn merge(&mut self, other: &Profile) {
        let indices: Vec<u32> = other.frames.iter().map(|f| self.frame(f.clone())).collect();
        for stack in &other.stacks {
            let own = stack.frames.iter().filter_map(|&f| indices.get(f as usize).copied());
            self.add(own.collect(), stack.labels.clone(), stack.samples, stack.amount);
        }
        self.profile.missed = self.profile.missed.saturating_add(other.missed);
        for finding in &other.findings {
            if !self.profile.findings.contains(finding) {
                self.profile.findings.push(finding.clone());
            }
        }
    }

    /// Returns the profile.
    pub fn build(self) -> Profile {
        self.profile
    }
}

/// Returns the amount, or 0 if it is negative or not finite.
fn countable(amount: f64) -> f64 {
    if amount.is_finite() && amount > 0.0 { amount } else { 0.0 }
}

impl Profile {
    /// Merges several profiles of the same unit; the first one determines the properties. `None` if
    /// there are no profiles.
    pub fn merged(profiles: &[Profile]) -> Option<Profile> {
        let (first, rest) = profiles.split_first()?;
        if rest.is_empty() {
            return Some(first.clone());
        }
        let empty = Profile { frames: Vec::new(), stacks: Vec::new(), missed: 0, ..first.clone() };
        let mut builder = Builder { profile: empty, ..Builder::default() };
        profiles.iter().for_each(|profile| builder.merge(profile));
        let mut merged = builder.build();
        merged.seconds = profiles.iter().map(|profile| profile.seconds).sum();
        let rates: Vec<f64> = profiles.iter().filter_map(|profile| profile.delivered_hz).collect();
        merged.delivered_hz =
            (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64);
        Some(merged)
    }
}

/// Returns the sampling rate (Hz), given the gaps (s of wall time) between samples of one thread.
/// The median gap is used, so that neither waiting nor a few lost samples matter. A CPU timer
/// (`cpu`) stops while other processes use the CPU: on a busy machine most gaps may be longer than
/// its period, so the first quartile is used. `None` with fewer than ten gaps.
pub(crate) fn delivered_hz(gaps: &mut Vec<f64>, cpu: bool) -> Option<f64> {
    const FEWEST: usize = 10;
    gaps.retain(|gap| gap.is_finite() && *gap > 0.0);
    if gaps.len() < FEWEST {
        return None;
    }
    gaps.sort_by(f64::total_cmp);
    Some(1.0 / gaps[gaps.len() / if cpu { 4 } else { 2 }])
}

impl Profile {
    /// Converts py-spy's process frames, `process 4711:"python3 a.py"`, into labels. A stack
    /// without any other frame gets [`NOTHING_KNOWN`]. O(stacks).
    pub fn without_process_frames(&mut self) {
        let is_process = |frame: &Frame| {
            let number = frame.name.strip_prefix("process ").and_then(|own| own.split_once(":\""));
            number.is_some_and(|(number, _)| number.bytes().all(|b| b.is_ascii_digit()))
        };
        if !self.frames.iter().any(is_process) {
            return;
        }
        let mut builder = Builder::like(self);
        for stack in &self.stacks {
            let (processes, functions): (Vec<&Frame>, Vec<&Frame>) =
                self.frames_of(stack).partition(|frame| is_process(frame));
            let mut labels = stack.labels.clone();
            let process = processes.last().map(|own| ("process".to_owned(), own.name.clone()));
            labels.extend(process);
            let mut frames: Vec<u32> =
                functions.into_iter().map(|frame| builder.frame(frame.clone())).collect();
            if frames.is_empty() {
                frames.push(builder.frame(Frame::named(NOTHING_KNOWN)));
            }
            builder.add(frames, labels, stack.samples, stack.amount);
        }
        *self = builder.build();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stacks_become_one_and_the_rest_stays_apart() {
        let mut builder = Builder::default();
        builder.add_frames([Frame::named("a"), Frame::named("b")], 2);
        builder.add_frames([Frame::named("a")], 1);
        builder.add_frames([Frame::named("a"), Frame::named("b")], 3);
        let profile = builder.build();
        assert_eq!(profile.frames.len(), 2);
        let counts: Vec<u64> = profile.stacks.iter().map(|stack| stack.samples).collect();
        assert_eq!(counts, [5, 1]);
    }

    #[test]
    fn what_is_not_a_number_counts_as_nothing() {
        let mut builder = Builder::default();
        for amount in [f64::NAN, f64::INFINITY, -1.0] {
            builder.add(Vec::new(), Vec::new(), 1, amount);
        }
        builder.add(Vec::new(), Vec::new(), 0, 0.0);
        assert_eq!((builder.profile.samples(), builder.profile.amount()), (3, 0.0));
    }

    #[test]
    fn merging_adds_what_was_seen() {
        let mut builder = Builder::default();
        builder.add_frames([Frame::named("b"), Frame::named("a")], 1);
        let one = builder.build();
        let mut builder = Builder::default();
        builder.add_frames([Frame::named("a")], 4);
        builder.add_frames([Frame::named("b"), Frame::named("a")], 2);
        let two = builder.build();
        let merged = Profile::merged(&[one, two]).unwrap();
        assert_eq!((merged.frames.len(), merged.stacks.len(), merged.samples()), (2, 2, 7));
    }

    #[test]
    fn the_rate_is_that_of_the_middle_gap() {
        // 4 ms gaps, one long wait, one lost sample.
        let mut gaps = vec![0.004; 20];
        gaps.extend([3.0, 0.008]);
        assert_eq!(delivered_hz(&mut gaps, false), Some(250.0));
        assert_eq!(delivered_hz(&mut vec![0.004; 9], false), None);
        // In most of the gaps another process used the CPU.
        let mut gaps = vec![0.004; 8];
        gaps.extend([0.0075; 12]);
        assert_eq!(delivered_hz(&mut gaps, true), Some(250.0));
    }
}

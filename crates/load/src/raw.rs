//! Records of single requests, for inspection: an evenly spaced sample, so that a slice of any
//! length takes bounded memory. No conclusions are drawn from them; histograms include every
//! request.

use crate::failure::Failure;
use serde::{Deserialize, Serialize};

/// One request, with its times in ns since the start of the measured part; 0 for events that did
/// not happen or happened before that start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Raw {
    /// Time at which the request was due.
    pub due: u64,
    /// Time at which the request was sent.
    pub sent: u64,
    /// Time of the first byte of the answer.
    pub first: u64,
    /// Time at which the request was answered or failed.
    pub ended: u64,
    /// Status of the answer; 0 if there is no answer.
    pub status: u16,
    /// The failure, as an index into [`Failure::ALL`]; `None` if the request was successful.
    failed: Option<u8>,
}

impl Raw {
    pub(crate) fn new(moments: [u64; 4], status: u16, failed: Option<Failure>) -> Self {
        let [due, sent, first, ended] = moments;
        Self { due, sent, first, ended, status, failed: failed.map(|failure| failure as u8) }
    }

    /// Returns the failure; `None` if the request was successful.
    pub fn failure(&self) -> Option<Failure> {
        self.failed.and_then(|index| Failure::ALL.get(usize::from(index)).copied())
    }
}

/// Keeps every request, every second one, every fourth one …, as many as fit.
#[derive(Debug)]
pub(crate) struct RequestSampler {
    pub requests: Vec<Raw>,
    most: usize,
    every: u64,
    seen: u64,
}

impl RequestSampler {
    pub fn new(most: usize) -> Self {
        Self { requests: Vec::new(), most, every: 1, seen: 0 }
    }

    pub fn offer(&mut self, raw: impl FnOnce() -> Raw) {
        if self.most == 0 {
            return;
        }
        if self.seen.is_multiple_of(self.every) {
            if self.requests.len() >= self.most {
                let mut index = 0;
                self.requests.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
                self.every *= 2;
            }
            if self.seen.is_multiple_of(self.every) {
                self.requests.push(raw());
            }
        }
        self.seen += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded_and_even() {
        let mut kept = RequestSampler::new(100);
        for i in 0..12_345u64 {
            kept.offer(|| Raw::new([i, 0, 0, 0], 200, None));
        }
        let all = &kept.requests;
        assert!((50..=100).contains(&all.len()), "{}", all.len());
        assert!(all.windows(2).all(|two| two[1].due - two[0].due == kept.every));
        assert!(all[0].due == 0 && all[all.len() - 1].due + kept.every >= 12_345);
        let mut none = RequestSampler::new(0);
        none.offer(|| Raw::new([1, 0, 0, 0], 200, None));
        assert!(none.requests.is_empty());
    }
}

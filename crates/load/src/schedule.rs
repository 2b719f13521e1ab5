//! The times at which requests are due. The whole schedule is determined before the first request
//! is sent, and the server cannot influence it; this is what makes a load test open (Schroeder,
//! Wierman, Harchol-Balter: Open versus closed, NSDI 2006).

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

/// The arrival process of requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// At constant intervals.
    Constant {
        /// Requests per second.
        rate: f64,
    },
    /// A Poisson process: random and independent, as from many independent users.
    Poisson {
        /// Mean number of requests per second.
        rate: f64,
        /// Random seed.
        seed: u64,
    },
    /// At a rate that changes linearly over the whole time.
    Ramp {
        /// Requests per second at the start.
        from: f64,
        /// Requests per second at the end.
        to: f64,
    },
    /// At recorded times, ascending.
    Replay {
        /// Seconds since the first request.
        times: Vec<f64>,
    },
}

/// Times at which requests are due, in nanoseconds since the start, ascending.
#[derive(Clone, Debug)]
pub(crate) struct Due<'a> {
    arrivals: &'a Arrivals,
    /// Total duration, in seconds.
    seconds: f64,
    next: u64,
    /// Index of the first arrival that belongs to this generator, and the distance from one to the
    /// next.
    part: (u64, u64),
    random: Option<Pcg64Mcg>,
    /// Time of the last arrival in seconds, for processes in which each time depends on the one
    /// before.
    at: f64,
}

impl Arrivals {
    /// Returns the arrivals within `seconds` for generator `part.0` of `part.1`. Together, the
    /// generators send exactly the requests of a single one.
    pub(crate) fn due(&self, seconds: f64, part: (u64, u64)) -> Due<'_> {
        let random = match self {
            Self::Poisson { seed, .. } => Some(Pcg64Mcg::seed_from_u64(*seed)),
            _ => None,
        };
        Due { arrivals: self, seconds, next: 0, part, random, at: 0.0 }
    }

    /// Returns the mean number of requests per second over `seconds`.
    pub fn mean_rate(&self, seconds: f64) -> f64 {
        match self {
            Self::Constant { rate } | Self::Poisson { rate, .. } => *rate,
            Self::Ramp { from, to } => (from + to) / 2.0,
            Self::Replay { times } => {
                times.iter().filter(|time| **time < seconds).count() as f64 / seconds
            }
        }
    }
}

impl Due<'_> {
    /// Returns the time of arrival `index` in seconds; `None` after the last one.
    fn moment(&mut self, index: u64) -> Option<f64> {
        Some(match self.arrivals {
            Arrivals::Constant { rate } => index as f64 / rate,
            Arrivals::Poisson { rate, .. } => {
                let bits = self.random.as_mut()?.next_u64() >> 11;
                let uniform = (bits as f64 + 0.5) / (1_u64 << 53) as f64;
                self.at -= uniform.ln() / rate;
                self.at
            }
            // The number of arrivals until t is from·t + (to − from)·t²/2T, solved for t.
            Arrivals::Ramp { from, to } => {
                let (index, bend) = (index as f64, (to - from) / self.seconds);
                if bend.abs() < 1e-12 {
                    index / from
                } else {
                    let root = from * from + 2.0 * bend * index;
                    if root < 0.0 {
                        return None;
                    }
                    (root.sqrt() - from) / bend
                }
            }
            Arrivals::Replay { times } => *times.get(usize::try_from(index).ok()?)?,
        })
    }
}

impl Iterator for Due<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        loop {
            let index = self.next;
            let moment = self.moment(index)?;
            // Rounded to whole nanoseconds, as otherwise 0.1 s + 0.02 s would be slightly more than
            // 0.12 s.
            let at = (moment * 1e9).round();
            if moment.is_nan() || at >= (self.seconds * 1e9).round() {
                return None;
            }
            self.next += 1;
            if index % self.part.1 == self.part.0 {
                return Some(at as u64);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_rate_has_no_gaps_and_a_ramp_the_mean_of_its_ends() {
        let constant = Arrivals::Constant { rate: 1000.0 };
        let due: Vec<u64> = constant.due(2.0, (0, 1)).collect();
        assert_eq!(due.len(), 2000);
        assert_eq!(due[1999], 1_999_000_000);
        let ramp = Arrivals::Ramp { from: 0.0, to: 200.0 };
        let due: Vec<u64> = ramp.due(10.0, (0, 1)).collect();
        assert_eq!(due.len(), 1000);
        let half = due.iter().filter(|&&at| at < 5_000_000_000).count();
        assert!((249..=251).contains(&half), "a quarter in the first half: {half}");
        let falling = Arrivals::Ramp { from: 200.0, to: 0.0 };
        assert_eq!(falling.due(10.0, (0, 1)).count(), 1000);
    }

    #[test]
    fn random_arrivals_repeat_with_their_seed_and_have_the_rate() {
        let of = |seed| Arrivals::Poisson { rate: 500.0, seed };
        let due: Vec<u64> = of(1).due(20.0, (0, 1)).collect();
        assert_eq!(due, of(1).due(20.0, (0, 1)).collect::<Vec<_>>());
        assert_ne!(due, of(2).due(20.0, (0, 1)).collect::<Vec<_>>());
        // Four standard deviations of the Poisson distribution.
        assert!((9600..=10_400).contains(&due.len()), "{}", due.len());
        let gaps: Vec<f64> = due.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((0.9..1.1).contains(&(variance.sqrt() / mean)));
    }

    #[test]
    fn parts_are_the_whole() {
        let all = [
            Arrivals::Constant { rate: 97.0 },
            Arrivals::Poisson { rate: 97.0, seed: 3 },
            Arrivals::Ramp { from: 5.0, to: 97.0 },
            Arrivals::Replay { times: vec![0.0, 0.5, 0.5, 0.9, 3.0] },
        ];
        for arrivals in all {
            let whole: Vec<u64> = arrivals.due(3.0, (0, 1)).collect();
            let mut parts: Vec<u64> = (0..4).flat_map(|k| arrivals.due(3.0, (k, 4))).collect();
            parts.sort_unstable();
            assert_eq!(parts, whole, "{arrivals:?}");
        }
    }
}

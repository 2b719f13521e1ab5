//! Rate limits: a token bucket for each token and for each address of unauthenticated clients. The
//! caller supplies the time.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Maximum number of buckets; full ones are dropped first.
const MOST: usize = 65_536;

struct Bucket {
    left: f64,
    filled: Instant,
}

/// Token buckets by key, all with the same rate and capacity.
pub(crate) struct Limits<K> {
    rate: f64,
    most: f64,
    buckets: Mutex<HashMap<K, Bucket>>,
}

impl<K: Eq + Hash> Limits<K> {
    /// Creates limits of `rate` requests per second, and bursts of `burst` seconds' worth.
    pub fn new(rate: f64, burst: f64) -> Self {
        Self { rate, most: (rate * burst).max(1.0), buckets: Mutex::new(HashMap::new()) }
    }

    /// Takes one request from the bucket; if it is empty, returns the number of seconds to wait.
    pub fn take(&self, key: K, now: Instant) -> Result<(), u64> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MOST {
            let is_filling = |b: &Bucket| self.filled(b, now) < self.most;
            buckets.retain(|_, bucket| is_filling(bucket));
        }
        let bucket = buckets.entry(key).or_insert(Bucket { left: self.most, filled: now });
        bucket.left = self.filled(bucket, now);
        bucket.filled = now;
        if bucket.left >= 1.0 {
            bucket.left -= 1.0;
            return Ok(());
        }
        Err((((1.0 - bucket.left) / self.rate).ceil() as u64).max(1))
    }

    fn filled(&self, bucket: &Bucket, now: Instant) -> f64 {
        let since = now.saturating_duration_since(bucket.filled).as_secs_f64();
        (bucket.left + since * self.rate).min(self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn who_asks_too_often_waits_and_others_do_not() {
        let limits = Limits::new(2.0, 2.0);
        let now = Instant::now();
        for _ in 0..4 {
            assert_eq!(limits.take("a", now), Ok(()));
        }
        assert_eq!(limits.take("a", now), Err(1));
        assert_eq!(limits.take("b", now), Ok(()));
        assert_eq!(limits.take("a", now + Duration::from_millis(500)), Ok(()));
        assert_eq!(limits.take("a", now + Duration::from_millis(500)), Err(1));
        // Unused requests do not accumulate forever.
        let later = now + Duration::from_secs(3_600);
        assert_eq!((0..9).filter(|_| limits.take("a", later).is_ok()).count(), 4);
    }
}

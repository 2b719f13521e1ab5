//! How often somebody may ask: a bucket for each token and for each stranger's address, that fills evenly. Times are handed in.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Buckets that are kept; full ones are forgotten first.
const MOST: usize = 65_536;

struct Bucket {
    left: f64,
    filled: Instant,
}

/// The buckets of one kind.
pub(crate) struct Limits<K> {
    rate: f64,
    most: f64,
    buckets: Mutex<HashMap<K, Bucket>>,
}

impl<K: Eq + Hash> Limits<K> {
    /// So many a second, and so many seconds' worth at once.
    pub fn new(rate: f64, burst: f64) -> Self {
        Self { rate, most: (rate * burst).max(1.0), buckets: Mutex::new(HashMap::new()) }
    }

    /// Whether this one may do it; else it may in so many seconds.
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
        // What is not used is not saved for ever.
        let later = now + Duration::from_secs(3_600);
        assert_eq!((0..9).filter(|_| limits.take("a", later).is_ok()).count(), 4);
    }
}

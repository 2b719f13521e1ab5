//! Holds a lease: a thread sends heartbeats to the server, whose answers show whether the job is
//! still wanted. The code that runs the job checks this frequently and ends the job if it is not.

use super::policy::AWAY;
use crate::client::{Client, Code};
use assay_data::threads;
use assay_farm::builds::wire::Heartbeat;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Heartbeats of one job.
#[derive(Debug)]
pub(super) struct HeldLease {
    over: Arc<AtomicBool>,
    why: Arc<Mutex<String>>,
    ends: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl HeldLease {
    /// Starts sending heartbeats at intervals of `every`.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start(client: Arc<Client>, job: i64, nonce: &str, every: Duration) -> io::Result<Self> {
        let (ends, ended) = channel::<()>();
        let over = Arc::new(AtomicBool::new(false));
        let why = Arc::new(Mutex::new(String::new()));
        let beat = Heartbeat { nonce: nonce.to_owned() };
        let (its_over, its_why) = (Arc::clone(&over), Arc::clone(&why));
        let thread = threads::start(move || {
            let mut pause = every;
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(pause) {
                pause = every;
                let told = match client.beat(job, &beat) {
                    Ok(beaten) if beaten.is_cancelled => "the job was cancelled".to_owned(),
                    Ok(_) => continue,
                    Err(error) => match error.code() {
                        Some(Code::LeaseLost) => "the lease expired".to_owned(),
                        Some(
                            Code::NotFound | Code::Forbidden | Code::Unauthorized | Code::Conflict,
                        ) => error.to_string(),
                        // If the server does not answer, the job continues, and its result waits in
                        // the spool.
                        _ => {
                            pause = every.min(AWAY);
                            continue;
                        }
                    },
                };
                *its_why.lock().unwrap_or_else(PoisonError::into_inner) = told;
                its_over.store(true, Ordering::Release);
                break;
            }
        })?;
        Ok(Self { over, why, ends: Some(ends), thread: Some(thread) })
    }

    /// Returns true if the job is no longer wanted from this agent.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Returns the shared flag that [`Self::is_over`] reads.
    pub fn over(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.over)
    }

    /// Returns the reason why the job is no longer wanted.
    pub fn why(&self) -> String {
        self.why.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for HeldLease {
    fn drop(&mut self) {
        self.ends = None;
        if let Some(thread) = self.thread.take() {
            // The thread may be waiting for an answer, which has a time limit.
            let _ended = thread.join();
        }
    }
}

//! Threads that own connections to the store. Calls of the store wait for disks and database
//! servers, and must not block the threads that handle connections.
//!
//! Each thread has its own connection, and reconnects after the database was unavailable.

use super::answer::Failure;
use assay_farm::builds::{FarmError, Store};
use assay_history::{Access, StoreLocation};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use tokio::sync::oneshot;

/// A task that is passed the store, or the error if the store cannot be opened. Returns true if the
/// connection was lost.
type Work = Box<dyn FnOnce(Result<&mut Store, FarmError>) -> bool + Send>;

/// A pool of threads with a common queue of tasks.
#[derive(Clone)]
pub(crate) struct Pool {
    work: SyncSender<Work>,
}

impl Pool {
    /// Starts threads with a queue of at most `waiting` tasks. When the pool is dropped, the
    /// threads end and close the store.
    ///
    /// # Errors
    /// If the store cannot be opened, or a thread cannot be started.
    pub fn start(
        place: &StoreLocation,
        access: Access,
        threads: usize,
        waiting: usize,
        started: &mut Vec<JoinHandle<()>>,
    ) -> anyhow::Result<Self> {
        let (work, waits) = sync_channel(waiting);
        let waits = Arc::new(Mutex::new(waits));
        for _ in 0..threads {
            let (place, waits) = (place.clone(), Arc::clone(&waits));
            let store = Store::open(&place, access)?;
            let thread = thread::Builder::new().name("store".to_owned());
            started.push(thread.spawn(move || works(store, &place, access, &waits))?);
        }
        Ok(Self { work })
    }

    /// Runs a task with the store as soon as a thread is free.
    ///
    /// # Errors
    /// The errors of the task. Also an error if the queue is full or the database is unavailable.
    pub async fn run<T: Send + 'static>(
        &self,
        does: impl FnOnce(&mut Store) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let (tell, told) = oneshot::channel();
        let work: Work = Box::new(move |store| {
            let done = store.map_err(Failure::from).and_then(does);
            let is_gone = done.as_ref().is_err_and(|failure| failure.is_gone);
            // Sending fails if the client has disconnected.
            let _nobody_listens = tell.send(done);
            is_gone
        });
        let busy =
            || Failure::unavailable("too many requests are waiting for the store: try again");
        match self.work.try_send(work) {
            Ok(()) => told.await.unwrap_or_else(|_| Err(busy())),
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => Err(busy()),
        }
    }
}

fn works(first: Store, place: &StoreLocation, access: Access, waits: &Mutex<Receiver<Work>>) {
    let mut store = Some(first);
    loop {
        let next = waits.lock().unwrap_or_else(PoisonError::into_inner).recv();
        // The pool has been dropped.
        let Ok(work) = next else { return };
        let opened = match &mut store {
            Some(store) => Ok(store),
            none => Store::open(place, access).map(|opened| none.insert(opened)),
        };
        if work(opened) {
            store = None;
        }
    }
}

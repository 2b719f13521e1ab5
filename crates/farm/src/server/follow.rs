//! Followed logs: sends a log's contents and then the text appended to it as server-sent events,
//! until the job ends.
//!
//! There are two events: `log` with `{"offset":0,"text":"…"}`, whose id is the offset in bytes
//! after the text, and `end` when the log is complete. A failure ends the stream with the event
//! `error`.

use super::answer::Failure;
use super::answer::LogOwner;
use super::app::App;
use crate::policy::LOOK;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::sleep;

/// Maximum number of bytes of a log in one event.
const PIECE: usize = 64 << 10;
/// Number of checks of the log file for each check whether the job has ended.
const LOOKS: u32 = 4;

/// A client that follows a log.
pub(crate) struct LogFollower {
    /// The state of the server.
    pub app: Arc<App>,
    /// The owner of the log.
    pub of: LogOwner,
    /// Number of bytes of the log that were already sent.
    pub offset: u64,
    /// The job that writes the log; `None` if the log no longer grows.
    pub job: Option<i64>,
    /// Permit that counts this client toward the maximum number of followers.
    pub _permit: OwnedSemaphorePermit,
}

/// Returns the response that streams the events.
pub(crate) fn events(following: LogFollower) -> Response {
    let told = stream::unfold(Some(following), |following| async {
        let (event, following) = next(following?).await;
        Some((Ok::<_, Infallible>(event), following))
    });
    Sse::new(told).keep_alive(KeepAlive::default()).into_response()
}

/// Waits for the next event. Returns the event and the follower, or `None` in place of the follower
/// if the event is the last one.
async fn next(mut own: LogFollower) -> (Event, Option<LogFollower>) {
    let mut looks = 0;
    loop {
        let has_ended = own.job.is_none() || *own.app.ending.borrow();
        match piece(&own, has_ended).await {
            Ok((text, bytes)) if bytes > 0 => {
                let data = serde_json::json!({"offset": own.offset, "text": text});
                own.offset += bytes;
                let event = Event::default().event("log").id(own.offset.to_string());
                return (event.data(data.to_string()), Some(own));
            }
            Ok(_) if has_ended => return (Event::default().event("end").data("{}"), None),
            Ok(_) => {}
            Err(failure) => {
                let event = Event::default().event("error").data(failure.message);
                return (event, None);
            }
        }
        sleep(LOOK).await;
        looks += 1;
        if let Some(job) = own.job.filter(|_| looks % LOOKS == 0) {
            let of = own.of;
            let runs = own.app.reads.run(move |store| {
                let (lease, runs) = store.last_lease(job)?;
                Ok(runs && lease.map(LogOwner::Lease) == Some(of))
            });
            // An error means that the database is unavailable and the state of the job is unknown.
            if runs.await == Ok(false) {
                own.job = None;
            }
        }
    }
}

/// Returns the next text of the log and its length in bytes. An incomplete UTF-8 character at the
/// end is left for the next call unless the log has ended.
async fn piece(own: &LogFollower, has_ended: bool) -> Result<(String, u64), Failure> {
    let (context, of, offset) = (Arc::clone(&own.app.context), own.of, own.offset);
    let read = tokio::task::spawn_blocking(move || context.logs.read(of, offset, PIECE)).await;
    let mut bytes = read.unwrap_or_else(|error| Err(Failure::internal(error.to_string())))?;
    if !has_ended
        && let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    Ok((String::from_utf8_lossy(&bytes).into_owned(), bytes.len() as u64))
}

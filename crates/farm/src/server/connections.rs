//! Connections of clients, with or without TLS. When the server stops, they are closed after the
//! requests in progress have been answered.

use super::dispatch::Peer;
use crate::policy::{CONNECTIONS, ENDING, PATIENCE};
use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

/// Pause after a connection could not be accepted, for example because too many files are open.
const PAUSE: Duration = Duration::from_millis(20);

/// All connections of a server, with a limit on their number.
pub(crate) struct Connections {
    router: Router,
    tls: Option<TlsAcceptor>,
    ending: watch::Receiver<bool>,
    free: Arc<Semaphore>,
}

impl Connections {
    /// Creates the set of connections, initially empty.
    pub fn new(router: Router, tls: Option<TlsAcceptor>, ending: watch::Receiver<bool>) -> Self {
        Self { router, tls, ending, free: Arc::new(Semaphore::new(CONNECTIONS)) }
    }

    /// Accepts connections until it is cancelled. Connections above the limit are closed.
    pub async fn accept(&self, listener: TcpListener) {
        loop {
            let Ok((stream, peer)) = listener.accept().await else {
                sleep(PAUSE).await;
                continue;
            };
            let Ok(permit) = Arc::clone(&self.free).try_acquire_owned() else {
                log::error!("more than {CONNECTIONS} connections: one was refused");
                continue;
            };
            // Disables Nagle's algorithm, so that small answers are sent immediately. A failure
            // only makes answers slower.
            let _slower = stream.set_nodelay(true);
            let (router, tls, ending) =
                (self.router.clone(), self.tls.clone(), self.ending.clone());
            tokio::spawn(async move {
                match tls {
                    None => answer(stream, peer.ip(), router, ending).await,
                    Some(tls) => match timeout(PATIENCE, tls.accept(stream)).await {
                        Ok(Ok(stream)) => answer(stream, peer.ip(), router, ending).await,
                        Ok(Err(error)) => log::debug!("{peer}: TLS: {error}"),
                        Err(_) => log::debug!("{peer}: TLS took too long"),
                    },
                }
                drop(permit);
            });
        }
    }

    /// Waits until requests in progress are answered, up to a time limit.
    pub async fn end(&self) {
        let all = u32::try_from(CONNECTIONS).unwrap_or(u32::MAX);
        if timeout(ENDING, self.free.acquire_many(all)).await.is_err() {
            log::info!("some requests remain unanswered");
        }
    }
}

async fn answer<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    peer: IpAddr,
    router: Router,
    mut ending: watch::Receiver<bool>,
) {
    let inner = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(Peer(peer));
        inner.call(request)
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = async { drop(ending.wait_for(|ends| *ends).await) } => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        // A client that disconnects is not an error of the server.
        log::debug!("{peer}: {error}");
    }
}

//! The server: HTTP in front of the store. It knows no statement of a database, and measures nothing.

use crate::Ending;
use anyhow::Context;
use assay_console::output;
use axum::Router;
use axum::http::header;
use axum::routing::get;
use jiff::Timestamp;
use std::net::SocketAddr;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

/// What runs.
const TOOL: &str = concat!("assay-farm ", env!("CARGO_PKG_VERSION"));
/// The version of the API.
const API: u64 = 1;

/// Answers requests until somebody ends it.
///
/// # Errors
/// When nobody can connect.
pub(crate) fn serve(listen: SocketAddr) -> anyhow::Result<Ending> {
    Runtime::new().context("no threads can be started")?.block_on(async {
        let listener = TcpListener::bind(listen).await.with_context(|| listen.to_string())?;
        output::say(&format!("http://{}", listener.local_addr()?));
        let mut interrupted = signal(SignalKind::interrupt())?;
        let mut ended = signal(SignalKind::terminate())?;
        let routes = Router::new().route("/api/v1", get(about));
        tokio::select! {
            served = axum::serve(listener, routes).into_future() => served.map(|()| Ending::Fine).context("the server"),
            _ = interrupted.recv() => Ok(Ending::Interrupted),
            _ = ended.recv() => Ok(Ending::Fine),
        }
    })
}

async fn about() -> ([(header::HeaderName, &'static str); 1], String) {
    let about = serde_json::json!({"tool": TOOL, "api": API, "time": Timestamp::now().to_string()});
    ([(header::CONTENT_TYPE, "application/json")], about.to_string())
}

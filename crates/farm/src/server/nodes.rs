//! Handlers for nodes: reports and requests of their agents, and commands of administrators.

use super::answer::{Answer, Failure};
use super::request::{ApiRequest, Context};
use crate::policy::BEATS;
use assay_farm::builds::Store;
use assay_farm::builds::wire::{Calibration, Hello, LeaseRequest, Reason, Welcome};

pub(crate) fn nodes(store: &mut Store, _: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    Answer::json(200, &store.nodes(asked.word("after"), asked.most()?)?)
}

pub(crate) fn node(store: &mut Store, _: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    Answer::json(200, &store.node(asked.part("node"))?)
}

pub(crate) fn page(store: &mut Store, _: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    Answer::json(200, &store.node_page(asked.part("node"))?)
}

/// Returns the name of the node in the path.
///
/// # Errors
/// If the request was sent by the agent of another node.
fn own(asked: &ApiRequest) -> Result<&str, Failure> {
    let node = asked.part("node");
    asked.is_node(node)?;
    Ok(node)
}

pub(crate) fn hello(
    store: &mut Store,
    context: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let hello: Hello = asked.thing()?;
    let greeted = store.hello(own(asked)?, &hello, asked.now)?;
    let lease = context.lease.as_secs().max(1);
    let welcome = Welcome {
        lease,
        heartbeat: (lease / u64::from(BEATS)).max(1),
        ask: context.ask.as_secs().max(1),
        clock_ahead: greeted.clock_ahead,
        log_limit: context.log_limit,
        drained: greeted.drained,
    };
    Answer::json(200, &welcome)
}

fn none(context: &Context) -> Answer {
    Answer::nothing().with("retry-after", context.ask.as_secs().max(1).to_string())
}

/// Answers an agent without writing to the store if there is no job for it. Returns `None` if there
/// may be one.
pub(crate) fn glance(
    store: &mut Store,
    context: &Context,
    asked: &ApiRequest,
) -> Result<Option<Answer>, Failure> {
    let (node, asking): (_, LeaseRequest) = (own(asked)?, asked.thing()?);
    context.saw(node, asked.now);
    Ok(if store.may_lease(node, &asking)? { None } else { Some(none(context)) })
}

pub(crate) fn lease(
    store: &mut Store,
    context: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let asking: LeaseRequest = asked.thing()?;
    match store.lease(own(asked)?, &asking, asked.now, context.lease_ms())? {
        Some(leased) => Answer::json(200, &leased),
        None => Ok(none(context)),
    }
}

pub(crate) fn calibration(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let said: Calibration = asked.thing()?;
    Answer::json(200, &store.calibrated(own(asked)?, &said)?)
}

pub(crate) fn drain(store: &mut Store, _: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    let said: Reason = asked.thing()?;
    Answer::json(200, &store.drain(own(asked)?, &said.reason)?)
}

pub(crate) fn resume(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    Answer::json(200, &store.resume(own(asked)?)?)
}

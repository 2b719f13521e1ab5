//! Handlers for tokens and the audit log.

use super::answer::{Answer, Failure};
use super::request::{ApiRequest, Context};
use assay_farm::builds::Store;
use assay_farm::builds::wire::NewToken;

pub(crate) fn tokens(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    Answer::json(200, &store.tokens(asked.word("after"), asked.most()?)?)
}

pub(crate) fn add(store: &mut Store, _: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    let new: NewToken = asked.thing()?;
    Answer::json(201, &store.add_token(&new, asked.now)?)
}

pub(crate) fn remove(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    Answer::json(200, &store.remove_token(asked.number("id")?)?)
}

pub(crate) fn rotate(
    store: &mut Store,
    _: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    Answer::json(200, &store.rotate_token(asked.number("id")?)?)
}

pub(crate) fn audit(store: &mut Store, _: &Context, asked: &ApiRequest) -> Result<Answer, Failure> {
    Answer::json(200, &store.audited(asked.word("after"), asked.most()?)?)
}

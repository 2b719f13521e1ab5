//! A route of the API or of the pages: its method, permissions and handler. They are listed in
//! `routes` and `pages`.

use super::answer::{Answer, Failure};
use super::request::{ApiRequest, Context};
use assay_farm::builds::model::Scope;
use assay_farm::builds::{FarmError, Stamp, Store};

/// A function that answers a request.
pub(crate) type Handler = fn(&mut Store, &Context, &ApiRequest) -> Result<Answer, Failure>;

/// A function that reads first, and answers if nothing needs to be written.
pub(crate) type Glance = fn(&mut Store, &Context, &ApiRequest) -> Result<Option<Answer>, Failure>;

/// The schema of a type for the OpenAPI document, which only a test generates.
#[cfg(test)]
pub(crate) type Shape = fn(&mut schemars::SchemaGenerator) -> schemars::Schema;
/// Empty: the program contains the generated document.
#[cfg(not(test))]
#[derive(Clone, Copy)]
pub(crate) struct Shape;

/// The permission required for a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permission {
    /// None.
    Nothing,
    /// Any token.
    Read,
    /// Scopes `submit` and `admin`.
    Submit,
    /// Scopes `submit`, `agent` and `admin`.
    SubmitOrAgent,
    /// Scope `agent`.
    Agent,
    /// Scopes `agent` and `admin`.
    AgentOrAdmin,
    /// Scope `admin`.
    Admin,
}

impl Permission {
    /// Returns true if a token of this scope is sufficient.
    pub fn are_met_by(self, scope: Scope) -> bool {
        match self {
            Self::Nothing | Self::Read => true,
            Self::Submit => matches!(scope, Scope::Submit | Scope::Admin),
            Self::SubmitOrAgent => matches!(scope, Scope::Submit | Scope::Agent | Scope::Admin),
            Self::Agent => scope == Scope::Agent,
            Self::AgentOrAdmin => matches!(scope, Scope::Agent | Scope::Admin),
            Self::Admin => scope == Scope::Admin,
        }
    }

    /// Returns the permission in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Nothing => "none",
            Self::Read => "read",
            Self::Submit => "submit",
            Self::SubmitOrAgent => "submit or agent",
            Self::Agent => "agent",
            Self::AgentOrAdmin => "agent or admin",
            Self::Admin => "admin",
        }
    }
}

/// The threads that handle a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    /// Threads that read.
    Read,
    /// Threads that write.
    Write,
    /// The thread for slow requests.
    Slow,
}

/// A route.
#[derive(Clone, Copy)]
#[cfg_attr(not(test), expect(dead_code, reason = "some members are for the document alone"))]
pub(crate) struct Route {
    /// Method of the route.
    pub method: Verb,
    /// Path of the route, in the syntax of the router.
    pub path: &'static str,
    /// A description in one line.
    pub does: &'static str,
    /// The required permission.
    pub needs: Permission,
    /// The threads that run the handler.
    pub threads: Threads,
    /// The function that answers if nothing needs to be written.
    pub glance: Option<Glance>,
    /// The handler.
    pub handler: Handler,
    /// Maximum size of the body, bytes.
    pub limit: usize,
    /// The schema of the body; `None` if it has none or consists of bytes.
    pub takes: Option<Shape>,
    /// The schema of the answer; `None` if it is empty, bytes or text.
    pub gives: Option<Shape>,
    /// The query parameters.
    pub query: &'static [&'static str],
    /// True if requests are recorded in the audit log.
    pub audited: bool,
    /// The rows that the answer depends on, if it is cached.
    pub stands: Option<AnswerBasis>,
}

/// The method of a route, in a form that a constant can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    /// GET, and HEAD along with it.
    Get,
    /// PUT.
    Put,
    /// POST.
    Post,
    /// DELETE.
    Delete,
}

impl Verb {
    /// Returns the name of the method in the OpenAPI document.
    #[cfg(test)]
    pub fn word(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Put => "put",
            Self::Post => "post",
            Self::Delete => "delete",
        }
    }
}

/// The rows that an answer depends on; it is valid while their stamp is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerBasis {
    /// Summaries of all projects, the latest builds, and the number of jobs.
    Home,
    /// The project in the path.
    Project,
}

impl AnswerBasis {
    fn stamp(self, store: &Store, asked: &ApiRequest) -> Result<Stamp, FarmError> {
        match self {
            Self::Home => store.home_stamp(),
            Self::Project => store.project_stamp(asked.part("owner"), asked.part("project")),
        }
    }
}

/// Returns the answer to a request: a cached one if it is valid, or else a new one.
///
/// # Errors
/// The errors of the route's handler.
pub(crate) fn answered(
    route: &Route,
    store: &mut Store,
    context: &Context,
    asked: &ApiRequest,
) -> Result<Answer, Failure> {
    let Some(of) = route.stands else { return (route.handler)(store, context, asked) };
    if let Some(answer) = context.kept.find(&asked.place, &of.stamp(store, asked)?) {
        return Ok(answer.copy());
    }
    // The stamp and everything on the page are read in one transaction.
    store.at_one_moment(|store| {
        let stamp = of.stamp(store, asked)?;
        let answer = (route.handler)(store, context, asked)?.tagged();
        context.kept.keep(&asked.place, stamp, &answer);
        Ok(answer)
    })
}

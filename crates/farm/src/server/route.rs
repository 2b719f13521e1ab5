//! Type of the routes of the API and of the pages: their methods, permissions and handlers. The
//! routes are listed in `routes` and `pages`.

use super::answer::{Answer, Failure};
use super::request::{ApiRequest, Context};
use assay_farm::builds::model::Scope;
use assay_farm::builds::{FarmError, Stamp, Store};

/// A function that answers a request.
pub(crate) type Handler = fn(&mut Store, &Context, &ApiRequest) -> Result<Answer, Failure>;

/// A function that answers a request without writing, or returns `None` if the handler must run.
pub(crate) type Glance = fn(&mut Store, &Context, &ApiRequest) -> Result<Option<Answer>, Failure>;

/// A function that generates the schema of a type for the OpenAPI document. Only a test uses it.
#[cfg(test)]
pub(crate) type Shape = fn(&mut schemars::SchemaGenerator) -> schemars::Schema;
/// Placeholder for schemas outside of tests, where the OpenAPI document is not generated.
#[cfg(not(test))]
#[derive(Clone, Copy)]
pub(crate) struct Shape;

/// The permission required for a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permission {
    /// No token is required.
    Nothing,
    /// A token of any scope is sufficient.
    Read,
    /// Requires scope `submit` or `admin`.
    Submit,
    /// Requires scope `submit`, `agent` or `admin`.
    SubmitOrAgent,
    /// Requires scope `agent`.
    Agent,
    /// Requires scope `agent` or `admin`.
    AgentOrAdmin,
    /// Requires scope `admin`.
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

    /// Returns the names of the required scopes, for messages.
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

/// The group of threads that runs a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    /// Threads that only read from the store.
    Read,
    /// Threads that write to the store.
    Write,
    /// The single thread for slow requests.
    Slow,
}

/// A route of the API or of the pages.
#[derive(Clone, Copy)]
#[cfg_attr(not(test), expect(dead_code, reason = "some members are for the document alone"))]
pub(crate) struct Route {
    /// HTTP method of the route.
    pub method: Verb,
    /// Path of the route, in the syntax of the router.
    pub path: &'static str,
    /// Description of the route in one line, for the OpenAPI document.
    pub does: &'static str,
    /// The required permission.
    pub needs: Permission,
    /// The threads that run the handler.
    pub threads: Threads,
    /// Function that is tried first and answers if nothing needs to be written.
    pub glance: Option<Glance>,
    /// Function that answers requests.
    pub handler: Handler,
    /// Maximum size of the body, bytes.
    pub limit: usize,
    /// Schema of the request body; `None` if there is no body or it is not JSON.
    pub takes: Option<Shape>,
    /// Schema of the answer; `None` if the answer is not JSON.
    pub gives: Option<Shape>,
    /// Names of the query parameters.
    pub query: &'static [&'static str],
    /// True if requests are recorded in the audit log.
    pub audited: bool,
    /// Rows that the answer depends on; `None` if the answer is not cached.
    pub stands: Option<AnswerBasis>,
}

/// The HTTP method of a route, in a form that can be used in constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    /// GET, which also handles HEAD.
    Get,
    /// PUT.
    Put,
    /// POST.
    Post,
    /// DELETE.
    Delete,
}

impl Verb {
    /// Returns the method's name in the OpenAPI document.
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

/// The rows that a cached answer depends on. The answer is valid while the stamp of the rows is
/// unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerBasis {
    /// Summaries of all projects, the latest builds, and the number of jobs.
    Home,
    /// The rows of the project in the path.
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

/// Returns the answer to a request: the cached one if it is still valid, otherwise a new one.
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
    // The stamp and the data are read in one transaction, so that they agree.
    store.at_one_moment(|store| {
        let stamp = of.stamp(store, asked)?;
        let answer = (route.handler)(store, context, asked)?.tagged();
        context.kept.keep(&asked.place, stamp, &answer);
        Ok(answer)
    })
}

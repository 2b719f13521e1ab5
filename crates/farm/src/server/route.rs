//! A path of the API or of the pages: how it is asked, by whom, and what answers. The lists of them are `routes` and `pages`.

use super::answer::{Answer, Failure};
use super::asked::{Asked, Context};
use super::kept::Stands;
use assay_builds::Store;
use assay_builds::model::Scope;

/// What answers a request.
pub(crate) type Handler = fn(&mut Store, &Context, &Asked) -> Result<Answer, Failure>;

/// What reads first, and answers where nothing is to be written.
pub(crate) type Glance = fn(&mut Store, &Context, &Asked) -> Result<Option<Answer>, Failure>;

/// The schema of a type, for the OpenAPI document, which only a test generates.
#[cfg(test)]
pub(crate) type Shape = fn(&mut schemars::SchemaGenerator) -> schemars::Schema;
/// Nothing: the program carries the document as it was generated.
#[cfg(not(test))]
#[derive(Clone, Copy)]
pub(crate) struct Shape;

/// Who may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Anybody.
    Nothing,
    /// Whoever has a token.
    Read,
    /// Scopes `submit` and `admin`.
    Submit,
    /// The same, and `agent`.
    SubmitOrAgent,
    /// Scope `agent`.
    Agent,
    /// Scopes `agent` and `admin`.
    AgentOrAdmin,
    /// Scope `admin`.
    Admin,
}

impl Needs {
    /// Whether a token of this scope is enough.
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

    /// In words.
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

/// Which threads a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    /// Those that read.
    Read,
    /// Those that write.
    Write,
    /// That for what takes long.
    Slow,
}

/// A path of the API.
#[derive(Clone, Copy)]
#[cfg_attr(not(test), expect(dead_code, reason = "some members are for the document alone"))]
pub(crate) struct Route {
    /// How it is asked.
    pub method: Verb,
    /// The path, as the router has it.
    pub path: &'static str,
    /// What it does, in a line.
    pub does: &'static str,
    /// Who may.
    pub needs: Needs,
    /// Which threads do it.
    pub threads: Threads,
    /// What reads first, and answers where nothing is to be written.
    pub glance: Option<Glance>,
    /// What does it.
    pub handler: Handler,
    /// Bytes of its body.
    pub limit: usize,
    /// Its body; `None`: none, or bytes.
    pub takes: Option<Shape>,
    /// What it gives; `None`: nothing, bytes or text.
    pub gives: Option<Shape>,
    /// Words of the query.
    pub query: &'static [&'static str],
    /// Whether who did it is noted.
    pub audited: bool,
    /// What the answer changes with, where it is kept as long as that stands.
    pub stands: Option<Stands>,
}

/// How a path is asked; a constant can hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    /// GET, and HEAD with it.
    Get,
    /// PUT.
    Put,
    /// POST.
    Post,
    /// DELETE.
    Delete,
}

impl Verb {
    /// Its word in the OpenAPI document.
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

//! The page shown when a request is refused: the reason and, if a token is needed, a form for
//! entering it.

use super::{Around, Frame};
use crate::names::clean;
use askama::Template;

#[derive(Template)]
#[template(path = "farm/refused.html")]
struct Page {
    around: Around,
    title: &'static str,
    message: String,
    enter: Option<String>,
}

/// Renders the page for a refused request.
///
/// # Errors
///
/// Returns an error if the template can't be filled, which would be a bug.
pub fn refused(frame: &Frame, status: u16, message: &str) -> Result<String, askama::Error> {
    let title = match status {
        401 => "A token is needed",
        403 => "Not allowed",
        404 => "Not found",
        429 | 503 => "Try again later",
        400..=499 => "Not understood",
        _ => "Something went wrong here",
    };
    Page {
        around: Around::of(frame, title),
        title,
        message: clean(message),
        enter: (status == 401).then(|| frame.link(&["enter"])),
    }
    .render()
}

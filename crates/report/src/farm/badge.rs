//! An SVG badge for a README with the state of a project's newest version. Texts have a fixed
//! width, regardless of the fonts available.

use super::home::newest;
use super::state::Sum;
use crate::names::clean;
use askama::Template;

/// Maximum length of a version's name, in columns.
const LONGEST: usize = 20;

#[derive(Template)]
#[template(path = "farm/badge.svg", escape = "html")]
struct Badge {
    version: String,
    said: String,
    colour: &'static str,
    left: usize,
    right: usize,
}

/// Returns the approximate width of a text in the badge's font size. The text is stretched to
/// exactly this width.
fn wide(text: &str) -> usize {
    7 * crate::names::width(text) + 10
}

/// Renders the badge of a version from the states of its targets. Without a version, the badge says
/// that nothing has been tested yet.
///
/// # Errors
///
/// Returns an error if the template can't be filled, which would be a bug.
pub fn badge(version: Option<&str>, states: &[Sum]) -> Result<String, askama::Error> {
    let (tone, said) = match version {
        Some(_) => newest(states),
        None => ("unsure", "not tested yet".to_owned()),
    };
    let version = clean(version.unwrap_or("farm"));
    let version = crate::names::shorten(&version, LONGEST, "…");
    let colour = match tone {
        "good" => "#00664b",
        "bad" => "#a63c00",
        _ => "#5a5f66",
    };
    Badge { left: wide(&version), right: wide(&said), version, said, colour }.render()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

    use super::*;
    use assay_analysis::farm::State;

    #[test]
    fn a_badge_says_what_the_newest_version_came_to() {
        let made = badge(Some("1.2.0"), &[(State::Passed, 5), (State::Failed, 2)]).unwrap();
        assert!(
            made.contains(">1.2.0</text>") && made.contains(">fails on 2 of 7</text>"),
            "{made}"
        );
        assert!(made.contains("#a63c00"));
        assert!(badge(None, &[]).unwrap().contains("not tested yet"));
    }

    #[test]
    fn a_version_is_only_text() {
        let made = badge(Some("</text><script>alert(1)</script>&\"\u{202e}"), &[]).unwrap();
        assert!(!made.contains("<script") && !made.contains('\u{202e}'), "{made}");
        let mut reader = quick_xml::Reader::from_str(&made);
        while !matches!(reader.read_event().unwrap(), quick_xml::events::Event::Eof) {}
    }
}

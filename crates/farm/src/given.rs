//! Parsers that validate command-line values before a command does anything.

use std::net::SocketAddr;

/// Number of hexadecimal digits of a SHA-256.
const DIGITS: usize = 64;

/// Parses an IP address and a port to listen on.
///
/// # Errors
/// If the text is not an IP address and a port.
pub(crate) fn listen(text: &str) -> Result<SocketAddr, String> {
    let told = "give an address and a port, as in 127.0.0.1:8040, [::1]:8040 or 0.0.0.0:8040";
    text.parse().map_err(|_| told.to_owned())
}

/// Validates a host name as it appears in a browser's requests, without a scheme and a port.
///
/// # Errors
/// If the name is empty or has characters that a host name cannot have.
pub(crate) fn host(text: &str) -> Result<String, String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let is_host = !text.is_empty() && text.split('.').all(|part| part.chars().all(is_part));
    match is_host {
        true => Ok(text.to_owned()),
        false => Err("give a name without scheme and port, as in farm.example".to_owned()),
    }
}

/// Validates an http or https address from which files are fetched.
///
/// # Errors
/// If the address does not begin with `https://` or `http://` and a host.
pub(crate) fn web(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    match rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/')) {
        true => Ok(text.to_owned()),
        false => Err("an address begins with https:// or http://".to_owned()),
    }
}

/// Validates a SHA-256 digest and returns it in lower case.
///
/// # Errors
/// If the text does not consist of 64 hexadecimal digits.
pub(crate) fn sha256(text: &str) -> Result<String, String> {
    match text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => Ok(text.to_lowercase()),
        false => Err(format!("a SHA-256 has {DIGITS} hexadecimal digits (sha256sum FILE)")),
    }
}

/// Validates that a value is not blank.
///
/// # Errors
/// If the value is empty or consists of white space.
pub(crate) fn words(text: &str) -> Result<String, String> {
    match text.trim().is_empty() {
        true => Err("it is empty".to_owned()),
        false => Ok(text.to_owned()),
    }
}

/// Parses `OWNER/PROJECT` into the names of the owner and the project.
///
/// # Errors
/// If the text has another form or a name is invalid.
pub(crate) fn project(text: &str) -> anyhow::Result<(&str, &str)> {
    let parts = text
        .split_once('/')
        .filter(|(owner, name)| !owner.is_empty() && !name.is_empty() && !name.contains('/'));
    let Some((owner, name)) = parts else {
        anyhow::bail!("{}: a project is OWNER/PROJECT, as in alice/tidy", crate::plain::line(text));
    };
    assay_farm::builds::check_name("an owner", owner)?;
    assay_farm::builds::check_name("a project", name)?;
    Ok((owner, name))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn what_makes_no_sense_is_refused_with_what_does() {
        assert_eq!(listen("[::1]:0").unwrap().port(), 0);
        for bad in ["8040", "localhost:8040", "127.0.0.1", "127.0.0.1:99999"] {
            assert!(listen(bad).unwrap_err().contains("127.0.0.1:8040"), "{bad}");
        }
        assert!(host("farm.example").is_ok());
        for bad in ["", "a b", "https://farm.example", "farm.example:8040"] {
            assert!(host(bad).is_err(), "{bad}");
        }
        assert!(web("http://127.0.0.1:1/x").is_ok() && web("https://x").is_ok());
        for bad in ["", "x", "https://", "file:///x", "https:///x"] {
            assert!(web(bad).is_err(), "{bad}");
        }
        assert_eq!(sha256(&"Ab".repeat(32)).unwrap(), "ab".repeat(32));
        assert!(sha256("ab").is_err() && sha256(&"x".repeat(64)).is_err());
        assert!(words(" ").is_err() && words("rake").is_ok());
    }

    #[test]
    fn a_project_has_an_owner_and_a_name() {
        assert_eq!(project("alice/tidy").unwrap(), ("alice", "tidy"));
        for bad in ["", "alice", "/tidy", "alice/", "a/b/c", "a b/c", "a/<b>", "../x"] {
            assert!(project(bad).is_err(), "{bad}");
        }
    }
}

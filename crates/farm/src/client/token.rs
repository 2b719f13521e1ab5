//! The client's token, read from a file or the environment. It is never printed.

use super::ClientError;
use assay_data::system_error::reason;
use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Environment variable from which the token is read if no file is given.
const VARIABLE: &str = "ASSAY_FARM_TOKEN";

/// A token, which authenticates the client to the server.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// Reads the token from the file, or from the variable `ASSAY_FARM_TOKEN` if no file is given.
    /// Returns `None` if neither is given.
    ///
    /// # Errors
    /// If the file cannot be read, is accessible to others, or does not contain a token. If the
    /// variable does not contain a token.
    pub fn find(file: Option<&Path>) -> Result<Option<Self>, ClientError> {
        let refused = |why: String| ClientError::NoToken { why };
        let Some(path) = file else {
            let own = std::env::var(VARIABLE).ok().filter(|own| !own.trim().is_empty());
            let own = own.map(|own| Self::of(&own)).transpose();
            return own.map_err(|why| refused(format!("{VARIABLE} {why}")));
        };
        let name = path.display();
        let found =
            fs::metadata(path).map_err(|error| refused(format!("{name}: {}", reason(&error))))?;
        if found.mode() & 0o077 != 0 {
            return Err(refused(format!("{name} can be read by others: chmod 600 {name}")));
        }
        let text = fs::read_to_string(path)
            .map_err(|error| refused(format!("{name}: {}", reason(&error))))?;
        Self::of(&text).map(Some).map_err(|why| refused(format!("{name} {why}")))
    }

    /// Creates a token from its text.
    ///
    /// # Errors
    /// If the text is not a token. The message does not contain the text.
    pub fn of(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        match text {
            "" => Err("contains no token"),
            _ if text.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(Self(text.to_owned())),
            _ => Err("contains more than a token"),
        }
    }

    pub(super) fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

/// Omits the secret, so that values that contain a token can be printed.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn it_is_never_shown() {
        let own = Token::of(" secret\n").unwrap();
        assert_eq!((format!("{own:?}"), own.header()), ("Token(…)".into(), "Bearer secret".into()));
    }

    #[test]
    fn a_file_that_others_may_read_is_refused_without_its_content() {
        let room = tempfile::tempdir().unwrap();
        let path = room.path().join("token");
        fs::write(&path, "secret\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let said = Token::find(Some(&path)).unwrap_err().to_string();
        assert!(said.contains("chmod 600") && !said.contains("secret"), "{said}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(Token::find(Some(&path)).unwrap().unwrap().header(), "Bearer secret");
        fs::write(&path, "two words").unwrap();
        let said = Token::find(Some(&path)).unwrap_err().to_string();
        assert!(!said.contains("two words"), "{said}");
    }
}

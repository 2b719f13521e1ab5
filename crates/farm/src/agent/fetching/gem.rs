//! Versions of a gem. Uses the compact index (`info/NAME`), which has checksums, or, without one,
//! the list of all gems that `gem generate_index` writes. That list is in Ruby's Marshal format, of
//! which only the parts used there are supported. If a gem exists for several platforms, the
//! platform-independent one is used.

use super::{FetchError, OfferedVersion, archive, web};
use crate::agent::policy::{LARGEST_INDEX, UNPACKED};
use crate::client::part;
use anyhow::Context;
use flate2::read::MultiGzDecoder;
use std::io::Read;
use std::path::Path;

const INDEX: &str = "https://rubygems.org";
/// The platform name of platform-independent gems.
const ALL: &str = "ruby";

/// Returns all versions.
///
/// # Errors
/// If the index cannot be queried.
pub(super) fn offered(
    web: &web::Web,
    name: &str,
    index: Option<&str>,
) -> Result<Vec<OfferedVersion>, FetchError> {
    let base = index.unwrap_or(INDEX).trim_end_matches('/');
    let address = |version: &str| format!("{base}/gems/{}-{}.gem", part(name), part(version));
    let compact = web.text(&format!("{base}/info/{}", part(name)), "text/plain");
    match compact {
        Ok(text) => Ok(compactly(&String::from_utf8_lossy(&text), &address)),
        Err(FetchError::Gone(_) | FetchError::Version(_)) => {
            let url = format!("{base}/specs.4.8.gz");
            let packed = web.text(&url, "*/*")?;
            let mut text = Vec::new();
            let mut from = MultiGzDecoder::new(&packed[..]).take(LARGEST_INDEX);
            let read = from.read_to_end(&mut text);
            let all = read.ok().and_then(|_| listed(&text));
            let all =
                all.ok_or_else(|| FetchError::Version(format!("{url} is not a list of gems")))?;
            let own = all.into_iter().filter(|(own, _, platform)| own == name && platform == ALL);
            let plain = |(_, version, _): (String, String, String)| OfferedVersion {
                address: Some(address(&version)),
                version,
                sha256: None,
                published: None,
            };
            Ok(own.map(plain).collect())
        }
        Err(error) => Err(error),
    }
}

/// Parses the lines `VERSION[-PLATFORM] [DEPENDENCIES]|checksum:SHA256,ruby:…` after the line
/// `---`.
fn compactly(text: &str, address: &dyn Fn(&str) -> String) -> Vec<OfferedVersion> {
    let lines = text.lines().skip_while(|line| *line != "---").skip(1);
    let offered = lines.filter_map(|line| {
        let (version, rest) = line.split_once(' ')?;
        // A hyphen marks a version that was built for one platform.
        if version.contains('-') {
            return None;
        }
        let rest = rest.rsplit('|').next().unwrap_or_default();
        let sum = rest.split(',').find_map(|own| own.trim().strip_prefix("checksum:"));
        Some(OfferedVersion {
            version: version.to_owned(),
            address: Some(address(version)),
            sha256: sum.map(str::to_owned),
            published: None,
        })
    });
    offered.collect()
}

/// Unpacks a gem's files into an existing empty directory.
///
/// # Errors
/// If it is not a gem, or contains something that may not be unpacked.
pub(super) fn unpack(gem: &Path, to: &Path) -> anyhow::Result<()> {
    let data = archive::member(gem, "data.tar.gz", UNPACKED).context("it is not a gem")?;
    archive::unpack_gz(&data[..], to)
}

/// Parses names, versions and platforms from a list of gems; `None` if it is not one.
fn listed(text: &[u8]) -> Option<Vec<(String, String, String)>> {
    let rest = text.strip_prefix(&[4, 8])?;
    let mut reader = Marshal { rest, symbols: Vec::new(), objects: Vec::new(), depth: 0 };
    let Value::List(all) = reader.value()? else { return None };
    let text = |own: &Value| match own {
        Value::Text(text) => Some(text.clone()),
        // A version is an object that holds its text in a list.
        Value::List(inner) => match inner.first() {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        },
        Value::Other => None,
    };
    let gems = all.iter().map(|gem| match gem {
        Value::List(parts) if parts.len() == 3 => {
            Some((text(&parts[0])?, text(&parts[1])?, text(&parts[2])?))
        }
        _ => None,
    });
    gems.collect()
}

#[derive(Clone, Debug)]
enum Value {
    Text(String),
    List(Vec<Value>),
    Other,
}

/// Reads Ruby's Marshal format 4.8, as far as lists of gems use it: strings, lists, symbols,
/// objects marshalled by their own method, and references.
struct Marshal<'a> {
    rest: &'a [u8],
    symbols: Vec<String>,
    objects: Vec<Value>,
    depth: u32,
}

impl Marshal<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// Reads an integer; small ones are stored in one byte, offset by five.
    fn number(&mut self) -> Option<usize> {
        let first = self.byte()?.cast_signed();
        match first {
            0 => Some(0),
            5.. => usize::try_from(first - 5).ok(),
            1..=4 => {
                let mut number = 0_usize;
                for place in 0..first {
                    number |= usize::from(self.byte()?) << (8 * place);
                }
                Some(number)
            }
            _ => None,
        }
    }

    fn bytes(&mut self) -> Option<String> {
        let length = self.number()?;
        let (own, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(String::from_utf8_lossy(own).into_owned())
    }

    fn symbol(&mut self) -> Option<String> {
        match self.byte()? {
            b':' => {
                let own = self.bytes()?;
                self.symbols.push(own.clone());
                Some(own)
            }
            b';' => {
                let index = self.number()?;
                self.symbols.get(index).cloned()
            }
            _ => None,
        }
    }

    fn value(&mut self) -> Option<Value> {
        self.depth += 1;
        let value = (self.depth < 32).then(|| self.inner()).flatten();
        self.depth -= 1;
        value
    }

    fn inner(&mut self) -> Option<Value> {
        match self.byte()? {
            b'0' | b'T' | b'F' => Some(Value::Other),
            b'i' => self.number().map(|_| Value::Other),
            b'"' => {
                let text = Value::Text(self.bytes()?);
                self.objects.push(text.clone());
                Some(text)
            }
            // An object with instance variables: for strings, their encoding.
            b'I' => {
                let own = self.value()?;
                for _ in 0..self.number()? {
                    self.symbol()?;
                    self.value()?;
                }
                Some(own)
            }
            b'[' => {
                let place = self.objects.len();
                self.objects.push(Value::Other);
                let count = self.number()?;
                // A list cannot have more elements than there are bytes left.
                let mut all = Vec::with_capacity(count.min(self.rest.len()));
                for _ in 0..count {
                    all.push(self.value()?);
                }
                // Long lists are never referenced, and keeping a copy would be expensive.
                if count < 8 {
                    self.objects[place] = Value::List(all.clone());
                }
                Some(Value::List(all))
            }
            b'U' => {
                let place = self.objects.len();
                self.objects.push(Value::Other);
                self.symbol()?;
                let own = self.value()?;
                self.objects[place] = own.clone();
                Some(own)
            }
            b'@' => {
                let index = self.number()?;
                self.objects.get(index).cloned()
            }
            b':' => {
                let own = self.bytes()?;
                self.symbols.push(own.clone());
                Some(Value::Text(own))
            }
            b';' => {
                let index = self.number()?;
                self.symbols.get(index).cloned().map(Value::Text)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn the_compact_index_is_read() {
        let text = "---\n1.0 |checksum:ab,ruby:>= 2.0\n1.1-java |checksum:cd\n1.2 dep:>= 1&< 2|checksum:ef\n";
        let found = compactly(text, &|version| format!("/{version}"));
        let found: Vec<_> =
            found.iter().map(|own| (own.version.as_str(), own.sha256.as_deref())).collect();
        assert_eq!(found, [("1.0", Some("ab")), ("1.2", Some("ef"))]);
    }

    /// The result of `Marshal.dump([["a", Gem::Version.new("1.0"), "ruby"], ["b",
    /// Gem::Version.new("1.0"), "java"]])` in Ruby 3.1.
    const LIST: &[u8] = b"\x04\x08[\x07[\x08I\"\x06a\x06:\x06ETU:\x11Gem::Version[\x06I\"\x081.0\x06;\x00TI\"\x09ruby\x06;\x00T[\x08I\"\x06b\x06;\x00T@\x08I\"\x09java\x06;\x00T";

    #[test]
    fn the_list_of_all_gems_is_read() {
        let found = listed(LIST).unwrap();
        let word = |text: &str| text.to_owned();
        assert_eq!(found[0], (word("a"), word("1.0"), word("ruby")));
        assert_eq!(found[1], (word("b"), word("1.0"), word("java")));
    }

    #[test]
    fn cut_and_endless_lists_are_no_lists() {
        for end in 0..LIST.len() {
            assert!(listed(&LIST[..end]).is_none(), "{end}");
        }
        let deep: Vec<u8> = b"\x04\x08".iter().copied().chain(b"[\x06".repeat(10_000)).collect();
        assert!(listed(&deep).is_none());
        assert!(listed(b"\x04\x08[\x04\xff\xff\xff\x7f").is_none());
    }
}

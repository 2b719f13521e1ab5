//! Checks that requests use an accepted host name and do not come from other web sites, so that
//! these cannot read data through a user's browser. An unknown host name is rejected because of DNS
//! rebinding. Requests that other sites embed or send are rejected as well.

use axum::http::{HeaderMap, Method, header};
use std::net::IpAddr;

/// Host names that requests to the server may use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hosts {
    /// True if any IP address is accepted as a host, rather than only loopback addresses.
    pub is_open: bool,
    /// Accepted host names in addition to the addresses and `localhost`.
    pub names: Vec<String>,
}

impl Hosts {
    /// Returns the reason why a request is rejected; `None` if it is accepted.
    pub fn refused(&self, method: &Method, headers: &HeaderMap) -> Option<&'static str> {
        let one = |name: header::HeaderName| {
            let mut found = headers.get_all(name).iter();
            let first = found.next().map(|value| value.to_str().unwrap_or("?"));
            // If there are two values, it is unclear which one applies.
            if found.next().is_some() { Some("?") } else { first }
        };
        if !one(header::HOST).is_some_and(|host| self.is_own(host)) {
            return Some(
                "this server does not accept that host name: use its address, or start it with --host NAME",
            );
        }
        let fetch = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let site = fetch("sec-fetch-site");
        let is_foreign = site.is_some_and(|site| !matches!(site, "same-origin" | "none"));
        let only_looks = matches!(*method, Method::GET | Method::HEAD);
        if is_foreign && !(only_looks && fetch("sec-fetch-mode") == Some("navigate")) {
            return Some("requests from other sites are rejected");
        }
        let origin = one(header::ORIGIN).map(|origin| origin.split_once("://").map(|(_, o)| o));
        match origin {
            Some(origin) if !only_looks && !origin.is_some_and(|origin| self.is_own(origin)) => {
                Some("requests from other sites are rejected")
            }
            _ => None,
        }
    }

    fn is_own(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        match name.parse::<IpAddr>() {
            Ok(address) => self.is_open || address.is_loopback(),
            Err(_) => {
                name.eq_ignore_ascii_case("localhost")
                    || self.names.iter().any(|own| own.eq_ignore_ascii_case(name))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]
    use super::*;

    fn refused(hosts: &Hosts, method: Method, pairs: &[(&'static str, &str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().unwrap());
        }
        hosts.refused(&method, &headers).is_some()
    }

    #[test]
    fn hosts_that_may_be_anybodys_are_refused() {
        let own = Hosts::default();
        let of = |hosts: &Hosts, host: &str| refused(hosts, Method::GET, &[("host", host)]);
        for good in ["127.0.0.1:8040", "localhost", "LOCALHOST:1", "[::1]:8040"] {
            assert!(!of(&own, good), "{good}");
        }
        for bad in ["evil.example", "127.0.0.1.evil.example", "10.0.0.1", "", "x@127.0.0.1"] {
            assert!(of(&own, bad), "{bad}");
        }
        assert!(refused(&own, Method::GET, &[]));
        assert!(refused(&own, Method::GET, &[("host", "localhost"), ("host", "evil")]));
        let open = Hosts { is_open: true, names: vec!["farm.example".to_owned()] };
        assert!(!of(&open, "10.0.0.1") && !of(&open, "Farm.Example:443"));
        assert!(of(&open, "evil.example"));
    }

    #[test]
    fn what_pages_of_others_send_is_refused() {
        let own = Hosts::default();
        let of = |method: Method, more: &[(&'static str, &str)]| {
            refused(&own, method, &[&[("host", "localhost")], more].concat())
        };
        assert!(!of(Method::POST, &[("origin", "http://localhost:8040")]));
        assert!(of(Method::POST, &[("origin", "https://evil.example")]));
        assert!(of(Method::POST, &[("origin", "null")]));
        assert!(of(Method::GET, &[("sec-fetch-site", "cross-site")]));
        assert!(!of(
            Method::GET,
            &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]
        ));
        assert!(of(
            Method::POST,
            &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]
        ));
    }
}

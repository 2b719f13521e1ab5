//! Resolves the names of servers without a thread. The library starts one for its own time limit,
//! and panics where none can be started (`ulimit -u`); the system's resolver has a time limit
//! anyway.

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;
use ureq::unversioned::transport::time::Duration;

/// The library's resolver in the calling thread.
#[derive(Debug, Default)]
pub(super) struct ThreadResolver(DefaultResolver);

impl Resolver for ThreadResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let timeout = NextTimeout { after: Duration::NotHappening, ..timeout };
        self.0.resolve(uri, config, timeout)
    }
}

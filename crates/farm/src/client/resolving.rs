//! Resolves host names without starting a thread. The HTTP library would start one to enforce its
//! time limit, and would panic if the system refuses to start threads (`ulimit -u`). The system's
//! resolver has its own time limit.

use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;
use ureq::unversioned::transport::time::Duration;

/// Runs the HTTP library's resolver in the calling thread.
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

//! TLS with a certificate provided by the user.

use anyhow::{Context, ensure};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// Creates a TLS acceptor from a certificate chain and its private key, both PEM.
///
/// # Errors
/// If the files cannot be read, or if the key does not belong to the certificate.
pub(crate) fn acceptor(certificate: &Path, key: &Path) -> anyhow::Result<TlsAcceptor> {
    let shown = || format!("--tls-cert {}", certificate.display());
    let chain = CertificateDer::pem_file_iter(certificate).with_context(shown)?;
    let chain: Vec<CertificateDer<'static>> =
        chain.collect::<Result<_, _>>().with_context(shown)?;
    ensure!(!chain.is_empty(), "{}: contains no certificate", shown());
    let key = PrivateKeyDer::from_pem_file(key)
        .with_context(|| format!("--tls-key {}: must be a key in PEM format", key.display()))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .context("--tls-cert and --tls-key do not belong together")?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

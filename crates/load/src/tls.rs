//! TLS: configuration and connections. The caller chooses the kind of handshake, full or resumed;
//! the kind that actually took place is counted.

use crate::failure::Failure;
use crate::socket::{self, Io};
use crate::target::Target;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, HandshakeKind, RootCertStore};
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The kind of TLS handshake to request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Handshakes {
    /// Always full handshakes.
    #[default]
    Full,
    /// Resumed handshakes if the server permits.
    Resumed,
}

/// The TLS version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Version {
    /// The version preferred by the server.
    #[default]
    Any,
    /// TLS 1.2.
    V12,
    /// TLS 1.3.
    V13,
}

/// TLS settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tls {
    /// Full or resumed handshakes.
    pub handshakes: Handshakes,
    /// The TLS version.
    pub version: Version,
    /// Accept any certificate.
    pub insecure: bool,
    /// The server name in the handshake (SNI), which the certificate must contain; `None` for the
    /// host of the URL.
    pub server_name: Option<String>,
    /// A file of certificates (PEM) that are trusted in addition to those of the system.
    pub ca: Option<PathBuf>,
}

/// Reasons why TLS cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    /// A certificate file cannot be used.
    #[error("{path}: {why}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// The problem.
        why: String,
    },
    /// This machine has no trusted certificates.
    #[error(
        "this machine has no trusted certificates: install ca-certificates, or name a file with --ca"
    )]
    NoRoots,
    /// The library reported an error.
    #[error("TLS: {0}")]
    Refused(String),
}

impl Tls {
    /// Returns the library's configuration. If `http2` is true, only that protocol is offered.
    ///
    /// # Errors
    /// If a file cannot be read, or no certificate is trusted.
    pub(crate) fn config(&self, http2: bool) -> Result<Arc<ClientConfig>, TlsError> {
        let refused = |error: rustls::Error| TlsError::Refused(error.to_string());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions: &[&rustls::SupportedProtocolVersion] = match self.version {
            Version::Any => &[&rustls::version::TLS13, &rustls::version::TLS12],
            Version::V12 => &[&rustls::version::TLS12],
            Version::V13 => &[&rustls::version::TLS13],
        };
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(versions)
            .map_err(refused)?;
        let trusted = match self.insecure {
            true => None,
            false => Some(self.trusted(&provider)?),
        };
        let verifier = Arc::new(Verifier { provider, trusted });
        let mut config =
            builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
        config.resumption = match self.handshakes {
            Handshakes::Full => Resumption::disabled(),
            Handshakes::Resumed => Resumption::in_memory_sessions(64),
        };
        config.alpn_protocols = vec![if http2 { b"h2".to_vec() } else { b"http/1.1".to_vec() }];
        Ok(Arc::new(config))
    }

    fn trusted(&self, provider: &Arc<CryptoProvider>) -> Result<Trusted, TlsError> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let mut own = Vec::new();
        if let Some(path) = &self.ca {
            let failed = |why: String| TlsError::File { path: path.clone(), why };
            own = certificates(path).map_err(failed)?;
            for certificate in &own {
                roots.add(certificate.clone()).map_err(|error| failed(error.to_string()))?;
            }
        }
        if roots.is_empty() {
            return Err(TlsError::NoRoots);
        }
        let (roots, provider) = (Arc::new(roots), Arc::clone(provider));
        let chains = WebPkiServerVerifier::builder_with_provider(roots, provider).build();
        Ok(Trusted { chains: chains.map_err(|error| TlsError::Refused(error.to_string()))?, own })
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let found = CertificateDer::pem_file_iter(path).map_err(|error| error.to_string())?;
    let found: Result<Vec<_>, _> = found.collect();
    let found = found.map_err(|error| error.to_string())?;
    if found.is_empty() { Err("it contains no certificate".to_owned()) } else { Ok(found) }
}

/// Returns the name that the server's certificate must contain.
///
/// # Errors
/// If the host is not a valid server name.
pub(crate) fn name_of(target: &Target, tls: &Tls) -> Result<ServerName<'static>, TlsError> {
    let host = tls.server_name.as_ref().unwrap_or(&target.host);
    let name = ServerName::try_from(host.clone());
    name.map_err(|_| TlsError::Refused(format!("`{host}` is not a valid server name")))
}

/// The trusted certificates.
#[derive(Debug)]
struct Trusted {
    chains: Arc<WebPkiServerVerifier>,
    /// Certificates given by the user. They allow servers with self-signed certificates, which
    /// chain validation rejects.
    own: Vec<CertificateDer<'static>>,
}

/// Verifies the server's certificate; accepts any if `trusted` is `None`. In that case signatures
/// are not verified either, since they prove nothing for an untrusted certificate: verification
/// would only cost the generator time.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    trusted: Option<Trusted>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(trusted) = &self.trusted else { return Ok(ServerCertVerified::assertion()) };
        let by_chain = trusted.chains.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        if by_chain.is_err() && trusted.own.contains(end_entity) {
            verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
            return Ok(ServerCertVerified::assertion());
        }
        by_chain
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        if self.trusted.is_none() {
            return Ok(HandshakeSignatureValid::assertion());
        }
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        if self.trusted.is_none() {
            return Ok(HandshakeSignatureValid::assertion());
        }
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Implements [`Read`] and [`Write`] for a socket, as rustls requires; a failure is stored in the
/// second field.
struct Wire<'a>(&'a OwnedFd, &'a mut Option<Failure>);

impl Wire<'_> {
    fn answer(&mut self, io: Io) -> io::Result<usize> {
        match io {
            Io::Done(bytes) => Ok(bytes),
            Io::Later => Err(io::ErrorKind::WouldBlock.into()),
            Io::Failed(failure) => {
                *self.1 = Some(failure);
                Err(io::ErrorKind::ConnectionReset.into())
            }
        }
    }
}

impl Read for Wire<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let io = socket::read(self.0, into);
        self.answer(io)
    }
}

impl Write for Wire<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let io = socket::write(self.0, bytes);
        self.answer(io)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Describes a library error whose own message is unhelpful.
fn in_words(error: &rustls::Error) -> String {
    use rustls::AlertDescription as Alert;
    let refused = |why: &str| format!("it ended the handshake with an alert: {why}");
    match error {
        rustls::Error::AlertReceived(Alert::ProtocolVersion) => {
            refused("it does not support this version of TLS; omit --tls-version")
        }
        rustls::Error::AlertReceived(Alert::NoApplicationProtocol) => {
            refused("it does not support this version of HTTP (ALPN); omit --http2, or add it")
        }
        rustls::Error::AlertReceived(Alert::UnrecognisedName) => {
            refused("it does not know this name; request another one with --sni NAME")
        }
        rustls::Error::AlertReceived(Alert::CertificateRequired) => {
            refused("it requires a client certificate, which is not supported")
        }
        rustls::Error::AlertReceived(Alert::HandshakeFailure) => {
            refused("no cipher or parameter suits both sides, or it asks for a client certificate")
        }
        rustls::Error::AlertReceived(alert) => refused(&format!("{alert:?}")),
        _ if error.to_string().contains("CaUsedAsEndEntity") => {
            "the certificate is that of an authority, as self-signed ones are".to_owned()
        }
        _ => error.to_string(),
    }
}

/// The TLS state of one connection.
pub(crate) struct Session {
    connection: ClientConnection,
    /// True if the peer closed the connection.
    ended: bool,
    /// The library's error message, if it failed.
    pub error: Option<String>,
}

impl Session {
    pub(crate) fn new(
        config: &Arc<ClientConfig>,
        name: &ServerName<'static>,
    ) -> Result<Self, Failure> {
        let connection = ClientConnection::new(Arc::clone(config), name.clone());
        let mut connection = connection.map_err(|_| Failure::Tls)?;
        connection.set_buffer_limit(None);
        Ok(Self { connection, ended: false, error: None })
    }

    pub(crate) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Returns true if the peer closed the connection.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Returns true if the handshake was a resumed one.
    pub(crate) fn was_resumed(&self) -> bool {
        self.connection.handshake_kind() == Some(HandshakeKind::Resumed)
    }

    /// Returns true if HTTP/2 was negotiated.
    pub(crate) fn speaks_http2(&self) -> bool {
        self.connection.alpn_protocol() == Some(b"h2")
    }

    /// Reads available data and continues the handshake. Returns true if there may be more.
    pub(crate) fn receive(&mut self, socket: &OwnedFd) -> Result<bool, Failure> {
        let mut failure = None;
        match self.connection.read_tls(&mut Wire(socket, &mut failure)) {
            Ok(0) => {
                self.ended = true;
                Ok(false)
            }
            Ok(_) => {
                if let Err(error) = self.connection.process_new_packets() {
                    self.error = Some(in_words(&error));
                    // Sends the alert to the peer.
                    let _told = self.send(socket);
                    return Err(Failure::Tls);
                }
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(true),
            Err(_) => Err(failure.unwrap_or(Failure::Reset)),
        }
    }

    /// Reads decrypted bytes.
    pub(crate) fn read(&mut self, into: &mut [u8]) -> Io {
        match self.connection.reader().read(into) {
            Ok(bytes) => Io::Done(bytes),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && self.ended => Io::Done(0),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Io::Later,
            // Closed without a TLS close_notify alert, as many servers do.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Io::Done(0),
            Err(_) => Io::Failed(Failure::Tls),
        }
    }

    /// Buffers plaintext to be sent.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.connection.writer().write_all(bytes).map_err(|_| Failure::Tls)
    }

    /// Returns true if there is something to send.
    pub(crate) fn wants_to_send(&self) -> bool {
        self.connection.wants_write()
    }

    /// Sends buffered data.
    pub(crate) fn send(&mut self, socket: &OwnedFd) -> Result<(), Failure> {
        let mut failure = None;
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut Wire(socket, &mut failure)) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Err(failure.unwrap_or(Failure::Reset)),
            }
        }
        Ok(())
    }
}

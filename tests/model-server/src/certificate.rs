//! An authority that nobody knew before, and a certificate of it for the loopback interface.

use std::{io, sync::Arc};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::{ServerConfig, crypto::ring, pki_types::PrivatePkcs8KeyDer};

/// What a TLS server needs, and what its clients need to trust it.
pub(crate) struct Certificate {
    pub(crate) server: Arc<ServerConfig>,
    /// The authority, in PEM.
    pub(crate) ca: String,
}

impl Certificate {
    /// A fresh authority and certificate, with keys that are in memory only.
    pub(crate) fn fresh() -> io::Result<Self> {
        let authority_key = KeyPair::generate().map_err(io::Error::other)?;
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        authority
            .distinguished_name
            .push(DnType::CommonName, "model-server authority");
        let ca = authority
            .self_signed(&authority_key)
            .map_err(io::Error::other)?;
        let issuer = Issuer::new(authority, authority_key);

        let key = KeyPair::generate().map_err(io::Error::other)?;
        let names = ["127.0.0.1".to_owned(), "localhost".to_owned()];
        let mut leaf = CertificateParams::new(names).map_err(io::Error::other)?;
        leaf.use_authority_key_identifier_extension = true;
        leaf.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        leaf.distinguished_name
            .push(DnType::CommonName, "model-server");
        let leaf = leaf.signed_by(&key, &issuer).map_err(io::Error::other)?;

        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        let mut server = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|it| {
                it.with_no_client_auth()
                    .with_single_cert(vec![leaf.der().clone()], key.into())
            })
            .map_err(io::Error::other)?;
        server.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self {
            server: Arc::new(server),
            ca: ca.pem(),
        })
    }
}

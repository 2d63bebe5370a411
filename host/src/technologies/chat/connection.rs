//! How the client reaches its server: the HTTP library, set up once.
//!
//! Owns what that library must not do by itself: follow redirects, try again, decompress, keep cookies or connections, look for
//! proxies, choose a cryptography or whom to trust.

use std::{path::Path, sync::Arc};

use reqwest::{Client, Url, redirect::Policy};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject as _},
};

use super::{
    proxy, secret::Secrets, settings::ChatSettings, settings_error::ChatSettingsError,
    surroundings::Surroundings,
};

/// The largest file of certificates.
const MOST_CERTIFICATES: u64 = 4 << 20;

/// The HTTP client for an endpoint.
pub(super) fn connect(
    settings: &ChatSettings,
    endpoint: &Url,
    surroundings: &Surroundings<'_>,
    secrets: &mut Secrets,
) -> Result<Client, ChatSettingsError> {
    let chosen = proxy::choose(settings, endpoint, surroundings, secrets)?;
    let needs_tls = endpoint.scheme() == "https" || chosen.as_ref().is_some_and(|it| it.tls);
    let file = settings.ca_file.as_deref();
    let file = file.map(|file| surroundings.folder.join(file));
    let own = file.map(|file| certificates(&file)).transpose()?;
    let roots = if needs_tls {
        roots(own.unwrap_or_default())?
    } else {
        RootCertStore::empty()
    };
    let builder = Client::builder()
        .tls_backend_preconfigured(tls(roots)?)
        .http1_only()
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .connect_timeout(settings.connect_timeout())
        // What is left of an answer that was not read to its end is not waited for, and no attempt meets a connection that the
        // server is about to close.
        .pool_max_idle_per_host(0);
    let builder = match chosen {
        Some(chosen) => builder.proxy(chosen.proxy),
        None => builder.no_proxy(),
    };
    builder.build().map_err(|error| ChatSettingsError::Client {
        why: error.without_url().to_string(),
    })
}

fn tls(roots: RootCertStore) -> Result<ClientConfig, ChatSettingsError> {
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| ChatSettingsError::Client {
            why: error.to_string(),
        })?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// The certificates of the machine and our own.
fn roots(own: Vec<CertificateDer<'static>>) -> Result<RootCertStore, ChatSettingsError> {
    let native = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    // A machine's collection may have certificates that nobody understands any more.
    roots.add_parsable_certificates(native.certs.into_iter().chain(own));
    if roots.is_empty() {
        let errors: Vec<_> = native.errors.iter().map(ToString::to_string).collect();
        let why = if errors.is_empty() {
            "the machine has none, and no `ca_file` is named".to_owned()
        } else {
            errors.join("; ")
        };
        return Err(ChatSettingsError::NobodyTrusted { why });
    }
    Ok(roots)
}

/// The certificates of a file, each of use.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, ChatSettingsError> {
    let fault = |why: String| ChatSettingsError::Certificates {
        path: path.to_owned(),
        why,
    };
    let found = std::fs::metadata(path).map_err(|error| fault(error.to_string()))?;
    if !found.is_file() || found.len() > MOST_CERTIFICATES {
        return Err(fault("it is no file, or larger than 4 MiB".to_owned()));
    }
    let bytes = std::fs::read(path).map_err(|error| fault(error.to_string()))?;
    let certificates = CertificateDer::pem_slice_iter(&bytes).collect::<Result<Vec<_>, _>>();
    let certificates = certificates.map_err(|error| fault(error.to_string()))?;
    if certificates.is_empty() {
        return Err(fault("there is no certificate in PEM in it".to_owned()));
    }
    let mut tried = RootCertStore::empty();
    for certificate in &certificates {
        tried
            .add(certificate.clone())
            .map_err(|error| fault(error.to_string()))?;
    }
    Ok(certificates)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_without_a_certificate_of_use_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        assert!(certificates(&file).is_err());
        assert!(certificates(folder.path()).is_err());
        for text in [
            "",
            "no certificate",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "-----BEGIN CERTIFICATE-----\n",
        ] {
            fs::write(&file, text).unwrap();
            let fault = certificates(&file).unwrap_err();
            assert!(
                matches!(fault, ChatSettingsError::Certificates { .. }),
                "{text}"
            );
        }
    }
}

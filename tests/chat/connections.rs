//! The ways to a server: redirects, proxies, TLS; and who is given the key on them.

use std::{fs, path::Path};

use model_server::{Reply, Server};
use wharf::technologies::chat::{ChatClient, ChatSettings, ChatSettingsError, Surroundings};

use super::{KEY, PATIENCE, ask, client, held, made, settings, start};

fn redirect(status: u16, to: &str) -> Reply {
    Reply::new(status).header("location", to)
}

#[test]
fn a_redirect_to_another_path_of_the_server_repeats_the_request() {
    let replies = vec![
        redirect(307, "/v2/chat/completions"),
        redirect(308, "answers?a=b"),
        redirect(307, "/v4"),
        Reply::chat("moved"),
    ];
    let server = start(replies);
    assert_eq!(ask(&client(settings(&server))).answer().text, "moved");
    let received = server.received();
    let targets: Vec<_> = received.iter().map(|it| it.target.as_str()).collect();
    assert_eq!(
        targets,
        [
            "/v1/chat/completions",
            "/v2/chat/completions",
            "/v2/chat/answers?a=b",
            "/v4"
        ]
    );
    for request in &received {
        assert_eq!(
            (request.method.as_str(), &request.body),
            ("POST", &received[0].body)
        );
        assert_eq!(
            request.header("authorization"),
            Some(format!("Bearer {KEY}").as_str())
        );
    }
}

#[test]
fn redirects_come_to_an_end() {
    let server = start(vec![redirect(307, "/again"); 10]);
    let fault = ask(&client(settings(&server))).fault();
    assert_eq!((fault.code(), fault.retryable()), ("model-redirect", false));
    assert_eq!(server.received().len(), 4);
}

#[test]
fn nobody_else_is_asked_or_given_the_key() {
    let other = start(vec![]);
    let port = other.address().port();
    for to in [
        format!("http://127.0.0.1:{port}/v1/chat/completions"),
        format!("//127.0.0.1:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://user:word@127.0.0.1:{port}/"),
    ] {
        for status in [307, 308] {
            let server = start(vec![redirect(status, &to), Reply::chat("never")]);
            let fault = ask(&client(settings(&server))).fault();
            assert_eq!(
                (fault.code(), fault.status()),
                ("model-redirect", Some(status))
            );
            assert!(
                fault.message().contains("the key is for http://127.0.0.1"),
                "{}",
                fault.message()
            );
            assert!(!fault.message().contains("word@"));
            assert_eq!(server.received().len(), 1);
        }
    }
    assert_eq!(other.connections(), 0);
}

#[test]
fn a_redirect_that_would_change_the_request_is_not_followed() {
    for status in [300, 301, 302, 303, 304, 307] {
        let to = if status == 307 { "" } else { "/v2" };
        let reply = if to.is_empty() {
            Reply::new(status)
        } else {
            redirect(status, to)
        };
        let server = start(vec![reply, Reply::chat("never")]);
        let fault = ask(&client(settings(&server))).fault();
        assert_eq!(
            (fault.code(), fault.status(), fault.retryable()),
            ("model-redirect", Some(status), false)
        );
        assert_eq!(server.received().len(), 1);
    }
}

#[test]
fn a_proxy_is_asked_for_the_whole_address() {
    let proxy = start(vec![
        Reply::chat("by proxy"),
        Reply::error(407, "who are you?"),
    ]);
    let mut settings = ChatSettings::new("http://model.invalid:81/v1", "m");
    settings.api_key_env = Some("KEY".into());
    settings.proxy = Some(format!("http://{}", proxy.address()));
    settings.proxy_authorization_env = Some("PROXY".into());
    assert_eq!(ask(&client(settings.clone())).answer().text, "by proxy");
    let received = &proxy.received()[0];
    assert_eq!(
        received.target,
        "http://model.invalid:81/v1/chat/completions"
    );
    assert_eq!(
        received.header("proxy-authorization"),
        held("PROXY").as_deref()
    );
    assert_eq!(received.header("host"), Some("model.invalid:81"));
    let fault = ask(&client(settings)).fault();
    assert_eq!(
        (fault.code(), fault.status(), fault.retryable()),
        ("model-proxy", Some(407), false)
    );
}

#[test]
fn a_proxy_opens_a_tunnel_for_tls_and_sees_nothing_in_it() {
    let server = Server::start_tls(vec![Reply::chat("through a tunnel")]).unwrap();
    let proxy = start(vec![Reply::tunnel(server.address())]);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ca.pem"), server.ca_pem()).unwrap();
    let mut settings = settings(&server);
    settings.proxy = Some(format!("http://{}", proxy.address()));
    settings.proxy_authorization_env = Some("PROXY".into());
    settings.ca_file = Some("ca.pem".into());
    let client = ChatClient::new(settings, &Surroundings::new(&held, folder.path())).unwrap();
    assert_eq!(ask(&client).answer().text, "through a tunnel");
    let received = proxy.received();
    assert_eq!(received.len(), 1);
    assert_eq!(
        (received[0].method.as_str(), &received[0].target),
        ("CONNECT", &server.address().to_string())
    );
    assert_eq!(
        received[0].header("proxy-authorization"),
        held("PROXY").as_deref()
    );
    assert_eq!(received[0].header("authorization"), None);
    let inside = &server.received()[0];
    assert_eq!(inside.header("proxy-authorization"), None);
    assert_eq!(
        inside.header("authorization"),
        Some(format!("Bearer {KEY}").as_str())
    );
}

#[test]
fn a_proxy_that_opens_no_tunnel_says_why() {
    for (status, code, retryable) in [
        (407, "model-proxy", false),
        (502, "model-connect", true),
        (403, "model-connect", true),
    ] {
        let proxy = start(vec![Reply::error(status, "no")]);
        let mut settings = ChatSettings::new("https://model.invalid/v1", "m");
        settings.proxy = Some(format!("http://{}", proxy.address()));
        let fault = ask(&client(settings)).fault();
        assert_eq!(
            (fault.code(), fault.retryable()),
            (code, retryable),
            "{fault:?}"
        );
    }
}

/// What becomes of an attempt where the environment holds these, and the settings name a proxy or none.
fn in_environment(
    variables: &[(&str, &str)],
    proxy: Option<&str>,
    base_url: &str,
) -> Result<ChatClient, ChatSettingsError> {
    let held = |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    let mut settings = ChatSettings::new(base_url, "m");
    settings.proxy = proxy.map(str::to_owned);
    let surroundings = Surroundings::new(&held, Path::new(".")).with_environment_proxies();
    ChatClient::new(settings, &surroundings)
}

#[test]
fn the_environment_names_proxies_and_who_needs_none() {
    let proxy = start(vec![]);
    let server = start(vec![]);
    let at = proxy.address().to_string();
    let with_user = format!("http://user:p%40ss-Word-Tz71@{at}/");
    for (variables, by_proxy) in [
        (&[("HTTP_PROXY", at.as_str())][..], true),
        (
            &[
                ("http_proxy", with_user.as_str()),
                ("HTTP_PROXY", "http://127.0.0.1:1"),
            ],
            true,
        ),
        (&[("ALL_PROXY", at.as_str())], true),
        (&[("HTTPS_PROXY", at.as_str())], false),
        (
            &[
                ("HTTP_PROXY", at.as_str()),
                ("NO_PROXY", "localhost,127.0.0.1"),
            ],
            false,
        ),
        (
            &[
                ("HTTP_PROXY", at.as_str()),
                ("no_proxy", "elsewhere.invalid"),
            ],
            true,
        ),
        (&[("HTTP_PROXY", at.as_str())], false),
        (&[("HTTP_PROXY", " ")], false),
        (&[], false),
    ] {
        let (asked, not_asked) = if by_proxy {
            (&proxy, &server)
        } else {
            (&server, &proxy)
        };
        let before = not_asked.received().len();
        asked.push(Reply::chat("a"));
        // What is on this machine is reached without any; nobody but a proxy knows the other name.
        let base = if by_proxy {
            "http://model.invalid/v1".to_owned()
        } else {
            server.base_url()
        };
        let client = in_environment(variables, None, &base).unwrap();
        assert_eq!(ask(&client).answer().text, "a", "{variables:?}");
        assert_eq!(not_asked.received().len(), before);
        let user = variables.iter().any(|(_, value)| value.contains("user"));
        let authorization = asked
            .received()
            .last()
            .unwrap()
            .header("proxy-authorization")
            .map(str::to_owned);
        assert_eq!(
            authorization.as_deref(),
            user.then_some("Basic dXNlcjpwQHNzLVdvcmQtVHo3MQ==")
        );
        assert!(!format!("{client:?}").contains("Word"));
    }
    // Who needs none is asked without one, and is not to be found here.
    let asked = proxy.received().len();
    let variables = [
        ("HTTP_PROXY", at.as_str()),
        ("NO_PROXY", "elsewhere.invalid,model.invalid"),
    ];
    let client = in_environment(&variables, None, "http://model.invalid/v1").unwrap();
    assert_eq!(ask(&client).fault().code(), "model-connect");
    assert_eq!(proxy.received().len(), asked);
    // A word against all proxies.
    server.push(Reply::chat("a"));
    let client = in_environment(&[("HTTP_PROXY", &at)], Some("none"), &server.base_url()).unwrap();
    assert_eq!(ask(&client).answer().text, "a");
}

#[test]
fn a_proxy_of_another_kind_in_the_environment_is_refused_by_the_name_of_its_variable() {
    let fault = in_environment(
        &[("ALL_PROXY", "socks5://user:hunter2@h:1")],
        None,
        "http://h/v1",
    )
    .unwrap_err();
    let error = wharf::Error::from(fault);
    assert!(error.why().contains("ALL_PROXY"), "{error:?}");
    assert!(!format!("{error:?} {}", error.hint()).contains("hunter2"));
}

#[test]
fn the_environment_names_no_proxy_unless_the_program_lets_it() {
    let server = start(vec![Reply::chat("a")]);
    let held = |name: &str| (name == "HTTP_PROXY").then(|| "http://127.0.0.1:1".to_owned());
    let settings = ChatSettings::new(server.base_url(), "m");
    let client = ChatClient::new(settings, &Surroundings::new(&held, Path::new("."))).unwrap();
    assert_eq!(ask(&client).answer().text, "a");
}

#[test]
fn an_authority_of_ones_own_is_trusted_where_it_is_named_and_nowhere_else() {
    let server = Server::start_tls(vec![Reply::chat("safe")]).unwrap();
    let other = Server::start_tls(vec![]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ca.pem"), server.ca_pem()).unwrap();
    fs::write(folder.path().join("other.pem"), other.ca_pem()).unwrap();
    let with = |file: &str| {
        let mut settings = settings(&server);
        settings.ca_file = Some(file.into());
        ChatClient::new(settings, &Surroundings::new(&held, folder.path())).unwrap()
    };
    let fault = ask(&with("other.pem")).fault();
    assert_eq!((fault.code(), fault.retryable()), ("model-tls", false));
    assert!(
        fault.message().contains("certificate"),
        "{}",
        fault.message()
    );
    assert!(server.received().is_empty(), "the key went nowhere");
    assert_eq!(ask(&with("ca.pem")).answer().text, "safe");
    // The certificate is for 127.0.0.1 and localhost.
    let mut settings = settings(&server);
    settings.base_url = settings.base_url.replace("127.0.0.1", "127.0.0.2");
    settings.ca_file = Some("ca.pem".into());
    let client = ChatClient::new(settings, &Surroundings::new(&held, folder.path())).unwrap();
    assert!(matches!(
        ask(&client).fault().code(),
        "model-tls" | "model-connect"
    ));
    assert_eq!(server.received().len(), 1);
}

#[test]
fn a_server_that_speaks_no_tls_is_told_from_one_that_is_not_trusted() {
    let server = start(vec![]);
    let folder = tempfile::tempdir().unwrap();
    let authority = Server::start_tls(vec![]).unwrap();
    fs::write(folder.path().join("ca.pem"), authority.ca_pem()).unwrap();
    let mut settings = settings(&server);
    settings.base_url = settings.base_url.replace("http:", "https:");
    settings.ca_file = Some("ca.pem".into());
    let client = ChatClient::new(settings, &Surroundings::new(&held, folder.path())).unwrap();
    let fault = ask(&client).fault();
    assert_eq!(
        (fault.code(), fault.retryable()),
        ("model-tls", false),
        "{fault:?}"
    );
    assert!(server.wait_closed(0, PATIENCE) && server.received().is_empty());
}

#[test]
fn settings_without_what_they_name_make_no_client() {
    let server = start(vec![]);
    let mut settings = settings(&server);
    settings.api_key_env = Some("EMPTY".into());
    assert!(matches!(
        made(settings.clone()),
        Err(ChatSettingsError::Variable { .. })
    ));
    settings.api_key_env = Some("BAD".into());
    assert!(matches!(
        made(settings.clone()),
        Err(ChatSettingsError::NotAHeader { .. })
    ));
    settings.api_key_env = None;
    settings.ca_file = Some("no-such.pem".into());
    assert!(matches!(
        made(settings.clone()),
        Err(ChatSettingsError::Certificates { .. })
    ));
    settings.ca_file = None;
    settings.model = String::new();
    assert!(matches!(made(settings), Err(ChatSettingsError::Key { .. })));
}

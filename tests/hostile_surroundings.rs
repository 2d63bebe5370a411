//! Guests that look for something outside their sandbox, and find nothing (`tests/hostile/guests`).

use std::{io::ErrorKind, net::TcpListener, path::Path};

use wharf_tests::{
    guest,
    hostile::{STANDARD, attack},
};

#[test]
fn opens_files() {
    attack(guest!(), STANDARD, |attack| {
        assert_eq!(attack.subject("attack"), "roads 0 folders 0");
        for file in ["/tmp/wharf-zoo-file", "wharf-zoo-file", "wharf-zoo"] {
            assert!(!Path::new(file).exists(), "{file}");
        }
    });
}

/// Somebody listens at the address that the guest calls, and nobody comes.
#[test]
fn opens_sockets() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    attack(guest!(), STANDARD, |attack| {
        assert_eq!(attack.subject(&address), "roads 0");
    });
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn reads_its_environment() {
    assert_ne!(std::env::vars_os().count(), 0);
    attack(guest!(), STANDARD, |attack| {
        assert_eq!(
            attack.subject("attack"),
            "variables 0 arguments 0 terminal false"
        );
    });
}

#[test]
fn reads_standard_input() {
    attack(guest!(), STANDARD, |attack| {
        assert_eq!(attack.subject("attack"), r#"Some(0) """#);
    });
}

#[test]
fn reads_random_bytes() {
    attack(guest!(), STANDARD, |attack| {
        let first = attack.subject("attack");
        assert_eq!(attack.subject("attack"), first);
    });
}

/// A loop that takes longer on one machine than on another takes as long as any.
#[test]
fn reads_the_clock() {
    attack(guest!(), STANDARD, |attack| {
        assert_eq!(attack.subject("attack"), "date Ok(946684800) passed 1ms");
    });
}

//! Something that listens where a Redis should be.

use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, TcpListener},
    thread,
};

use super::*;
use wharf_tests::changes;

/// Answers every connection's first words with these bytes, then falls silent or hangs up.
fn listens(answer: &'static [u8], hangs_up: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("redis://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        let mut kept = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // Whatever becomes of it: the other side may be gone already.
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer);
            if hangs_up {
                let _ = stream.shutdown(Shutdown::Both);
            }
            kept.push(stream);
        }
    });
    address
}

/// Nothing begins, in time, and the task can be resumed elsewhere.
#[track_caller]
fn assert_refused(address: &str, code: &str) {
    let workspace = Workspace::new();
    let _ = demo::demo(&workspace, "price-change")
        .args(["--stop-after", "plan"])
        .run()
        .exits(12);
    let before = workspace.content();
    in_time(resume_with(&workspace, address)).refusal(1, code);
    assert_eq!(changes(&before, &workspace.content()), [""; 0]);
    assert_completes(&workspace, "embedded");
}

#[test]
fn one_that_accepts_and_never_answers_is_given_up_in_time() {
    assert_refused(&listens(b"", false), "context-timeout");
}

#[test]
fn one_that_nobody_accepts_for_is_given_up_in_time() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("redis://{}", listener.local_addr().unwrap());
    assert_refused(&address, "context-timeout");
}

#[test]
fn one_that_hangs_up_is_unreachable() {
    assert_refused(&listens(b"", true), "context-unavailable");
}

#[test]
fn an_answer_that_is_cut_in_the_middle_is_no_answer() {
    assert_refused(&listens(b"$100\r\n0123456789", true), "context-unavailable");
}

#[test]
fn an_answer_that_stops_in_the_middle_is_given_up_in_time() {
    assert_refused(&listens(b"$100\r\n0123456789", false), "context-timeout");
}

#[test]
fn one_that_speaks_otherwise_is_no_redis() {
    let http = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    assert_refused(&listens(http, false), "context-protocol");
    assert_refused(&listens(b":7\r\n", false), "context-protocol");
    assert_refused(&listens(b"*1\r\n$1\r\nx\r\n", false), "context-protocol");
}

#[test]
fn an_error_that_nobody_knows_is_shown_escaped_and_short() {
    let error = b"-ERR \x1b[2J lies \xe2\x80\xae and lies and lies and lies and lies and lies and lies and lies and lies and \
        lies and lies and lies and lies and lies and lies and lies and lies and lies and lies and lies and lies and lies\r\n";
    let workspace = Workspace::new();
    let ran = in_time(demo_with(&workspace, &listens(error, false)));
    let [_, why, _] = ran.refusal(1, "context-refused");
    assert!(why.contains("\\u{1b}[2J") && why.ends_with("..."), "{why}");
    assert!(why.len() < 300 && !ran.stderr.contains('\u{1b}'), "{why}");
}

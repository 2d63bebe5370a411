//! Clients that others wrote: the public SDK for Python, and the public inspector.
//!
//! Both come from their registries. Where they cannot be had, the tests say so and are counted as skipped.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::LazyLock,
};

use serde_json::{Value, json};
use wharf_tests::{
    Workspace, built,
    mcp::{HttpServer, mcp},
    root, skipped,
};

/// The SDK's version, as it is on PyPI.
const SDK: &str = "mcp==2.3.0";

/// The Python of an environment that has the SDK, which is kept from run to run; why there is none.
fn python() -> Result<PathBuf, String> {
    static PYTHON: LazyLock<Result<PathBuf, String>> = LazyLock::new(|| {
        let environment = built::scratch().join(SDK);
        let python = environment.join("bin/python");
        let has_sdk = || succeeds(Command::new(&python).args(["-c", "import mcp"])).is_ok();
        if !has_sdk() {
            succeeds(
                Command::new("python3")
                    .args(["-m", "venv", "--clear"])
                    .arg(&environment),
            )
            .map_err(|why| format!("python3 cannot make an environment: {why}"))?;
            let pip = ["-m", "pip", "install", "--quiet", SDK];
            succeeds(Command::new(&python).args(pip))
                .map_err(|why| format!("{SDK} cannot be installed: {why}"))?;
        }
        Ok(python)
    });
    PYTHON.clone()
}

fn succeeds(command: &mut Command) -> Result<(), String> {
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(said.lines().last().unwrap_or("it fails").to_owned())
        }
        Err(error) => Err(error.to_string()),
    }
}

/// What the client tells, which negotiates the protocol in this way.
fn told(python: &Path, mode: &str, way: &[&str]) -> Value {
    let output = Command::new(python)
        .arg(root().join("tests/mcp/client.py"))
        .arg(mode)
        .args(way)
        .output()
        .unwrap();
    document(&output)
}

fn document(output: &Output) -> Value {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// A plan is written, the server ends, another one reads it.
fn assert_told(told: &Value, mode: &str) {
    let tools = told["tools"].as_array().unwrap();
    assert_eq!((tools.len(), &tools[0]), (14, &json!("plan_write")));
    assert_eq!(
        told["written"],
        json!({"isError": false, "said": {"status": "ok", "version": 1}})
    );
    assert_eq!(told["refused"]["isError"], true, "{told}");
    assert_eq!(told["refused"]["said"]["code"], "invalid-plan");
    assert_eq!(told["absent"], json!({"isError": false, "said": null}));
    let read = &told["read"]["said"];
    assert_eq!(read["name"], mode);
    assert_eq!(read["version"], 1);
    assert_eq!(read["plan"]["steps"][1]["status"], "in_progress");
    assert_eq!(told["structured"], *read);
    assert_eq!(told["status"]["said"]["tasks"], json!([]));
}

#[test]
fn the_public_sdk_writes_a_plan_and_reads_it_from_another_server() {
    let python = match python() {
        Ok(python) => python,
        Err(why) => return skipped(&why),
    };
    let workspace = Workspace::new();
    let program = built::program().to_str().unwrap();
    let directory = workspace.path();
    // Both lifecycles that the protocol has: with a handshake, and without.
    for mode in ["legacy", "auto"] {
        let way = ["stdio", program, directory.to_str().unwrap()];
        assert_told(&told(&python, mode, &way), mode);
    }
}

#[test]
fn the_public_sdk_works_over_http_as_well() {
    let python = match python() {
        Ok(python) => python,
        Err(why) => return skipped(&why),
    };
    let workspace = Workspace::new();
    let server = HttpServer::start(mcp(workspace.path()));
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    for mode in ["legacy", "auto"] {
        assert_told(&told(&python, mode, &["http", &url]), mode);
    }
    assert_eq!(server.end("TERM").0, Some(0));
}

/// The inspector asks for one thing and leaves.
#[test]
fn the_public_inspector_lists_and_calls_the_tools() {
    let inspector = || {
        let mut npx = Command::new("npx");
        npx.args([
            "-y",
            "-p",
            "node@22",
            "-p",
            "@modelcontextprotocol/inspector",
        ])
        .args(["mcp-inspector", "--cli"]);
        npx
    };
    if let Err(why) = succeeds(inspector().arg("--help")) {
        return skipped(&format!("the MCP inspector cannot be had: {why}"));
    }
    let workspace = Workspace::new();
    let asked = |arguments: &[&str]| {
        let output = inspector()
            .arg(built::program())
            .args(["mcp", "--dir"])
            .arg(workspace.path())
            .args(arguments)
            .output()
            .unwrap();
        document(&output)
    };
    let listed = asked(&["--method", "tools/list"]);
    assert_eq!(listed["tools"].as_array().unwrap().len(), 14, "{listed}");
    let step = r#"step={"id": "look", "title": "Look", "status": "pending"}"#;
    let call = ["--method", "tools/call", "--tool-name"];
    let written = asked(&[&call[..], &["plan_write", "--tool-arg", step]].concat());
    assert_eq!(written["structuredContent"]["version"], 1, "{written}");
    let read = asked(&[&call[..], &["plan_read"]].concat());
    let plan = &read["structuredContent"]["plan"];
    assert_eq!(plan["steps"][0]["title"], "Look", "{read}");
}

//! The documents: every command in them runs, every output shown is what comes, every link and path leads somewhere, and the
//! numbers are the product's.

mod follow;
mod markdown;

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    time::Duration,
};

use model_server::{AnswerLine, Server};
use serde_json::{Value, json};
use wharf::{Config, PluginLimits, business::SqlLimits, plugin::EngineLimits};
use wharf_tests::{Workspace, mcp::Client, root, sources, wharf};

use self::follow::{follow, follow_with};

/// Markdown of the repository, as paths from its root.
fn documents() -> Vec<PathBuf> {
    let markdown = |folder: &str| {
        let mut found: Vec<_> = fs::read_dir(root().join(folder))
            .unwrap()
            .map(|entry| Path::new(folder).join(entry.unwrap().file_name()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
            .collect();
        found.sort();
        found
    };
    [
        markdown(""),
        markdown("docs"),
        markdown("plugins/fulfillment"),
        markdown("plugins/retail"),
        markdown("plugins/sdk"),
        markdown("wit"),
    ]
    .concat()
}

fn read(document: impl AsRef<Path>) -> String {
    fs::read_to_string(root().join(document)).unwrap()
}

#[test]
fn what_the_readme_shows_is_what_happens() {
    let server = planned(1);
    follow_with("README.md", &provider("MINE", &server));
    assert_eq!(plans(&server), ["gpt-5-mini"; 2]);
}

/// The page names an endpoint of the world; the reader's environment leads to one on this machine.
#[test]
fn the_page_on_models_leads_to_plans() {
    let server = planned(2);
    server.models(["gpt-5-mini"]);
    follow_with("docs/models.md", &provider("OPENAI", &server));
    assert_eq!(
        plans(&server),
        ["gpt-5-mini", "gpt-5-mini", "gpt-5", "gpt-5"]
    );
}

/// A server with the answers to so many demos.
fn planned(demos: usize) -> Server {
    let answers = read("plugins/fulfillment/demo/answers.jsonl");
    let lines = AnswerLine::read_all(&answers).unwrap();
    let replies = (0..demos).flat_map(|_| Server::answers(&lines, Duration::ZERO));
    Server::start(replies.collect()).unwrap()
}

/// The models that were asked for plans.
fn plans(server: &Server) -> Vec<String> {
    let received = server.received();
    let asked = received.iter().filter(|request| request.method == "POST");
    asked
        .map(|request| request.json()["model"].as_str().unwrap().to_owned())
        .collect()
}

/// What leads a provider of that name to a server.
fn provider(name: &str, server: &Server) -> [(String, String); 2] {
    let key = |key: &str| format!("WHARF__PROVIDERS__{name}__{key}");
    [
        (key("BASE_URL"), server.base_url()),
        (key("MODEL"), "gpt-5-mini".into()),
    ]
}

/// What stands in no file that a test reads elsewhere is read here.
#[test]
fn the_settings_that_the_page_on_models_shows_are_taken() {
    let page = read("docs/models.md");
    let blocks = markdown::blocks(&page);
    let settings: Vec<_> = blocks
        .iter()
        .filter(|block| block.language == "toml")
        .collect();
    assert_eq!(settings.len(), 2);
    for block in settings {
        Config::read(&block.text).unwrap();
    }
}

#[test]
fn an_operator_can_follow_the_guide() {
    follow("docs/operators.md");
}

#[test]
fn a_plugin_author_gets_from_an_empty_folder_to_a_run() {
    follow("docs/plugin-authors.md");
}

#[test]
fn what_the_page_on_the_contract_shows_runs() {
    follow("docs/contract.md");
}

#[test]
fn what_the_page_on_security_shows_runs() {
    follow("docs/security.md");
}

#[test]
fn the_commands_for_embedders_run() {
    follow("docs/embedding.md");
}

#[test]
fn what_the_page_on_agents_shows_runs() {
    follow("docs/agents.md");
}

#[test]
fn what_the_page_on_mcp_shows_runs() {
    follow("docs/mcp.md");
}

/// Each configuration names a program and its arguments, which the client would start.
#[test]
fn the_configurations_that_the_page_on_mcp_shows_start_a_server() {
    let page = read("docs/mcp.md");
    let blocks = markdown::blocks(&page);
    let configurations: Vec<Value> = blocks
        .iter()
        .filter(|block| block.language == "json")
        .map(|block| serde_json::from_str(&block.text).unwrap())
        .collect();
    assert_eq!(configurations.len(), 4);
    for configuration in configurations {
        let servers = configuration.get("mcpServers");
        let server = &servers.unwrap_or_else(|| &configuration["servers"])["wharf"];
        let workspace = Workspace::new();
        let home = workspace.folder();
        symlink(root(), home.join("wharf")).unwrap();
        assert_eq!(server["command"], "wharf");
        let arguments = server["args"].as_array().unwrap().iter();
        let mut arguments = arguments.map(|argument| {
            let argument = argument.as_str().unwrap();
            argument.replace("/home/you", home.to_str().unwrap())
        });
        let command = wharf(&arguments.next().unwrap()).args(arguments);
        let mut client = Client::start(command);
        client.does("task_status", json!({}));
        assert_eq!(client.leave().code, Some(0));
    }
}

#[test]
fn the_command_of_the_performance_page_is_run_elsewhere() {
    follow("docs/performance.md");
}

#[test]
fn no_document_is_left_out() {
    let tests = read("tests/documents.rs");
    for document in documents() {
        let document_is =
            |call: &str| tests.contains(&format!("{call}(\"{}\"", document.display()));
        let followed = document_is("follow") || document_is("follow_with");
        let guide = document.starts_with("docs") || document == Path::new("README.md");
        let commands = markdown::blocks(&read(&document))
            .iter()
            .any(|block| block.language == "sh");
        assert!(followed || !guide || !commands, "{}", document.display());
    }
}

#[test]
fn every_link_leads_somewhere() {
    for document in documents() {
        let text = read(&document);
        for target in markdown::links(&text) {
            if target.starts_with("https://") {
                continue;
            }
            let (path, heading) = target.split_once('#').unwrap_or((&target, ""));
            let file = match path {
                "" => root().join(&document),
                path => root().join(document.parent().unwrap()).join(path),
            };
            let shown = format!("{}: {target}", document.display());
            assert!(file.exists(), "{shown}");
            if !heading.is_empty() {
                let headings = markdown::headings(&fs::read_to_string(&file).unwrap());
                assert!(headings.contains(heading), "{shown}: {headings:?}");
            }
        }
    }
}

/// What is named in code style and begins with a folder of the repository. Places in a workspace are told from it by their
/// `<placeholders>`, patterns by their capitals.
#[test]
fn every_path_of_the_repository_that_is_named_exists() {
    const FOLDERS: [&str; 8] = [
        "host/",
        "docs/",
        "plugins/",
        "examples/",
        "tests/",
        "wit/",
        "xtask/",
        ".ci/",
    ];
    let documents = documents()
        .into_iter()
        .filter(|path| !path.starts_with("plugins"));
    for document in documents {
        for span in markdown::code_spans(&read(&document)) {
            let is_path = FOLDERS.iter().any(|folder| span.starts_with(folder))
                && !span.contains(['<', ' ', '*'])
                && !span.contains("NAME")
                && !span.contains("NNNN");
            assert!(
                !is_path || root().join(&span).exists(),
                "{}: there is no {span}",
                document.display()
            );
        }
    }
}

#[test]
fn the_tests_that_architecture_and_security_name_exist() {
    let code: String = ["host/src", "tests", "xtask/src"]
        .iter()
        .flat_map(|folder| sources(&root().join(folder)))
        .map(|(_, text)| text)
        .collect();
    let text = read("ARCHITECTURE.md");
    let table = markdown::section(&text, "Invariants");
    let rows = table.lines().filter(|line| line.starts_with("| "));
    let named: Vec<_> = rows
        .filter_map(|row| row.trim_end_matches(" |").rsplit_once(" | "))
        .flat_map(|(_, tests)| markdown::code_spans(tests))
        .collect();
    assert!(named.len() > 15, "{named:?}");
    let security = markdown::code_spans(&read("docs/security.md"));
    let is_test = |span: &String| span.matches('_').count() > 3 && !span.contains('/');
    let in_security: Vec<_> = security.into_iter().filter(is_test).collect();
    assert!(in_security.len() > 10, "{in_security:?}");
    for name in named.into_iter().chain(in_security) {
        assert!(
            code.contains(&format!("fn {name}(")),
            "no test is called {name}"
        );
    }
}

#[test]
fn the_limits_in_the_documents_are_those_of_the_program() {
    for (document, source, limits) in [
        (
            "docs/security.md",
            "PluginLimits",
            format!("{:?}", PluginLimits::standard()),
        ),
        (
            "docs/security.md",
            "EngineLimits",
            format!("{:?}", EngineLimits::standard()),
        ),
        (
            "docs/plugin-authors.md",
            "SqlLimits",
            format!("{:?}", SqlLimits::standard()),
        ),
    ] {
        let table = table_of(&read(document), source);
        assert_eq!(documented(&table), fields(&limits), "{source}");
    }
}

/// A limit whose error nobody returns, or that no test reaches, is none.
#[test]
fn every_limit_has_an_error_and_a_test() {
    let product = product();
    let tests = sources(&root().join("tests"));
    let tests: String = tests.into_iter().map(|(_, text)| text).collect();
    let text = read("docs/security.md");
    let limits = markdown::section(&text, "Limits");
    let rows = limits
        .lines()
        .filter(|line| line.starts_with("| `") && !line.starts_with("| `["));
    let mut count = 0;
    for row in rows {
        let cells: Vec<_> = row
            .split('|')
            .map(|cell| cell.trim().trim_matches('`'))
            .collect();
        let [code, test] = [cells[4], cells[5]];
        assert!(product.contains(&format!("\"{code}\"")), "{row}");
        let named = format!("fn {test}()");
        assert!(product.contains(&named) || tests.contains(&named), "{row}");
        count += 1;
    }
    assert!(count >= 33, "{count}");
}

/// The table that a test compares with the standard of these limits.
fn table_of(text: &str, source: &str) -> String {
    let marker = format!("<!-- A test compares this table with `{source}::standard()`");
    let after = text.split(&marker).nth(1).unwrap();
    let table = after.split_once("-->").unwrap().1.trim_start();
    table.split("\n\n").next().unwrap().to_owned()
}

/// Rows like ``| `memory_bytes` | 64 MiB | ... |``.
fn documented(table: &str) -> BTreeMap<String, u64> {
    let row = |line: &str| {
        let mut cells = line.split('|').map(str::trim).skip(1);
        let name = cells.next()?.strip_prefix('`')?.strip_suffix('`')?;
        let (number, unit) = cells
            .next()?
            .split_once(' ')
            .unwrap_or((line.split('|').nth(2)?.trim(), ""));
        if number == "none" {
            return None;
        }
        let factor = match unit {
            "" => 1,
            "KiB" => 1024,
            "MiB" => 1024 * 1024,
            unit => panic!("{unit}"),
        };
        Some((name.to_owned(), number.parse::<u64>().unwrap() * factor))
    };
    table.lines().filter_map(row).collect()
}

/// The fields of a struct of numbers, from its `Debug` form.
fn fields(debug: &str) -> BTreeMap<String, u64> {
    let (_, fields) = debug.trim_end_matches(" }").split_once(" { ").unwrap();
    let field = |field: &str| {
        let (name, number) = field.split_once(": ").unwrap();
        Some((name.to_owned(), number.parse().ok()?))
    };
    fields.split(", ").filter_map(field).collect()
}

/// The text of `host/src`.
fn product() -> String {
    sources(&root().join("host/src"))
        .into_iter()
        .map(|(_, text)| text)
        .collect()
}

/// The code spans of each row of the tables in a section of the operators' guide.
fn rows(title: &str) -> Vec<Vec<String>> {
    let is_code = |span: &String| {
        span.bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
    };
    let guide = read("docs/operators.md");
    markdown::section(&guide, title)
        .lines()
        .filter(|line| line.starts_with("| "))
        .map(|row| {
            markdown::code_spans(row)
                .into_iter()
                .filter(is_code)
                .collect()
        })
        .filter(|row: &Vec<_>| !row.is_empty())
        .collect()
}

#[test]
fn every_stop_reason_in_the_guide_is_one_of_the_program() {
    let product = product();
    let named = rows("Exit codes").concat();
    assert!(named.len() > 10, "{named:?}");
    for name in named {
        assert!(product.contains(&format!("\"{name}\"")), "{name}");
    }
}

#[test]
fn every_error_code_in_the_guide_stands_beside_its_kind() {
    let product = product();
    let rows = rows("Errors");
    assert_eq!(rows.len(), 8, "one row for each kind");
    for row in rows {
        let (kind, codes) = row.split_first().unwrap();
        let variant: String = kind
            .split('-')
            .map(|word| word[..1].to_uppercase() + &word[1..])
            .collect();
        for code in codes {
            let quoted = format!("\"{code}\"");
            let found: Vec<_> = product.split(&quoted).skip(1).collect();
            assert!(!found.is_empty(), "nothing in host/src is called {code}");
            // Most codes are followed by their kind; where none is, the kind is that of the whole enum.
            let kinds: Vec<_> = found
                .iter()
                .filter_map(|rest| {
                    rest.trim_start_matches([',', ' ', '\n'])
                        .strip_prefix("Kind::")
                })
                .collect();
            assert!(
                kinds.is_empty() || kinds.iter().any(|rest| rest.starts_with(&variant)),
                "{code} is not of kind {kind}"
            );
        }
    }
}

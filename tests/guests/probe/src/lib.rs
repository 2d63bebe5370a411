//! A plugin that does what the goal of its task says: `word` or `word:argument`. Everything else is well-behaved.
#![allow(
    clippy::disallowed_methods,
    reason = "it does what a plugin must not get away with"
)]

mod contract {
    wit_bindgen::generate!({ path: "../../../wit/0.1.0", world: "domain" });
}

mod wasi {
    wit_bindgen::generate!({ path: "wasi", world: "handles", generate_all });
}

use std::{hint::black_box, time::Duration};

use contract::{
    exports::wharf::domain::{tools, validator},
    wharf::domain::{
        business::{Transaction, Value},
        log,
        types::{
            Artifact, Completed, Conclusion, Descriptor, Effect, Migration, Plan, Step, Task, Tool,
            Violation,
        },
    },
};

struct Probe;

contract::export!(Probe with_types_in contract);
wasi::export!(Probe with_types_in wasi);

struct Counter;

impl wasi::exports::wharf::probe::counters::Guest for Probe {
    type Counter = Counter;
}

impl wasi::exports::wharf::probe::counters::GuestCounter for Counter {
    fn new() -> Self {
        Self
    }
}

/// The goal's word and argument.
fn order(task: &Task) -> (&str, &str) {
    task.goal.split_once(':').unwrap_or((&task.goal, ""))
}

fn number(argument: &str) -> usize {
    argument.parse().expect("the argument is a number")
}

fn violation(code: &str, message: &str) -> Violation {
    Violation {
        code: code.into(),
        message: message.into(),
        step: None,
    }
}

/// What the tool `mix` takes.
const MIX: &str = r##"{
    "type": "object",
    "properties": {
        "colour": {"$ref": "#/$defs/name"},
        "parts": {"type": "array", "items": {"$ref": "#/$defs/name"}, "maxItems": 3}
    },
    "required": ["colour"],
    "additionalProperties": false,
    "$defs": {"name": {"type": "string", "pattern": "^[a-z]+$"}}
}"##;

impl validator::Guest for Probe {
    fn describe() -> Descriptor {
        let tool = |name: &str, effect, postcondition: &str| Tool {
            name: name.into(),
            description: format!("does {name}"),
            effect,
            postcondition: postcondition.into(),
            arguments: None,
        };
        Descriptor {
            name: "probe".into(),
            version: "0.1.0".into(),
            instructions: "none".into(),
            input_schema: "{}".into(),
            tools: vec![
                tool("look", Effect::Read, "seen"),
                tool("change", Effect::Write, "changed"),
                tool("keyless", Effect::Write, "changed"),
                Tool {
                    arguments: Some(MIX.into()),
                    ..tool("mix", Effect::Write, "mixed")
                },
            ],
            migrations: vec![Migration {
                version: 1,
                sql: "CREATE TABLE things(id TEXT PRIMARY KEY)".into(),
            }],
            max_steps: 5,
        }
    }

    fn check_task(task: Task) -> Result<String, Vec<Violation>> {
        let (word, argument) = order(&task);
        match word {
            "refuse" => Err(vec![violation("no", argument)]),
            "refuse-silently" => Err(Vec::new()),
            "violations" => Err((0..number(argument)).map(|_| violation("", "")).collect()),
            "text" => Ok("x".repeat(number(argument))),
            "not-utf8" => {
                let bytes = vec![0xff, 0xfe];
                // The very fault that is asked for.
                Ok(unsafe { String::from_utf8_unchecked(bytes) })
            }
            _ => act(word, argument).map_or(Ok("subject".into()), Ok),
        }
    }

    fn operation_key(task: Task, tool: String, _: Option<String>) -> Option<String> {
        let (word, argument) = order(&task);
        match (word, &*tool) {
            ("key", _) => Some("k".repeat(number(argument))),
            (_, "change" | "mix") => Some(tool),
            _ => None,
        }
    }

    fn check_plan(task: Task, _: String, plan: Plan) -> Result<(), Vec<Violation>> {
        let (word, argument) = order(&task);
        match word {
            "steps" if plan.steps.len() == number(argument) => Ok(()),
            "steps" => Err(vec![violation("steps", "another number of steps")]),
            "refuse-silently" => Err(Vec::new()),
            "trap-at" if plan.steps.len() == number(argument) => panic!("that many steps"),
            "trap-at" => Err(vec![violation("steps", "another number of steps")]),
            _ => {
                act(word, argument);
                Ok(())
            }
        }
    }

    fn conclude(
        task: Task,
        _: String,
        completed: Vec<Completed>,
    ) -> Result<Conclusion, Vec<Violation>> {
        let (word, argument) = order(&task);
        let artifact = |name: &str, size: usize| Artifact {
            name: name.into(),
            media_type: "text/plain".into(),
            content: vec![b'x'; size],
        };
        let mut conclusion = Conclusion {
            result: format!("{{\"steps\":{}}}", completed.len()),
            summary: "done".into(),
            artifacts: vec![artifact("a.txt", 3)],
        };
        match word {
            "artifact" => conclusion.artifacts = vec![artifact(argument, 1)],
            "artifact-twice" => {
                conclusion.artifacts = vec![artifact("a.txt", 1), artifact("A.TXT", 1)];
            }
            "artifact-bytes" => conclusion.artifacts = vec![artifact("a", number(argument))],
            "artifacts" => {
                let each = |n: usize| artifact(&format!("a{n}"), 1);
                conclusion.artifacts = (0..number(argument)).map(each).collect();
            }
            "media-type" => conclusion.artifacts[0].media_type = argument.into(),
            "summary" => conclusion.summary = argument.into(),
            "result" => conclusion.result = argument.into(),
            "refuse" => return Err(vec![violation("no", argument)]),
            "refuse-silently" => return Err(Vec::new()),
            _ => {}
        }
        Ok(conclusion)
    }
}

impl tools::Guest for Probe {
    fn snapshot(task: Task, tx: &Transaction) -> Result<String, tools::Failure> {
        let (word, argument) = order(&task);
        match word {
            "json" => Ok(argument.into()),
            "json-bytes" => Ok(format!("\"{}\"", "x".repeat(number(argument)))),
            "json-depth" => Ok("[".repeat(number(argument)) + &"]".repeat(number(argument))),
            "rejected" => Err(tools::Failure::Rejected(argument.into())),
            "rejected-bytes" => Err(tools::Failure::Rejected("x".repeat(number(argument)))),
            "changed" => Err(tools::Failure::EnvironmentChanged(argument.into())),
            "unknown" => Err(tools::Failure::OutcomeUnknown(argument.into())),
            "queries" => {
                for _ in 0..number(argument) {
                    let _ = tx.query("SELECT 1", &[]);
                }
                Ok("{}".into())
            }
            "select" => Ok(format!("{:?}", format!("{:?}", tx.query(argument, &[])))),
            "parameters" => {
                let parameters = vec![Value::Text(String::new()); number(argument)];
                let _ = tx.query("SELECT 1", &parameters);
                Ok("{}".into())
            }
            "blob" => {
                let parameters = [Value::Blob(vec![0; number(argument)])];
                let _ = tx.execute("INSERT", &parameters);
                Ok("{}".into())
            }
            _ => match tx.query(
                argument,
                &[Value::Integer(7), Value::Null, Value::Real(0.5)],
            ) {
                Ok(rows) => Ok(format!("{:?}", format!("{rows:?}"))),
                Err(error) => Ok(format!("{:?}", format!("{error:?}"))),
            },
        }
    }

    fn perform(task: Task, step: Step, tx: &Transaction) -> Result<tools::Answer, tools::Failure> {
        let (word, argument) = order(&task);
        let mut outcome = tools::Outcome {
            state: step.expected.clone(),
            data: "{\"done\":true}".into(),
        };
        match word {
            "state" => outcome.state = argument.into(),
            "data" => outcome.data = argument.into(),
            "data-bytes" => outcome.data = format!("\"{}\"", "x".repeat(number(argument))),
            "declined" => return Ok(tools::Answer::Declined(argument.into())),
            "changed" => return Err(tools::Failure::EnvironmentChanged(argument.into())),
            "rejected" => return Err(tools::Failure::Rejected(argument.into())),
            "unknown" => return Err(tools::Failure::OutcomeUnknown(argument.into())),
            "execute" => {
                let changed = tx.execute(argument, &[]).expect("the statement runs");
                outcome.data = changed.to_string();
            }
            "execute-then-panic" => {
                tx.execute(argument, &[]).expect("the statement runs");
                panic_with("after the change");
            }
            "burn-on-perform" => {
                act("burn-then-trap", argument);
            }
            "execute-then-spin" => {
                tx.execute(argument, &[]).expect("the statement runs");
                act("spin", "");
            }
            "execute-then-burn" => {
                tx.execute(argument, &[]).expect("the statement runs");
                act("burn", "300000000");
            }
            "execute-then-lie" => {
                tx.execute(argument, &[]).expect("the statement runs");
                outcome.state = "unheard-of".into();
            }
            _ => {
                act(word, argument);
            }
        }
        Ok(tools::Answer::Done(outcome))
    }
}

/// What can be done from any export; some of it yields what it saw.
fn act(word: &str, argument: &str) -> Option<String> {
    match word {
        "spin" => loop {
            black_box(0);
        },
        "recurse" => {
            let depth = if argument.is_empty() {
                u64::MAX
            } else {
                number(argument) as u64
            };
            black_box(recurse(black_box(depth)));
            None
        }
        "burn" => {
            for _ in 0..number(argument) {
                black_box(0);
            }
            None
        }
        "burn-then-trap" => {
            act("burn", argument);
            core::arch::wasm32::unreachable()
        }
        "burn-then-panic" => {
            act("burn", argument);
            panic_with("all is burnt")
        }
        "burn-then-read-out-of-bounds" => {
            act("burn", argument);
            // The very fault that is asked for.
            let beyond = black_box(0xffff_fff0_usize) as *const u8;
            black_box(unsafe { beyond.read_volatile() });
            None
        }
        "burn-then-divide" => {
            act("burn", argument);
            // The very fault that is asked for.
            black_box(unsafe { divide(black_box(1), black_box(0)) });
            None
        }
        "burn-then-recurse" => {
            act("burn", argument);
            act("recurse", "")
        }
        "panic" => panic_with(argument),
        "unreachable" => core::arch::wasm32::unreachable(),
        "allocate" => {
            black_box(vec![1_u8; number(argument)]);
            None
        }
        "allocate-twice" => {
            let first = vec![1_u8; number(argument)];
            let second = vec![1_u8; number(argument)];
            black_box((first, second));
            None
        }
        "exit" => std::process::exit(number(argument) as i32),
        "logs" => {
            for n in 0..number(argument) {
                log::write(log::Level::Info, &n.to_string());
            }
            None
        }
        "log" => {
            log::write(log::Level::Warn, argument);
            None
        }
        "log-bytes" => {
            log::write(log::Level::Info, &"x".repeat(number(argument)));
            None
        }
        "print" => {
            for n in 0..number(argument) {
                println!("{n}");
            }
            None
        }
        "eprint" => {
            eprintln!("{argument}");
            None
        }
        "print-then-panic" => {
            for n in 0..number(argument) {
                eprintln!("{n}");
            }
            panic_with("after all that")
        }
        "handles" => {
            for _ in 0..number(argument) {
                let pollable = wasi::wasi::clocks::monotonic_clock::subscribe_duration(1);
                core::mem::forget(pollable);
            }
            None
        }
        "own-handles" => {
            for _ in 0..number(argument) {
                core::mem::forget(wasi::exports::wharf::probe::counters::Counter::new(Counter));
            }
            None
        }
        "sleep" => {
            let before = std::time::Instant::now();
            std::thread::sleep(Duration::from_millis(number(argument) as u64));
            Some(format!(
                "slept {}",
                before.elapsed().as_millis() >= number(argument) as u128
            ))
        }
        "surroundings" => Some(surroundings()),
        _ => None,
    }
}

#[inline(never)]
fn panic_with(text: &str) -> ! {
    panic!("{text}")
}

/// Without the check that Rust would make.
unsafe fn divide(a: i32, b: i32) -> i32 {
    unsafe { a.checked_div(b).unwrap_unchecked() }
}

#[inline(never)]
fn recurse(n: u64) -> u64 {
    if n == 0 {
        return n;
    }
    recurse(n - 1).wrapping_add(black_box(n))
}

/// Everything that could differ from one run to the next.
fn surroundings() -> String {
    use std::{
        collections::HashMap,
        hash::{BuildHasher, RandomState},
        io::Read,
    };
    let mut stdin = Vec::new();
    let read = std::io::stdin().read_to_end(&mut stdin);
    let mut map = HashMap::new();
    map.insert(1, 2);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    format!(
        "env={} args={} stdin={:?} now={} hash={} file={} dir={} net={} map={}",
        std::env::vars_os().count(),
        std::env::args_os().count(),
        read.ok(),
        now.map_or(0, |now| now.as_secs()),
        RandomState::new().hash_one(1) % 1000,
        std::fs::read("/etc/passwd").is_err(),
        std::fs::read_dir("/").is_err(),
        std::net::TcpStream::connect("127.0.0.1:80").is_err(),
        map.len(),
    )
}

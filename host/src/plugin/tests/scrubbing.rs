//! What looks like a credential leaves a plugin on no way: error, panic, log, description.

use super::*;
use crate::{
    core::ports::domain::{Declared as _, Domain as _},
    words::events::events,
};

const SECRET: &str = "sk-proj-0123456789abcdefghij";

/// E4: on error, panic, log and description alike.
#[test]
fn a_credential_is_scrubbed_wherever_a_plugin_says_it() {
    let plugin = probe();
    let goal = |word: &str| request(&format!("{word}:the key is {SECRET}"));
    let (said, log) = events(|| {
        let failure = |answer: Result<_, Error>| format!("{answer:?}");
        [
            failure(plugin.check_task(&goal("panic")).map(|_| ())),
            format!("{:?}", plugin.check_task(&goal("refuse")).unwrap()),
            failure(plugin.check_task(&goal("log")).map(|_| ())),
            failure(plugin.check_task(&goal("eprint")).map(|_| ())),
            format!(
                "{:?}",
                plugin.snapshot(&goal("rejected"), Script::new()).unwrap()
            ),
            failure(plugin.snapshot(&goal("unknown"), Script::new()).map(|_| ())),
            failure(plugin.snapshot(&goal("json"), Script::new()).map(|_| ())),
            format!(
                "{:?}",
                plugin.conclude(&goal("summary"), &empty(), &[]).unwrap()
            ),
            failure(
                plugin
                    .conclude(&goal("artifact"), &empty(), &[])
                    .map(|_| ()),
            ),
        ]
    });
    let log = log.join("\n");
    assert!(!log.contains(SECRET), "{log}");
    assert_eq!(
        log.matches("[scrubbed]").count(),
        3,
        "panic, log and standard error: {log}"
    );
    for text in said {
        assert!(!text.contains(SECRET), "{text}");
    }
    let told = plugin.check_task(&goal("panic")).unwrap_err().why();
    assert!(told.contains("the key is [scrubbed]"), "{told}");

    let descriptor = plugin.descriptor();
    let mut found = answers::described();
    found.instructions = format!("call with {SECRET}");
    found.tools[0].description = format!("uses {SECRET}");
    let described = description::description(found, &PluginLimits::standard()).unwrap();
    assert_eq!(described.descriptor.instructions, "call with [scrubbed]");
    assert_eq!(described.descriptor.tools[0].description, "uses [scrubbed]");
    assert_eq!(descriptor.instructions, "none");
}

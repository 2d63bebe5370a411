//! Searches.

use serde_json::json;

use super::{found, get, keep, object};
use crate::core::ports::memories::{Memories, MemoryFields};

pub(super) fn all_words_are_held(memory: &dyn Memories) {
    let scope = "conformance:words";
    let with_summary = MemoryFields {
        summary: Some("Grey herons".to_owned()),
        ..object(
            scope,
            json!({"herring": ["stand in", {"k": "the water."}], "n": 42}),
        )
    };
    keep(memory, "conformance:words/1", &with_summary);
    keep(
        memory,
        "conformance:words/2",
        &object(scope, "herons, in the reeds"),
    );
    let first = ["conformance:words/1"];
    let second = ["conformance:words/2"];
    assert_eq!(found(memory, scope, "herons").len(), 2);
    assert_eq!(found(memory, scope, "HERONS water"), first);
    assert_eq!(found(memory, scope, "in; the - REEDS!"), second);
    assert_eq!(found(memory, scope, "reeds herons in the"), second);
    // No part of a word, no key, no number, and nothing of another scope.
    for none in ["heron", "ons", "herring", "42", "grey reeds"] {
        assert_eq!(found(memory, scope, none), [""; 0], "{none}");
    }
    for other in [
        "conformance:word",
        "conformance:words ",
        "CONFORMANCE:WORDS",
    ] {
        assert_eq!(found(memory, other, "herons"), [""; 0], "{other}");
    }
    assert_eq!(memory.search("herons", None, 100).unwrap().len(), 2);
    assert_eq!(memory.search("herons", Some(scope), 1).unwrap().len(), 1);
}

pub(super) fn better_hits_come_first(memory: &dyn Memories) {
    let scope = "conformance:rank";
    let filler = "one two three four five six seven eight nine ten ".repeat(4);
    for number in 0..20 {
        keep(
            memory,
            &format!("conformance:rank/other-{number}"),
            &object(scope, &*filler),
        );
    }
    let summarized = MemoryFields {
        summary: Some("the quokka".to_owned()),
        ..object(scope, &*filler)
    };
    keep(
        memory,
        "conformance:rank/once",
        &object(scope, format!("{filler} quokka")),
    );
    keep(
        memory,
        "conformance:rank/often",
        &object(scope, format!("{filler} quokka quokka quokka")),
    );
    keep(memory, "conformance:rank/summary", &summarized);
    let ranked = ["summary", "often", "once"].map(|name| format!("conformance:rank/{name}"));
    assert_eq!(found(memory, scope, "quokka"), ranked);
    let hits = memory.search("quokka", Some(scope), 100).unwrap();
    assert!(hits.is_sorted_by(|one, next| one.score > next.score));
    assert_eq!(hits[0].object, get(memory, &ranked[0]).unwrap());
    assert_eq!(memory.search("quokka", Some(scope), 2).unwrap(), hits[..2]);
    // Of equals the one that was kept last comes first, whenever it was changed.
    for number in [3, 1, 2] {
        keep(
            memory,
            &format!("conformance:equal/{number}"),
            &object("conformance:equal", "the same"),
        );
    }
    keep(
        memory,
        "conformance:equal/3",
        &object("conformance:equal", "the same"),
    );
    let equal = [2, 1, 3].map(|number| format!("conformance:equal/{number}"));
    for _ in 0..3 {
        assert_eq!(found(memory, "conformance:equal", "same"), equal);
    }
}

pub(super) fn no_text_is_an_instruction(memory: &dyn Memories) {
    let scope = "conformance:syntax";
    keep(
        memory,
        "conformance:syntax/1",
        &object(scope, "alpha or beta near summary"),
    );
    for (text, finds) in [
        ("alpha OR gamma", 0),
        ("alpha OR beta", 1),
        ("alpha NOT beta", 0),
        ("NEAR(alpha beta)", 1),
        ("summary:alpha", 1),
        ("{summary content}:alpha", 0),
        ("\"alpha", 1),
        ("alpha\"\"", 1),
        ("alp*", 0),
        ("^alpha", 1),
        ("-alpha", 1),
        ("alpha + beta", 1),
        ("'; DROP TABLE memories; --", 0),
        ("alpha\0beta", 1),
        ("", 0),
        (" \t\n", 0),
        ("\"", 0),
        ("* ( ) : ^ -", 0),
    ] {
        assert_eq!(found(memory, scope, text).len(), finds, "{text:?}");
    }
}

pub(super) fn unicode_is_found(memory: &dyn Memories) {
    let scope = "conformance:unicode";
    let text = "\u{dc}n\u{ef}c\u{f6}de cafe\u{301}s \u{39f}\u{394}\u{39f}\u{3a3} \u{41c}\u{43e}\u{441}\u{43a}\u{432}\u{430} x\u{1f600}y \
                \u{646}\u{635} \u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}";
    keep(memory, "conformance:unicode/1", &object(scope, text));
    for there in [
        "unicode",
        "\u{dc}N\u{cf}CODE",
        "caf\u{e9}s",
        "cafes",
        "cafe\u{301}s",
        "\u{43c}\u{43e}\u{441}\u{43a}\u{432}\u{430}",
        "x y",
        "\u{646}\u{635}",
        "\u{939}\u{93f}\u{928}\u{94d}\u{926}\u{940}",
    ] {
        assert_eq!(found(memory, scope, there).len(), 1, "{there}");
    }
    for not in [
        "caf",
        "cafe",
        "\u{1f600}",
        "\u{43c}\u{43e}\u{441}\u{43a}\u{432}",
    ] {
        assert_eq!(found(memory, scope, not).len(), 0, "{not}");
    }
}

pub(super) fn cjk_is_found_by_its_characters(memory: &dyn Memories) {
    let scope = "conformance:cjk";
    let texts = [
        // A sentence in Japanese, one in Korean, one in Chinese, two texts, and characters beyond the first plane.
        json!(
            "\u{6771}\u{4eac}\u{90fd}\u{5e81}\u{306f}\u{65b0}\u{5bbf}\u{306b}\u{3042}\u{308a}\u{307e}\u{3059}\u{3002}\u{30bf}\u{30ef}\u{30fc}"
        ),
        json!("\u{b300}\u{d55c}\u{bbfc}\u{ad6d} \u{c11c}\u{c6b8}\u{c758} \u{b0a0}\u{c528}"),
        json!("\u{4eac}\u{90fd}\u{548c}\u{6771}wharf\u{4eac}"),
        json!(["\u{5927}", "\u{962a}"]),
        json!("\u{20bb7}\u{91ce}\u{5bb6}"),
    ];
    for (number, text) in texts.into_iter().enumerate() {
        keep(
            memory,
            &format!("conformance:cjk/{number}"),
            &object(scope, text),
        );
    }
    for (text, finds) in [
        ("\u{6771}\u{4eac}", &[0][..]),
        ("\u{4eac}\u{90fd}", &[2, 0]),
        ("\u{5e81}\u{306f}", &[0]),
        ("\u{30bf}\u{30ef}", &[0]),
        ("\u{30ef}\u{30fc}", &[0]),
        ("\u{4eac}", &[2, 0]),
        ("\u{6771}\u{90fd}", &[]),
        ("\u{6771} \u{90fd}", &[2, 0]),
        ("\u{d55c}\u{bbfc}", &[1]),
        ("\u{c11c}\u{c6b8}", &[1]),
        ("\u{c11c}\u{c6b8} \u{b300}\u{d55c}", &[1]),
        ("\u{6771}wharf", &[2]),
        ("Wharf", &[2]),
        // Not from the end of one text into the next.
        ("\u{5927}\u{962a}", &[]),
        ("\u{5927} \u{962a}", &[3]),
        ("\u{20bb7}\u{91ce}", &[4]),
    ] {
        let mut expected: Vec<_> = finds
            .iter()
            .map(|number| format!("conformance:cjk/{number}"))
            .collect();
        let mut found = found(memory, scope, text);
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{text}");
    }
}

pub(super) fn what_is_found_is_what_is_there(memory: &dyn Memories) {
    let scope = "conformance:fresh";
    let name = "conformance:fresh/1";
    keep(memory, name, &object(scope, "earlier"));
    assert_eq!(found(memory, scope, "earlier"), [name]);
    keep(memory, name, &object(scope, "later"));
    assert_eq!(found(memory, scope, "earlier"), [""; 0]);
    assert_eq!(found(memory, scope, "later"), [name]);
    keep(memory, name, &object("conformance:fresh-other", "later"));
    assert_eq!(found(memory, scope, "later"), [""; 0]);
    assert_eq!(found(memory, "conformance:fresh-other", "later"), [name]);
}

use std::fs;

use super::{
    super::{
        fixtures::{COMPONENT, assert_error, request, workspace},
        policy_file::Policy,
    },
    *,
};
use crate::{
    core::{contract::OperationKey, request::REQUEST_BOUNDS},
    words::{digest::Digest, error::Kind},
};

fn faults() -> Faults {
    Faults {
        lose_response_of: OperationKey::new("op".into()).unwrap(),
    }
}

fn admit(
    workspace: &Workspace,
    request: &Request,
    faults: Option<&Faults>,
) -> Result<(), AdmissionError> {
    let owner = workspace.claim(&request.id).unwrap();
    Admission {
        request,
        component: Component::of(COMPONENT),
        principals: std::slice::from_ref(&request.principal),
        faults,
    }
    .write(workspace, &owner, &KeptComponents::default())
}

#[test]
fn everything_stands_as_handed_in() {
    let (_folder, workspace) = workspace();
    let request = request("goal");
    admit(&workspace, &request, Some(&faults())).unwrap();
    let task = &request.id;
    assert_eq!(
        fs::read_to_string(workspace.request_file(task)).unwrap(),
        request.text()
    );
    let stored = stored_request(&workspace, task).unwrap().unwrap();
    assert_eq!(stored.fingerprint(), request.fingerprint());
    Policy::read(&workspace.policy_file(task))
        .unwrap()
        .allow(request.acting())
        .unwrap();
    assert_eq!(
        stored_component(&workspace, &request.plugin.digest).unwrap(),
        COMPONENT
    );
    assert_eq!(
        Faults::read(&workspace.faults_file(task)).unwrap(),
        Some(faults())
    );
    assert_eq!(workspace.tasks().unwrap(), std::slice::from_ref(task));
}

#[test]
fn the_same_request_in_another_spelling_rewrites_nothing() {
    let (_folder, workspace) = workspace();
    let first = request("goal");
    admit(&workspace, &first, None).unwrap();
    let spaced = Request::read(&first.text().replace("\":", "\" : ")).unwrap();
    assert_ne!(spaced.text(), first.text());
    // An operator has switched it off meanwhile.
    let policy = workspace.policy_file(&first.id);
    let text = fs::read_to_string(&policy).unwrap();
    fs::write(&policy, text.replace("true", "false")).unwrap();
    admit(&workspace, &spaced, None).unwrap();
    assert_eq!(
        fs::read_to_string(workspace.request_file(&first.id)).unwrap(),
        first.text()
    );
    assert!(!Policy::read(&policy).unwrap().enabled);
}

#[test]
fn another_request_under_the_same_id_is_refused_and_nothing_is_written() {
    let (_folder, workspace) = workspace();
    let first = request("goal");
    admit(&workspace, &first, None).unwrap();
    fs::remove_file(workspace.component_file(&first.plugin.digest)).unwrap();
    let error = admit(&workspace, &request("another goal"), Some(&faults())).unwrap_err();
    assert_error(error, "task-changed", Kind::Conflict);
    assert!(!workspace.component_file(&first.plugin.digest).exists());
    assert!(!workspace.faults_file(&first.id).exists());
    let stored = stored_request(&workspace, &first.id).unwrap().unwrap();
    assert_eq!(stored.text(), first.text());
}

#[test]
fn a_component_that_the_request_does_not_name_is_refused() {
    let (_folder, workspace) = workspace();
    let request = request("goal");
    let owner = workspace.claim(&request.id).unwrap();
    let admission = Admission {
        request: &request,
        component: Component::of(b"another"),
        principals: &[],
        faults: None,
    };
    let error = admission
        .write(&workspace, &owner, &KeptComponents::default())
        .unwrap_err();
    assert_error(error, "component-mismatch", Kind::InvalidInput);
    assert!(workspace.tasks().unwrap().is_empty());
}

#[test]
fn only_the_tasks_owner_may_write() {
    let (_folder, workspace) = workspace();
    let request = request("goal");
    let other = workspace.claim(&"t2".parse().unwrap()).unwrap();
    let admission = Admission {
        request: &request,
        component: Component::of(COMPONENT),
        principals: &[],
        faults: None,
    };
    let error = admission
        .write(&workspace, &other, &KeptComponents::default())
        .unwrap_err();
    assert_error(error, "task-not-owned", Kind::Bug);
}

/// A kill leaves a beginning of what is written, a power loss any part of it; each is started over to the same end.
#[test]
fn whatever_a_killed_preparation_left_the_same_call_completes_it() {
    let (folder, whole) = workspace();
    let request = request("goal");
    admit(&whole, &request, None).unwrap();
    let component = format!("plugins/{}.wasm", request.plugin.digest);
    let files = [
        &*component,
        "tasks/t1/request.json",
        "tasks/t1/policy.json",
        "tasks/t1/.lock",
    ];
    // Left by a preparation with faults, by killed writers, by the databases' owners.
    let extra = [
        ("tasks/t1/faults.json", r#"{"loseResponseOf":"op"}"#),
        ("tasks/t1/.wharf-1.tmp", "{\"id"),
        ("plugins/.wharf-2.tmp", "\0as"),
        ("business.sqlite", ""),
        ("business.sqlite-journal", ""),
    ];
    for left in 0_u32..1 << (files.len() + 1) {
        let root = folder.path().join(format!("left-{left}"));
        let put = |name: &str, bytes: &[u8]| {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        };
        for (bit, name) in files.iter().enumerate() {
            if left & (1 << bit) != 0 {
                put(name, &fs::read(whole.root().join(name)).unwrap());
            }
        }
        if left & (1 << files.len()) != 0 {
            extra
                .iter()
                .for_each(|(name, text)| put(name, text.as_bytes()));
        }
        let workspace = Workspace::create(&root).unwrap();
        admit(&workspace, &request, None).unwrap();
        for name in &files[..3] {
            assert_eq!(
                fs::read(root.join(name)).unwrap(),
                fs::read(whole.root().join(name)).unwrap(),
                "{left:b}: {name}"
            );
        }
        assert_eq!(
            durable_folder::names(&root.join("tasks/t1"))
                .unwrap()
                .unwrap(),
            [".lock", "policy.json", "request.json"]
        );
    }
}

#[test]
fn a_policy_left_without_a_request_is_written_anew() {
    let (_folder, workspace) = workspace();
    admit(&workspace, &request("goal"), None).unwrap();
    let changed = request("another goal");
    fs::remove_file(workspace.request_file(&changed.id)).unwrap();
    admit(&workspace, &changed, None).unwrap();
    let policy = Policy::read(&workspace.policy_file(&changed.id)).unwrap();
    policy.allow(changed.acting()).unwrap();
}

#[test]
fn a_broken_or_foreign_policy_is_never_replaced() {
    let (_folder, workspace) = workspace();
    let request = request("goal");
    admit(&workspace, &request, None).unwrap();
    let path = workspace.policy_file(&request.id);
    let good = fs::read_to_string(&path).unwrap();
    let other = Digest::of("other").to_string();
    let foreign = good.replace(&request.fingerprint().to_string(), &other);
    for (text, code, kind) in [
        ("{", "policy-malformed", Kind::Corrupt),
        (&*foreign, "policy-other-request", Kind::Denied),
    ] {
        fs::write(&path, text).unwrap();
        assert_error(admit(&workspace, &request, None).unwrap_err(), code, kind);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn a_damaged_request_is_corrupt_and_stays() {
    let (_folder, workspace) = workspace();
    let request = request("goal");
    assert!(stored_request(&workspace, &request.id).unwrap().is_none());
    drop(workspace.claim(&request.id).unwrap());
    let path = workspace.request_file(&request.id);
    let of_another_task = request.text().replace("\"t1\"", "\"t2\"");
    for bad in [&b""[..], b"{", b"\xff", of_another_task.as_bytes()] {
        fs::write(&path, bad).unwrap();
        let error = stored_request(&workspace, &request.id).unwrap_err();
        assert_error(error, "request-damaged", Kind::Corrupt);
    }
    let error = admit(&workspace, &request, None).unwrap_err();
    assert_error(error, "request-damaged", Kind::Corrupt);
    assert_eq!(fs::read_to_string(&path).unwrap(), of_another_task);
    fs::write(&path, vec![b' '; REQUEST_BOUNDS.bytes + 1]).unwrap();
    let error = stored_request(&workspace, &request.id).unwrap_err();
    assert_error(error, "file-too-large", Kind::Limit);
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let error = stored_request(&workspace, &request.id).unwrap_err();
    assert_error(error, "path-taken", Kind::Conflict);
}

#[test]
fn a_changed_or_missing_component_is_found_and_a_torn_one_written_again() {
    let (_folder, workspace) = workspace();
    let request = request("goal");
    let digest = request.plugin.digest;
    let stored = || stored_component(&workspace, &digest);
    assert_error(stored().unwrap_err(), "component-missing", Kind::Corrupt);
    let path = workspace.component_file(&digest);
    fs::write(&path, &COMPONENT[..3]).unwrap();
    assert_error(stored().unwrap_err(), "component-changed", Kind::Corrupt);
    admit(&workspace, &request, None).unwrap();
    assert_eq!(stored().unwrap(), COMPONENT);
    fs::write(&path, b"swapped").unwrap();
    assert_error(stored().unwrap_err(), "component-changed", Kind::Corrupt);
    let error = admit(&workspace, &request, None).unwrap_err();
    assert_error(error, "component-changed", Kind::Corrupt);
    assert_eq!(fs::read(&path).unwrap(), b"swapped");
}

#[test]
fn a_component_that_was_kept_before_is_still_compared() {
    let (_folder, workspace) = workspace();
    let request = request("goal");
    let owner = workspace.claim(&request.id).unwrap();
    let kept = KeptComponents::default();
    let admit = || {
        Admission {
            request: &request,
            component: Component::of(COMPONENT),
            principals: &[],
            faults: None,
        }
        .write(&workspace, &owner, &kept)
    };
    admit().unwrap();
    let path = workspace.component_file(&request.plugin.digest);
    fs::remove_file(&path).unwrap();
    admit().unwrap();
    assert_eq!(fs::read(&path).unwrap(), COMPONENT);
    fs::write(&path, b"swapped").unwrap();
    assert_error(admit().unwrap_err(), "component-changed", Kind::Corrupt);
}

#[test]
fn a_folder_that_went_away_is_told() {
    let (_folder, workspace) = workspace();
    let request = request("goal");
    fs::remove_dir_all(workspace.plugins_folder()).unwrap();
    let error = admit(&workspace, &request, None).unwrap_err();
    assert_error(error, "folder-missing", Kind::Unavailable);
    fs::write(workspace.plugins_folder(), b"").unwrap();
    let error = admit(&workspace, &request, None).unwrap_err();
    assert_error(error, "path-taken", Kind::Conflict);
}

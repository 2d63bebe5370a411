//! The five scenarios of the demo, through the command line and through the library.

use wharf_tests::{
    Workspace,
    demo::{self, SCENARIOS, TASK},
};

#[test]
fn the_printed_report_is_the_published_one() {
    for scenario in SCENARIOS {
        let workspace = Workspace::new();
        let ran = demo::demo(&workspace, scenario)
            .json()
            .run()
            .exits(demo::exit_code(scenario));
        assert_eq!(
            ran.document()["report"],
            workspace.report(TASK),
            "{scenario}"
        );
    }
}

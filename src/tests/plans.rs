//! Plans as text, held against committed ones.

use super::problems::{Addresses, NVIDIA, Problem, Sorts, devices, tables};
use crate::scratch::Layout;
use crate::tuning::Profile;
use crate::{DeviceFacts, Strategy};

fn text(sorts: &[Sorts], facts: &DeviceFacts) -> String {
    let profile = Profile::for_device(facts);
    let mut layout = Layout::default();
    let tables = tables(sorts, facts, &profile, &mut layout);
    let plans: Vec<_> = tables.iter().map(|(sorts, _, table)| format!("{:?} {}", sorts.strategy, table.plan())).collect();
    format!("{}scratch {} bytes\n", plans.concat(), layout.size())
}

fn one(strategy: Strategy, value_words: u32, problem: Problem) -> [Sorts; 1] {
    [Sorts { strategy, value_words, infos: vec![Addresses::new().info(problem, value_words)] }]
}

fn assert_text(name: &str, text: &str) {
    insta::with_settings!({
        snapshot_path => "../../tests/snapshots",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, {
        insta::assert_snapshot!(name, text);
    });
}

/// The built-in profile of each make of device, and the passes of a sort of a million pairs whose count the device knows.
#[test]
fn devices_have_plans() {
    for (name, facts) in devices() {
        let profile = Profile::for_device(&facts);
        let problem = Problem { size: 1 << 20, count_on_device: true, status: true };
        let text = format!("{profile}\n{}", text(&one(profile.strategy, 1, problem), &facts));
        assert_text(&format!("device_{name}"), &text);
    }
}

#[test]
fn kinds_have_plans() {
    for (name, strategy) in [("lookback", Strategy::Lookback), ("reduce_then_scan", Strategy::ReduceThenScan)] {
        let host = Problem { size: 1 << 26, count_on_device: false, status: false };
        assert_text(&format!("{name}_host_count"), &text(&one(strategy, 0, host), &NVIDIA));
        let device = Problem { count_on_device: true, ..host };
        assert_text(&format!("{name}_device_count"), &text(&one(strategy, 1, device), &NVIDIA));
        let status = Problem { status: true, ..host };
        assert_text(&format!("{name}_status"), &text(&one(strategy, 0, status), &NVIDIA));
        let mut addresses = Addresses::new();
        let infos = [100_000, 0, 3, 100_000, 1000].map(|size| addresses.info(Problem { size, ..device }, 1));
        assert_text(&format!("{name}_batch"), &text(&[Sorts { strategy, value_words: 1, infos: infos.into() }], &NVIDIA));
    }
    let small = Problem { size: 1000, count_on_device: true, status: true };
    assert_text("small", &text(&one(Strategy::Lookback, 1, small), &NVIDIA));
    let none = Problem { size: 0, count_on_device: false, status: false };
    assert_text("nothing", &text(&one(Strategy::Lookback, 1, none), &NVIDIA));
    assert_text("nothing_but_status", &text(&one(Strategy::Lookback, 1, Problem { status: true, ..none }), &NVIDIA));
}

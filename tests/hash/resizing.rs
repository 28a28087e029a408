//! Tables that grow and shrink.

use crate::common::contexts::{Setup, context};
use crate::common::keys::Random;
use crate::common::very_brief;
use crate::results::{draw, exercise};
use crate::table::{Batch, Reserve, SLICE, Table, Types};
use trommel::HashOperation;

use HashOperation::{Clear, Erase, Insert, Resize};

/// The number of slices after a resize of at most so many keys, and whether the keys move. See `HashInfo::reserve`.
fn expected_slices(table: &Table<'_>, reserve: Reserve, most: u32) -> (u32, bool) {
    let [_, slices, _, entries, erased, ..] = table.header()[..] else { panic!("a header") };
    let slots = slices * SLICE;
    let reserved = reserve.on_device.map_or(reserve.most, |count| count.min(reserve.most));
    let keys = entries.saturating_add(reserved);
    let slices_of = |capacity: u32| {
        let slices = capacity.div_ceil(SLICE).max(1);
        if table.types.is_linear() { slices.next_power_of_two() } else { slices }
    };
    let min_capacity = if table.min_capacity == 0 { table.capacity } else { table.min_capacity };
    let wanted = slices_of(keys.min(1 << 30) * 2).clamp(slices_of(min_capacity), slices_of(table.capacity));
    let is_full = u64::from(keys) + u64::from(erased) > u64::from(slots) / 4 * 3;
    let helps = wanted != slices || erased >= slots / 8;
    let moves = (is_full || keys < slots / 8) && helps && entries <= most;
    (if moves { wanted } else { slices }, moves)
}

/// Resizes a table for so many more keys. Returns the number of slices.
pub(crate) fn resize(table: &mut Table<'_>, reserve: Reserve, most: u32) -> u32 {
    let (slices, moves) = expected_slices(table, reserve, most);
    let before = table.words();
    let batch = Batch { reserve, ..table.batch_of_items(Resize, [0, u64::MAX], most) };
    let left = table.apply(&batch);
    assert!(left.is_empty(), "{} items are left over", left.len());
    assert_eq!(table.header()[1], slices, "slices for {reserve:?} more keys");
    assert!(!moves || table.header()[4] == 0 && table.erased_slots() == 0, "an erased slot remains");
    assert!(moves || before == table.words(), "the table has moved");
    slices
}

pub(crate) fn on_host(most: u32) -> Reserve {
    Reserve { most, on_device: None }
}

/// A table grows in steps from one slice to many, and shrinks again. The drivers share the types.
pub(crate) fn growing_and_shrinking() {
    const KEYS: u32 = 9000;
    let context = context(Setup::Native);
    let kinds = [Types::PAIRS, Types::ALL[4], Types::ALL[6], Types::ALL[7], Types::WIDE].into_iter().enumerate();
    for types in kinds
        .filter(|(i, types)| *i == 0 || types.is_here() && !very_brief())
        .flat_map(|(_, types)| types.of_each_kind())
    {
        let types = types.resizable();
        let mut table = Table::resizable(&context, types, [500, 40 * SLICE], 0);
        assert_eq!(table.header()[1], 1, "slices of an empty table");
        let mut random = Random::new(3);
        let mut sizes = vec![1];
        for first in (0..KEYS).step_by(1000) {
            sizes.push(resize(&mut table, on_host(1000), KEYS));
            let left = table.apply(&Batch::new(Insert, types, types.keys_of(first..first + 1000), &mut random));
            assert!(left.is_empty(), "{} items are left over", left.len());
            table.check(&types.keys_of(first..first + 1200));
        }
        assert!(sizes.is_sorted() && sizes[9] > 11, "{sizes:?}");
        table.statistics();
        exercise(&mut table, 4, 500, KEYS, 9);
        assert_eq!(resize(&mut table, on_host(0), KEYS), table.header()[1], "neither full nor empty");
        for last in [8500, 1000, 100] {
            table.apply_to(Erase, types.keys_of(last..KEYS));
            sizes.push(resize(&mut table, on_host(0), KEYS));
            table.check(&types.keys_of(0..KEYS));
        }
        assert_eq!(sizes.last(), Some(&1), "{sizes:?}");
        // Erased slots alone make a linear table too full.
        table.apply_to(Insert, types.keys_of(0..700));
        table.apply_to(Erase, types.keys_of(300..700));
        resize(&mut table, on_host(200), KEYS);
        table.apply_to(Clear, Vec::new());
        assert_eq!(table.header()[1], 1, "slices of an empty table");
        table.check(&types.keys_of(0..100));
    }
}

/// The number of keys to make room for is on the device, and is limited. A table with more keys than the count, or with
/// its largest number of slots, stays as it is.
pub(crate) fn reserves() {
    let context = context(Setup::Native);
    for types in Types::PAIRS.of_each_kind().map(Types::resizable) {
        for on_device in [0, 1, 600, 5000, 5001, u32::MAX] {
            let mut table = Table::resizable(&context, types, [1, 9 * SLICE], 0);
            let mut random = Random::new(on_device.into());
            table.apply(&Batch::new(Insert, types, draw(types, 900, 900, &mut random), &mut random));
            let reserve = Reserve { most: 5000, on_device: Some(on_device) };
            let entries = table.model.len() as u32;
            assert_eq!(resize(&mut table, reserve, entries - 1), 1, "more keys than the count");
            resize(&mut table, reserve, entries);
            table.check(&types.keys_of(0..900));
            let largest = if types.is_linear() { 16 } else { 9 };
            assert_eq!(resize(&mut table, on_host(u32::MAX), entries + 5), largest);
            assert_eq!(resize(&mut table, on_host(u32::MAX), entries + 5), largest);
            table.check(&types.keys_of(0..900));
        }
        // Saved with a number of slices that is not the largest one.
        let mut table = Table::resizable(&context, types, [1, 9 * SLICE], 0);
        table.apply_to(Insert, types.keys_of(0..500));
        let saved = table.bytes();
        table.load(&saved);
        table.check(&types.keys_of(0..600));
        let (mut other, left) = table.rehashed(4 * SLICE, 500);
        assert!(left.is_empty(), "{} items are left over", left.len());
        other.check(&types.keys_of(0..600));
        // A rehash makes room for twice as many keys as there may be.
        for (most, slices, power) in [(500, 1, 1), (513, 2, 2), (2000, 4, 4), (2100, 5, 8), (20_000, 9, 16)] {
            let mut other = Table::resizable(&context, types, [1, 9 * SLICE], 0);
            other.apply(&table.rehash_to(most));
            assert_eq!(other.header()[1], if types.is_linear() { power } else { slices }, "slices for {most} keys");
            other.check(&types.keys_of(0..600));
        }
        let error = |slices: u32| {
            let mut bytes = saved.clone();
            bytes[4..8].copy_from_slice(&slices.to_ne_bytes());
            trommel::hash::check_table(&types.info(), 9 * SLICE, &bytes).expect_err("a refusal").to_string()
        };
        let most = if types.is_linear() { 16 } else { 9 };
        for slices in [0, most + 1, u32::MAX] {
            let text = format!("table is malformed: it has {slices} slices, of at most {most}");
            assert_eq!(error(slices), text);
        }
        assert_ne!(error(2), "", "keys of other slices");
    }
}

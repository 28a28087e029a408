//! Searches in an application's shader, with glsl/lib/trommel_hash.glsl.

use crate::common::contexts::{Setup, assert_silence, context, is_shared_here};
use crate::common::keys::Random;
use crate::common::pipeline::Pipeline;
use crate::common::spirv::words_of;
use crate::table::{Batch, Table, Types, Words};
use trommel::HashOperation;
use trommel::host::Context;

/// glsl/find.comp
const MODULE: &[u8] = include_bytes!("spirv/find.spv");

/// Looks keys up in every format, in tables with room and in full ones, with erased keys and with reserved ones. The
/// drivers share the formats.
pub(crate) fn searches_in_shaders() {
    let context = context(Setup::Native);
    for (i, types) in Types::ALL.into_iter().enumerate().filter(|(i, _)| is_shared_here(*i)) {
        let mut random = Random::new(i as u64);
        let mut table = Table::new(&context, types, 2000, 1 << 18);
        let keys = |range: std::ops::Range<u32>| range.map(|i| types.key_of(i)).collect::<Vec<_>>();
        search(&context, &table, &keys(0..100));
        for (operation, range) in [
            (HashOperation::Insert, 1..900),
            (HashOperation::Insert, 1000..1900),
            (HashOperation::Erase, 300..500),
            // More than find slots.
            (HashOperation::Insert, 2000..4500),
            (HashOperation::Erase, 0..50),
        ] {
            table.apply(&Batch::new(operation, types, keys(range), &mut random));
            search(&context, &table, &keys(0..4600));
        }
    }
}

fn search(context: &Context, table: &Table<'_>, keys: &[Words]) {
    let types = table.types;
    let [key_words, value_words] = [types.key_words(), types.value_words()];
    let constants = [key_words as u32, value_words as u32];
    let pipeline = Pipeline::new(context, &words_of(MODULE), &constants, 28);
    let keys_in = context.upload(&keys.concat()).expect("keys");
    let words = keys.len() * (2 + value_words);
    let results = context.buffer(words as u64 * 4).expect("results");
    let mut push = Vec::new();
    for address in [table.range().address, keys_in.address(), results.address()] {
        push.extend(address.to_le_bytes());
    }
    push.extend((keys.len() as u32).to_le_bytes());
    let record = |commands| {
        pipeline.record(commands, &push, (keys.len() as u32).div_ceil(32));
        Ok(())
    };
    context.run(record).expect("a search");
    let found = context.download::<u32>(&results, words).expect("results");
    for (key, found) in keys.iter().zip(found.chunks_exact(2 + value_words)) {
        let value = table.model.get(key);
        let mut expected = vec![table.model.len() as u32, u32::from(value.is_some())];
        expected.extend(value.cloned().unwrap_or_else(|| vec![u32::MAX; value_words]));
        assert_eq!(found, expected, "{types:?} {key:x?}: the number of keys, whether this one is found, and its value");
    }
    assert_silence(context);
}

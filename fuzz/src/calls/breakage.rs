//! Draws the breakages of good arguments.

use crate::calls::case::{Breakage, Case, Function, HANDLE, Item, Pointer, handle_code};
use crate::calls::fake::ALL_FEATURES;
use crate::calls::info::{Image, Info};
use crate::calls::primitive::primitive;
use crate::calls::random::Random;
use crate::calls::session::{Session, base_of};
use trommel::capi::*;

/// Members that are pointers: they are set to NULL at most.
const POINTERS: &[&str] = &[
    "get_instance_proc_addr",
    "instance",
    "physical_device",
    "device",
    "enabled_features",
    "allocation_callbacks",
    "profile",
    "infos",
    "pipeline_cache",
    "more_sequences",
];

fn number(random: &mut Random, now: u64) -> u64 {
    match random.below(10) {
        0 => 0,
        1 => 1 + random.below(20),
        2 => u64::MAX - random.below(8),
        3 => (1 << 32) - 1 - random.below(3),
        4 => 1 << random.below(64),
        5 | 6 => now.wrapping_sub(1 + random.below(4)),
        7 => now.wrapping_add(1 + random.below(4)),
        8 => now.wrapping_add(4 * random.below(64)).wrapping_sub(128),
        _ => random.next() >> random.below(64),
    }
}

/// Every value of TrmStructureType.
fn types() -> Vec<u64> {
    let types = layout::values().filter(|(name, _)| name.starts_with("TRM_STRUCTURE_TYPE_"));
    types.map(|(_, value)| value.unsigned_abs()).collect()
}

fn break_header<T: Info>(random: &mut Random, item: Option<usize>, breakages: &mut Vec<Breakage>) {
    let size = size_of::<T>() as u64;
    match random.below(6) {
        0 => {
            // In a batch, never the type of another request: the library would read the handle as another type.
            let types = if item.is_some() { vec![0, 1, 3, 1000, 77] } else { [&[0], &types()[..], &[77]].concat() };
            breakages.push(Breakage::Set { item, offset: 0, width: 4, value: random.pick(&types) });
        }
        1 | 2 => {
            let members = T::STRUCT.members;
            let member = members[3 + random.index(members.len() - 3)].offset as u64;
            let sizes = [
                0,
                15,
                16,
                17,
                size - 4,
                size + 4,
                size + 8,
                4088,
                4096,
                4104,
                u32::MAX.into(),
                member,
                member,
                member,
            ];
            breakages.push(Breakage::Set { item, offset: 4, width: 4, value: random.pick(&sizes) });
        }
        3 => {
            let more = 8 * (1 + random.below(100));
            breakages.push(Breakage::Set { item, offset: 4, width: 4, value: size + more });
            let offset = random.index(usize::try_from(more).unwrap_or(1) + 8);
            breakages.push(Breakage::Tail { item, offset, byte: random.pick(&[0, 1, 255]) });
        }
        4 => breakages.push(Breakage::Set { item, offset: 8, width: 8, value: random.next() | 1 }),
        _ => breakages.push(Breakage::Info { item, pointer: random.pick(&[Pointer::Null, Pointer::Misaligned]) }),
    }
}

pub(crate) fn break_info<T: Info>(
    random: &mut Random,
    image: &Image,
    item: Option<usize>,
    breakages: &mut Vec<Breakage>,
) {
    if random.once_in(6) {
        return break_header::<T>(random, item, breakages);
    }
    let members = &T::STRUCT.members[3..];
    let member = members[random.index(members.len())];
    let words = (member.size / 8).max(1);
    let word = random.index(words);
    let (offset, width) = (member.offset + 8 * word, if member.size % 8 == 0 { 8 } else { 4 });
    let now = image.get(offset, width);
    let value = match member.name {
        "scratch" if word == 0 => random.below(3),
        "timestamps" if word == 0 => random.below(3),
        _ if T::IS_REQUEST && member.offset == HANDLE => 0,
        name if POINTERS.contains(&name) => 0,
        _ if member.size > 8 && random.once_in(3) => {
            // Another address or size of the struct.
            let others: Vec<_> =
                members.iter().filter(|other| other.size >= 8 && other.offset != member.offset).collect();
            let other = others[random.index(others.len().max(1)).min(others.len() - 1)];
            let at = other.offset + 8 * random.index(other.size / 8);
            image.get(at, 8).wrapping_add(random.pick(&[0, 0, 4, 8, 0u64.wrapping_sub(4), 64]))
        }
        _ => number(random, now),
    };
    breakages.push(Breakage::Set { item, offset, width, value });
}

/// Enums and small numbers of create infos.
pub(crate) fn break_create<T: Info>(random: &mut Random, image: &Image, breakages: &mut Vec<Breakage>) {
    if random.once_in(4) {
        return break_info::<T>(random, image, None, breakages);
    }
    let members = &T::STRUCT.members[3..];
    let member = members[random.index(members.len())];
    let value = if random.once_in(4) { number(random, image.get(member.offset, 4)) } else { random.below(9) };
    breakages.push(Breakage::Set { item: None, offset: member.offset, width: 4, value });
}

/// Draws one or two breakages of a good case.
pub(crate) fn breakages(random: &mut Random, session: &Session, case: &Case) -> Vec<Breakage> {
    let mut breakages = Vec::new();
    for _ in 0..1 + random.below(2) {
        match case.function {
            Function::Record(number) => break_single(random, session, case, number, &mut breakages),
            Function::Batch | Function::BatchScratch => break_batch(random, session, case, &mut breakages),
            Function::Create(number, creation) => {
                primitive(number).break_creation(creation, random, case, &mut breakages)
            }
            Function::CreateDevice => break_device(random, case, &mut breakages),
            Function::Requirements => match random.below(5) {
                0 => breakages.push(Breakage::List(random.pick(&[Pointer::Null, Pointer::Misaligned]))),
                1 => breakages.push(Breakage::Instance(random.below32(3))),
                2 => breakages.push(Breakage::Features(ALL_FEATURES ^ 1 << random.below(8))),
                _ => break_info::<TrmDeviceRequirementsInfo>(random, &case.image, None, &mut breakages),
            },
            Function::Plain => {}
            Function::Query(..) => match random.below(4) {
                0 => breakages.push(Breakage::Output(random.pick(&[Pointer::Null, Pointer::Misaligned]))),
                1 => breakages.push(Breakage::Handle(None)),
                _ => breakages.push(Breakage::Number(number(random, case.number) & u64::from(u32::MAX))),
            },
        }
    }
    breakages
}

fn break_single(random: &mut Random, session: &Session, case: &Case, number: usize, breakages: &mut Vec<Breakage>) {
    let (primitive, members) = (primitive(number), primitive(number).members());
    match random.below(24) {
        0 => breakages.push(Breakage::Commands),
        1 => breakages.push(Breakage::Handle(None)),
        2 => {
            let side = random.index(2);
            let value = handle_code(session.pick(random, number, side));
            breakages.push(Breakage::Set { item: None, offset: HANDLE, width: 8, value });
        }
        3 | 4 => {
            let size = members.scratch + 16;
            let value = case.image.get(size, 8).saturating_sub(random.pick(&[1, 4, 256, 5000]));
            breakages.push(Breakage::Set { item: None, offset: size, width: 8, value });
        }
        5 => {
            breakages.push(Breakage::Set { item: None, offset: members.timestamps, width: 8, value: 1 });
            let value = u64::from(u32::MAX) - random.below(40);
            breakages.push(Breakage::Set { item: None, offset: members.timestamps + 8, width: 4, value });
        }
        6 => {
            // An array in scratch, or beside it.
            let [buffer, offset, size] = [0, 8, 16].map(|word| case.image.effective_number(members.scratch + word, 8));
            let Some(base) = base_of(buffer) else { return };
            let start = base.wrapping_add(offset);
            let value = start.wrapping_add(random.pick(&[0, 0, 4, 256, size, 0u64.wrapping_sub(4)]));
            breakages.push(Breakage::Set { item: None, offset: random.pick(members.addresses), width: 8, value });
        }
        _ => primitive.break_request(random, &case.image, None, breakages),
    }
}

fn break_batch(random: &mut Random, session: &Session, case: &Case, breakages: &mut Vec<Breakage>) {
    const COUNT: usize = std::mem::offset_of!(TrmBatchInfo, info_count);
    let item = random.index(case.items.len().max(1));
    let len = case.items.len() as u64;
    match random.below(12) {
        0 => breakages.push(Breakage::Commands),
        1 => {
            let value = random.pick(&[(1 << 20) + 1, u32::MAX.into(), 1 << 31, 0, len.saturating_sub(1)]);
            breakages.push(Breakage::Set { item: None, offset: COUNT, width: 4, value });
        }
        2 => breakages.push(Breakage::List(random.pick(&[Pointer::Null, Pointer::Misaligned]))),
        3 if case.function == Function::BatchScratch => {
            breakages.push(Breakage::Output(random.pick(&[Pointer::Null, Pointer::Misaligned])));
        }
        4 => {
            // infoCount and infos stay: more infos than exist would break the caller's promise.
            let offset = std::mem::offset_of!(TrmBatchInfo, scratch) + 8 * random.index(3);
            let now = case.image.get(offset, 8);
            let value = if offset == std::mem::offset_of!(TrmBatchInfo, scratch) {
                random.below(3)
            } else {
                number(random, now)
            };
            breakages.push(Breakage::Set { item: None, offset, width: 8, value });
        }
        5 => break_header::<TrmBatchInfo>(random, None, breakages),
        6 if !case.items.is_empty() => {
            let (number, side) = (case.items[item].primitive, random.index(2));
            let value = if random.once_in(3) { 0 } else { handle_code(session.pick(random, number, side)) };
            breakages.push(Breakage::Set { item: Some(item), offset: HANDLE, width: 8, value });
        }
        7 if case.items.len() > 1 => {
            // The memory of another problem.
            let other = &case.items[(item + 1 + random.index(case.items.len() - 1)) % case.items.len()];
            let keys = |item: &Item| primitive(item.primitive).members().keys;
            let value = other.image.get(keys(other), 8).wrapping_add(random.pick(&[0, 0, 4, 64]));
            breakages.push(Breakage::Set { item: Some(item), offset: keys(&case.items[item]), width: 8, value });
        }
        8 if !case.items.is_empty() => {
            // An array in scratch.
            let scratch = std::mem::offset_of!(TrmBatchInfo, scratch);
            for (offset, value) in [(scratch, 1), (scratch + 16, 1 << 50)] {
                breakages.push(Breakage::Set { item: None, offset, width: 8, value });
            }
            let value = (1 << 56) + 4 * random.below(16);
            let offset = random.pick(primitive(case.items[item].primitive).members().addresses);
            breakages.push(Breakage::Set { item: Some(item), offset, width: 8, value });
        }
        _ if case.items.is_empty() => {}
        _ => {
            let Item { primitive: number, image } = &case.items[item];
            primitive(*number).break_request(random, image, Some(item), breakages);
        }
    }
}

fn break_device(random: &mut Random, case: &Case, breakages: &mut Vec<Breakage>) {
    const FAMILY: usize = std::mem::offset_of!(TrmDeviceCreateInfo, queue_family_index);
    const DEBUG: usize = std::mem::offset_of!(TrmDeviceCreateInfo, debug_utils);
    match random.below(14) {
        0 => breakages.push(Breakage::Output(random.pick(&[Pointer::Null, Pointer::Misaligned]))),
        1 => breakages.push(Breakage::Enabled(ALL_FEATURES ^ 1 << random.below(8))),
        2 => breakages.push(Breakage::Features(ALL_FEATURES ^ 1 << random.below(8))),
        3 => breakages.push(Breakage::Instance(random.below32(3))),
        4 => breakages.push(Breakage::NoDebugUtils),
        5 => breakages.push(Breakage::Fail(0)),
        6 => breakages.push(Breakage::Set {
            item: None,
            offset: FAMILY,
            width: 4,
            value: random.pick(&[1, 2, 77, 1 << 31]),
        }),
        7 => breakages.push(Breakage::Set {
            item: None,
            offset: DEBUG,
            width: 4,
            value: random.pick(&[0, 1, 2, u64::MAX]),
        }),
        8..=10 if !case.text.is_empty() => {
            let (at, bits) = (random.index(case.text.len()), 1 << random.below(8));
            // A byte of zero would end the text; that is no change of a letter.
            if case.text[at] != bits {
                breakages.push(Breakage::Text { at, bits });
            }
        }
        _ => break_info::<TrmDeviceCreateInfo>(random, &case.image, None, breakages),
    }
}

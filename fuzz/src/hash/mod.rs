//! Operations on hash tables.

mod bucketed;
mod calls;
mod changes;
mod checks;
mod contract;
mod handle;
mod linear;
mod opcodes;
mod outputs;
mod scene;
mod stencil;
mod table;

use self::handle::{Hashing, has_batch};
use self::outputs::{FOUND, VALUES_OUT};
use crate::items::value_size;
use crate::keys;
use crate::primitive::{Ask, CountAt, Handle, HandleInfo, Limits, Primitive, draw_max_count};
use crate::profiles::Line;
use crate::random::Random;
use trommel::{Device, HashOperation, HashScheme, Hasher, HasherInfo, KeyType, ValueType};

/// The hash table.
#[derive(Clone, Copy, Debug)]
pub struct Hashes;

pub(crate) static PRIMITIVE: Hashes = Hashes;

/// Changes of tables are the most complex.
const OPERATIONS: [HashOperation; 29] = [
    HashOperation::Insert,
    HashOperation::InsertLast,
    HashOperation::Insert,
    HashOperation::Assign,
    HashOperation::Assign,
    HashOperation::Erase,
    HashOperation::Erase,
    HashOperation::Find,
    HashOperation::Clear,
    HashOperation::Add,
    HashOperation::Min,
    HashOperation::Max,
    HashOperation::And,
    HashOperation::Or,
    HashOperation::Increment,
    HashOperation::Export,
    HashOperation::Statistics,
    HashOperation::FindOrInsert,
    HashOperation::FindOrInsert,
    HashOperation::Rehash,
    HashOperation::Rehash,
    HashOperation::EraseIf,
    HashOperation::EraseIf,
    HashOperation::ExportIf,
    HashOperation::ExportIf,
    HashOperation::Mixed,
    HashOperation::Mixed,
    HashOperation::Mixed,
    HashOperation::Mixed,
];

/// Those on multimaps.
const MULTIMAP_OPERATIONS: [HashOperation; 16] = [
    HashOperation::Insert,
    HashOperation::Insert,
    HashOperation::Insert,
    HashOperation::Erase,
    HashOperation::Erase,
    HashOperation::Erase,
    HashOperation::EraseIf,
    HashOperation::Find,
    HashOperation::Clear,
    HashOperation::Export,
    HashOperation::ExportIf,
    HashOperation::Statistics,
    HashOperation::Rehash,
    HashOperation::Count,
    HashOperation::Retrieve,
    HashOperation::Retrieve,
];

/// Draws the parameters of a hasher for tables of this kind. They may be invalid.
fn draw_info(tables: HasherInfo, limits: &Limits, random: &mut Random) -> HasherInfo {
    let value = match random.below(8) {
        0..3 => ValueType::None,
        3..6 => ValueType::U32,
        _ => ValueType::Bytes(4 * random.between(1, 4)),
    };
    let operation = match random.below(4) {
        0 if tables.resizable => HashOperation::Resize,
        _ if tables.multimap => random.pick(&MULTIMAP_OPERATIONS),
        _ => random.pick(&OPERATIONS),
    };
    HasherInfo {
        key: random.pick(&KeyType::ALL),
        value,
        operation,
        stencil: has_batch(operation) && random.chance(1, 3),
        max_count: draw_max_count(limits, random),
        max_capacity: match random.below(6) {
            0 => 1024,
            1 => 1 << 18,
            2 => random.log_between(1, 1 << 20),
            _ => 0,
        },
        batches: true,
        deferred: random.chance(1, 8),
        ..tables
    }
}

impl Primitive for Hashes {
    fn name(&self) -> &'static str {
        "hash"
    }

    fn profile_lines(&self) -> &'static [Line] {
        &[
            ("hash.slice_threads", |_, random| random.pick(&[64, 128, 256, 512, 1024]).to_string()),
            ("hash.long_slice_threads", |_, random| random.pick(&[64, 128, 256, 512, 1024]).to_string()),
            ("hash.find_threads", |draws, random| draws.threads(random).to_string()),
        ]
    }

    fn draw(&self, limits: &Limits, random: &mut Random) -> Box<dyn HandleInfo> {
        let tables = match random.below(20) {
            0..9 => HasherInfo::keys(),
            9..13 => HasherInfo::keys().linear(),
            13..15 => HasherInfo::keys().linear().concurrent(),
            _ => HasherInfo::keys().linear().multimap(),
        };
        let tables = HasherInfo { resizable: random.chance(1, 3), ..tables };
        loop {
            let info = draw_info(tables, limits, random);
            if info.check().is_ok() {
                return Box::new(Info(info));
            }
        }
    }
}

#[derive(Debug)]
struct Info(HasherInfo);

impl HandleInfo for Info {
    fn create(&self, device: &Device) -> trommel::Result<Box<dyn Handle>> {
        let hasher = Hasher::new(device, &self.0)?;
        if self.0.deferred {
            hasher.compile()?;
        }
        Ok(Box::new(Hashing(hasher)))
    }

    fn describe(&self) -> String {
        format!("{:?}", self.0)
    }

    fn primitive(&self) -> &'static str {
        Hashes.name()
    }

    fn draw(&self, limits: &Limits, random: &mut Random) -> Ask {
        let most = if self.0.max_count == 0 { u32::MAX } else { self.0.max_count };
        let limits = Limits { max_items: limits.max_items.min(most), ..limits.clone() };
        // A table may have several slots for each key.
        let bytes = 4 * (keys::size(self.0.key) + value_size(self.0.value));
        let ask = Ask::draw(&limits, bytes, false, random);
        match self.0.operation {
            HashOperation::Clear | HashOperation::Statistics => Ask { items: 0, count: CountAt::Host, ..ask },
            // The count is the room of arrays, or the most keys of a table.
            operation if !has_batch(operation) => Ask { count: CountAt::Host, ..ask },
            HashOperation::FindOrInsert | HashOperation::Mixed => {
                Ask { results: ask.results | random.word() & (FOUND | VALUES_OUT), ..ask }
            }
            _ => ask,
        }
    }

    fn simpler(&self) -> Vec<Box<dyn HandleInfo>> {
        let info = self.0;
        let all = [
            HasherInfo { max_count: 0, ..info },
            HasherInfo { deferred: false, ..info },
            HasherInfo { stencil: false, ..info },
            HasherInfo { scheme: HashScheme::Bucketed, concurrent: false, multimap: false, ..info },
            HasherInfo { concurrent: false, ..info },
            HasherInfo { multimap: false, ..info },
            HasherInfo { resizable: false, ..info },
            HasherInfo { max_capacity: 0, ..info },
            HasherInfo { max_capacity: 1024, ..info },
            HasherInfo { operation: HashOperation::Add, ..info },
            HasherInfo { operation: HashOperation::Insert, ..info },
            HasherInfo { value: ValueType::None, ..info },
            HasherInfo { value: ValueType::U32, ..info },
            HasherInfo { key: KeyType::U32, ..info },
        ];
        let valid = all.into_iter().filter(|simpler| *simpler != info && simpler.check().is_ok());
        valid.map(|info| Box::new(Self(info)) as Box<dyn HandleInfo>).collect()
    }
}

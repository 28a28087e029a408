//! Operations on hash tables.

mod bucketed;
mod calls;
mod handle;
mod linear;
mod table;

use self::handle::Hashing;
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
const OPERATIONS: [HashOperation; 16] = [
    HashOperation::Insert,
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
];

/// Draws the parameters of a hasher, which may be invalid.
fn draw_info(scheme: HashScheme, concurrent: bool, limits: &Limits, random: &mut Random) -> HasherInfo {
    let value = match random.below(8) {
        0..3 => ValueType::None,
        3..6 => ValueType::U32,
        _ => ValueType::Bytes(4 * random.between(1, 3)),
    };
    HasherInfo {
        key: random.pick(&KeyType::ALL),
        value,
        operation: random.pick(&OPERATIONS),
        scheme,
        concurrent,
        max_count: draw_max_count(limits, random),
        max_capacity: match random.below(6) {
            0 => 1024,
            1 => 1 << 18,
            2 => random.log_between(1, 1 << 20),
            _ => 0,
        },
        batches: true,
        deferred: random.chance(1, 8),
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
        let scheme = if random.chance(2, 5) { HashScheme::Linear } else { HashScheme::Bucketed };
        let concurrent = scheme == HashScheme::Linear && random.chance(1, 4);
        loop {
            let info = draw_info(scheme, concurrent, limits, random);
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
            // The room of the arrays.
            HashOperation::Export => Ask { count: CountAt::Host, ..ask },
            _ => ask,
        }
    }

    fn simpler(&self) -> Vec<Box<dyn HandleInfo>> {
        let info = self.0;
        let all = [
            HasherInfo { max_count: 0, ..info },
            HasherInfo { deferred: false, ..info },
            HasherInfo { scheme: HashScheme::Bucketed, concurrent: false, ..info },
            HasherInfo { concurrent: false, ..info },
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

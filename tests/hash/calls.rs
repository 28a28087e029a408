//! Calls of hashers.

use crate::calls::{Call, Handle, Place, Shape, begun, c_count, c_range, c_scratch, c_timestamps};
use ash::vk;
use std::ptr;
use trommel::capi::*;
use trommel::{
    Count, HashInfo, HashOperation, HashScheme, HashStatistics, Hasher, HasherInfo, KeyType, Range, Request, Result,
    ValueType,
};

/// Every operation, on the first kind of table that has it: maps, multimaps, and tables that grow. Insertions into
/// tables of one slice, by one sort pass, and by indices. Operations on linear tables and multimaps.
pub(crate) fn handles(place: &Place) -> Vec<Box<dyn Handle + '_>> {
    let pairs = HasherInfo::pairs().batches();
    let multimap = pairs.linear().multimap();
    let of_operations = HashOperation::ALL.map(|operation| {
        let mut kinds = [pairs, multimap, pairs.resizable()].map(|info| info.operation(operation)).into_iter();
        kinds.find(|info| info.check().is_ok()).unwrap_or_else(|| panic!("no table has {operation:?}"))
    });
    let small = HasherInfo { max_capacity: 1024, ..pairs };
    let medium = HasherInfo { max_capacity: 1 << 18, ..pairs };
    let by_index = HasherInfo { key: KeyType::U64, value: ValueType::Bytes(8), ..pairs };
    use HashOperation::{Add, Erase, EraseIf, Find, FindOrInsert, Insert, Mixed, Rehash, Resize};
    let linear =
        [Insert, Find, Erase, Add, FindOrInsert, Rehash, EraseIf, Mixed].map(|operation| pairs.operation(operation));
    let linear = linear.map(HasherInfo::linear);
    let multimaps = [Insert, Erase, Find, Rehash].map(|operation| multimap.operation(operation));
    let stencil = pairs.stencil();
    let others = [
        pairs.linear().concurrent(),
        pairs.linear().resizable().operation(Resize),
        stencil.operation(FindOrInsert),
        stencil.linear().operation(Add),
        stencil.linear().operation(Find),
    ];
    let all = of_operations.into_iter().chain([small, medium, by_index]).chain(linear).chain(multimaps).chain(others);
    all.map(|info| Box::new(Hashers::new(place, info)) as Box<dyn Handle>).collect()
}

/// A hasher in Rust and one in C.
struct Hashers<'a> {
    place: &'a Place,
    hasher: Hasher,
    c_hasher: TrmHasher,
}

impl<'a> Hashers<'a> {
    fn new(place: &'a Place, info: HasherInfo) -> Self {
        let is_wide = info.value.size() == 8;
        let operation = match info.operation {
            HashOperation::Clear => TrmHashOperation::Clear,
            HashOperation::Assign => TrmHashOperation::Assign,
            HashOperation::InsertLast => TrmHashOperation::InsertLast,
            HashOperation::Erase => TrmHashOperation::Erase,
            HashOperation::Find => TrmHashOperation::Find,
            HashOperation::Add => TrmHashOperation::Add,
            HashOperation::Min => TrmHashOperation::Min,
            HashOperation::Max => TrmHashOperation::Max,
            HashOperation::And => TrmHashOperation::And,
            HashOperation::Or => TrmHashOperation::Or,
            HashOperation::Increment => TrmHashOperation::Increment,
            HashOperation::Export => TrmHashOperation::Export,
            HashOperation::Statistics => TrmHashOperation::Statistics,
            HashOperation::FindOrInsert => TrmHashOperation::FindOrInsert,
            HashOperation::Rehash => TrmHashOperation::Rehash,
            HashOperation::Count => TrmHashOperation::Count,
            HashOperation::Retrieve => TrmHashOperation::Retrieve,
            HashOperation::EraseIf => TrmHashOperation::EraseIf,
            HashOperation::ExportIf => TrmHashOperation::ExportIf,
            HashOperation::Resize => TrmHashOperation::Resize,
            HashOperation::Mixed => TrmHashOperation::Mixed,
            _ => TrmHashOperation::Insert,
        };
        let scheme = if info.scheme == HashScheme::Linear { TrmHashScheme::Linear } else { TrmHashScheme::Bucketed };
        let flags = [
            (info.concurrent, TRM_HASHER_CREATE_CONCURRENT_BIT),
            (info.multimap, TRM_HASHER_CREATE_MULTIMAP_BIT),
            (info.resizable, TRM_HASHER_CREATE_RESIZABLE_BIT),
            (info.stencil, TRM_HASHER_CREATE_STENCIL_BIT),
        ];
        let flags = flags.into_iter().filter(|(is_set, _)| *is_set).fold(0, |flags, (_, flag)| flags | flag);
        let c_info = TrmHasherCreateInfo {
            flags: TRM_HASHER_CREATE_BATCHES_BIT | flags,
            key_type: if is_wide { TrmKeyType::U64 } else { TrmKeyType::U32 } as i32,
            value_type: if is_wide { TrmValueType::Bytes } else { TrmValueType::U32 } as i32,
            value_size: if is_wide { 8 } else { 0 },
            operation: operation as i32,
            scheme: scheme as i32,
            max_capacity: info.max_capacity,
            // SAFETY: the struct consists of numbers and pointers.
            ..unsafe { begun(TrmStructureType::HasherCreateInfo) }
        };
        let mut c_hasher = ptr::null_mut();
        // SAFETY: everything is valid.
        assert_eq!(unsafe { trmCreateHasher(place.c_device.0, &c_info, &mut c_hasher) }, 0, "{info:?}");
        let hasher = Hasher::new(&place.device, &info).unwrap_or_else(|error| panic!("{info:?}: {error}"));
        Self { place, hasher, c_hasher }
    }
}

impl Drop for Hashers<'_> {
    fn drop(&mut self) {
        // SAFETY: no command is ever executed.
        unsafe { trmDestroyHasher(self.c_hasher) };
    }
}

impl Handle for Hashers<'_> {
    fn name(&self) -> String {
        format!("{:?}", self.hasher.info())
    }

    fn counts(&self) -> Vec<u32> {
        let counts = [1, 100, 1000, 50_000, 100_000, 1 << 20, 1 << 24];
        counts.into_iter().filter(|count| *count <= self.place.most).collect()
    }

    /// The table has one slice. It takes the space of all arrays after the third, but for the last two if it has pairs.
    /// Another table follows it.
    fn call(&self, shape: Shape) -> Box<dyn Call + '_> {
        let HasherInfo { key, value, operation, .. } = *self.hasher.info();
        let items = u64::from(shape.count);
        let (scratch, timestamps) = (self.place.scratch, self.place.timestamps);
        // Single words, then the bits.
        let bits = items.div_ceil(32) * 4;
        let words = shape.array(0, items.div_ceil(32) * 2 + 64, 4);
        let word = |index: u64| if shape.on_device { words.address + 4 * index } else { 0 };
        let table = Range { size: self.hasher.table_size(1), ..shape.array(3, 0, 4) };
        let info = HashInfo {
            table,
            capacity: 1,
            count: match operation {
                HashOperation::Clear | HashOperation::Statistics => Count::default(),
                HashOperation::Rehash | HashOperation::EraseIf | HashOperation::Resize => Count::host(shape.count),
                operation if operation.exports() => Count::host(shape.count),
                _ => shape.count(0),
            },
            keys: shape.array(1, items, key.size()),
            values: shape.array(2, items, value.size()),
            values_out: shape.array(6, items, 4),
            max_values: shape.count,
            offsets: shape.array(7, items + 1, 4),
            counts: shape.array(7, items, 4),
            opcodes: shape.array(7, items, 4),
            source: Range { address: table.address + table.size, ..table },
            source_capacity: 1,
            reserve: Count { max: 100, address: word(3) },
            max_value: 1000,
            found: Range::new(words.address + 256, bits),
            stencil: Range::new(words.address + 256 + bits, bits),
            leftover_count: word(1),
            statistics: Range::new(words.address + 16, size_of::<HashStatistics>() as u64),
            scratch,
            status: word(2),
            timestamps: Some(timestamps),
            ..HashInfo::default()
        };
        let c_info = TrmHashInfo {
            hasher: self.c_hasher,
            table: c_range(info.table),
            capacity: info.capacity,
            count: c_count(info.count),
            keys: c_range(info.keys),
            values: c_range(info.values),
            found: c_range(info.found),
            stencil: c_range(info.stencil),
            leftover_count: info.leftover_count,
            values_out: c_range(info.values_out),
            max_values: info.max_values,
            offsets: c_range(info.offsets),
            counts: c_range(info.counts),
            opcodes: c_range(info.opcodes),
            source: c_range(info.source),
            source_capacity: info.source_capacity,
            reserve: c_count(info.reserve),
            max_value: info.max_value,
            statistics: c_range(info.statistics),
            scratch: c_scratch(scratch),
            status: info.status,
            timestamps: c_timestamps(timestamps),
            // SAFETY: the struct consists of numbers and pointers.
            ..unsafe { begun(TrmStructureType::HashInfo) }
        };
        Box::new(Operation { hashers: self, info, c_info })
    }
}

struct Operation<'a> {
    hashers: &'a Hashers<'a>,
    info: HashInfo,
    c_info: TrmHashInfo,
}

impl Call for Operation<'_> {
    fn name(&self) -> String {
        format!("{:?} by {:?}", self.info.count, self.hashers.hasher.info())
    }

    fn request(&self) -> Request<'_> {
        Request::Hash(&self.hashers.hasher, self.info)
    }

    fn info(&self) -> *const TrmInfoHeader {
        ptr::from_ref(&self.c_info).cast()
    }

    fn record(&self, commands: vk::CommandBuffer) -> Result<()> {
        // SAFETY: the commands are never executed.
        unsafe { self.hashers.hasher.cmd_hash(commands, &self.info) }
    }

    fn record_in_c(&self, commands: vk::CommandBuffer) -> i32 {
        // SAFETY: the commands are never executed.
        unsafe { trmCmdHash(commands, self.hashers.c_hasher, &self.c_info) }
    }
}

//! One random call: good arguments, and what has been broken in them.

use crate::fake::ALL_FEATURES;
use crate::good::{self, Space};
use crate::info::{HEADER, Image, Info, empty};
use crate::random::Random;
use crate::session::{MOST_ITEMS, Model, Session, base_of, device_info};
use ash::vk::Handle as _;
use trommel::capi::*;

/// A function of the C ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Function {
    Sort,
    Split,
    Batch,
    SorterScratch,
    SorterTimestamps,
    SorterSide,
    SplitterScratch,
    SplitterTimestamps,
    BatchScratch,
    CreateSorter,
    CreateSplitter,
    CreateFromGlsl,
    CreateFromSpirv,
    CreateDevice,
    Requirements,
    Plain,
}

impl Function {
    /// Each function and how often it is called.
    const ALL: [(Self, &str, u64); 16] = [
        (Self::Sort, "trmCmdSort", 310),
        (Self::Split, "trmCmdSplit", 310),
        (Self::Batch, "trmCmdBatch", 170),
        (Self::SorterScratch, "trmGetSorterScratch", 30),
        (Self::SorterTimestamps, "trmGetSorterTimestampCount", 30),
        (Self::SorterSide, "trmGetSorterResultSide", 15),
        (Self::SplitterScratch, "trmGetSplitterScratch", 30),
        (Self::SplitterTimestamps, "trmGetSplitterTimestampCount", 30),
        (Self::BatchScratch, "trmGetBatchScratch", 30),
        (Self::CreateSorter, "trmCreateSorter", 6),
        (Self::CreateSplitter, "trmCreateSplitter", 6),
        (Self::CreateFromGlsl, "trmCreateSplitterFromGlsl", 4),
        (Self::CreateFromSpirv, "trmCreateSplitterFromSpirv", 4),
        (Self::CreateDevice, "trmCreateDevice", 6),
        (Self::Requirements, "trmGetDeviceRequirements", 12),
        (Self::Plain, "trmResultString, trmGetVersion, trmDestroy...", 7),
    ];

    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(function, ..)| *function == self).map_or("", |(_, name, _)| name)
    }

    fn any(random: &mut Random) -> Self {
        let mut place = random.below(Self::ALL.iter().map(|(.., weight)| weight).sum());
        for (function, _, weight) in Self::ALL {
            if place < weight {
                return function;
            }
            place -= weight;
        }
        Self::Plain
    }
}

/// What a pointer argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pointer {
    Good,
    Null,
    Misaligned,
}

/// A sorter or splitter of the session: device, then index.
pub(crate) type Place = (usize, usize);

/// An info of a batch.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) splits: bool,
    pub(crate) image: Image,
}

/// Arguments of one call.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) function: Function,
    pub(crate) handle: Option<Place>,
    pub(crate) commands: bool,
    pub(crate) image: Image,
    pub(crate) items: Vec<Item>,
    /// The list of infos, a text, or a module.
    pub(crate) list: Pointer,
    /// Where the answer goes.
    pub(crate) output: Pointer,
    /// maxCount, codeSize, missingSize.
    pub(crate) number: u64,
    /// A module, a profile or GLSL.
    pub(crate) text: Vec<u8>,
    pub(crate) text_is_changed: bool,
    /// Of a device: features that are enabled, that there are, and the instance's minor version.
    pub(crate) enabled: u32,
    pub(crate) features: u32,
    pub(crate) instance_minor: u32,
    pub(crate) debug_utils: bool,
    pub(crate) facts_seed: u64,
    /// The Vulkan object whose creation fails.
    pub(crate) fail_after: i64,
}

/// One thing that is done to good arguments.
#[derive(Clone, Debug)]
pub(crate) enum Breakage {
    /// Overwrites a number of the info, or of an info of the batch.
    Set {
        item: Option<usize>,
        offset: usize,
        width: usize,
        value: u64,
    },
    Tail {
        item: Option<usize>,
        offset: usize,
        byte: u8,
    },
    Info {
        item: Option<usize>,
        pointer: Pointer,
    },
    Commands,
    Handle(Option<Place>),
    List(Pointer),
    Output(Pointer),
    Number(u64),
    /// Turns bits of one byte of a text or module.
    Text {
        place: usize,
        bits: u8,
    },
    Enabled(u32),
    Features(u32),
    Instance(u32),
    NoDebugUtils,
    Fail(i64),
}

impl Case {
    fn image_of(&mut self, item: Option<usize>) -> &mut Image {
        match item {
            Some(index) => &mut self.items[index].image,
            None => &mut self.image,
        }
    }

    pub(crate) fn apply(&mut self, breakage: &Breakage) {
        match *breakage {
            Breakage::Set { item, offset, width, value } => self.image_of(item).set(offset, width, value),
            Breakage::Tail { item, offset, byte } => self.image_of(item).tail = Some((offset, byte)),
            Breakage::Info { item, pointer } => {
                let image = self.image_of(item);
                (image.null, image.misaligned) = (pointer == Pointer::Null, pointer == Pointer::Misaligned);
            }
            Breakage::Commands => self.commands = false,
            Breakage::Handle(place) => self.handle = place,
            Breakage::List(pointer) => self.list = pointer,
            Breakage::Output(pointer) => self.output = pointer,
            Breakage::Number(number) => self.number = number,
            Breakage::Text { place, bits } => {
                self.text[place] ^= bits;
                self.text_is_changed = true;
            }
            Breakage::Enabled(features) => self.enabled = features,
            Breakage::Features(features) => self.features = features,
            Breakage::Instance(minor) => {
                self.instance_minor = minor;
                // What an engine says of its instance.
                if self.function == Function::Requirements && self.image.get(4, 4) > HEADER as u64 + 24 {
                    self.image.set(HEADER + 24, 4, ash::vk::make_api_version(0, 1, minor, 0).into());
                }
            }
            Breakage::NoDebugUtils => self.debug_utils = false,
            Breakage::Fail(after) => self.fail_after = after,
        }
    }
}

/// How an image names a handle, before the call replaces it by the pointer.
pub(crate) fn handle_code(place: Option<Place>) -> u64 {
    place.map_or(0, |(side, index)| 1 + 1000 * side as u64 + index as u64)
}

pub(crate) fn handle_of_code(code: u64) -> Option<Place> {
    let code = usize::try_from(code).ok()?.checked_sub(1)?;
    Some((code / 1000, code % 1000))
}

impl Session {
    fn pick(&self, random: &mut Random, splits: bool, side: usize) -> Option<Place> {
        let fits = |model: &Model| matches!(model, Model::Splitter(..)) == splits;
        let count = self.sides[side].models.iter().filter(|model| fits(model)).count();
        let index = random.index(count.max(1));
        let mut models = self.sides[side].models.iter().enumerate().filter(|(_, model)| fits(model));
        models.nth(index).map(|(index, _)| (side, index))
    }
}

/// Where TrmSortInfo::sorter and TrmSplitInfo::splitter lie.
pub(crate) const HANDLE: usize = HEADER;

fn blank(function: Function) -> Case {
    Case {
        function,
        handle: None,
        commands: true,
        image: Image::of(&empty::<TrmBatchInfo>()),
        items: Vec::new(),
        list: Pointer::Good,
        output: Pointer::Good,
        number: 0,
        text: Vec::new(),
        text_is_changed: false,
        enabled: ALL_FEATURES,
        features: ALL_FEATURES,
        instance_minor: 3,
        debug_utils: false,
        facts_seed: 0,
        fail_after: -1,
    }
}

/// Good arguments of a random function.
pub(crate) fn good_case(random: &mut Random, session: &Session) -> Option<Case> {
    let mut case = blank(Function::any(random));
    let splits = matches!(case.function, Function::Split | Function::SplitterScratch | Function::SplitterTimestamps);
    case.handle = Some(session.pick(random, splits, 0)?);
    match case.function {
        Function::Sort | Function::Split => single(random, session, &mut case)?,
        Function::Batch | Function::BatchScratch => batch(random, session, &mut case)?,
        Function::CreateSorter => case.image = Image::of(&good::sorter(random)),
        Function::CreateSplitter | Function::CreateFromGlsl => {
            case.image = Image::of(&good::splitter(random, case.function == Function::CreateFromGlsl));
            // Not GLSL, so that a library with a compiler refuses it, too.
            case.text = b"uint trm_bucket(".to_vec();
        }
        Function::CreateFromSpirv => {
            let info = good::splitter(random, true);
            case.text = good::module(info.key_type).iter().flat_map(|word| word.to_ne_bytes()).collect();
            case.number = case.text.len() as u64;
            case.image = Image::of(&info);
        }
        Function::CreateDevice => device(random, &mut case),
        Function::Requirements => {
            case.facts_seed = random.next();
            case.number = random.pick(&[0, 1, 2, 300]);
            let mut image = Image::of(&empty::<TrmDeviceRequirementsInfo>());
            [HEADER, HEADER + 8, HEADER + 16].into_iter().for_each(|offset| image.set(offset, 8, 1));
            image.set(HEADER + 24, 4, ash::vk::API_VERSION_1_3.into());
            case.image = image;
        }
        Function::SorterScratch | Function::SorterTimestamps | Function::SplitterScratch | Function::SplitterTimestamps => {
            let (side, index) = case.handle?;
            case.number = random.count(session.model(side, index)?.items().max_count).into();
        }
        Function::SorterSide => {}
        Function::Plain => case.number = random.next(),
    }
    Some(case)
}

fn device(random: &mut Random, case: &mut Case) {
    case.facts_seed = random.next();
    case.debug_utils = random.once_in(3);
    let mut fake = crate::fake::Fake::new(good::facts(&mut Random::new(case.facts_seed, 0)));
    (fake.debug_utils, fake.callbacks) = (case.debug_utils, random.once_in(3));
    let profile = random.once_in(2);
    if profile {
        case.text = trommel::Profile::for_device(&fake.facts).to_string().into_bytes();
    }
    case.image = Image::of(&device_info(random, &fake, profile));
}

/// Scratch of exactly the size that is asked for, or of more.
pub(crate) fn scratch(random: &mut Random, required: u64) -> TrmScratch {
    let size = required.saturating_add(if random.once_in(2) { 0 } else { random.below(5000) });
    if random.once_in(10) && size < 1 << 19 {
        return TrmScratch { buffer: ash::vk::Handle::from_raw(2), offset: random.below(1 << 17) * 4, size };
    }
    let offset = if random.once_in(2) { 256 * random.below(1 << 20) } else { 4 * random.below(1 << 20) };
    TrmScratch { buffer: ash::vk::Handle::from_raw(1), offset, size }
}

fn single(random: &mut Random, session: &Session, case: &mut Case) -> Option<()> {
    let (side, index) = case.handle?;
    let mut space = Space::new(random);
    let most = if random.once_in(2) { 5000 } else { u32::MAX };
    let mut size = 0u64;
    match session.model(side, index)? {
        Model::Sorter(handle, model) => {
            let mut info = good::sort(random, &model, most, &mut space);
            // SAFETY: the session's handles are alive.
            unsafe { trmGetSorterScratch(handle, info.count.max, &raw mut size) };
            info.scratch = scratch(random, size);
            case.image = Image::of(&info);
        }
        Model::Splitter(handle, model) => {
            let mut info = good::split(random, &model, most, &mut space);
            // SAFETY: the session's handles are alive.
            unsafe { trmGetSplitterScratch(handle, info.count.max, &raw mut size) };
            info.scratch = scratch(random, size);
            case.image = Image::of(&info);
        }
    }
    let again = random.once_in(3);
    case.image.set(HANDLE, 8, if again { handle_code(case.handle) } else { 0 });
    Some(())
}

fn batch(random: &mut Random, session: &Session, case: &mut Case) -> Option<()> {
    let len = match random.below(10) {
        0 => 0,
        1 => random.index(MOST_ITEMS + 1),
        _ => 1 + random.index(6),
    };
    let most = random.pick(&[100, 5000, 5000, 200_000, 200_000, u32::MAX]);
    let mut space = Space::new(random);
    // Often of few handles, so that problems share dispatches.
    let one = [session.pick(random, false, 0)?, session.pick(random, true, 0)?];
    let few = random.once_in(2);
    for _ in 0..len {
        let splits = random.once_in(2);
        let place = if few { one[usize::from(splits)] } else { session.pick(random, splits, 0)? };
        let mut image = match session.model(place.0, place.1)? {
            Model::Sorter(_, model) => Image::of(&good::sort(random, &model, most, &mut space)),
            Model::Splitter(_, model) => Image::of(&good::split(random, &model, most, &mut space)),
        };
        image.set(HANDLE, 8, handle_code(Some(place)));
        case.items.push(Item { splits, image });
    }
    random.shuffle(&mut case.items);
    let list: *const *const TrmInfoHeader = std::ptr::without_provenance(8);
    let info_count = u32::try_from(len).unwrap_or(0);
    case.image = Image::of(&TrmBatchInfo { info_count, infos: list, ..empty() });
    Some(())
}

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

fn break_header<T: Info>(random: &mut Random, item: Option<usize>, breakages: &mut Vec<Breakage>) {
    let size = size_of::<T>() as u64;
    match random.below(6) {
        0 => {
            // Not a sort for a split of a batch, or the other way round: that would lie about a handle.
            let types: &[u64] = if item.is_some() { &[0, 1, 3, 1000, 77] } else { &[0, 1, 2, 3, 1000, 1001, 2000, 2001, 77] };
            breakages.push(Breakage::Set { item, offset: 0, width: 4, value: random.pick(types) });
        }
        1 | 2 => {
            let members = T::STRUCT.members;
            let member = members[3 + random.index(members.len() - 3)].offset as u64;
            let sizes = [0, 15, 16, 17, size - 4, size + 4, size + 8, 4088, 4096, 4104, u32::MAX.into(), member, member, member];
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

fn break_info<T: Info>(random: &mut Random, image: &Image, item: Option<usize>, breakages: &mut Vec<Breakage>) {
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
        "sorter" | "splitter" => 0,
        name if POINTERS.contains(&name) => 0,
        _ if member.size > 8 && random.once_in(3) => {
            // Another address or size of the struct.
            let others: Vec<_> = members.iter().filter(|other| other.size >= 8 && other.offset != member.offset).collect();
            let other = others[random.index(others.len().max(1)).min(others.len() - 1)];
            let place = other.offset + 8 * random.index(other.size / 8);
            image.get(place, 8).wrapping_add(random.pick(&[0, 0, 4, 8, 0u64.wrapping_sub(4), 64]))
        }
        _ => number(random, now),
    };
    breakages.push(Breakage::Set { item, offset, width, value });
}

/// Enums and small numbers of create infos.
fn break_create<T: Info>(random: &mut Random, image: &Image, breakages: &mut Vec<Breakage>) {
    if random.once_in(4) {
        return break_info::<T>(random, image, None, breakages);
    }
    let members = &T::STRUCT.members[3..];
    let member = members[random.index(members.len())];
    let value = if random.once_in(4) { number(random, image.get(member.offset, 4)) } else { random.below(9) };
    breakages.push(Breakage::Set { item: None, offset: member.offset, width: 4, value });
}

/// What is to be broken in a good case.
pub(crate) fn breakages(random: &mut Random, session: &Session, case: &Case) -> Vec<Breakage> {
    let mut breakages = Vec::new();
    for _ in 0..1 + random.below(2) {
        match case.function {
            Function::Sort | Function::Split => break_single(random, session, case, &mut breakages),
            Function::Batch | Function::BatchScratch => break_batch(random, session, case, &mut breakages),
            Function::CreateSorter => match random.below(12) {
                0 => breakages.push(Breakage::Output(random.pick(&[Pointer::Null, Pointer::Misaligned]))),
                1 => breakages.push(Breakage::Handle(None)),
                2 => breakages.push(Breakage::Fail(random.pick(&[0, 1, 7]))),
                _ => break_create::<TrmSorterCreateInfo>(random, &case.image, &mut breakages),
            },
            Function::CreateSplitter | Function::CreateFromGlsl | Function::CreateFromSpirv => {
                break_splitter(random, case, &mut breakages);
            }
            Function::CreateDevice => break_device(random, case, &mut breakages),
            Function::Requirements => match random.below(5) {
                0 => breakages.push(Breakage::List(random.pick(&[Pointer::Null, Pointer::Misaligned]))),
                1 => breakages.push(Breakage::Instance(random.below32(3))),
                2 => breakages.push(Breakage::Features(ALL_FEATURES ^ 1 << random.below(8))),
                _ => break_info::<TrmDeviceRequirementsInfo>(random, &case.image, None, &mut breakages),
            },
            Function::Plain => {}
            _ => match random.below(4) {
                0 => breakages.push(Breakage::Output(random.pick(&[Pointer::Null, Pointer::Misaligned]))),
                1 => breakages.push(Breakage::Handle(None)),
                _ => breakages.push(Breakage::Number(number(random, case.number) & u64::from(u32::MAX))),
            },
        }
    }
    breakages
}

fn break_single(random: &mut Random, session: &Session, case: &Case, breakages: &mut Vec<Breakage>) {
    let splits = case.function == Function::Split;
    match random.below(24) {
        0 => breakages.push(Breakage::Commands),
        1 => breakages.push(Breakage::Handle(None)),
        2 => {
            let side = random.index(2);
            let value = handle_code(session.pick(random, splits, side));
            breakages.push(Breakage::Set { item: None, offset: HANDLE, width: 8, value });
        }
        3 | 4 => {
            let member =
                if splits { std::mem::offset_of!(TrmSplitInfo, scratch) } else { std::mem::offset_of!(TrmSortInfo, scratch) };
            let value = case.image.get(member + 16, 8).saturating_sub(random.pick(&[1, 4, 256, 5000]));
            breakages.push(Breakage::Set { item: None, offset: member + 16, width: 8, value });
        }
        5 => {
            let timestamps =
                if splits { std::mem::offset_of!(TrmSplitInfo, timestamps) } else { std::mem::offset_of!(TrmSortInfo, timestamps) };
            breakages.push(Breakage::Set { item: None, offset: timestamps, width: 8, value: 1 });
            let value = u64::from(u32::MAX) - random.below(40);
            breakages.push(Breakage::Set { item: None, offset: timestamps + 8, width: 4, value });
        }
        6 => {
            // An array in scratch, or beside it.
            let scratch = case.image.effective_scratch(splits);
            let Some(base) = base_of(scratch.buffer.as_raw()) else { return };
            let start = base.wrapping_add(scratch.offset);
            let value = start.wrapping_add(random.pick(&[0, 0, 4, 256, scratch.size, 0u64.wrapping_sub(4)]));
            breakages.push(Breakage::Set { item: None, offset: address_of(random, splits), width: 8, value });
        }
        _ if splits => break_info::<TrmSplitInfo>(random, &case.image, None, breakages),
        _ => break_info::<TrmSortInfo>(random, &case.image, None, breakages),
    }
}

/// Where a random address of a sort or split info lies.
fn address_of(random: &mut Random, splits: bool) -> usize {
    use std::mem::offset_of;
    let of_split = [
        offset_of!(TrmSplitInfo, keys),
        offset_of!(TrmSplitInfo, values),
        offset_of!(TrmSplitInfo, keys_out),
        offset_of!(TrmSplitInfo, values_out),
        offset_of!(TrmSplitInfo, offsets),
        offset_of!(TrmSplitInfo, status),
    ];
    let of_sort = [
        offset_of!(TrmSortInfo, keys),
        offset_of!(TrmSortInfo, values),
        offset_of!(TrmSortInfo, keys_out),
        offset_of!(TrmSortInfo, values_out),
        offset_of!(TrmSortInfo, status),
        offset_of!(TrmSortInfo, count) + 8,
    ];
    random.pick(if splits { &of_split } else { &of_sort })
}

impl Image {
    fn effective_scratch(&self, splits: bool) -> TrmScratch {
        if splits { self.effective::<TrmSplitInfo>().scratch } else { self.effective::<TrmSortInfo>().scratch }
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
            // Not infoCount and infos: to say more infos than there are breaks the caller's promise.
            let offset = std::mem::offset_of!(TrmBatchInfo, scratch) + 8 * random.index(3);
            let now = case.image.get(offset, 8);
            let value = if offset == std::mem::offset_of!(TrmBatchInfo, scratch) { random.below(3) } else { number(random, now) };
            breakages.push(Breakage::Set { item: None, offset, width: 8, value });
        }
        5 => break_header::<TrmBatchInfo>(random, None, breakages),
        6 if !case.items.is_empty() => {
            let (splits, side) = (case.items[item].splits, random.index(2));
            let value = if random.once_in(3) { 0 } else { handle_code(session.pick(random, splits, side)) };
            breakages.push(Breakage::Set { item: Some(item), offset: HANDLE, width: 8, value });
        }
        7 if case.items.len() > 1 => {
            // The memory of another problem.
            let other = &case.items[(item + 1 + random.index(case.items.len() - 1)) % case.items.len()];
            let keys =
                |splits| if splits { std::mem::offset_of!(TrmSplitInfo, keys) } else { std::mem::offset_of!(TrmSortInfo, keys) };
            let value = other.image.get(keys(other.splits), 8).wrapping_add(random.pick(&[0, 0, 4, 64]));
            let offset = keys(case.items[item].splits);
            breakages.push(Breakage::Set { item: Some(item), offset, width: 8, value });
        }
        8 if !case.items.is_empty() => {
            // An array in scratch.
            let scratch = std::mem::offset_of!(TrmBatchInfo, scratch);
            for (offset, value) in [(scratch, 1), (scratch + 16, 1 << 50)] {
                breakages.push(Breakage::Set { item: None, offset, width: 8, value });
            }
            let value = (1 << 56) + 4 * random.below(16);
            let offset = address_of(random, case.items[item].splits);
            breakages.push(Breakage::Set { item: Some(item), offset, width: 8, value });
        }
        _ if case.items.is_empty() => {}
        _ if case.items[item].splits => break_info::<TrmSplitInfo>(random, &case.items[item].image, Some(item), breakages),
        _ => break_info::<TrmSortInfo>(random, &case.items[item].image, Some(item), breakages),
    }
}

fn break_splitter(random: &mut Random, case: &Case, breakages: &mut Vec<Breakage>) {
    let by_module = case.function == Function::CreateFromSpirv;
    match random.below(14) {
        0 => breakages.push(Breakage::Output(random.pick(&[Pointer::Null, Pointer::Misaligned]))),
        1 => breakages.push(Breakage::Handle(None)),
        2 => breakages.push(Breakage::Fail(random.pick(&[0, 1, 7]))),
        3 if case.function != Function::CreateSplitter => {
            breakages.push(Breakage::List(random.pick(&[Pointer::Null, Pointer::Misaligned])));
        }
        4 | 5 if by_module => breakages.push(Breakage::Number(case.number - 1 - random.below(case.number))),
        6 | 7 if by_module => {
            breakages.push(Breakage::Text { place: random.index(case.text.len()), bits: 1 << random.below(8) });
        }
        _ => break_create::<TrmSplitterCreateInfo>(random, &case.image, breakages),
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
        6 => breakages.push(Breakage::Set { item: None, offset: FAMILY, width: 4, value: random.pick(&[1, 2, 77, 1 << 31]) }),
        7 => breakages.push(Breakage::Set { item: None, offset: DEBUG, width: 4, value: random.pick(&[0, 1, 2, u64::MAX]) }),
        8..=10 if !case.text.is_empty() => {
            let (place, bits) = (random.index(case.text.len()), 1 << random.below(8));
            // A byte of zero would end the text; that is no change of a letter.
            if case.text[place] != bits {
                breakages.push(Breakage::Text { place, bits });
            }
        }
        _ => break_info::<TrmDeviceCreateInfo>(random, &case.image, None, breakages),
    }
}

//! One random call: its arguments, and the breakages of arguments.

use crate::calls::fake::ALL_FEATURES;
use crate::calls::info::{HEADER, Image, empty};
use crate::calls::primitive::{Model, primitives};
use crate::calls::random::Random;
use crate::calls::session::Session;
use std::sync::LazyLock;
use trommel::capi::*;

/// A function of the C ABI, with the numbers of a primitive and of one of its functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Function {
    Record(usize),
    Batch,
    Query(usize, usize),
    BatchScratch,
    Create(usize, usize),
    CreateDevice,
    Requirements,
    Plain,
}

/// Each function, its name and how often it is called.
static FUNCTIONS: LazyLock<Vec<(Function, &str, u64)>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for (number, primitive) in primitives().enumerate() {
        let (name, weight) = primitive.recording();
        all.push((Function::Record(number), name, weight));
    }
    all.push((Function::Batch, "trmCmdBatch", 170));
    for (number, primitive) in primitives().enumerate() {
        let queries = primitive.queries().iter().enumerate();
        all.extend(queries.map(|(query, (_, name, weight))| (Function::Query(number, query), *name, *weight)));
    }
    all.push((Function::BatchScratch, "trmGetBatchScratch", 30));
    for (number, primitive) in primitives().enumerate() {
        let creations = primitive.creations().iter().enumerate();
        all.extend(creations.map(|(creation, (name, weight))| (Function::Create(number, creation), *name, *weight)));
    }
    all.extend([
        (Function::CreateDevice, "trmCreateDevice", 6),
        (Function::Requirements, "trmGetDeviceRequirements", 12),
        (Function::Plain, "trmResultString, trmGetVersion, trmDestroy...", 7),
    ]);
    all
});

impl Function {
    pub(crate) fn name(self) -> &'static str {
        FUNCTIONS.iter().find(|(function, ..)| *function == self).map_or("", |(_, name, _)| name)
    }

    pub(crate) fn any(random: &mut Random) -> Self {
        let mut rest = random.below(FUNCTIONS.iter().map(|(.., weight)| weight).sum());
        for (function, _, weight) in &*FUNCTIONS {
            if rest < *weight {
                return *function;
            }
            rest -= weight;
        }
        Self::Plain
    }
}

/// State of a pointer argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pointer {
    Good,
    Null,
    Misaligned,
}

/// A handle of the session: device, then index.
pub(crate) type HandleId = (usize, usize);

/// An info of a batch.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) primitive: usize,
    pub(crate) image: Image,
}

/// Arguments of one call.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) function: Function,
    pub(crate) handle: Option<HandleId>,
    pub(crate) commands: bool,
    pub(crate) image: Image,
    pub(crate) items: Vec<Item>,
    /// The list of infos, a text, or a module.
    pub(crate) list: Pointer,
    /// The output pointer.
    pub(crate) output: Pointer,
    /// maxCount, codeSize, missingSize.
    pub(crate) number: u64,
    /// A module, a profile or GLSL.
    pub(crate) text: Vec<u8>,
    pub(crate) text_is_changed: bool,
    /// For calls about devices: enabled features, supported features, and the instance's minor version.
    pub(crate) enabled: u32,
    pub(crate) features: u32,
    pub(crate) instance_minor: u32,
    pub(crate) debug_utils: bool,
    pub(crate) facts_seed: u64,
    /// The creation of a Vulkan object that fails, counted from the call on; below 0: none.
    pub(crate) fail_after: i64,
}

/// One change of good arguments.
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
    Handle(Option<HandleId>),
    List(Pointer),
    Output(Pointer),
    Number(u64),
    /// Turns bits of one byte of a text or module.
    Text {
        at: usize,
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
            Breakage::Handle(handle) => self.handle = handle,
            Breakage::List(pointer) => self.list = pointer,
            Breakage::Output(pointer) => self.output = pointer,
            Breakage::Number(number) => self.number = number,
            Breakage::Text { at, bits } => {
                self.text[at] ^= bits;
                self.text_is_changed = true;
            }
            Breakage::Enabled(features) => self.enabled = features,
            Breakage::Features(features) => self.features = features,
            Breakage::Instance(minor) => {
                self.instance_minor = minor;
                // The info declares the same version, if it has the member.
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
pub(crate) fn handle_code(handle: Option<HandleId>) -> u64 {
    handle.map_or(0, |(side, index)| 1 + 1000 * side as u64 + index as u64)
}

pub(crate) fn handle_of_code(code: u64) -> Option<HandleId> {
    let code = usize::try_from(code).ok()?.checked_sub(1)?;
    Some((code / 1000, code % 1000))
}

impl Session {
    /// A random handle of a primitive.
    pub(crate) fn pick(&self, random: &mut Random, primitive: usize, side: usize) -> Option<HandleId> {
        let fits = |model: &Model| model.primitive == primitive;
        let count = self.sides[side].models.iter().filter(|model| fits(model)).count();
        let index = random.index(count.max(1));
        let mut models = self.sides[side].models.iter().enumerate().filter(|(_, model)| fits(model));
        models.nth(index).map(|(index, _)| (side, index))
    }
}

/// Where the handle of a request lies.
pub(crate) const HANDLE: usize = HEADER;

pub(crate) fn blank(function: Function) -> Case {
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

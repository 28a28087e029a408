//! SPIR-V as a list of instructions and basic blocks.

use spirv::Op;

const HEADER_WORDS: usize = 5;

/// The limit that SPIR-V sets for ids.
const MAX_BOUND: u32 = 0x3f_ffff;

/// What an operand word holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    ResultType,
    Result,
    Id,
    /// The label of a block.
    Label,
    Literal,
}

/// The operand words of `op`: the first ones, and those that repeat to the end of the instruction. `T`: result type, `R`: result, `I`: id,
/// `B`: label of a block, `L`: literal, `M`: memory operands. `None`: unknown instruction.
fn layout(op: Op) -> Option<(&'static str, &'static str)> {
    use Op::*;
    Some(match op {
        Capability | Extension | MemoryModel | Source | SourceExtension | String | ModuleProcessed => ("", "L"),
        ExtInstImport | TypeVoid | TypeBool | TypeInt | TypeFloat | Label => ("R", "L"),
        // The name and the interface follow; the writer parses them.
        EntryPoint => ("LI", "L"),
        ExecutionMode | Name | MemberName | Decorate | MemberDecorate => ("I", "L"),
        ExecutionModeId => ("IL", "I"),
        TypeForwardPointer => ("IL", ""),
        TypeVector => ("RIL", ""),
        TypeArray | TypeRuntimeArray | TypeStruct | TypeFunction => ("R", "I"),
        TypePointer => ("RLI", ""),
        Constant | SpecConstant => ("TR", "L"),
        ConstantTrue | ConstantFalse | SpecConstantTrue | SpecConstantFalse | ConstantNull | Undef => ("TR", ""),
        ConstantComposite | SpecConstantComposite => ("TR", "I"),
        SpecConstantOp => ("TRL", "I"),
        Variable => ("TRL", "I"),
        Function => ("TRLI", ""),
        FunctionEnd | Return | Unreachable => ("", ""),
        Phi => ("TR", "IB"),
        LoopMerge => ("BB", "L"),
        SelectionMerge => ("B", "L"),
        Branch => ("B", ""),
        BranchConditional => ("IBB", "L"),
        Switch => ("IB", "LB"),
        Load => ("TRIM", ""),
        Store => ("IIM", ""),
        ExtInst => ("TRIL", "I"),
        CompositeExtract => ("TRI", "L"),
        CompositeInsert | VectorShuffle => ("TRII", "L"),
        GroupNonUniformIAdd
        | GroupNonUniformUMin
        | GroupNonUniformUMax
        | GroupNonUniformBitwiseOr
        | GroupNonUniformBitwiseAnd
        | GroupNonUniformBallotBitCount => ("TRIL", "I"),
        ControlBarrier | MemoryBarrier | AtomicStore => ("", "I"),
        AccessChain
        | InBoundsAccessChain
        | CompositeConstruct
        | CopyLogical
        | CopyObject
        | Bitcast
        | IAdd
        | ISub
        | IMul
        | UDiv
        | UMod
        | SDiv
        | SRem
        | SMod
        | SNegate
        | Not
        | BitwiseAnd
        | BitwiseOr
        | BitwiseXor
        | ShiftLeftLogical
        | ShiftRightLogical
        | ShiftRightArithmetic
        | BitCount
        | BitReverse
        | BitFieldInsert
        | BitFieldUExtract
        | BitFieldSExtract
        | IAddCarry
        | ISubBorrow
        | UMulExtended
        | SMulExtended
        | LogicalAnd
        | LogicalOr
        | LogicalNot
        | LogicalEqual
        | LogicalNotEqual
        | Select
        | IEqual
        | INotEqual
        | ULessThan
        | ULessThanEqual
        | UGreaterThan
        | UGreaterThanEqual
        | SLessThan
        | SLessThanEqual
        | SGreaterThan
        | SGreaterThanEqual
        | All
        | Any
        | ConvertUToF
        | ConvertSToF
        | ConvertFToU
        | ConvertFToS
        | UConvert
        | SConvert
        | FConvert
        | ConvertUToPtr
        | ConvertPtrToU
        | FAdd
        | FSub
        | FMul
        | FDiv
        | FMod
        | FRem
        | FNegate
        | FOrdEqual
        | FUnordNotEqual
        | FOrdNotEqual
        | FOrdLessThan
        | FOrdLessThanEqual
        | FOrdGreaterThan
        | FOrdGreaterThanEqual
        | IsNan
        | IsInf
        | Dot
        | VectorTimesScalar
        | VectorExtractDynamic
        | AtomicLoad
        | AtomicExchange
        | AtomicCompareExchange
        | AtomicIAdd
        | AtomicISub
        | AtomicUMin
        | AtomicUMax
        | AtomicAnd
        | AtomicOr
        | AtomicXor
        | GroupNonUniformElect
        | GroupNonUniformAll
        | GroupNonUniformAny
        | GroupNonUniformBroadcast
        | GroupNonUniformBroadcastFirst
        | GroupNonUniformBallot
        | GroupNonUniformInverseBallot
        | GroupNonUniformShuffle
        | GroupNonUniformShuffleXor
        | GroupNonUniformShuffleUp => ("TR", "I"),
        _ => return None,
    })
}

/// Which operand word is the result. The result type, if any, comes before it.
fn result_word(op: Op) -> Option<usize> {
    let (head, _) = layout(op)?;
    head.bytes().take(2).position(|kind| kind == b'R')
}

/// Bits of memory operands that say which words follow.
const ALIGNED: u32 = 2;
const MAKE_AVAILABLE: u32 = 8;
const MAKE_VISIBLE: u32 = 16;
const VOLATILE: u32 = 1;

#[derive(Clone, Copy)]
pub(super) struct Instruction<'a> {
    pub(super) op: Op,
    /// The operands.
    pub(super) words: &'a [u32],
}

impl<'a> Instruction<'a> {
    /// Each operand word with its kind.
    pub(super) fn operands(self) -> impl Iterator<Item = (Kind, u32)> + 'a {
        let (head, cycle) = layout(self.op).unwrap_or_default();
        let kinds = head.bytes().chain(cycle.bytes().cycle());
        let mask = self.words.get(head.len().wrapping_sub(1)).copied().unwrap_or(0);
        // The mask of memory operands, the alignment, scopes.
        let memory = head.ends_with('M').then(|| memory_operands(mask)).into_iter().flatten();
        let kinds = kinds.filter(|kind| *kind != b'M').map(|kind| match kind {
            b'T' => Kind::ResultType,
            b'R' => Kind::Result,
            b'I' => Kind::Id,
            b'B' => Kind::Label,
            _ => Kind::Literal,
        });
        kinds.chain(memory).zip(self.words.iter().copied())
    }

    pub(super) fn result_type(self) -> Option<u32> {
        (result_word(self.op) == Some(1)).then(|| self.words.first().copied()).flatten()
    }

    pub(super) fn result(self) -> Option<u32> {
        self.words.get(result_word(self.op)?).copied()
    }

    /// The labels that a terminator or a merge instruction names.
    pub(super) fn labels(self) -> impl Iterator<Item = u32> + 'a {
        self.operands().filter(|(kind, _)| *kind == Kind::Label).map(|(_, word)| word)
    }

    /// Whether the instruction does something besides computing its result. Stores have a question of their own: whether anybody loads.
    pub(super) fn has_effect(self) -> bool {
        use Op::*;
        match self.op {
            ControlBarrier
            | MemoryBarrier
            | AtomicStore
            | AtomicLoad
            | AtomicExchange
            | AtomicCompareExchange
            | AtomicIAdd
            | AtomicISub
            | AtomicUMin
            | AtomicUMax
            | AtomicAnd
            | AtomicOr
            | AtomicXor => true,
            Load => self.words.get(3).is_some_and(|mask| mask & VOLATILE != 0),
            _ => false,
        }
    }

    /// Whether the number of operand words is one that the layout allows.
    fn is_complete(self) -> bool {
        let Some((head, cycle)) = layout(self.op) else { return false };
        let words = self.words.len();
        if head.ends_with('M') {
            let mask = self.words.get(head.len() - 1);
            return words + 1 == head.len() || mask.is_some_and(|mask| words == head.len() - 1 + memory_operands(*mask).count());
        }
        words >= head.len()
            && (cycle.is_empty() && words == head.len() || !cycle.is_empty() && (words - head.len()).is_multiple_of(cycle.len()))
    }
}

fn memory_operands(mask: u32) -> impl Iterator<Item = Kind> {
    let following = [(ALIGNED, Kind::Literal), (MAKE_AVAILABLE, Kind::Id), (MAKE_VISIBLE, Kind::Id)];
    std::iter::once(Kind::Literal).chain(following.into_iter().filter(move |(bit, _)| mask & bit != 0).map(|(_, kind)| kind))
}

/// A basic block: instructions by their places in the module.
#[derive(Clone, Copy)]
pub(super) struct Block {
    pub(super) label: u32,
    /// The first after the label.
    pub(super) first: usize,
    /// A branch, a switch or a return.
    pub(super) terminator: usize,
    /// In a header, the merge instruction.
    pub(super) merge: Option<usize>,
}

/// A module with a single function. Nothing is known of the operands of an instruction until [`Module::is_valid`] has checked them.
pub(super) struct Module<'a> {
    pub(super) header: [u32; HEADER_WORDS],
    pub(super) instructions: Vec<Instruction<'a>>,
    /// The place of `OpFunction`.
    pub(super) function: usize,
    pub(super) blocks: Vec<Block>,
    /// By id: the place of its definition; of a label, the index of its block. 0: none.
    places: Vec<u32>,
}

impl<'a> Module<'a> {
    /// `None`: not a module that this pass understands.
    pub(super) fn parse(code: &'a [u32]) -> Option<Self> {
        let (header, mut rest) = code.split_first_chunk::<HEADER_WORDS>()?;
        let bound = header[3];
        if header[0] != spirv::MAGIC_NUMBER || bound > MAX_BOUND {
            return None;
        }
        // A capability comes first: no instruction at place 0 defines an id.
        let mut module = Self {
            header: *header,
            instructions: Vec::with_capacity(code.len() / 4),
            function: 0,
            blocks: Vec::new(),
            places: vec![0; bound as usize],
        };
        let mut open = None;
        while let [first, ..] = rest {
            let (words, behind) = rest.split_at_checked((first >> 16) as usize)?;
            let instruction = Instruction { op: Op::from_u32(first & 0xffff)?, words: words.get(1..)? };
            module.add(instruction, &mut open)?;
            rest = behind;
        }
        let globals = module.instructions.get(..=module.function)?;
        let is_complete = module.function != 0 && open.is_none() && !module.blocks.is_empty();
        (is_complete && globals.iter().all(|instruction| module.is_valid(*instruction))).then_some(module)
    }

    /// `open` is the block that the instruction belongs to.
    fn add(&mut self, instruction: Instruction<'a>, open: &mut Option<Block>) -> Option<()> {
        let place = self.instructions.len();
        match instruction.op {
            Op::Function if self.function == 0 => self.function = place,
            Op::Function | Op::FunctionCall => return None,
            Op::Label => *open = Some(Block { label: instruction.result()?, first: place + 1, terminator: 0, merge: None }),
            Op::LoopMerge | Op::SelectionMerge => open.as_mut()?.merge = Some(place),
            Op::Branch | Op::BranchConditional | Op::Switch | Op::Return | Op::Unreachable => {
                self.blocks.push(Block { terminator: place, ..open.take()? });
            }
            _ => {}
        }
        if let Some(id) = instruction.result() {
            let place = if instruction.op == Op::Label { self.blocks.len() } else { place };
            *self.places.get_mut(id as usize)? = u32::try_from(place).ok()?;
        }
        self.instructions.push(instruction);
        Some(())
    }

    /// Whether this pass knows the instruction, all its operands are there, and its ids are defined.
    pub(super) fn is_valid(&self, instruction: Instruction<'_>) -> bool {
        instruction.is_complete()
            && instruction.operands().all(|(kind, word)| match kind {
                Kind::Literal => true,
                Kind::Label => self.blocks.get(self.block_of(word)).is_some_and(|block| block.label == word),
                _ => self.places.get(word as usize).is_some_and(|place| *place != 0),
            })
    }

    /// The instruction that defines `id`.
    pub(super) fn definition(&self, id: u32) -> Instruction<'a> {
        self.instructions[self.place(id)]
    }

    /// Whether `id` is defined in the function.
    pub(super) fn is_local(&self, id: u32) -> bool {
        self.place(id) > self.function
    }

    /// The label of the block that computes `id`.
    pub(super) fn label_of(&self, id: u32) -> u32 {
        let place = self.place(id);
        let behind = self.blocks.partition_point(|block| block.first <= place);
        self.blocks[behind.saturating_sub(1)].label
    }

    /// The index of the block with this label.
    pub(super) fn block_of(&self, label: u32) -> usize {
        self.place(label)
    }

    fn place(&self, id: u32) -> usize {
        self.places.get(id as usize).map_or(0, |place| *place as usize)
    }

    pub(super) fn terminator(&self, block: &Block) -> Instruction<'a> {
        self.instructions[block.terminator]
    }

    /// The merge instruction of a header.
    pub(super) fn merge(&self, block: &Block) -> Option<Instruction<'a>> {
        block.merge.map(|place| self.instructions[place])
    }

    /// The instructions of a block between its label and its merge instruction or terminator.
    pub(super) fn body(&self, block: &Block) -> &[Instruction<'a>] {
        &self.instructions[block.first..block.merge.unwrap_or(block.terminator)]
    }
}

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
        self.operand(Kind::ResultType)
    }

    pub(super) fn result(self) -> Option<u32> {
        self.operand(Kind::Result)
    }

    fn operand(self, wanted: Kind) -> Option<u32> {
        self.operands().take(2).find(|(kind, _)| *kind == wanted).map(|(_, word)| word)
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

/// A module with a single function, whose ids and labels are all defined.
pub(super) struct Module<'a> {
    pub(super) header: [u32; HEADER_WORDS],
    pub(super) instructions: Vec<Instruction<'a>>,
    /// The place of `OpFunction`.
    pub(super) function: usize,
    pub(super) blocks: Vec<Block>,
    /// Places of definitions, by id.
    definitions: Vec<Option<u32>>,
    /// Indices of blocks, by label.
    blocks_of: Vec<Option<u32>>,
}

impl<'a> Module<'a> {
    /// `None`: not a module that this pass understands.
    pub(super) fn parse(code: &'a [u32]) -> Option<Self> {
        let (header, mut rest) = code.split_first_chunk::<HEADER_WORDS>()?;
        let bound = header[3];
        if header[0] != spirv::MAGIC_NUMBER || bound > MAX_BOUND {
            return None;
        }
        let mut instructions = Vec::with_capacity(code.len() / 4);
        while let [first, ..] = rest {
            let (words, behind) = rest.split_at_checked((first >> 16) as usize)?;
            let instruction = Instruction { op: Op::from_u32(first & 0xffff)?, words: words.get(1..)? };
            let ids = instruction.operands().filter(|(kind, _)| *kind != Kind::Literal).all(|(_, id)| id < bound);
            if !ids || !instruction.is_complete() {
                return None;
            }
            instructions.push(instruction);
            rest = behind;
        }
        let mut functions = instructions.iter().enumerate().filter(|(_, instruction)| instruction.op == Op::Function);
        let (function, _) = functions.next()?;
        if functions.next().is_some() {
            return None;
        }
        let none = vec![None; bound as usize];
        let mut module =
            Self { header: *header, instructions, function, blocks: Vec::new(), definitions: none.clone(), blocks_of: none };
        module.find_definitions()?;
        module.find_blocks()?;
        Some(module)
    }

    fn find_definitions(&mut self) -> Option<()> {
        for (place, instruction) in self.instructions.iter().enumerate() {
            if let Some(id) = instruction.result() {
                self.definitions[id as usize] = Some(u32::try_from(place).ok()?);
            }
        }
        let mut ids =
            self.instructions.iter().flat_map(|instruction| instruction.operands()).filter(|(kind, _)| *kind != Kind::Literal);
        ids.all(|(_, id)| self.definitions[id as usize].is_some()).then_some(())
    }

    fn find_blocks(&mut self) -> Option<()> {
        let mut open: Option<Block> = None;
        for (place, instruction) in self.instructions.iter().enumerate().skip(self.function + 1) {
            match instruction.op {
                Op::Label => open = Some(Block { label: instruction.result()?, first: place + 1, terminator: place, merge: None }),
                Op::LoopMerge | Op::SelectionMerge => open.as_mut()?.merge = Some(place),
                Op::Branch | Op::BranchConditional | Op::Switch | Op::Return | Op::Unreachable => {
                    let block = Block { terminator: place, ..open.take()? };
                    self.blocks_of[block.label as usize] = Some(u32::try_from(self.blocks.len()).ok()?);
                    self.blocks.push(block);
                }
                _ => {}
            }
        }
        let mut labels = self.instructions.iter().flat_map(|instruction| instruction.labels());
        (open.is_none() && !self.blocks.is_empty() && labels.all(|label| self.blocks_of[label as usize].is_some())).then_some(())
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

    fn place(&self, id: u32) -> usize {
        self.definitions[id as usize].map_or(0, |place| place as usize)
    }

    /// The index of the block with this label.
    pub(super) fn block_of(&self, label: u32) -> usize {
        self.blocks_of[label as usize].map_or(0, |block| block as usize)
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

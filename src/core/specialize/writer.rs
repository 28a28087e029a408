//! Dead-code elimination, and the words of the specialized module.

use super::Unroll;
use super::module::{Block, Instruction, Kind, Module};
use super::values::{Successors, Values};
use spirv::{LoopControl, Op, StorageClass};
use std::collections::HashMap;

/// `None`: control flow or an order of blocks that this pass cannot keep valid.
pub(super) fn write(module: &Module<'_>, values: &Values<'_, '_>, unroll: Unroll) -> Option<Vec<u32>> {
    let flow = Flow::new(module, values)?;
    let mut liveness = Liveness::new(module, values, &flow);
    liveness.mark_function(&flow)?;
    let code = Vec::with_capacity(module.instructions.len());
    Writer { module, values, flow, is_written: vec![false; liveness.is_live.len()], liveness, unroll, code }.write()
}

/// A block that control never reaches, but that a header names.
#[derive(Clone, Copy)]
enum Stub {
    /// Its merge block.
    Merge,
    /// Its continue target: the back edge to the header with this label.
    Continue(u32),
}

/// What becomes of the end of a reached block.
#[derive(Clone, Copy)]
enum End {
    /// A branch to this label.
    Branch(u32),
    /// The merge instruction, if any, and a switch that goes to this label alone. Blocks may break out of it.
    Switch(u32),
    /// The merge instruction, if any, and the terminator, as they are.
    Same,
}

/// The control flow of the specialized module.
struct Flow {
    /// By index of the block; `None` where it is not reached.
    ends: Vec<Option<End>>,
    stubs: HashMap<u32, Stub>,
}

impl Flow {
    fn new(module: &Module<'_>, values: &Values<'_, '_>) -> Option<Self> {
        let mut flow = Self { ends: Vec::new(), stubs: HashMap::new() };
        for (index, block) in module.blocks.iter().enumerate() {
            if !values.is_reached(block.label) {
                flow.ends.push(None);
                continue;
            }
            let terminator = module.terminator(block);
            let merge = module.merge(block);
            let is_loop = merge.is_some_and(|merge| merge.op == Op::LoopMerge);
            let is_back_edge = |label| module.block_of(label) <= index;
            let end = match (terminator.op, values.successors(terminator)) {
                // Each loop keeps its back edge, even if control never takes it.
                (Op::BranchConditional, Successors::One(_)) if terminator.labels().any(is_back_edge) => End::Same,
                (Op::BranchConditional, Successors::One(label)) => End::Branch(label),
                (Op::Switch, Successors::One(label)) => match merge {
                    Some(merge) if !is_loop && merge.words[0] == label => End::Branch(label),
                    _ => End::Switch(label),
                },
                (Op::BranchConditional | Op::Switch, Successors::None) => return None,
                _ => End::Same,
            };
            flow.ends.push(Some(end));
        }
        flow.dissolve_switches(module);
        for (index, block) in module.blocks.iter().enumerate() {
            let stubs = [Stub::Merge, Stub::Continue(block.label)];
            let labels = flow.merge(module, index).into_iter().flat_map(Instruction::labels);
            flow.stubs.extend(labels.zip(stubs).filter(|(label, _)| !values.is_reached(*label)));
        }
        Some(flow)
    }

    /// Makes a branch of each switch that leads to a single block, unless a block breaks out of it. NVIDIA's compiler
    /// (580.159) crashed on a module with 100 such switches, and took the same one with 19.
    fn dissolve_switches(&mut self, module: &Module<'_>) {
        let mut entries: HashMap<u32, usize> = HashMap::new();
        for index in 0..self.ends.len() {
            self.successors(module, index).for_each(|label| *entries.entry(label).or_default() += 1);
        }
        for index in (0..self.ends.len()).rev() {
            let (Some(End::Switch(label)), Some(merge)) = (self.ends[index], self.merge(module, index)) else { continue };
            let behind = merge.words[0];
            let is_left_at_its_end = match entries.get(&behind) {
                None => true,
                Some(1) => self.falls_through(module, label, behind),
                Some(_) => false,
            };
            if merge.op == Op::SelectionMerge && is_left_at_its_end {
                self.ends[index] = Some(End::Branch(label));
            }
        }
    }

    /// Whether control gets from one block to the other in the same construct, past inner constructs.
    fn falls_through(&self, module: &Module<'_>, from: u32, to: u32) -> bool {
        let next = |label: &u32| {
            let index = module.block_of(*label);
            let mut successors = self.successors(module, index);
            match (self.merge(module, index), successors.next(), successors.next()) {
                (Some(merge), ..) => Some(merge.words[0]),
                (None, Some(only), None) => Some(only),
                _ => None,
            }
        };
        // No way is longer, unless it leads around in a circle.
        std::iter::successors(Some(from), next).take(self.ends.len()).any(|label| label == to)
    }

    /// The merge instruction that the block keeps.
    fn merge<'a>(&self, module: &Module<'a>, index: usize) -> Option<Instruction<'a>> {
        let is_branch = matches!(self.ends[index]?, End::Branch(_));
        module.merge(&module.blocks[index]).filter(|merge| merge.op == Op::LoopMerge || !is_branch)
    }

    /// The blocks that control goes to from this one.
    fn successors(&self, module: &Module<'_>, index: usize) -> impl Iterator<Item = u32> {
        let (one, all) = match self.ends[index] {
            None => (None, None),
            Some(End::Branch(label) | End::Switch(label)) => (Some(label), None),
            Some(End::Same) => (None, Some(module.terminator(&module.blocks[index]).labels())),
        };
        one.into_iter().chain(all.into_iter().flatten())
    }

    /// Whether the specialized module has this edge between blocks.
    fn has_edge(&self, module: &Module<'_>, from: u32, to: u32) -> bool {
        self.successors(module, module.block_of(from)).any(|label| label == to)
    }

    /// By id: the value itself, or the one that a phi takes from all its edges.
    fn copies(&self, module: &Module<'_>) -> Vec<u32> {
        let mut copies: Vec<u32> = (0..module.header[3]).collect();
        let mut found = true;
        // Each copy may make another of a phi before it, in a loop.
        while std::mem::take(&mut found) {
            for (block, _) in module.blocks.iter().zip(&self.ends).filter(|(_, end)| end.is_some()) {
                for phi in module.body(block).iter().take_while(|instruction| instruction.op == Op::Phi) {
                    let id = phi.words[1];
                    if copies[id as usize] == id
                        && let Some(value) = self.copied(module, &copies, block, *phi)
                    {
                        copies[id as usize] = value;
                        found = true;
                    }
                }
            }
        }
        (0..module.header[3]).map(|id| source(&copies, id)).collect()
    }

    /// The value that the phi takes from all its edges, if it is one.
    fn copied(&self, module: &Module<'_>, copies: &[u32], block: &Block, phi: Instruction<'_>) -> Option<u32> {
        let [_, id, pairs @ ..] = phi.words else { return None };
        let edges = pairs.chunks_exact(2).filter(|pair| self.has_edge(module, pair[1], block.label));
        let mut sources = edges.map(|pair| source(copies, pair[0])).filter(|source| source != id);
        let first = sources.next()?;
        sources.all(|other| other == first).then_some(first)
    }
}

/// The value that `id` is a copy of, of a copy too.
fn source(copies: &[u32], id: u32) -> u32 {
    match copies[id as usize] {
        value if value == id => id,
        value => source(copies, value),
    }
}

/// Which ids the specialized module needs, and the ids of its constants.
struct Liveness<'m, 'a> {
    module: &'m Module<'a>,
    values: &'m Values<'m, 'a>,
    is_live: Vec<bool>,
    /// Live ids whose operands are not marked so far.
    pending: Vec<u32>,
    /// By id of the module: the value that is used in its place.
    copies: Vec<u32>,
    /// Ids of constants by their types and values.
    constants: HashMap<(u32, u32), u32>,
    /// Constants that the module lacks: type, id, value. Their ids follow those of the module.
    added: Vec<[u32; 3]>,
}

impl<'m, 'a> Liveness<'m, 'a> {
    fn new(module: &'m Module<'a>, values: &'m Values<'m, 'a>, flow: &Flow) -> Self {
        let mut constants = HashMap::new();
        for instruction in &module.instructions[..module.function] {
            if let (Some(ty), Some(id)) = (instruction.result_type(), instruction.result())
                && let Some(value) = values.constant(id)
            {
                constants.entry((ty, value)).or_insert(id);
            }
        }
        let is_live = vec![false; module.header[3] as usize];
        Self { module, values, is_live, pending: Vec::new(), copies: flow.copies(module), constants, added: Vec::new() }
    }

    /// Whether `id` is of the module, not of a constant that it lacks.
    fn is_original(&self, id: u32) -> bool {
        id < self.module.header[3]
    }

    /// The id that takes the place of `id`: that of the value that a phi copies, and that of a constant if the function computes one.
    fn resolve(&mut self, id: u32) -> u32 {
        let id = self.copies.get(id as usize).copied().unwrap_or(id);
        let constant = if self.module.is_local(id) { self.values.constant(id) } else { None };
        let (Some(value), Some(ty)) = (constant, self.module.definition(id).result_type()) else { return id };
        *self.constants.entry((ty, value)).or_insert_with(|| {
            let new = self.module.header[3] + u32::try_from(self.added.len()).unwrap_or(0);
            self.added.push([ty, new, value]);
            self.is_live.push(false);
            new
        })
    }

    fn mark(&mut self, id: u32) {
        let id = self.resolve(id);
        if !std::mem::replace(&mut self.is_live[id as usize], true) {
            self.pending.push(id);
        }
    }

    fn mark_operands(&mut self, instruction: Instruction<'_>) {
        let ids = instruction.operands().filter(|(kind, _)| matches!(kind, Kind::Id | Kind::ResultType));
        ids.for_each(|(_, id)| self.mark(id));
    }

    /// Marks what the function needs: first its effects, then the stores to variables that it loads.
    fn mark_function(&mut self, flow: &Flow) -> Option<()> {
        let module = self.module;
        let function = module.instructions[module.function];
        self.mark(function.result()?);
        for instruction in &module.instructions[..module.function] {
            if instruction.op == Op::ExecutionModeId {
                self.mark_operands(*instruction);
            }
        }
        let mut stores = Vec::new();
        for (index, block) in module.blocks.iter().enumerate() {
            let Some(end) = flow.ends[index] else { continue };
            for instruction in module.body(block) {
                if instruction.op == Op::Store {
                    stores.push((self.variable(instruction.words[0]), *instruction));
                } else if instruction.has_effect() {
                    self.mark_operands(*instruction);
                    instruction.result().into_iter().for_each(|id| self.mark(id));
                }
            }
            if !matches!(end, End::Branch(_)) {
                self.mark_operands(module.terminator(block));
            }
        }
        loop {
            self.mark_pending(flow);
            let before = stores.len();
            stores.retain(|(variable, store)| {
                let is_read = variable.is_none_or(|variable| self.is_live[variable as usize]);
                if is_read {
                    self.mark_operands(*store);
                }
                !is_read
            });
            if stores.len() == before {
                return Some(());
            }
        }
    }

    fn mark_pending(&mut self, flow: &Flow) {
        let module = self.module;
        while let Some(id) = self.pending.pop() {
            if !self.is_original(id) {
                let [ty, ..] = self.added[(id - module.header[3]) as usize];
                self.mark(ty);
                continue;
            }
            let definition = module.definition(id);
            if let (Op::Phi, [ty, _, pairs @ ..]) = (definition.op, definition.words) {
                self.mark(*ty);
                let label = module.label_of(id);
                let edges = pairs.chunks_exact(2).filter(|pair| flow.has_edge(module, pair[1], label));
                edges.for_each(|pair| self.mark(pair[0]));
            } else if self.values.constant(id).is_none() {
                self.mark_operands(definition);
            } else {
                definition.result_type().into_iter().for_each(|ty| self.mark(ty));
            }
        }
    }

    /// The variable behind a pointer, if only this invocation or its workgroup can read it.
    fn variable(&self, pointer: u32) -> Option<u32> {
        const PRIVATE: [u32; 3] = [StorageClass::Function as u32, StorageClass::Private as u32, StorageClass::Workgroup as u32];
        let definition = self.module.definition(pointer);
        match definition.op {
            Op::AccessChain | Op::InBoundsAccessChain | Op::CopyObject => self.variable(definition.words[2]),
            Op::Variable if PRIVATE.contains(&definition.words[2]) => Some(pointer),
            _ => None,
        }
    }
}

struct Writer<'m, 'a> {
    module: &'m Module<'a>,
    values: &'m Values<'m, 'a>,
    flow: Flow,
    liveness: Liveness<'m, 'a>,
    unroll: Unroll,
    /// Which ids are defined so far.
    is_written: Vec<bool>,
    code: Vec<u32>,
}

impl Writer<'_, '_> {
    fn write(mut self) -> Option<Vec<u32>> {
        let module = self.module;
        let [magic, version, generator, bound, schema] = module.header;
        let added = u32::try_from(self.liveness.added.len()).ok()?;
        self.code.extend([magic, version, generator, bound + added, schema]);
        for instruction in &module.instructions[..module.function] {
            self.write_global(*instruction)?;
        }
        for [ty, id, value] in self.liveness.added.clone() {
            self.write_constant(ty, id, value)?;
        }
        self.write_instruction(module.instructions[module.function])?;
        for (index, block) in module.blocks.iter().enumerate() {
            if let Some(end) = self.flow.ends[index] {
                self.write_block(block, end, self.flow.merge(module, index))?;
            } else if let Some(stub) = self.flow.stubs.get(&block.label).copied() {
                self.push(Op::Label, &[block.label])?;
                match stub {
                    Stub::Merge => self.push(Op::Unreachable, &[])?,
                    Stub::Continue(header) => self.push(Op::Branch, &[header])?,
                }
            }
        }
        self.push(Op::FunctionEnd, &[])?;
        Some(self.code)
    }

    fn push(&mut self, op: Op, operands: &[u32]) -> Option<()> {
        let words = u16::try_from(operands.len() + 1).ok()?;
        self.code.push(u32::from(words) << 16 | op as u32);
        self.code.extend(operands);
        Some(())
    }

    /// An instruction before the function, where it is needed.
    fn write_global(&mut self, instruction: Instruction<'_>) -> Option<()> {
        let words = instruction.words;
        let is_live = |id: u32| self.liveness.is_live.get(id as usize) == Some(&true);
        match instruction.op {
            // Debug information.
            Op::Source | Op::SourceExtension | Op::String | Op::ModuleProcessed => Some(()),
            Op::EntryPoint => {
                let name = words.iter().skip(2).position(|word| word.to_le_bytes().contains(&0))?;
                let (head, interface) = words.split_at_checked(name + 3)?;
                let operands: Vec<u32> = head.iter().chain(interface.iter().filter(|id| is_live(**id))).copied().collect();
                self.push(Op::EntryPoint, &operands)
            }
            Op::Name | Op::MemberName | Op::Decorate | Op::MemberDecorate | Op::TypeForwardPointer if !is_live(words[0]) => {
                Some(())
            }
            Op::Decorate if words.get(1) == Some(&(spirv::Decoration::SpecId as u32)) => Some(()),
            _ => match (instruction.result(), instruction.result_type()) {
                (Some(id), _) if !is_live(id) && instruction.op != Op::ExtInstImport => Some(()),
                (Some(id), Some(ty)) if let Some(value) = self.values.constant(id) => self.write_constant(ty, id, value),
                _ if instruction.op == Op::SpecConstantComposite => self.push(Op::ConstantComposite, words),
                _ => self.push(instruction.op, words),
            },
        }
    }

    fn write_constant(&mut self, ty: u32, id: u32, value: u32) -> Option<()> {
        match (self.module.definition(ty).op, value) {
            (Op::TypeBool, 0) => self.push(Op::ConstantFalse, &[ty, id]),
            (Op::TypeBool, _) => self.push(Op::ConstantTrue, &[ty, id]),
            _ => self.push(Op::Constant, &[ty, id, value]),
        }
    }

    fn write_block(&mut self, block: &Block, end: End, merge: Option<Instruction<'_>>) -> Option<()> {
        let module = self.module;
        self.push(Op::Label, &[block.label])?;
        for instruction in module.body(block) {
            let is_needed = match instruction.result() {
                Some(id) => self.liveness.is_live[id as usize] && self.values.constant(id).is_none(),
                None => instruction.op != Op::Store || self.is_read(instruction.words[0]),
            };
            match instruction.op {
                _ if !is_needed => {}
                Op::Phi => self.write_phi(*instruction, block)?,
                _ => self.write_instruction(*instruction)?,
            }
        }
        match (merge.map(|merge| (merge.op, merge.words)), self.unroll) {
            (None, _) => {}
            (Some((Op::LoopMerge, [merge, target, ..])), Unroll::Never) => {
                self.push(Op::LoopMerge, &[*merge, *target, LoopControl::DONT_UNROLL.bits()])?;
            }
            (Some((op, words)), _) => self.push(op, words)?,
        }
        let terminator = module.terminator(block);
        match end {
            End::Branch(label) => self.push(Op::Branch, &[label]),
            End::Switch(label) => {
                let selector = self.liveness.resolve(terminator.words[0]);
                self.push(Op::Switch, &[selector, label])
            }
            End::Same => self.write_instruction(terminator),
        }
    }

    /// Whether something reads what is stored there.
    fn is_read(&self, pointer: u32) -> bool {
        self.liveness.variable(pointer).is_none_or(|variable| self.liveness.is_live[variable as usize])
    }

    fn write_phi(&mut self, phi: Instruction<'_>, block: &Block) -> Option<()> {
        let [ty, id, pairs @ ..] = phi.words else { return None };
        let edges = pairs.chunks_exact(2).filter(|pair| self.flow.has_edge(self.module, pair[1], block.label));
        let mut operands = vec![*ty, *id];
        for pair in edges {
            operands.extend([self.liveness.resolve(pair[0]), pair[1]]);
        }
        // Control never comes from the stub of a continue target: any value does.
        let labels = self.module.merge(block).into_iter().flat_map(Instruction::labels);
        for label in labels.skip(1).filter(|label| self.flow.stubs.contains_key(label)) {
            operands.extend([*operands.get(2)?, label]);
        }
        self.is_written[*id as usize] = true;
        self.push(Op::Phi, &operands)
    }

    /// An instruction with its operands resolved. `None` if it comes before the definition of one of them.
    fn write_instruction(&mut self, instruction: Instruction<'_>) -> Option<()> {
        let mut operands = Vec::with_capacity(instruction.words.len());
        for (kind, word) in instruction.operands() {
            let word = if kind == Kind::Id { self.liveness.resolve(word) } else { word };
            let is_local = kind == Kind::Id && self.liveness.is_original(word) && self.module.is_local(word);
            if is_local && !self.is_written[word as usize] {
                return None;
            }
            operands.push(word);
        }
        if let Some(id) = instruction.result() {
            self.is_written[id as usize] = true;
        }
        self.push(instruction.op, &operands)
    }
}

//! Reflection of the committed modules: their device requirements, and their agreement with the host.

use rspirv::binary::{Consumer, ParseAction, parse_words};
use rspirv::dr::{Instruction, ModuleHeader, Operand};
use rspirv::spirv::{Capability, Decoration, GroupOperation, MemoryAccess, Op, StorageClass, Word};
use std::collections::{BTreeMap, BTreeSet};
use trommel::kernels::Kernel;
use trommel::shared::{self, StructLayout};

/// Capabilities that modules may use: those of Vulkan 1.3 and of the required features. Int64, Int16, Int8, Float64 and
/// storage of narrow types are not among them.
const FLOOR: &[Capability] = &[
    Capability::Shader,
    Capability::PhysicalStorageBufferAddresses,
    Capability::VulkanMemoryModel,
    Capability::VulkanMemoryModelDeviceScope,
    Capability::GroupNonUniform,
    Capability::GroupNonUniformVote,
    Capability::GroupNonUniformBallot,
    Capability::GroupNonUniformArithmetic,
    Capability::GroupNonUniformShuffle,
];

/// A module as a list of instructions, and its declarations by id. (The crate's own loader rejects OpExecutionModeId.)
struct Reflection {
    name: &'static str,
    version: (u8, u8),
    instructions: Vec<Instruction>,
    declared: BTreeMap<Word, Instruction>,
}

impl Consumer for Reflection {
    fn initialize(&mut self) -> ParseAction {
        ParseAction::Continue
    }

    fn finalize(&mut self) -> ParseAction {
        ParseAction::Continue
    }

    fn consume_header(&mut self, header: ModuleHeader) -> ParseAction {
        self.version = header.version();
        ParseAction::Continue
    }

    fn consume_instruction(&mut self, instruction: Instruction) -> ParseAction {
        self.declared.extend(instruction.result_id.map(|id| (id, instruction.clone())));
        self.instructions.push(instruction);
        ParseAction::Continue
    }
}

fn id(operand: &Operand) -> Word {
    operand.id_ref_any().expect("an id")
}

fn number(operand: &Operand) -> u32 {
    match operand {
        Operand::LiteralBit32(number) => *number,
        other => panic!("{other:?} is not a number"),
    }
}

impl Reflection {
    fn of(kernel: Kernel) -> Self {
        let mut module =
            Self { name: kernel.name(), version: (0, 0), instructions: Vec::new(), declared: BTreeMap::new() };
        parse_words(kernel.spirv().expect("a module"), &mut module)
            .unwrap_or_else(|error| panic!("{}: {error}", kernel.name()));
        module
    }

    fn with(&self, opcode: Op) -> impl Iterator<Item = &Instruction> {
        self.instructions.iter().filter(move |instruction| instruction.class.opcode == opcode)
    }

    /// Values of a decoration of each id, or of each member of it.
    fn decorations(&self, wanted: Decoration) -> BTreeMap<(Word, Option<u32>), u32> {
        let value = |annotation: &Instruction| {
            let operands = &annotation.operands;
            let (target, member, rest) = match annotation.class.opcode {
                Op::Decorate => (id(&operands[0]), None, &operands[1..]),
                Op::MemberDecorate => (id(&operands[0]), Some(number(&operands[1])), &operands[2..]),
                _ => return None,
            };
            (rest[0] == Operand::Decoration(wanted)).then(|| ((target, member), rest.get(1).map_or(0, number)))
        };
        self.instructions.iter().filter_map(value).collect()
    }

    /// The type as GLSL writes it; structs without their name.
    fn glsl(&self, of: Word) -> String {
        let declared = &self.declared[&of];
        match declared.class.opcode {
            Op::TypeInt => {
                assert_eq!(number(&declared.operands[0]), 32, "{}: integers have 32 bits", self.name);
                if number(&declared.operands[1]) == 0 { "uint".into() } else { "int".into() }
            }
            Op::TypeFloat => "float".into(),
            Op::TypeVector => match (self.glsl(id(&declared.operands[0])).as_str(), number(&declared.operands[1])) {
                ("uint", lanes) => format!("uvec{lanes}"),
                (other, lanes) => format!("{other}x{lanes}"),
            },
            Op::TypeRuntimeArray => format!("{}[]", self.glsl(id(&declared.operands[0]))),
            Op::TypeStruct => "struct".into(),
            other => format!("{other:?}"),
        }
    }

    /// Whether a struct, including nested structs, has these members at these offsets.
    fn is(&self, of: Word, layout: &StructLayout) -> bool {
        let declared = &self.declared[&of];
        let offsets = self.decorations(Decoration::Offset);
        let is_same = |(member, (operand, field)): (u32, (&Operand, &(&str, &str, usize)))| {
            let (glsl, _, offset) = *field;
            let kind = id(operand);
            let same = match shared::STRUCTS.iter().copied().flatten().find(|inner| inner.name == glsl) {
                Some(inner) => self.is(kind, inner),
                None => self.glsl(kind) == glsl,
            };
            same && offsets.get(&(of, Some(member))).is_some_and(|found| *found as usize == offset)
        };
        declared.class.opcode == Op::TypeStruct
            && declared.operands.len() == layout.fields.len()
            && (0..).zip(declared.operands.iter().zip(layout.fields)).all(is_same)
    }
}

fn modules() -> impl Iterator<Item = (Kernel, Reflection)> {
    Kernel::ALL.iter().map(|kernel| (*kernel, Reflection::of(*kernel)))
}

#[test]
fn every_file_is_a_kernel() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("spirv");
    let files = std::fs::read_dir(folder).expect("the folder is committed").map(|file| file.expect("readable").path());
    let files: BTreeSet<String> =
        files.filter_map(|path| Some(path.file_name()?.to_str()?.strip_suffix(".spv.z")?.to_owned())).collect();
    let kernels: BTreeSet<String> = Kernel::ALL.iter().map(|kernel| kernel.name().to_owned()).collect();
    assert_eq!(files, kernels);
}

#[test]
fn modules_ask_for_no_more_than_the_floor() {
    for (_, module) in modules() {
        assert_eq!(module.version, (1, 6), "{}: below 1.6 gl_SubgroupSize need not be the size that runs", module.name);
        for capability in module.with(Op::Capability) {
            let Operand::Capability(capability) = capability.operands[0] else { panic!("{capability:?}") };
            assert!(FLOOR.contains(&capability), "{} needs {capability:?}", module.name);
        }
        assert_eq!(module.with(Op::Extension).count(), 0, "{}", module.name);
        let mut numbers = module.with(Op::TypeInt).chain(module.with(Op::TypeFloat));
        assert!(numbers.all(|width| number(&width.operands[0]) == 32), "{}", module.name);
    }
}

/// On lavapipe (Mesa 22.3), a load that makes memory visible, or a store that makes it available, is an execution
/// barrier. In branches that not all lanes take, it breaks the kernel. Kernels exchange data between workgroups by
/// atomics instead.
#[test]
fn no_access_makes_memory_visible_or_available() {
    let barriers = MemoryAccess::MAKE_POINTER_VISIBLE | MemoryAccess::MAKE_POINTER_AVAILABLE;
    for (_, module) in modules() {
        for instruction in &module.instructions {
            for operand in &instruction.operands {
                if let Operand::MemoryAccess(access) = operand {
                    assert!(!access.intersects(barriers), "{}: {instruction:?}", module.name);
                }
            }
        }
    }
}

#[test]
fn specialization_constants_are_those_of_the_table() {
    let names: BTreeMap<u32, &str> = shared::SPECIALIZATION.iter().map(|(name, id)| (*id, *name)).collect();
    assert_eq!(names.len(), shared::SPECIALIZATION.len(), "ids are distinct");
    for (kernel, module) in modules() {
        let declared: BTreeSet<u32> = module.decorations(Decoration::SpecId).into_values().collect();
        let expected: BTreeSet<u32> = kernel.constants().iter().map(|constant| *constant as u32).collect();
        let named = |ids: &BTreeSet<u32>| ids.iter().map(|id| names[id]).collect::<Vec<_>>();
        assert_eq!(named(&declared), named(&expected), "{}", module.name);
        for ((constant, _), _) in module.decorations(Decoration::SpecId) {
            let kind = module.declared[&constant].result_type.expect("constants have a type");
            assert_eq!(module.glsl(kind), "uint", "{}", module.name);
        }
    }
}

/// Workgroups are one-dimensional and have SPEC_THREADS invocations.
#[test]
fn workgroups_are_as_large_as_the_table_says() {
    for (_, module) in modules() {
        let mode = module.with(Op::ExecutionModeId).next();
        let sizes: Vec<Word> = mode.expect("LocalSizeId").operands[2..].iter().map(id).collect();
        let threads = module.decorations(Decoration::SpecId)[&(sizes[0], None)];
        assert_eq!(threads, shared::Constant::Threads as u32, "{}", module.name);
        for size in &sizes[1..] {
            assert_eq!(number(&module.declared[size].operands[0]), 1, "{}", module.name);
        }
    }
}

#[test]
fn push_constants_are_those_of_the_host() {
    for (kernel, module) in modules() {
        let blocks: Vec<Word> = module
            .with(Op::TypePointer)
            .filter(|pointer| pointer.operands[0] == Operand::StorageClass(StorageClass::PushConstant))
            .map(|pointer| id(&pointer.operands[1]))
            .filter(|pointee| module.decorations(Decoration::Block).contains_key(&(*pointee, None)))
            .collect();
        assert_eq!(blocks.len(), 1, "{} has one block of push constants", module.name);
        let members = &module.declared[&blocks[0]].operands;
        assert_eq!(members.len(), 1, "{}: a block of one struct", module.name);
        assert_eq!(module.decorations(Decoration::Offset)[&(blocks[0], Some(0))], 0, "{}", module.name);
        assert!(module.is(id(&members[0]), kernel.push()), "{} pushes {}", module.name, kernel.push().name);
    }
}

/// Types that kernels access through addresses: words, vectors of words, and each struct in memory that the kernel's
/// entry names. Strides of arrays of structs are those of the host.
#[test]
fn structs_in_memory_are_those_of_the_host() {
    for (kernel, module) in modules() {
        let strides = module.decorations(Decoration::ArrayStride);
        let arrays = module.with(Op::TypeRuntimeArray).map(|array| {
            let stride = strides[&(array.result_id.expect("types have ids"), None)] as usize;
            (id(&array.operands[0]), stride)
        });
        let (structs, words): (Vec<_>, Vec<_>) =
            arrays.partition(|(item, _)| module.declared[item].class.opcode == Op::TypeStruct);
        let vectors = [("uint", 4), ("uvec2", 8), ("uvec4", 16)];
        let is_dense = |(item, stride): &(Word, usize)| vectors.contains(&(module.glsl(*item).as_str(), *stride));
        assert!(words.iter().all(is_dense), "{}", module.name);
        assert_eq!(structs.len(), kernel.memory().len(), "{} names each struct in memory", module.name);
        for named in kernel.memory() {
            let same = |(item, stride): &(Word, usize)| module.is(*item, named) && *stride == named.size;
            assert!(structs.iter().any(same), "{} has {} in memory", module.name, named.name);
        }
    }
}

/// Structs of the same shape may differ in the meaning of their members. Only the source text shows this.
#[test]
fn sources_name_the_structs_of_their_kernels() {
    let glsl = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("glsl");
    let read = |file: &str| std::fs::read_to_string(glsl.join(file)).expect("a source");
    for kernel in Kernel::ALL {
        // The name begins with the folder.
        let (room, _) = kernel.name().split_once('_').expect("a folder and a name");
        let variants = read(&format!("{room}/VARIANTS"));
        let words = variants.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let words = words.into_iter().find(|words| words.first() == Some(&kernel.name())).expect("a line of VARIANTS");
        // One level of conditions suffices for the existing kernels.
        let mut is_compiled = true;
        let mut named = BTreeMap::new();
        for line in read(&format!("{room}/{}", words[1])).lines() {
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                ["#ifdef", name] => is_compiled = words[2..].contains(&name),
                ["#ifndef", name] => is_compiled = !words[2..].contains(&name),
                ["#else"] => is_compiled = !is_compiled,
                ["#endif"] => is_compiled = true,
                ["#define", name @ ("PUSH" | "ROW"), value] if is_compiled => {
                    assert_eq!(
                        named.insert(name.to_owned(), value.to_owned()),
                        None,
                        "{} defines {name} once",
                        kernel.name()
                    );
                }
                _ => {}
            }
        }
        assert_eq!(named.get("PUSH").map(String::as_str), Some(kernel.push().name), "{}", kernel.name());
        if let Some(row) = named.get("ROW") {
            assert_eq!(row, kernel.memory()[0].name, "{}", kernel.name());
        }
    }
}

#[test]
fn the_shared_text_is_generated() {
    assert_eq!(include_str!("../glsl/core/shared.glsl"), shared::glsl());
}

/// One driver predicates the instruction of a subgroup reduction by a register that it has not set yet, and sorts
/// wrongly then. Scans are compiled right: see docs/portability.md.
#[test]
fn no_module_reduces_over_a_subgroup() {
    for kernel in Kernel::ALL {
        let module = Reflection::of(*kernel);
        let reduces = |instruction: &&Instruction| {
            instruction
                .operands
                .iter()
                .any(|operand| matches!(operand, Operand::GroupOperation(GroupOperation::Reduce)))
        };
        let found = module.instructions.iter().find(reduces);
        assert!(found.is_none(), "{}: {found:?}", module.name);
    }
}

//! Structs and constants that host and shaders share: the macros that declare them in a folder, the GLSL of the
//! declarations, and the hash that identifies an interface.

use bytemuck::{Pod, Zeroable};
use std::fmt::Write as _;

/// A device address in shaders: two words, so that 4-byte alignment suffices and no module needs 64-bit integers.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
pub struct Address([u32; 2]);

impl From<u64> for Address {
    fn from(address: u64) -> Self {
        Self(bytemuck::cast(address.to_le_bytes()))
    }
}

impl From<Address> for u64 {
    fn from(Address(words): Address) -> Self {
        Self::from_le_bytes(bytemuck::cast(words))
    }
}

/// A field type of a shared struct: its GLSL name.
pub trait GlslType {
    /// The type in GLSL.
    const GLSL: &'static str;
}

impl GlslType for u32 {
    const GLSL: &'static str = "uint";
}

impl GlslType for f32 {
    const GLSL: &'static str = "float";
}

impl GlslType for Address {
    const GLSL: &'static str = "uvec2";
}

impl GlslType for [u32; 2] {
    const GLSL: &'static str = "uvec2";
}

impl GlslType for [u32; 4] {
    const GLSL: &'static str = "uvec4";
}

/// Fields of a struct: GLSL type, name, byte offset.
type Fields = [(&'static str, &'static str, usize)];

/// The layout of a shared struct.
#[derive(Clone, Copy, Debug)]
pub struct StructLayout {
    /// The name in Rust and GLSL.
    pub name: &'static str,
    /// GLSL type, name and byte offset of each field.
    pub fields: &'static Fields,
    /// Size in bytes: the distance of neighbors in an array.
    pub size: usize,
}

/// A struct in device memory or push constants, with scalar layout.
pub trait SharedStruct: Pod {
    /// The layout in Rust and GLSL.
    const LAYOUT: StructLayout;
}

macro_rules! shared_structs {
    ($($(#[$struct_doc:meta])* struct $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty,)* })*) => {
        $(
            $(#[$struct_doc])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
            pub struct $name { $($(#[$doc])* pub $field: $type,)* }

            impl GlslType for $name {
                const GLSL: &'static str = stringify!($name);
            }

            impl SharedStruct for $name {
                const LAYOUT: StructLayout = StructLayout {
                    name: stringify!($name),
                    fields: &[$((
                        <$type as GlslType>::GLSL, stringify!($field), std::mem::offset_of!($name, $field)
                    ),)*],
                    size: size_of::<$name>(),
                };
            }
        )*

        /// The structs of this folder, in an order in which GLSL can declare them.
        pub(super) const STRUCTS: &[StructLayout] = &[$(<$name as SharedStruct>::LAYOUT),*];
    };
}

macro_rules! shared_constants {
    ($($(#[$doc:meta])* const $name:ident = $value:expr;)*) => {
        $($(#[$doc])* pub const $name: u32 = $value;)*

        /// The constants of this folder.
        pub(super) const CONSTANTS: &[(&str, u32)] = &[$((stringify!($name), $name),)*];
    };
}

/// Declares specialization constants. `of`: the prefix of the constants that name the values of one.
macro_rules! specialization_constants {
    ($($(#[$doc:meta])* $variant:ident = $id:literal as $glsl:literal $(of $prefix:literal)?,)*) => {
        /// A specialization constant; the number is its `constant_id`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u32)]
        pub enum Constant { $($(#[$doc])* $variant = $id,)* }

        impl Constant {
            /// The prefix of the shared constants that name its values. One of them is the low byte, those above it are
            /// flags.
            pub fn prefix(self) -> Option<&'static str> {
                match self {
                    $($(Self::$variant => Some($prefix),)?)*
                    _ => None,
                }
            }
        }

        /// GLSL name and id of each specialization constant.
        pub const SPECIALIZATION: &[(&str, u32)] = &[$(($glsl, $id),)*];
    };
}

/// The [`UserFunction`] with this name, of this primitive, and the files of its kernel: the kernel first. The
/// generated core/shared.glsl is not listed.
macro_rules! user_function {
    ($name:literal, $primitive:literal, $($file:literal)*) => {{
        const FILES: &[(&str, &str)] = &[$(($file, include_str!(concat!("../../glsl/", $file)))),*];
        #[allow(long_running_const_eval, reason = "some ten thousand tokens")]
        const INTERFACE: u32 = super::kernel_interface(FILES);
        UserFunction { name: $name, primitive: $primitive, files: FILES, interface: INTERFACE }
    }};
}

pub(super) use {shared_constants, shared_structs, specialization_constants, user_function};

/// A function that the user defines in a kernel.
#[derive(Clone, Copy, Debug)]
pub struct UserFunction {
    /// The name in GLSL. The kernel includes the text of the function as a file of this name, with the ending `.glsl`.
    pub name: &'static str,
    /// The primitive of the kernel, as a plural noun. Functions of several primitives may have the same name.
    pub primitive: &'static str,
    /// Name and text of each source file: the kernel first, then the files that it includes.
    pub files: &'static [(&'static str, &'static str)],
    /// Identifies the interface of the kernel. The library refuses a module that was compiled with another value.
    ///
    /// The value is a hash (FNV-1a) of the tokens of `files` and of the structs and constants that they name. Comments,
    /// white space and other parts of the library do not change it.
    pub interface: u32,
}

impl UserFunction {
    /// A number that identifies the function in modules: a hash of its name and its primitive.
    pub const fn number(&self) -> u32 {
        add_bytes(hash_of(self.name.as_bytes()), self.primitive.as_bytes())
    }
}

/// Continues a hash with `bytes` (FNV-1a, 32 bits).
const fn add_bytes(mut hash: u32, bytes: &[u8]) -> u32 {
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u32).wrapping_mul(0x0100_0193);
        i += 1;
    }
    hash
}

const fn hash_of(bytes: &[u8]) -> u32 {
    add_bytes(0x811c_9dc5, bytes)
}

const fn is_identifier(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns the start of the next token, after white space and line comments.
const fn skip_blank(text: &[u8], mut at: usize) -> usize {
    while at < text.len() {
        if text[at] == b'/' && at + 1 < text.len() && text[at + 1] == b'/' {
            while at < text.len() && text[at] != b'\n' {
                at += 1;
            }
        } else if text[at].is_ascii_whitespace() {
            at += 1;
        } else {
            break;
        }
    }
    at
}

/// Returns the end of the token at `at`: an identifier, a number, or one other byte.
const fn token_end(text: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while is_identifier(text[at]) && end < text.len() && is_identifier(text[end]) {
        end += 1;
    }
    end
}

/// Returns a hash (FNV-1a) of the tokens of `files` and of the structs and constants that `files` name. Comments, white
/// space and other declarations do not change the hash. `N`: capacity for the identifiers of `files`. The lists are
/// those of the folders.
pub(super) const fn hash<const N: usize>(
    files: &[(&str, &str)],
    structs: &[&[StructLayout]],
    ids: &[(&str, u32)],
    constants: &[&[(&str, u32)]],
) -> u32 {
    let mut hash = hash_of(&[]);
    let mut identifiers = Identifiers::<N>::new();
    let mut file = 0;
    while file < files.len() {
        let text = files[file].1.as_bytes();
        let mut at = skip_blank(text, 0);
        while at < text.len() {
            let end = token_end(text, at);
            let token = hash_of(text.split_at(end).0.split_at(at).1);
            hash = add_bytes(hash, &token.to_le_bytes());
            if is_identifier(text[at]) && !text[at].is_ascii_digit() {
                identifiers.insert(token);
            }
            at = skip_blank(text, end);
        }
        file += 1;
    }
    // From the last one on: the structs that a struct contains are declared before it.
    let mut list = structs.len();
    while list > 0 {
        list -= 1;
        let mut i = structs[list].len();
        while i > 0 {
            i -= 1;
            let StructLayout { name, fields, .. } = structs[list][i];
            let is_named = identifiers.contain(name);
            let mut f = 0;
            while f < fields.len() && is_named {
                let (glsl, field, offset) = fields[f];
                #[allow(clippy::cast_possible_truncation, reason = "offsets are small")]
                let offset = offset as u32;
                hash = add_bytes(add_bytes(add_bytes(hash, glsl.as_bytes()), field.as_bytes()), &offset.to_le_bytes());
                identifiers.insert(hash_of(glsl.as_bytes()));
                f += 1;
            }
        }
    }
    hash = add_values(hash, ids, &identifiers);
    let mut list = 0;
    while list < constants.len() {
        hash = add_values(hash, constants[list], &identifiers);
        list += 1;
    }
    hash
}

/// Continues a hash with the values whose names are among the identifiers.
const fn add_values<const N: usize>(mut hash: u32, values: &[(&str, u32)], identifiers: &Identifiers<N>) -> u32 {
    let mut i = 0;
    while i < values.len() {
        let (name, value) = values[i];
        if identifiers.contain(name) {
            hash = add_bytes(add_bytes(hash, name.as_bytes()), &value.to_le_bytes());
        }
        i += 1;
    }
    hash
}

/// A set of identifiers, by their hashes: open addressing. `N`: a power of two, more than there are identifiers.
struct Identifiers<const N: usize>([u32; N]);

impl<const N: usize> Identifiers<N> {
    /// Stands for a slot without an identifier.
    const NONE: u32 = 0;

    const fn new() -> Self {
        assert!(N.is_power_of_two(), "slots are selected by bits");
        Self([Self::NONE; N])
    }

    /// The slot of an identifier, or the one that it takes.
    const fn slot_of(&self, identifier: u32) -> usize {
        assert!(identifier != Self::NONE, "an identifier with the hash of none");
        let mut slot = identifier as usize % N;
        while self.0[slot] != Self::NONE && self.0[slot] != identifier {
            slot = (slot + 1) % N;
        }
        slot
    }

    const fn insert(&mut self, identifier: u32) {
        self.0[self.slot_of(identifier)] = identifier;
    }

    const fn contain(&self, name: &str) -> bool {
        self.0[self.slot_of(hash_of(name.as_bytes()))] != Self::NONE
    }
}

/// Writes declarations in GLSL: ids of specialization constants, constants, structs.
pub(super) fn glsl(ids: &[(&str, u32)], constants: &[&[(&str, u32)]], structs: &[&[StructLayout]]) -> String {
    let mut text = String::from("// Generated from src/shared.rs by `cargo xtask shaders`. Do not edit.\n\n");
    let mut line = |args: std::fmt::Arguments| {
        // Writing to a String cannot fail.
        let _ = text.write_fmt(args);
        text.push('\n');
    };
    for (name, id) in ids {
        line(format_args!("#define {name} {id}"));
    }
    line(format_args!(""));
    for (name, value) in constants.iter().copied().flatten() {
        line(format_args!("const uint {name} = {value};"));
    }
    for StructLayout { name, fields, .. } in structs.iter().copied().flatten() {
        line(format_args!("\nstruct {name} {{"));
        for (glsl, field, _) in *fields {
            line(format_args!("    {glsl} {field};"));
        }
        line(format_args!("}};"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Fields, StructLayout, hash};

    const FILE: &str = "// The radix.\nuint x = RADIX * args.keys; Row row;";
    const ROW: &Fields = &[("Keys", "keys", 0)];
    const KEYS: &Fields = &[("uvec2", "address", 0)];
    const MOVED: &Fields = &[("uvec2", "address", 8)];

    fn of(file: &str, [keys, row, unseen]: [&'static Fields; 3], radix: u32, other: u32) -> u32 {
        let structs = [("Keys", keys), ("Row", row), ("Other", unseen)];
        let structs = structs.map(|(name, fields)| StructLayout { name, fields, size: 0 });
        hash::<64>(&[("file.glsl", file)], &[&structs], &[], &[&[("RADIX", radix), ("OTHER", other)]])
    }

    #[test]
    fn user_kernels_outlive_changes_that_they_do_not_see() {
        let structs = [KEYS, ROW, KEYS];
        let number = of(FILE, structs, 256, 1);
        assert_eq!(number, of(FILE, [KEYS, ROW, MOVED], 256, 2), "neither the struct nor the constant is named");
        assert_eq!(
            number,
            of("uint x=RADIX*args.keys;\n// A row.\nRow row;", structs, 256, 1),
            "comments and white space are no tokens"
        );
        for (other, what) in [
            (of(FILE, structs, 128, 1), "a constant that is named"),
            (of(FILE, [KEYS, &[("Keys", "keys", 8)], KEYS], 256, 1), "an offset of a struct that is named"),
            (of(FILE, [MOVED, ROW, KEYS], 256, 1), "an offset of a struct in a struct that is named"),
            (of("uint x = RADIX + args.keys; Row row;", structs, 256, 1), "a token"),
            (of("uint x = RADIX * args . key s; Row row;", structs, 256, 1), "a word in two"),
        ] {
            assert_ne!(number, other, "{what}");
        }
    }
}

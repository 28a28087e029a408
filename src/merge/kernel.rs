//! User-defined comparators: kernels from GLSL or SPIR-V.

use crate::Result;
use crate::radix::UserKernel;
use crate::shared::COMPARATOR;

/// A kernel with a user-defined comparator, for [`crate::Merger::with_comparator`]. The comparator is GLSL, `bool
/// trm_less(KEY a, KEY b, TrmUserData data)`, and returns whether `a` comes before `b`. It must be a strict weak order,
/// as for `std::merge`: keys of which neither comes before the other are equal. `trm_less` must be deterministic during
/// a merge. It receives only keys of the two sequences.
///
/// `KEY` depends on the key type of the kernel: `uint`, `int` or `float` for keys of 32 bits; `uvec2` (low word first)
/// with the bits of a key of 64 bits, not encoded; `uvec2`, `uvec3` or `uvec4` for keys of several words.
/// `data.address` is a `uvec2` for buffer references, from [`crate::MergeInfo::user_address`]. `data.words` is a
/// `uvec4`, from [`crate::MergeInfo::user_words`].
///
/// With the feature `runtime-shaders`, `ComparatorKernel::from_glsl` compiles the comparator.
/// [`ComparatorKernel::spirv`] returns the result, for programs without a compiler.
#[derive(Clone, Debug)]
pub struct ComparatorKernel(pub(super) UserKernel);

impl ComparatorKernel {
    /// Creates a kernel from SPIR-V that was compiled for this version of the library.
    ///
    /// # Errors
    /// [`Error::Malformed`](crate::Error::Malformed) for `code` that is no kernel with a comparator, or not for this
    /// version. Only the declarations of the module are checked; the caller guarantees that it is valid.
    pub fn from_spirv(code: &[u32]) -> Result<Self> {
        UserKernel::from_spirv(&COMPARATOR, code).map(Self)
    }

    /// Compiles a comparator in GLSL for keys of one type.
    ///
    /// # Errors
    /// [`Error::Malformed`](crate::Error::Malformed) for `source`, with the compiler's messages and their lines; for
    /// `keyType`, if keys have fewer than 32 bits.
    #[cfg(feature = "runtime-shaders")]
    pub fn from_glsl(key: crate::KeyType, source: &str) -> Result<Self> {
        UserKernel::from_glsl(&COMPARATOR, key, source).map(Self)
    }

    /// The SPIR-V module, for [`ComparatorKernel::from_spirv`].
    pub fn spirv(&self) -> &[u32] {
        self.0.code()
    }
}

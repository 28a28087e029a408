//! User-defined bucket functions: kernels from GLSL or SPIR-V.

use crate::Result;
use crate::radix::UserKernel;
use crate::shared::BUCKET_FUNCTION;

/// A kernel with a user-defined function, for [`crate::BucketFunction::User`]. The function is GLSL, `uint
/// trm_bucket(KEY key, uint index, TrmUserData data)`, and returns the bucket of item `index`.
///
/// `KEY` depends on the key type of the kernel: `uint`, `int` or `float` for keys of 32 bits; `uvec2` (low word first)
/// for keys of 64 bits; `uvec2`, `uvec3` or `uvec4` for keys of several words. `data.address` is a `uvec2` for buffer
/// references, from [`crate::SplitInfo::user_address`]. `data.words` is a `uvec4`, from
/// [`crate::SplitInfo::user_words`].
///
/// With the feature `runtime-shaders`, `BucketKernel::from_glsl` compiles the function. [`BucketKernel::spirv`] returns
/// the result, for programs without a compiler.
#[derive(Clone, Debug)]
pub struct BucketKernel(pub(super) UserKernel);

impl BucketKernel {
    /// Creates a kernel from SPIR-V that was compiled for this version of the library.
    ///
    /// # Errors
    /// [`Error::Malformed`](crate::Error::Malformed) for `code` that is no kernel with a bucket function, or not for
    /// this version. Only the declarations of the module are checked; the caller guarantees that it is valid.
    pub fn from_spirv(code: &[u32]) -> Result<Self> {
        UserKernel::from_spirv(&BUCKET_FUNCTION, code).map(Self)
    }

    /// Compiles a GLSL function for keys of one type.
    ///
    /// # Errors
    /// [`Error::Malformed`](crate::Error::Malformed) for `source`, with the compiler's messages and their lines; for
    /// `keyType`, if functions do not support these keys.
    #[cfg(feature = "runtime-shaders")]
    pub fn from_glsl(key: crate::KeyType, source: &str) -> Result<Self> {
        UserKernel::from_glsl(&BUCKET_FUNCTION, key, source).map(Self)
    }

    /// The SPIR-V module, for [`BucketKernel::from_spirv`].
    pub fn spirv(&self) -> &[u32] {
        self.0.code()
    }
}

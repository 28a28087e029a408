//! What specialization makes of the committed modules. The tests of kernels run every pipeline that it makes.

use super::module::Module;
use super::specialize;
use crate::kernel::Kernel;

#[test]
fn dump() {
    let spec: Vec<u32> =
        "256 8 4 8 0 1024 100 0 1 32 0 0 0 0 32 0 0 0 0 4 1 0 0 256 0 0 0 0 0 0 0".split(' ').map(|w| w.parse().unwrap()).collect();
    for kernel in Kernel::ALL {
        let t = std::time::Instant::now();
        let m = specialize(kernel.spirv(), |id| spec.get(id as usize).copied());
        let t = t.elapsed();
        let m = m.expect(kernel.name());
        println!("{} {} -> {} in {t:?}", kernel.name(), kernel.spirv().len() * 4, m.len() * 4);
        std::fs::create_dir_all("/tmp/sp").unwrap();
        std::fs::write(format!("/tmp/sp/{}.spv", kernel.name()), bytemuck::cast_slice(&m)).unwrap();
    }
}

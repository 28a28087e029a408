//! The primitives that the program measures, a file or folder each.

mod copy;
mod sort;
mod split;

use crate::workload::{Case, Primitive};
use std::sync::Arc;

/// Every primitive. A new one adds its module above, and a line here.
pub(crate) static PRIMITIVES: &[&dyn Primitive] = &[&copy::BufferCopy, &sort::SortPrimitive, &split::SplitPrimitive];

/// Work that raises the clock of an idle GPU: a sort, in place.
pub(crate) fn heating() -> Case {
    let keys = trommel::SorterInfo::keys();
    Case { name: "heat".into(), work: Arc::new(sort::workload::Sort::new(keys)), n: 1 << 22 }
}

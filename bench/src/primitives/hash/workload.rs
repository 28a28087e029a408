//! Operations on hash tables as workloads.

use super::action::{Action, Hashing};
use super::checks;
use super::operation::HashWork;
use crate::arrays::Contents;
use crate::handles::Handles;
use crate::inputs::Keys;
use crate::workload::{Operation, Workload};
use std::sync::Arc;

impl Workload for Hashing {
    /// As the peers count: a key and a value. The slots of the table are not counted.
    fn bytes_per_item(&self) -> u32 {
        let (key, value) = (self.info.key.size(), self.info.value.size());
        match self.action {
            Action::EraseHalf | Action::Increment => key,
            // The number of values is a word. Of several values of a key, only the values are counted.
            Action::CountValues => key + 4,
            Action::Retrieve => value,
            // A bit for each key of a set is less than a byte.
            _ => key + value,
        }
    }

    /// The slots, if the size of the table does not follow from the case, and values of which the case has the keys.
    fn prepared_items(&self, n: u32) -> u32 {
        match self.action {
            Action::InsertInto(slots) => slots,
            Action::CountValues => self.earlier(n),
            _ => 0,
        }
    }

    fn prepare(&self, n: u32, handles: &mut Handles) -> trommel::Result<Box<dyn Operation>> {
        Ok(Box::new(HashWork::new(*self, n, handles)?))
    }

    fn check(&self, n: u32, contents: &Contents) -> Result<(), String> {
        checks::check(self, n, contents)
    }

    fn remark(&self, _n: u32, contents: &Contents) -> Option<String> {
        checks::remark(self, contents)
    }

    /// The same: keys of a table are distinct or repeat.
    fn with_keys(&self, _keys: Keys) -> Arc<dyn Workload> {
        Arc::new(*self)
    }
}

//! Handles by their create info. Cases with equal infos share one: creating pipelines takes time.

use std::any::Any;
use std::time::{Duration, Instant};
use trommel::host::Context;
use trommel::{Device, Strategy, ValueType};

/// The create info of a handle: a primitive of the library, or a kernel of the bench.
pub(crate) trait HandleInfo: Copy + PartialEq + Send + 'static {
    type Handle: Clone + Send + 'static;

    fn create(&self, context: &Context, library: &Device, strategy: Strategy) -> trommel::Result<Self::Handle>;

    /// The strategy or algorithm of a handle of the library, as reports name it. None for kernels of the bench.
    fn strategy_name(handle: &Self::Handle) -> Option<&'static str>;

    /// The same info for handles that batches may hold.
    fn for_batches(self) -> Self;

    /// Names the handle and every member that differs from its default.
    fn describe(&self) -> String;
}

/// A handle that has been created, as a report shows it.
pub(crate) struct Created {
    pub(crate) name: String,
    pub(crate) strategy: &'static str,
    /// New pipelines: handles share those that they have in common.
    pub(crate) pipelines: usize,
    pub(crate) time: Duration,
}

/// Handles created so far on one instance of the library.
pub(crate) struct Handles {
    /// Pairs of an info and the result of its creation.
    known: Vec<Box<dyn Any + Send>>,
    /// Handles of the library, in the order of creation.
    pub(crate) created: Vec<Created>,
    strategy: Strategy,
    batches: bool,
    pub(crate) library: Device,
    // Dropped last.
    context: Context,
}

impl Handles {
    pub(crate) fn new(context: &Context, library: &Device, strategy: Strategy) -> Self {
        let (known, created) = (Vec::new(), Vec::new());
        Self { known, created, strategy, batches: false, library: library.clone(), context: context.clone() }
    }

    /// The same, but batches may hold every handle.
    pub(crate) fn for_batches(self) -> Self {
        Self { batches: true, ..self }
    }

    /// Returns the handle of this info, or the error of its creation. Creates it in the first call.
    pub(crate) fn get<I: HandleInfo>(&mut self, info: I) -> trommel::Result<I::Handle> {
        let info = if self.batches { info.for_batches() } else { info };
        let mut known = self.known.iter().filter_map(|known| known.downcast_ref::<(I, trommel::Result<I::Handle>)>());
        if let Some((_, handle)) = known.find(|(known, _)| *known == info) {
            return handle.clone();
        }
        let (before, start) = (self.library.pipelines().len(), Instant::now());
        let handle = info.create(&self.context, &self.library, self.strategy);
        let time = start.elapsed();
        if let Some(strategy) = handle.as_ref().ok().and_then(I::strategy_name) {
            let pipelines = self.library.pipelines().len() - before;
            self.created.push(Created { name: info.describe(), strategy, pipelines, time });
        }
        self.known.push(Box::new((info, handle.clone())));
        handle
    }

    /// Makes `handle` serve `info`, although its own info may differ.
    #[cfg(test)]
    pub(crate) fn insert<I: HandleInfo>(&mut self, info: I, handle: I::Handle) {
        self.known.push(Box::new((info, trommel::Result::Ok(handle))));
    }
}

pub(crate) fn describe_value(value: ValueType) -> Option<String> {
    match value {
        ValueType::None => None,
        ValueType::Bytes(bytes) => Some(format!("values of {bytes} bytes")),
        value => Some(format!("{value:?} values")),
    }
}

/// `words` if a member differs from its default.
pub(crate) fn differing(differs: bool, words: String) -> Option<String> {
    differs.then_some(words)
}

pub(crate) fn join<const N: usize>(words: [Option<String>; N]) -> String {
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

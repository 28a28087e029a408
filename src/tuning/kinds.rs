//! Kinds of items with shapes of their own.

/// The kinds of items that a profile distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemKind {
    /// Keys of one word, without values.
    Keys,
    /// Keys of one word, with values.
    Pairs,
    /// Keys of several words, with or without values.
    Long,
}

impl ItemKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Keys, Self::Pairs, Self::Long];

    /// The name in profiles.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Keys => "keys",
            Self::Pairs => "pairs",
            Self::Long => "long",
        }
    }

    /// Returns the kind of items with so many words.
    pub const fn of(key_words: u32, value_words: u32) -> Self {
        match (key_words, value_words) {
            (1, 0) => Self::Keys,
            (1, _) => Self::Pairs,
            _ => Self::Long,
        }
    }

    /// Words of an item that shapes are checked with. Longer items skip shapes that do not hold them.
    pub(crate) const fn checked_words(self) -> u32 {
        self as u32 + 1
    }
}

/// Lets a struct of settings with the members `keys`, `pairs` and `long` be indexed by [`ItemKind`].
macro_rules! by_item_kind {
    ($settings:ident, $shapes:ident) => {
        impl std::ops::Index<$crate::tuning::ItemKind> for $settings {
            type Output = $shapes;

            fn index(&self, kind: $crate::tuning::ItemKind) -> &$shapes {
                match kind {
                    $crate::tuning::ItemKind::Keys => &self.keys,
                    $crate::tuning::ItemKind::Pairs => &self.pairs,
                    $crate::tuning::ItemKind::Long => &self.long,
                }
            }
        }

        impl std::ops::IndexMut<$crate::tuning::ItemKind> for $settings {
            fn index_mut(&mut self, kind: $crate::tuning::ItemKind) -> &mut $shapes {
                match kind {
                    $crate::tuning::ItemKind::Keys => &mut self.keys,
                    $crate::tuning::ItemKind::Pairs => &mut self.pairs,
                    $crate::tuning::ItemKind::Long => &mut self.long,
                }
            }
        }
    };
}

pub(crate) use by_item_kind;

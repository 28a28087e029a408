//! Parts of a profile that `--tune` searches: the shapes of a kind of items, and the roles of shapes.

use anyhow::Context as _;
use std::fmt::Display;
use std::str::FromStr;
use trommel::tuning::{ItemKind, SizedTile, SmallShape, TileShape};
use trommel::{Profile, Strategy};

/// Shapes of a kind of items, by the members of a profile that hold them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shapes {
    pub(crate) small: Vec<SmallShape>,
    pub(crate) tiles: Vec<SizedTile>,
    pub(crate) few_bins: Option<TileShape>,
    pub(crate) counted: Vec<SizedTile>,
    pub(crate) single_dispatch: Vec<SizedTile>,
}

impl Shapes {
    /// The shapes of a profile.
    pub(crate) fn of(profile: &Profile, kind: ItemKind) -> anyhow::Result<Self> {
        let text = profile.to_string();
        Ok(Self {
            small: list(&text, kind, "small")?,
            tiles: list(&text, kind, "tiles")?,
            few_bins: list(&text, kind, "few_bins")?.pop(),
            counted: list(&text, kind, "counted")?,
            single_dispatch: list(&text, kind, "single_dispatch")?,
        })
    }

    /// `profile` with these shapes, and no other tiles.
    pub(crate) fn put(&self, profile: &Profile, kind: ItemKind) -> trommel::Result<Profile> {
        let members = [
            ("small", joined(&self.small)),
            ("tiles", joined(&self.tiles)),
            ("ring", String::new()),
            ("few_bins", joined(self.few_bins.as_slice())),
            ("counted", joined(&self.counted)),
            ("single_dispatch", joined(&self.single_dispatch)),
        ];
        members.iter().try_fold(profile.clone(), |profile, (member, value)| with(&profile, kind, member, value))
    }
}

/// `profile` with another value of a member.
pub(crate) fn with(profile: &Profile, kind: ItemKind, member: &str, value: &str) -> trommel::Result<Profile> {
    profile.with_line(&line_name(&profile.to_string(), kind, member).unwrap_or_default(), value)
}

/// The name of the line of a member, such as `radix.keys.tiles`. Each primitive has its own shapes of each kind.
fn line_name(text: &str, kind: ItemKind, member: &str) -> Option<String> {
    let end = format!(".{}.{member}", kind.name());
    text.lines()
        .find_map(|line| line.split_once(" =").filter(|(name, _)| name.ends_with(&end)))
        .map(|(name, _)| name.into())
}

fn list<T: FromStr<Err = trommel::Error>>(text: &str, kind: ItemKind, member: &str) -> anyhow::Result<Vec<T>> {
    let name = line_name(text, kind, member).with_context(|| format!("no shapes of {member}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(&name)?.strip_prefix(" ="));
    Ok(line.unwrap_or_default().split_whitespace().map(str::parse).collect::<Result<_, _>>()?)
}

fn joined(list: &[impl Display]) -> String {
    list.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// The use of a shape, as members of [`Shapes`] have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A single workgroup sorts all items.
    Small,
    /// Every workgroup counts all items, and scatters those of its tile.
    SingleDispatch,
    /// Tiles of passes over many bins.
    Tiles,
    /// Tiles that are counted first, into at most 64 bins.
    Counted,
    /// Tiles that are counted first, into more bins. The last of [`Shapes::tiles`] serves these.
    CountedMany,
    /// Tiles of passes into few bins that look back.
    FewBins,
}

impl Role {
    /// All roles, in the order of the search.
    pub(crate) const ALL: [Self; 6] =
        [Self::Small, Self::SingleDispatch, Self::Tiles, Self::Counted, Self::CountedMany, Self::FewBins];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::SingleDispatch => "single_dispatch",
            Self::Tiles => "tiles",
            Self::Counted => "counted",
            Self::CountedMany => "counted_many",
            Self::FewBins => "few_bins",
        }
    }

    /// The strategy that takes shapes of this role. `requested`: by the command line.
    pub(crate) fn strategy(self, requested: Strategy) -> Strategy {
        match self {
            Self::Small | Self::Tiles => requested,
            Self::SingleDispatch | Self::Counted | Self::CountedMany => Strategy::ReduceThenScan,
            Self::FewBins => Strategy::Lookback,
        }
    }
}

//! Device profiles: shapes and limits as data. Each folder declares its own settings, in its `settings.rs`. Measured
//! devices have tables; other devices get computed shapes.
//!
//! Builds with other features have the same profiles.

// Paths, because the modules of the folders depend on features.
#[path = "radix/settings.rs"]
pub mod radix;

use crate::Result;
use crate::core::settings::{Lines, Setting, malformed, settings};
use crate::device::DeviceFacts;
use crate::tuning::{
    Basis, Hooks, ItemKind, Limits, REDUNDANT_HISTOGRAM_BYTES, ROW_BYTES, Strategy, histogram_rows, rows_within,
};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

macro_rules! profile {
    ($(
        $feature:literal: $module:ident, $request:ident $types:tt, $c:ident, $interface:literal, $settings:literal;
    )*) => {
        $(
            #[path = $settings]
            pub mod $module;
        )*

        settings! {
            /// The configuration of the library for a device. [`Profile::for_device`] returns the built-in one. A
            /// tuning run writes its text form (`Display`, `FromStr`), and device creation reads it.
            pub struct Profile {
                /// Lanes of a subgroup; 0: the device chooses.
                pub lanes: u32,
                /// Whether subgroups of `lanes` lanes are emulated in shared memory, for devices with faulty subgroup
                /// operations.
                pub emulated_subgroups: bool,
                /// The meaning of [`Strategy::Auto`]. Requests may deviate from it: see there.
                pub strategy: Strategy,
                /// Threads of kernels without tiles.
                pub plain_threads: u32,
                /// Number of tiles that a look-back reads at a time. A larger window overlaps more latencies and needs
                /// more registers.
                pub window: u32,
                /// As `window`, for the ring.
                pub ring_window: u32,
                /// Iterations that a look-back waits before it counts by itself.
                pub spin_limit: u32,
                /// Maximum number of workgroups of a dispatch in x.
                pub max_groups_x: u32,
                /// Radix passes.
                pub radix: radix::Settings,
                $(
                    #[doc = concat!("Settings of the module `", stringify!($module), "`.")]
                    pub $module: $module::Settings,
                )*
                /// For tests of the library. Texts have no such lines: see [`Profile::with_hooks_of`].
                #[doc(hidden)]
                pub hooks: Hooks,
            }
        }

        /// Names of lines in earlier versions. `*` stands for a kind of items, with a word and `_` before it.
        const FORMER_NAMES: &[&[(&str, &str)]] =
            &[Hooks::FORMER_NAMES, radix::FORMER_NAMES, $($module::FORMER_NAMES),*];

        impl Profile {
            /// The profile of a device with these facts and shapes of this size.
            fn of(basis: &Basis<'_>) -> Self {
                let Basis { facts, lanes, shape, measured } = *basis;
                let window = if facts.is_cpu { 4 } else { 8 };
                Self {
                    lanes,
                    emulated_subgroups: false,
                    strategy: Strategy::of_device(facts),
                    plain_threads: if measured.is_some() { 512 } else { shape.threads },
                    window,
                    ring_window: if measured.is_some() { 4 } else { window },
                    spin_limit: if facts.is_cpu { 256 } else { 4096 },
                    max_groups_x: facts.max_groups_x,
                    radix: radix::Settings::of(basis),
                    $($module: $module::Settings::of(basis),)*
                    hooks: Hooks::NONE,
                }
            }

            /// Checks the settings of each folder.
            fn check_folders(&self, limits: &Limits<'_>) -> Result<()> {
                self.radix.check(limits)?;
                $(self.$module.check(limits)?;)*
                Ok(())
            }
        }
    };
}
primitives!(profile);

impl Profile {
    /// The built-in profile of a device.
    pub fn for_device(facts: &DeviceFacts) -> Self {
        Self::of(&Basis::new(facts))
    }

    /// This profile with another value in one line.
    ///
    /// # Errors
    /// [`crate::Error::Malformed`] for a name that no line has, or a value that the line cannot have.
    pub fn with_line(&self, name: &str, value: &str) -> Result<Self> {
        let (text, name) = (self.to_string(), current_name(name));
        let is_other = |line: &&str| line.split_once(" =").is_none_or(|(other, _)| other != name);
        let others: Vec<_> = text.lines().filter(is_other).collect();
        Self::with_hooks_of(&format!("{}\n{name} = {value}", others.join("\n")))
    }

    /// As `from_str`, for tests of the library: the text may have lines of hooks.
    ///
    /// # Errors
    /// As `from_str`.
    #[doc(hidden)]
    pub fn with_hooks_of(text: &str) -> Result<Self> {
        let lines = Lines::new(text, current_name);
        let profile = Self::read(&lines, "", None)?;
        lines.check_all_read()?;
        Ok(profile)
    }

    /// This profile with another value in every line of this member: `small` is that of `sort.keys.small` and others.
    ///
    /// # Errors
    /// As [`Profile::with_line`].
    #[doc(hidden)]
    pub fn with_member(&self, member: &str, value: &str) -> Result<Self> {
        let mut named = Vec::new();
        Self::for_each_name("", &mut |name| {
            named.extend((name.rsplit('.').next() == Some(member)).then(|| name.to_owned()));
        });
        if named.is_empty() {
            return Err(malformed(format!("{member} is unknown")));
        }
        named.iter().try_fold(self.clone(), |profile, name| profile.with_line(name, value))
    }

    /// Returns this profile if the device can run it.
    ///
    /// # Errors
    /// Names the line that the device cannot run, and the reason.
    #[doc(hidden)]
    pub fn checked(self, facts: &DeviceFacts) -> Result<Self> {
        let limits = Limits::new(&self, facts)?;
        self.check_folders(&limits)?;
        Ok(self)
    }

    /// Number of rows of digit counters in a workgroup.
    pub(crate) fn histogram_rows(&self, threads: u32, facts: &DeviceFacts) -> u32 {
        if self.emulated_subgroups {
            return self.most_subgroups(threads, facts);
        }
        histogram_rows(threads, self.narrowest(facts), facts.shared_memory)
    }

    /// As `histogram_rows`, for kernels that recompute the histogram: they hold no tile at the same time.
    pub(crate) fn redundant_histogram_rows(&self, threads: u32, facts: &DeviceFacts) -> u32 {
        if self.emulated_subgroups {
            return self.most_subgroups(threads, facts);
        }
        let room = facts.shared_memory.saturating_sub(REDUNDANT_HISTOGRAM_BYTES) / ROW_BYTES;
        rows_within(room, threads, self.narrowest(facts))
    }

    /// Maximum number of subgroups of a workgroup.
    pub(crate) fn most_subgroups(&self, threads: u32, facts: &DeviceFacts) -> u32 {
        threads / self.narrowest(facts)
    }

    /// Lanes of the narrowest subgroups that kernels may run with.
    pub(crate) fn narrowest(&self, facts: &DeviceFacts) -> u32 {
        if self.lanes == 0 { facts.min_lanes } else { self.lanes }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write("", None, f)
    }
}

impl FromStr for Profile {
    type Err = crate::Error;

    /// Parses the output of `Display`: `name = value` lines, `#` comments. Every name must occur once, and no other
    /// name. Names of earlier versions are read, too.
    fn from_str(text: &str) -> Result<Self> {
        let profile = Self::with_hooks_of(text)?;
        if profile.hooks != Hooks::NONE {
            return Err(malformed("hooks are for tests of the library".into()));
        }
        Ok(profile)
    }
}

/// Maps names of earlier versions to those of now.
fn current_name(name: &str) -> Cow<'_, str> {
    let current = |(former, current): &(&str, &str)| {
        let Some(member) = former.strip_prefix('*') else {
            return (name == *former).then(|| Cow::from((*current).to_owned()));
        };
        let (_, kind) = name.strip_suffix(member)?.rsplit_once('_')?;
        let is_kind = ItemKind::ALL.iter().any(|known| known.name() == kind);
        is_kind.then(|| current.replace('*', kind).into())
    };
    FORMER_NAMES.iter().copied().flatten().find_map(current).unwrap_or_else(|| name.into())
}

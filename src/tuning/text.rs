//! The text form of profiles: `name = value` lines.

use super::{Hooks, ItemShapes, Profile, Strategy, malformed, parse_number};
use crate::{Error, Result};
use arrayvec::ArrayVec;
use std::fmt;
use std::str::FromStr;

/// Names in profiles of earlier versions, and those of now.
pub(super) const FORMER_NAMES: [(&str, &str); 5] = [
    ("proven", "verified"),
    ("proven_by_places", "verified_by_source_index"),
    ("sort_keys.recounted", "sort_keys.single_dispatch"),
    ("sort_pairs.recounted", "sort_pairs.single_dispatch"),
    ("sort_long.recounted", "sort_long.single_dispatch"),
];

fn write_list(f: &mut fmt::Formatter<'_>, name: &dyn fmt::Display, list: &[impl fmt::Display]) -> fmt::Result {
    write!(f, "{name} =")?;
    list.iter().try_for_each(|item| write!(f, " {item}"))?;
    writeln!(f)
}

const DRIVER_SPECIALIZES_SUBGROUP_TILES: &str = "driver_specializes_subgroup_tiles";

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "lanes = {}", self.lanes)?;
        writeln!(f, "emulated_subgroups = {}", self.emulated_subgroups)?;
        writeln!(f, "strategy = {}", self.strategy.name())?;
        let shapes = [("sort_keys", &self.sort_keys), ("sort_pairs", &self.sort_pairs), ("sort_long", &self.sort_long)];
        for (name, shapes) in shapes {
            write_list(f, &format_args!("{name}.ranked"), &shapes.ranked)?;
            write_list(f, &format_args!("{name}.small"), &shapes.small)?;
            write_list(f, &format_args!("{name}.merges"), &shapes.merges)?;
            write_list(f, &format_args!("{name}.tiles"), &shapes.tiles)?;
            write_list(f, &format_args!("{name}.ring"), shapes.ring.as_slice())?;
            write_list(f, &format_args!("{name}.few_bins"), shapes.few_bins.as_slice())?;
            write_list(f, &format_args!("{name}.counted"), &shapes.counted)?;
            write_list(f, &format_args!("{name}.single_dispatch"), &shapes.single_dispatch)?;
            writeln!(f, "{name}.segments = {}", shapes.segments)?;
        }
        writeln!(f, "sort_finish = {}", self.sort_finish)?;
        writeln!(f, "prefixes_up_to = {}", self.prefixes_up_to)?;
        writeln!(f, "merge_fan = {}", self.merge_fan)?;
        writeln!(f, "{DRIVER_SPECIALIZES_SUBGROUP_TILES} = {}", self.driver_specializes_subgroup_tiles)?;
        writeln!(f, "plain_threads = {}", self.plain_threads)?;
        writeln!(f, "histogram_groups = {}", self.histogram_groups)?;
        writeln!(f, "direct_up_to = {}", self.direct_up_to)?;
        writeln!(f, "all_digits_up_to = {}", self.all_digits_up_to)?;
        writeln!(f, "window = {}", self.window)?;
        writeln!(f, "ring_window = {}", self.ring_window)?;
        writeln!(f, "small_ranking = {}", self.small_ranking.name())?;
        writeln!(f, "spin_limit = {}", self.spin_limit)?;
        writeln!(f, "max_groups_x = {}", self.max_groups_x)?;
        write!(f, "{}", self.hooks)
    }
}

impl FromStr for Profile {
    type Err = Error;

    /// Parses the output of `Display`: `name = value` lines, `#` comments. Every name must occur once, and no other
    /// name.
    fn from_str(text: &str) -> Result<Self> {
        let optional = |name: &str| {
            let mut values = text
                .lines()
                .map(|line| line.split('#').next().unwrap_or(""))
                .filter_map(|line| line.split_once('='))
                .filter(|(found, _)| found.trim() == name || FORMER_NAMES.contains(&(found.trim(), name)))
                .map(|(_, value)| value.trim());
            match (values.next(), values.next()) {
                (value, None) => Ok(value),
                (_, Some(_)) => Err(malformed(format!("{name} is given twice"))),
            }
        };
        let lookup = |name: &str| optional(name)?.ok_or_else(|| malformed(format!("{name} is missing")));
        let shapes = |name: &str| -> Result<ItemShapes> {
            let line = |part: &str| lookup(&format!("{name}.{part}"));
            let one = |part: &str| Some(line(part)?).filter(|text| !text.is_empty()).map(str::parse).transpose();
            Ok(ItemShapes {
                ranked: parse_list(name, line("ranked")?)?,
                small: parse_list(name, line("small")?)?,
                merges: parse_list(name, line("merges")?)?,
                tiles: parse_list(name, line("tiles")?)?,
                ring: one("ring")?,
                few_bins: one("few_bins")?,
                counted: parse_list(name, line("counted")?)?,
                single_dispatch: parse_list(name, line("single_dispatch")?)?,
                segments: line("segments")?.parse()?,
            })
        };
        let number = |name: &str| parse_number(lookup(name)?);
        let profile = Self {
            lanes: number("lanes")?,
            emulated_subgroups: lookup("emulated_subgroups")? == "true",
            strategy: {
                let name = lookup("strategy")?;
                let known = Strategy::ALL.into_iter().find(|strategy| strategy.name() == name);
                known.ok_or_else(|| malformed(format!("strategy {name} is unknown")))?
            },
            sort_keys: shapes("sort_keys")?,
            sort_pairs: shapes("sort_pairs")?,
            sort_long: shapes("sort_long")?,
            sort_finish: lookup("sort_finish")?.parse()?,
            prefixes_up_to: number("prefixes_up_to")?,
            merge_fan: number("merge_fan")?,
            // Texts of earlier versions do not have it.
            driver_specializes_subgroup_tiles: optional(DRIVER_SPECIALIZES_SUBGROUP_TILES)? == Some("true"),
            plain_threads: number("plain_threads")?,
            histogram_groups: number("histogram_groups")?,
            direct_up_to: number("direct_up_to")?,
            all_digits_up_to: number("all_digits_up_to")?,
            window: number("window")?,
            ring_window: number("ring_window")?,
            small_ranking: lookup("small_ranking")?.parse()?,
            spin_limit: number("spin_limit")?,
            max_groups_x: number("max_groups_x")?,
            hooks: Hooks::read(optional)?,
        };
        let names = |text: &str| -> Vec<String> {
            let settings = text.lines().filter_map(|line| line.split('#').next()?.split_once('='));
            settings.map(|(name, _)| name.trim().to_owned()).collect()
        };
        let known = names(&profile.to_string());
        let is_former = |name: &String| FORMER_NAMES.iter().any(|(former, _)| former == name);
        let is_known = |name: &String| known.contains(name) || is_former(name) || Hooks::NAMES.contains(&name.as_str());
        match names(text).into_iter().find(|name| !is_known(name)) {
            Some(name) => Err(malformed(format!("{name} is unknown"))),
            None => Ok(profile),
        }
    }
}

fn parse_list<T: FromStr<Err = Error>>(name: &str, text: &str) -> Result<ArrayVec<T, 4>> {
    let mut list = ArrayVec::new();
    for item in text.split_whitespace() {
        list.try_push(item.parse()?).map_err(|_| malformed(format!("{name}: at most four shapes")))?;
    }
    Ok(list)
}

//! Settings with a text form of `name = value` lines.
//!
//! [`settings!`] declares a struct of settings once: its members, the names of their lines, and the values that a text
//! may leave out. A member is a single line, or a struct of settings itself. The lines of such a struct begin with the
//! member's name: `sort.keys.small = 512x2/buckets`.

use crate::{Error, Result};
use arrayvec::ArrayVec;
use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

/// A member of a struct of settings: one line, or several.
pub(crate) trait Setting: Sized {
    /// Reads the lines of this name. `default`: the value if a single line is missing.
    fn read(lines: &Lines<'_>, name: &str, default: Option<Self>) -> Result<Self>;

    /// Writes the lines of this name, but no single line with the value `default`.
    fn write(&self, name: &str, default: Option<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Visits the names of all lines, also of those that a text may leave out.
    fn for_each_name(name: &str, visit: &mut dyn FnMut(&str));
}

/// A value of a single line.
pub(crate) trait Value: Sized + PartialEq {
    fn parse(text: &str) -> Result<Self>;

    fn text(&self) -> String;
}

impl<T: Value> Setting for T {
    fn read(lines: &Lines<'_>, name: &str, default: Option<Self>) -> Result<Self> {
        let value = lines.value(name)?.map(T::parse).transpose()?;
        value.or(default).ok_or_else(|| malformed(format!("{name} is missing")))
    }

    fn write(&self, name: &str, default: Option<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if default.as_ref() == Some(self) {
            return Ok(());
        }
        writeln!(f, "{}", format!("{name} = {}", self.text()).trim_end())
    }

    fn for_each_name(name: &str, visit: &mut dyn FnMut(&str)) {
        visit(name);
    }
}

/// Declares a struct of settings. A text may leave out members with a default value.
macro_rules! settings {
    ($(#[$struct_doc:meta])* pub struct $name:ident {
        $($(#[$doc:meta])* pub $member:ident: $type:ty $(= $default:expr)?,)*
    }) => {
        $(#[$struct_doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name { $($(#[$doc])* pub $member: $type,)* }

        impl $crate::core::settings::Setting for $name {
            fn read(
                lines: &$crate::core::settings::Lines<'_>,
                name: &str,
                _default: Option<Self>,
            ) -> $crate::Result<Self> {
                Ok(Self { $(
                    $member: $crate::core::settings::Setting::read(
                        lines,
                        &$crate::core::settings::joined(name, stringify!($member)),
                        [$($default)?].into_iter().next(),
                    )?,
                )* })
            }

            fn write(
                &self,
                name: &str,
                _default: Option<Self>,
                f: &mut std::fmt::Formatter<'_>,
            ) -> std::fmt::Result {
                $($crate::core::settings::Setting::write(
                    &self.$member,
                    &$crate::core::settings::joined(name, stringify!($member)),
                    [$($default)?].into_iter().next(),
                    f,
                )?;)*
                Ok(())
            }

            fn for_each_name(name: &str, visit: &mut dyn FnMut(&str)) {
                $(<$type as $crate::core::settings::Setting>::for_each_name(
                    &$crate::core::settings::joined(name, stringify!($member)),
                    visit,
                );)*
            }
        }
    };
}

pub(crate) use settings;

/// The name of the lines of a member.
pub(crate) fn joined<'a>(name: &str, member: &'a str) -> Cow<'a, str> {
    if name.is_empty() { member.into() } else { format!("{name}.{member}").into() }
}

/// The lines of a text. `#` begins a comment.
pub(crate) struct Lines<'t>(Vec<Line<'t>>);

struct Line<'t> {
    name: Cow<'t, str>,
    value: &'t str,
    is_read: Cell<bool>,
}

impl<'t> Lines<'t> {
    /// `current_name`: maps names of earlier versions to those of now.
    pub(crate) fn new(text: &'t str, current_name: impl Fn(&'t str) -> Cow<'t, str>) -> Self {
        let settings = text.lines().filter_map(|line| line.split('#').next()?.split_once('='));
        let line = |(name, value): (&'t str, &'t str)| Line {
            name: current_name(name.trim()),
            value: value.trim(),
            is_read: Cell::new(false),
        };
        Self(settings.map(line).collect())
    }

    fn value(&self, name: &str) -> Result<Option<&'t str>> {
        let mut named = self.0.iter().filter(|line| line.name == name);
        let line = named.next();
        if named.next().is_some() {
            return Err(malformed(format!("{name} is given twice")));
        }
        Ok(line.map(|line| {
            line.is_read.set(true);
            line.value
        }))
    }

    /// Checks that every line was read.
    pub(crate) fn check_all_read(&self) -> Result<()> {
        match self.0.iter().find(|line| !line.is_read.get()) {
            Some(line) => Err(malformed(format!("{} is unknown", line.name))),
            None => Ok(()),
        }
    }
}

pub(crate) fn malformed(why: String) -> Error {
    Error::Malformed { argument: "profile", why }
}

pub(crate) fn parse_number(text: &str) -> Result<u32> {
    text.parse().map_err(|_| malformed(format!("\"{text}\" is not a number")))
}

impl Value for u32 {
    fn parse(text: &str) -> Result<Self> {
        parse_number(text)
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

impl Value for bool {
    fn parse(text: &str) -> Result<Self> {
        text.parse().map_err(|_| malformed(format!("\"{text}\" is neither true nor false")))
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

/// A list of values, separated by blanks.
impl<T: Value, const N: usize> Value for ArrayVec<T, N> {
    fn parse(text: &str) -> Result<Self> {
        let mut list = Self::new();
        for item in text.split_whitespace() {
            list.try_push(T::parse(item)?).map_err(|_| malformed(format!("\"{text}\" has more than {N} values")))?;
        }
        Ok(list)
    }

    fn text(&self) -> String {
        self.iter().map(T::text).collect::<Vec<_>>().join(" ")
    }
}

/// A value, or nothing.
impl<T: Value> Value for Option<T> {
    fn parse(text: &str) -> Result<Self> {
        if text.is_empty() { Ok(None) } else { T::parse(text).map(Some) }
    }

    fn text(&self) -> String {
        self.as_ref().map_or_else(String::new, T::text)
    }
}

/// Makes types with a text form of their own values of lines.
macro_rules! values {
    ($($type:ty),*) => {
        $(impl $crate::core::settings::Value for $type {
            fn parse(text: &str) -> $crate::Result<Self> {
                text.parse()
            }

            fn text(&self) -> String {
                self.to_string()
            }
        })*
    };
}

pub(crate) use values;

#[cfg(test)]
#[allow(unreachable_pub, reason = "settings are public members of the profile")]
mod tests {
    use super::*;

    settings! {
        /// Settings in settings.
        pub struct Inner {
            /// A number without a default.
            pub count: u32,
            /// A number that a text may leave out.
            pub limit: u32 = 7,
        }
    }

    settings! {
        /// Settings.
        pub struct Outer {
            /// A list.
            pub sizes: ArrayVec<u32, 2>,
            /// A value or none.
            pub flag: Option<bool>,
            /// More lines.
            pub inner: Inner,
        }
    }

    struct Text<'a>(&'a Outer);

    impl fmt::Display for Text<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.write("", None, f)
        }
    }

    fn read(text: &str) -> Result<Outer> {
        let lines = Lines::new(text, |name| if name == "number" { "inner.count".into() } else { name.into() });
        let outer = Outer::read(&lines, "", None)?;
        lines.check_all_read().map(|()| outer)
    }

    #[test]
    fn lines_are_members_and_members_of_members() {
        let text = "sizes = 3 4\nflag =\ninner.count = 5\n";
        let outer = read(text).unwrap();
        assert_eq!((&outer.sizes[..], outer.flag), (&[3, 4][..], None));
        assert_eq!(outer.inner, Inner { count: 5, limit: 7 });
        assert_eq!(Text(&outer).to_string(), text, "the default is not written");
        let inner = Inner { count: 5, limit: 8 };
        let other = Outer { flag: Some(true), inner, ..outer };
        assert_eq!(Text(&other).to_string(), "sizes = 3 4\nflag = true\ninner.count = 5\ninner.limit = 8\n");
        assert_eq!(read(&Text(&other).to_string()), Ok(other));
    }

    #[test]
    fn former_names_comments_and_blanks_are_read() {
        let outer = read("# A text.\n  sizes=\nnumber = 9 # nine\n\nflag=true").unwrap();
        assert_eq!((outer.sizes.len(), outer.flag, outer.inner.count), (0, Some(true), 9));
    }

    #[test]
    fn other_texts_are_refused_with_the_reason() {
        for (text, why) in [
            ("flag = true\ninner.count = 1", "sizes is missing"),
            ("sizes = 1\nflag = \ninner.limit = 1", "inner.count is missing"),
            ("sizes = 1\nflag = \ninner.count = 1\nnumber = 2", "inner.count is given twice"),
            ("sizes = 1\nflag = \ninner.count = 1\ncount = 2", "count is unknown"),
            ("sizes = 1 2 3\nflag = \ninner.count = 1", "\"1 2 3\" has more than 2 values"),
            ("sizes = 1\nflag = yes\ninner.count = 1", "\"yes\" is neither true nor false"),
            ("sizes = one\nflag = \ninner.count = 1", "\"one\" is not a number"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(why), "{error} should say: {why}");
        }
    }
}

//! Checks of results and of error messages.

use crate::calls::model::{INTERNAL, NOT_BUILT, SUCCESS, Verdict};
use std::collections::HashSet;
use std::ffi::CStr;
use std::sync::LazyLock;
use trommel::capi::trmResultString;

const HEADER: &str = include_str!("../../../include/trommel.h");

/// Names of members and parameters in the header. Those of its structs begin with `Trm`.
static NAMES: LazyLock<HashSet<String>> = LazyLock::new(|| names(HEADER));

fn names(header: &str) -> HashSet<String> {
    let code: String =
        header.lines().filter(|line| !line.trim_start().starts_with("//")).flat_map(|line| [line, "\n"]).collect();
    // Members end with a semicolon, parameters with a comma or a parenthesis.
    let ends = code.split_inclusive([';', ',', ')']).filter_map(|part| {
        let part = part.trim_end_matches([';', ',', ')']).trim_end();
        let part = part.split('[').next()?;
        let word = part.rsplit(|letter: char| !letter.is_alphanumeric()).next()?;
        word.starts_with(|letter: char| letter.is_lowercase()).then(|| word.to_owned())
    });
    ends.collect()
}

/// Text of Rust values in debug format, which no message may contain.
const NOISE: &[&str] = &[
    "Some(",
    "None",
    "Ok(",
    "Err(",
    "::",
    ".rs:",
    "unwrap",
    "panic",
    "overflow",
    "out of bounds",
    "{ ",
    "assertion",
    "0x0 ",
];

/// Returns the defect of a failed call's message, if any. `quotes`: the message may contain text of the caller.
pub(crate) fn judge_message(result: i32, message: &str, quotes: bool) -> Option<String> {
    if message.is_empty() {
        return Some("trmGetLastError() is empty".into());
    }
    if let Some(noise) = NOISE.iter().find(|noise| !quotes && message.contains(**noise)) {
        return Some(format!("the message has {noise:?}"));
    }
    let of_vulkan = message.starts_with("Vulkan: ");
    let names_argument = message
        .split(|letter: char| !letter.is_alphanumeric())
        .any(|word| NAMES.contains(word) || word.starts_with("Trm"));
    if !of_vulkan && result != NOT_BUILT && !names_argument {
        return Some("the message names no member or parameter of the header".into());
    }
    None
}

/// Whether a result has a text.
pub(crate) fn has_text(result: i32) -> bool {
    // SAFETY: static text.
    unsafe { !CStr::from_ptr(trmResultString(result)).is_empty() }
}

/// Compares a result with the verdict. Returns the difference, if any.
pub(crate) fn judge_result(verdict: &Verdict, result: i32) -> Option<String> {
    let Verdict { faults, doubts } = verdict;
    if !has_text(result) {
        return Some(format!("result {result} has no text"));
    }
    if result == INTERNAL {
        return Some("TRM_ERROR_INTERNAL".into());
    }
    if result == SUCCESS {
        let first = faults.first().map(|(_, what)| what);
        return first.map(|what| format!("the call succeeds, and must fail: {what}"));
    }
    let expected = faults.iter().any(|(code, _)| *code == result);
    if expected || !doubts.is_empty() {
        return None;
    }
    match faults.first() {
        None => Some(format!("the call fails with {result}, and must succeed")),
        Some((code, what)) => Some(format!("the call fails with {result}, and must with {code}: {what}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::model::*;

    #[test]
    fn names_are_those_of_the_header() {
        for name in [
            "keys",
            "keysOut",
            "infoCount",
            "userWords",
            "commandBuffer",
            "codeSize",
            "structSize",
            "pNext",
            "maxCount",
            "max",
        ] {
            assert!(NAMES.contains(name), "{name}");
        }
        for word in ["batch", "dropKeys", "problem", "malformed"] {
            assert!(!NAMES.contains(word), "{word}");
        }
    }

    #[test]
    fn messages_are_judged() {
        assert_eq!(judge_message(NULL, "keys.address is null", false), None);
        assert_eq!(judge_message(MALFORMED, "TrmSortInfo is malformed", false), None);
        assert_eq!(judge_message(MALFORMED, "profile is malformed: a{ 1", true), None);
        assert_eq!(judge_message(NOT_BUILT, "built without the feature \"x\"", false), None);
        for message in
            ["", "batch is null", "keys Some(1)", "attempt to add with overflow: keys", "keys at src/record.rs:7"]
        {
            assert!(judge_message(NULL, message, false).is_some(), "{message}");
        }
    }

    #[test]
    fn answers_are_judged() {
        let verdict = |faults: &[(i32, &'static str)], doubts: &[&'static str]| Verdict {
            faults: faults.into(),
            doubts: doubts.into(),
        };
        let good = verdict(&[], &[]);
        let bad = verdict(&[(SMALL, "keys")], &[]);
        let open = verdict(&[], &["end"]);
        assert_eq!(judge_result(&good, SUCCESS), None);
        assert!(judge_result(&good, SMALL).is_some());
        assert_eq!(judge_result(&bad, SMALL), None);
        assert!(judge_result(&bad, LARGE).is_some());
        assert!(judge_result(&bad, SUCCESS).is_some());
        assert_eq!(judge_result(&open, LARGE), None);
        assert_eq!(judge_result(&open, SUCCESS), None);
        assert!(judge_result(&open, INTERNAL).is_some());
    }
}

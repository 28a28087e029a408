//! The names of the arrays of merges of several sequences, in tests and in the random tester.

/// The names of each sequence's keys, values and count.
pub(crate) const ROLES: [[&str; 3]; 16] = [
    ["keys 0", "values 0", "count 0"],
    ["keys 1", "values 1", "count 1"],
    ["keys 2", "values 2", "count 2"],
    ["keys 3", "values 3", "count 3"],
    ["keys 4", "values 4", "count 4"],
    ["keys 5", "values 5", "count 5"],
    ["keys 6", "values 6", "count 6"],
    ["keys 7", "values 7", "count 7"],
    ["keys 8", "values 8", "count 8"],
    ["keys 9", "values 9", "count 9"],
    ["keys 10", "values 10", "count 10"],
    ["keys 11", "values 11", "count 11"],
    ["keys 12", "values 12", "count 12"],
    ["keys 13", "values 13", "count 13"],
    ["keys 14", "values 14", "count 14"],
    ["keys 15", "values 15", "count 15"],
];

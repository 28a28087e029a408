//! Hash tables in one call.

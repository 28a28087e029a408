// Generated from src/shared.rs by `cargo xtask shaders`. Do not edit.

#define SPEC_THREADS 0
#define SPEC_LANES 1
#define SPEC_ITEMS 2
#define SPEC_HISTOGRAMS 3
#define SPEC_VALUE_WORDS 4
#define SPEC_TILE 5
#define SPEC_SPIN_LIMIT 6
#define SPEC_DELAY_EVERY 7
#define SPEC_KEY_WORDS 8
#define SPEC_KEY_BITS 9
#define SPEC_ENCODING 10
#define SPEC_LAYOUT 11
#define SPEC_WIDE 12
#define SPEC_BEGIN_BIT 13
#define SPEC_END_BIT 14
#define SPEC_SCAN 15
#define SPEC_RING_ENTRIES 16
#define SPEC_RING_REACH 17
#define SPEC_WINDOW 19
#define SPEC_FULL_DIGITS 20
#define SPEC_MODE 21
#define SPEC_SEGMENT_TILE 22
#define SPEC_BINS 23
#define SPEC_FUNCTION 26
#define SPEC_BUCKETS 27
#define SPEC_OUTPUT 30
#define SPEC_INTERFACE 28
#define SPEC_INTERFACE_KEY 29
#define SPEC_INTERFACE_FUNCTION 33
#define SPEC_FAN 24
#define SPEC_STEP 25
#define SPEC_RANKING 18
#define SPEC_MAX_GROUPS_X 31
#define SPEC_OPERATION 32
#define SPEC_CHANGE 34
#define SPEC_CONCURRENT 35
#define SPEC_MULTIMAP 36
#define SPEC_SELECTS 37
#define SPEC_RESIZABLE 38
#define SPEC_STENCIL 39
#define SPEC_BY_SLOT 40

const uint RADIX_BITS = 8;
const uint RADIX = 256;
const uint MAX_KEY_WORDS = 4;
const uint MAX_VALUE_WORDS = 4;
const uint PREFIX_DIGITS = 3;
const uint PREFIX_BIN_BITS = 12;
const uint PREFIX_BINS = 4096;
const uint RING_GROUPS = 32;
const uint RING_TAG_SHIFT = 18;
const uint DIGITS_COUNTED = 8;
const uint STATUS_COUNT_CLAMPED = 1;
const uint LEAST_LOOK_BACK_ROW = 32;
const uint LOOK_BACK_BLOCK = 32;
const uint STATUS_NO_BUCKET = 2;
const uint STATUS_OUTPUT_CLAMPED = 4;
const uint FUNCTION_DIGIT = 0;
const uint FUNCTION_FIELD = 1;
const uint FUNCTION_RANGE = 2;
const uint OUTPUT_BUCKETS = 0;
const uint OUTPUT_ONE = 1;
const uint OUTPUT_PLACED = 2;
const uint OUTPUT_RANKS = 3;
const uint OUTPUT_NONE = 4;
const uint ARGUMENTS_TILES = 0;
const uint ARGUMENTS_CHUNKS = 1;
const uint ARGUMENTS_DIGITS = 2;
const uint ARGUMENTS = 3;
const uint ENCODING_SIGNED = 1;
const uint ENCODING_FLOAT = 2;
const uint ENCODING_DESCENDING = 4;
const uint ENCODING_BIG_END_FIRST = 8;
const uint LAYOUT_INTERLEAVED = 1;
const uint LAYOUT_INDICES = 2;
const uint LAYOUT_DROP_KEYS = 4;
const uint LAYOUT_STRIDED = 8;
const uint LAYOUT_KEYS_IN_SCRATCH = 16;
const uint LAYOUT_VALUES_IN_SCRATCH = 32;
const uint LAYOUT_LABELS = 64;
const uint LAYOUT_KEY_ARRAY_WORDS_SHIFT = 8;
const uint MODE_SINGLE = 1;
const uint MODE_DIRECT = 2;
const uint MODE_SEGMENTS = 4;
const uint MODE_PREFIXES = 8;
const uint MODE_MERGED = 16;
const uint MODE_PARTITION = 32;
const uint MODE_JOIN = 64;
const uint FLAG_EVEN = 1;
const uint FLAG_ODD = 2;
const uint FLAG_SKIPS_DIGITS = 64;
const uint FLAG_SKIPS_CONSTANT_DIGITS = 128;
const uint SORTED_BY_PREFIXES = 2147483648;
const uint FLAG_INDIRECT = 8;
const uint FLAG_TICKETS = 16;
const uint FLAG_HISTOGRAMS = 32;
const uint SCAN_LOOK_BACK = 0;
const uint SCAN_CHAINED = 1;
const uint SCAN_RING = 2;
const uint SCAN_RING_IN_ORDER = 3;
const uint PERMUTE_TO_OUTPUT = 0;
const uint PERMUTE_TO_SCRATCH = 1;
const uint PERMUTE_FROM_SCRATCH = 2;
const uint RANKING_BALLOTS = 0;
const uint RANKING_VERIFIED = 1;
const uint RANKING_WRONG = 2;
const uint RANKING_BY_SOURCE_INDEX = 4;
const uint RANKING_SWIZZLED = 8;
const uint RANKING_UNORDERED = 16;
const uint FINISH_MARGIN = 32;
const uint MOST_STEPS = 24;
const uint FUNCTION_SPLITTERS = 3;
const uint FUNCTION_SIGNS = 4;
const uint FUNCTION_USER = 5;
const uint SPLITTERS_KEPT = 3072;
const uint SOURCE_B = 2147483648;
const uint SECTION_TILES = 8;
const uint THREAD_OFFSETS = 16;
const uint OPERATION_MERGE = 0;
const uint OPERATION_UNION = 1;
const uint OPERATION_INTERSECTION = 2;
const uint OPERATION_DIFFERENCE = 3;
const uint OPERATION_SYMMETRIC_DIFFERENCE = 4;
const uint OPERATION_UPDATE = 5;
const uint OPERATION_UPDATE_BY_VALUE = 6;
const uint OPERATION_UNIQUE = 7;
const uint OPERATION_SEGMENTS = 256;
const uint STATUS_TABLE_FULL = 8;
const uint TABLE_FORMAT = 2;
const uint SCHEME_BUCKETED = 0;
const uint SCHEME_LINEAR = 1;
const uint SCHEME_MULTIMAP = 2;
const uint HEADER_BYTES = 256;
const uint SLICE_SLOTS = 1024;
const uint LEAST_BUCKET_WORDS = 16;
const uint LEAST_BUCKET_SLOTS = 4;
const uint OVERFLOW_SHARE = 32;
const uint HOME_PROBES = 2;
const uint OVERFLOW_PROBES = 16;
const uint MOST_LINEAR_PROBES = 16384;
const uint HASH_INSERT = 0;
const uint HASH_ASSIGN = 1;
const uint HASH_ERASE = 2;
const uint HASH_INSERT_LAST = 3;
const uint HASH_ADD = 4;
const uint HASH_MIN = 5;
const uint HASH_MAX = 6;
const uint HASH_AND = 7;
const uint HASH_OR = 8;
const uint HASH_INCREMENT = 9;
const uint MOST_VALUE_WORDS = 4;
const uint OPCODE_FIND = 0;
const uint OPCODE_INSERT = 1;
const uint OPCODE_ASSIGN = 2;
const uint OPCODE_ERASE = 3;
const uint OPCODE_SHIFT = 30;
const uint RESERVED_FLAGS = 5;
const uint RESERVED_VALUES = 7;
const uint STATISTICS_KEYS = 0;
const uint STATISTICS_ERASED_SLOTS = 1;
const uint STATISTICS_SLOTS = 2;
const uint STATISTICS_OVERFLOW_SLOTS = 3;
const uint STATISTICS_COUNTED = 4;
const uint STATISTICS_OVERFLOW_KEYS = 4;
const uint STATISTICS_MOST_PROBES = 5;
const uint STATISTICS_TOTAL_PROBES = 6;
const uint STATISTICS_PROBES = 8;
const uint STATISTICS_BINS = 16;
const uint STATISTICS_WORDS = 24;
const uint MOST_WAITING = 176;
const uint STATE_USED = 0;
const uint STATE_MOVED = 1;
const uint RESIZE_SLICES = 0;
const uint RESIZE_KEYS = 1;
const uint RESIZE_EXPORT = 0;
const uint RESIZE_CLEAR = 1;

struct KeyRange {
    uint first;
    uint last;
    uint multiplier;
    uint shift;
};

struct SegmentList {
    uvec2 offsets;
    uvec2 count;
    uint max_count;
};

struct RadixProblem {
    uvec2 keys;
    uvec2 values;
    uvec2 to_keys;
    uvec2 to_values;
    uvec2 alternate_keys;
    uvec2 alternate_values;
    uvec2 count;
    uvec2 status;
    KeyRange range;
    uint max_count;
    uint strides;
    uint histogram;
    uint tile_words;
};

struct SegmentedProblem {
    uvec2 keys;
    uvec2 values;
    uvec2 to_keys;
    uvec2 to_values;
    uvec2 alternate_keys;
    uvec2 alternate_values;
    uvec2 status;
    uint max_count;
    uint strides;
    uint histogram;
};

struct CountedProblem {
    uvec2 count;
    uvec2 status;
    uint max_count;
    uint histogram;
};

struct ProblemState {
    uint count;
    uint first_tile;
    uint first;
};

struct Segment {
    uint first;
    uint count;
};

struct PreparePush {
    CountedProblem problem;
    uvec2 scratch;
    uint problems;
    uint states;
    uint problem_count;
    uint windows;
    uint commands;
    uint tickets;
    uint chunk;
    uint pass;
};

struct HistogramPush {
    RadixProblem problem;
    uvec2 scratch;
    uint problems;
    uint states;
    uint problem_count;
    uint tickets;
    uint chunk;
    uint pass;
};

struct OnesweepPush {
    RadixProblem problem;
    uvec2 scratch;
    uint problems;
    uint states;
    uint problem_count;
    uint tickets;
    uint pass;
    uint digit;
};

struct ReorderPush {
    RadixProblem problem;
    uvec2 scratch;
    uint problems;
    uint states;
    uint problem_count;
    uint chunk;
    uint pass;
    uint digit;
};

struct SpinePush {
    RadixProblem problem;
    uvec2 scratch;
    uint problems;
    uint states;
    uint problem_count;
    uint chunk;
    uint tile_items;
    uint pass;
};

struct PathPush {
    RadixProblem problem;
    uvec2 scratch;
    uint problems;
    uint states;
    uint problem_count;
    uint pass;
};

struct SegmentsPush {
    SegmentedProblem problem;
    uvec2 scratch;
    SegmentList segments;
    uint windows;
    uint problem_count;
    uint pass;
};

struct PackPush {
    RadixProblem problem;
    uvec2 scratch;
    uint problems;
    uint states;
    uint problem_count;
    uint windows;
    uint pass;
};

struct PermutePush {
    RadixProblem problem;
    uvec2 scratch;
    uint problems;
    uint states;
    uint problem_count;
    uint windows;
    uint pass;
    uint step;
};

struct SmallPush {
    RadixProblem problem;
    uvec2 scratch;
    uint problems;
    uint problem_count;
};

struct RankPush {
    RadixProblem problem;
    uint pass;
};

struct BucketRanges {
    uvec2 low;
    uvec2 width;
    float reciprocal;
};

struct LabelProblem {
    uvec2 inputs;
    uvec2 labels;
    uvec2 splitters;
    uvec2 user_address;
    uvec4 user_words;
    BucketRanges ranges;
    uvec2 count;
    uint max_count;
    uint input_stride;
};

struct BucketInfoProblem {
    uvec2 offsets;
    uvec2 counts;
    uvec2 commands;
    uvec2 starts;
    uvec2 labels;
    uvec2 count;
    uvec2 status;
    uint max_count;
    uint command_items;
    uint capacity;
    uint histogram;
    uint tile_words;
};

struct CountingInfoProblem {
    uvec2 keys;
    uvec2 labels;
    uvec2 offsets;
    uvec2 counts;
    uvec2 commands;
    uvec2 count;
    uvec2 status;
    KeyRange range;
    uint max_count;
    uint command_items;
    uint key_stride;
};

struct LabelPush {
    LabelProblem problem;
    uvec2 scratch;
    uint problems;
    uint states;
    uint problem_count;
    SegmentList segments;
};

struct ClearLookBackPush {
    BucketInfoProblem problem;
    uvec2 scratch;
    uint problems;
    uint states;
    uint problem_count;
    uint tickets;
    uint chunk;
    uint tile_items;
    uint pass;
};

struct BucketInfoPush {
    BucketInfoProblem problem;
    uvec2 scratch;
    uint problems;
    uint states;
    uint problem_count;
    uint pass;
};

struct BoundsPush {
    BucketInfoProblem problem;
    uvec2 scratch;
    uint problems;
    uint states;
    uint problem_count;
    SegmentList segments;
};

struct SingleDispatchPush {
    RadixProblem problem;
    uvec2 scratch;
    uint problems;
    uint problem_count;
    uint groups;
    uint digit;
};

struct CountingInfoPush {
    CountingInfoProblem problem;
    uvec2 scratch;
    uint problems;
    uint problem_count;
    uint digit;
};

struct MergeProblem {
    uvec2 keys_a;
    uvec2 values_a;
    uvec2 keys_b;
    uvec2 values_b;
    uvec2 keys_out;
    uvec2 values_out;
    uvec2 count_a;
    uvec2 count_b;
    uvec2 status;
    uvec2 count_out;
    uint max_count;
    uint max_a;
    uint co_ranks;
    uint tile_prefixes;
};

struct MergeDetails {
    uvec2 offsets_a;
    uvec2 offsets_b;
    uvec2 offsets_out;
    uvec2 segment_count;
    uint max_segments;
    uint mark_words;
    uvec2 marks;
    uint marked;
    uint mark_tiles;
    uvec2 user_address;
    uvec4 user_words;
};

struct MergePathPush {
    MergeProblem problem;
    uvec2 scratch;
    uint problems;
    uint problem_count;
    uint groups;
    uint details;
};

struct MergeSearchPush {
    MergeProblem problem;
    uvec2 scratch;
    uint problems;
    uint problem_count;
    uint groups;
    uint details;
    uint log2_searchers;
};

struct MergePush {
    RadixProblem problem;
    uvec2 scratch;
    uint problems;
    uint problem_count;
    uint groups;
    uint levels_after;
    uint run_items;
    uint user_inputs;
};

struct UserInput {
    uvec2 address;
    uvec4 words;
};

struct HashHeader {
    uint format;
    uint slices;
    uint used;
    uint entries;
    uint erased;
    uvec2 reserved;
    uvec4 empty_value;
    uvec4 erased_value;
};

struct HashProblem {
    uvec2 keys;
    uvec2 values;
    uvec2 table;
    uvec2 count;
    uvec2 requested;
    uvec2 status;
    uvec2 leftover_keys;
    uvec2 leftover_values;
    uvec2 count_out;
    uint max_count;
    uint slices;
};

struct HashFindProblem {
    uvec2 keys;
    uvec2 values;
    uvec2 table;
    uvec2 count;
    uvec2 status;
    uvec2 found;
    uvec2 stencil;
    uint max_count;
    uint slices;
};

struct HashFindPush {
    HashFindProblem problem;
};

struct HashCompactionProblem {
    uvec2 keys;
    uvec2 values;
    uvec2 count;
    uvec2 stencil;
    uint max_count;
};

struct HashCompactionPush {
    HashCompactionProblem problem;
    uvec2 scratch;
    uint keys;
    uint values;
    uint totals;
};

struct HashTotalsProblem {
    uvec2 count;
    uvec2 status;
    uvec2 numbers;
    uvec2 count_out;
    uint max_count;
    uint max_sum;
};

struct HashTotalsPush {
    HashTotalsProblem problem;
    uvec2 scratch;
    uint totals;
    uint group_keys;
};

struct HashMixedProblem {
    uvec2 keys;
    uvec2 values;
    uvec2 opcodes;
    uvec2 count;
    uvec2 values_out;
    uvec2 found;
    uint max_count;
};

struct HashMixedPush {
    HashMixedProblem problem;
    uvec2 scratch;
    uint identities;
    uint elements;
    uint aggregates;
    uint tile;
    uint had_keys;
    uint before;
    uint erased;
    uint assigned;
    uint keys;
    uint values;
    uint slots;
    uint last_slot;
};

struct HashStatisticsProblem {
    uvec2 table;
    uvec2 statistics;
    uint slices;
};

struct HashStatisticsPush {
    HashStatisticsProblem problem;
};

struct HashValuesProblem {
    uvec2 keys;
    uvec2 table;
    uvec2 count;
    uvec2 status;
    uvec2 stencil;
    uvec2 numbers;
    uvec2 values;
    uint max_count;
    uint slices;
    uint max_values;
};

struct HashValuesPush {
    HashValuesProblem problem;
    uvec2 scratch;
    uint totals;
    uint scans;
};

struct HashExportProblem {
    uvec2 keys;
    uvec2 values;
    uvec2 table;
    uvec2 status;
    uvec2 count_out;
    uint max_count;
    uint slices;
    uvec2 min_value;
    uvec2 max_value;
};

struct HashExportPush {
    HashExportProblem problem;
    uvec2 scratch;
    uint cursor;
};

struct HashResizeProblem {
    uvec2 table;
    uvec2 reserve;
    uint max_reserve;
    uint max_count;
    uint min_slices;
    uint slices;
};

struct HashResizePush {
    HashResizeProblem problem;
    uvec2 scratch;
    uint state;
    uint commands;
    uint clear_blocks;
};

struct HashLinearPush {
    HashProblem problem;
    uvec2 scratch;
    uint slots;
    uint owners;
    uint round;
};

struct HashPush {
    HashProblem problem;
    uvec2 scratch;
    uvec2 payload;
    uint hashes;
    uint sorted_hashes;
    uint spilled;
    uint moved;
    uint state;
    uint bins;
    uint bin_bits;
};

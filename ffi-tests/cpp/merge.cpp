// Merges through trommel.hpp, against std::merge: pairs with a count on the device, values of several words, indices
// alone, and a batch with a sort and a split; with an argument, also indices by the comparator in that file.

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <numeric>
#include <string>

#include <trommel/merge.hpp>
#include <trommel/sort.hpp>
#include <trommel/split.hpp>

#include "test.hpp"

namespace {

constexpr std::uint32_t COUNT_A = 20000;
constexpr std::uint32_t COUNT_B = 7000;
constexpr std::uint32_t FEWER_A = 12345;
constexpr std::uint32_t VALUE_WORDS = 3;

std::uint32_t key_of(std::uint32_t i) { return i * 2654435761u >> 20; }

/// Sorted keys, many of them equal.
Words sorted_keys(std::uint32_t count, std::uint32_t first) {
    Words keys(count);
    std::iota(keys.begin(), keys.end(), first);
    std::transform(keys.begin(), keys.end(), keys.begin(), key_of);
    std::sort(keys.begin(), keys.end());
    return keys;
}

/// Expected output of a merge: keys, and indices with TRM_SOURCE_B for items of B.
struct Expected {
    Expected(const Words &a, const Words &b) {
        Words of_a(a.size()), of_b(b.size());
        std::iota(of_a.begin(), of_a.end(), 0);
        std::iota(of_b.begin(), of_b.end(), TRM_SOURCE_B);
        const auto key = [&](std::uint32_t index) {
            return index < TRM_SOURCE_B ? a[index] : b[index - TRM_SOURCE_B];
        };
        std::merge(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), std::back_inserter(indices),
                   [&](auto left, auto right) { return key(left) < key(right); });
        std::transform(indices.begin(), indices.end(), std::back_inserter(keys), key);
    }

    Words indices, keys;
};

/// The same index in each word of a value.
Words widened(const Words &indices) {
    Words values;
    for (const auto index : indices) values.insert(values.end(), VALUE_WORDS, index);
    return values;
}

void run(const Engine &engine) {
    const trommel::Device device(library_info(&engine));
    const trommel::Merger indices(device, trommel::mergeIndicesInfo(TRM_KEY_TYPE_U32));
    const trommel::Merger wide(device, trommel::mergerInfo(TRM_KEY_TYPE_U32, VALUE_WORDS * 4));
    auto deferred = trommel::withBatches(trommel::mergerInfo(TRM_KEY_TYPE_U32, TRM_VALUE_TYPE_U32));
    deferred.flags |= TRM_MERGER_CREATE_DEFERRED_BIT;
    const trommel::Merger pairs(device, deferred);
    EXPECT(!pairs.ready());
    pairs.compile();
    const auto counts = trommel::setCountInfo(TRM_KEY_TYPE_U64, TRM_MERGE_OPERATION_UNION);
    EXPECT(counts.operation == TRM_MERGE_OPERATION_UNION && counts.flags == TRM_MERGER_CREATE_DROP_KEYS_BIT);
    const trommel::Merger counting(device, counts);
    EXPECT(counting.ready() && counting.scratchSize(1000) != 0);
    const trommel::Merger ofFour(device, trommel::withSequences(trommel::mergerInfo(TRM_KEY_TYPE_U32), 4));
    EXPECT(ofFour.scratchSize(1000) >= 1000 * sizeof(std::uint32_t));
    EXPECT(pairs.ready());
    EXPECT(pairs.timestampCount(COUNT_A) >= 2);
    try {
        trommel::Merger(device, trommel::mergerInfo(TRM_KEY_TYPE_U16));
        EXPECT(!"no error");
    } catch (const trommel::Error &error) {
        EXPECT(error.result() == TRM_ERROR_MALFORMED);
    }
    const trommel::Sorter sorter(device, trommel::withBatches(trommel::sorterInfo(TRM_KEY_TYPE_U32)));
    const trommel::Splitter splitter(device, trommel::withBatches(trommel::bitsInfo(2, 0)));

    const Words a = sorted_keys(COUNT_A, 0), b = sorted_keys(COUNT_B, COUNT_A / 2);
    Words of_a(COUNT_A), of_b(COUNT_B), unsorted(COUNT_A);
    std::iota(of_a.begin(), of_a.end(), 0);
    std::iota(of_b.begin(), of_b.end(), TRM_SOURCE_B);
    std::transform(of_a.begin(), of_a.end(), unsorted.begin(), key_of);
    const Memory keys_a(engine, a), keys_b(engine, b), values_a(engine, of_a), values_b(engine, of_b);
    const Memory wide_a(engine, widened(of_a)), wide_b(engine, widened(of_b)), count_a(engine, Words{FEWER_A});
    const Memory to_sort(engine, unsorted), to_split(engine, unsorted), split_keys(engine, COUNT_A);
    const Memory indices_out(engine, COUNT_A + COUNT_B), wide_keys(engine, COUNT_A + COUNT_B);
    const Memory wide_values(engine, (COUNT_A + COUNT_B) * VALUE_WORDS);
    const Memory pair_keys(engine, COUNT_A + COUNT_B), pair_values(engine, COUNT_A + COUNT_B);

    auto merge = trommel::info<TrmMergeInfo>();
    merge.countA.max = COUNT_A;
    merge.countB.max = COUNT_B;
    merge.keysA = keys_a.range();
    merge.keysB = keys_b.range();
    // Small merges need no scratch, but Vulkan has no empty buffers.
    const auto words_of = [](VkDeviceSize bytes) { return std::max<VkDeviceSize>(bytes / 4, 1); };
    const Memory index_scratch(engine, words_of(indices.scratchSize(COUNT_A + COUNT_B)));
    auto index_merge = merge;
    index_merge.valuesOut = indices_out.range();
    index_merge.scratch = index_scratch.scratch();
    const Memory wide_scratch(engine, words_of(wide.scratchSize(COUNT_A + COUNT_B)));
    auto wide_merge = merge;
    wide_merge.valuesA = wide_a.range();
    wide_merge.valuesB = wide_b.range();
    wide_merge.keysOut = wide_keys.range();
    wide_merge.valuesOut = wide_values.range();
    wide_merge.scratch = wide_scratch.scratch();

    auto pair_merge = merge;
    pair_merge.countA.address = count_a.buffer.address;
    pair_merge.valuesA = values_a.range();
    pair_merge.valuesB = values_b.range();
    pair_merge.keysOut = pair_keys.range();
    pair_merge.valuesOut = pair_values.range();
    auto sort = trommel::info<TrmSortInfo>();
    sort.count.max = COUNT_A;
    sort.keys = to_sort.range();
    auto split = trommel::info<TrmSplitInfo>();
    split.count.max = COUNT_A;
    split.keys = to_split.range();
    split.keysOut = split_keys.range();
    trommel::Batch batch;
    batch.add(sorter, sort);
    batch.add(pairs, pair_merge);
    batch.add(splitter, split);
    const Memory batch_scratch(engine, words_of(batch.scratchSize()));

    begin(&engine);
    indices.cmdMerge(engine.commands, index_merge);
    wide.cmdMerge(engine.commands, wide_merge);
    batch.cmd(engine.commands, batch_scratch.scratch());
    barrier(&engine, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    submit_and_wait(&engine);

    const Expected all(a, b), fewer(Words(a.begin(), a.begin() + FEWER_A), b);
    EXPECT(all.keys.size() == COUNT_A + COUNT_B && fewer.keys.size() == FEWER_A + COUNT_B);
    EXPECT(indices_out.begins_with(all.indices));
    EXPECT(wide_keys.begins_with(all.keys));
    EXPECT(wide_values.begins_with(widened(all.indices)));
    EXPECT(pair_keys.begins_with(fewer.keys));
    EXPECT(pair_values.begins_with(fewer.indices));
    std::stable_partition(unsorted.begin(), unsorted.end(), [](auto key) { return (key & 1) == 0; });
    EXPECT(split_keys.begins_with(unsorted));
    std::sort(unsorted.begin(), unsorted.end());
    EXPECT(to_sort.begins_with(unsorted));
    std::cout << COUNT_A + COUNT_B << " items merged, 0 wrong\n";
}

std::string read(const std::string &name) {
    std::ifstream file(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Creates a merger of indices from GLSL or from SPIR-V. Checks that errors in GLSL name their line.
trommel::Merger own_merger(const trommel::Device &device, const std::string &name) {
    const std::string file = read(name);
    const bool compiles = name.find(".glsl") != std::string::npos;
    const auto info = trommel::mergeIndicesInfo(TRM_KEY_TYPE_U32);
    try {
        // Invalid GLSL is refused in any case: it is malformed, or the library has no compiler.
        trommel::Merger::fromGlsl(device, info,
                                  "\nbool trm_less(KEY a, KEY b, TrmUserData data) { return a < color; }");
        EXPECT(!"no error");
    } catch (const trommel::Error &error) {
        EXPECT(error.result() == (compiles ? TRM_ERROR_MALFORMED : TRM_ERROR_NOT_BUILT));
        EXPECT(!compiles || std::string(error.what()).find("trm_less.glsl:2: error: 'color'") != std::string::npos);
    }
    if (compiles) return trommel::Merger::fromGlsl(device, info, file.c_str());
    Words words(file.size() / 4);
    std::memcpy(words.data(), file.data(), words.size() * 4);
    return trommel::Merger::fromSpirv(device, info, words);
}

/// Merges by the comparator in tests/kernels/ranked.glsl: a table maps remainders of keys to ranks.
void run_own_comparator(const Engine &engine, const char *name) {
    const Words ranks{3, 0, 4, 1, 1, 2, 0};
    const auto remainders = static_cast<std::uint32_t>(ranks.size());
    const auto less = [&](auto a, auto b) { return ranks[a % remainders] < ranks[b % remainders]; };
    const trommel::Device device(library_info(&engine));
    const auto merger = own_merger(device, name);
    auto a = sorted_keys(COUNT_A, 0), b = sorted_keys(COUNT_B, 99);
    std::stable_sort(a.begin(), a.end(), less);
    std::stable_sort(b.begin(), b.end(), less);
    const Memory keys_a(engine, a), keys_b(engine, b), table(engine, ranks), indices(engine, COUNT_A + COUNT_B);
    const Memory scratch(engine, merger.scratchSize(COUNT_A + COUNT_B) / 4);
    auto merge = trommel::info<TrmMergeInfo>();
    merge.countA.max = COUNT_A;
    merge.countB.max = COUNT_B;
    merge.keysA = keys_a.range();
    merge.keysB = keys_b.range();
    merge.valuesOut = indices.range();
    merge.scratch = scratch.scratch();
    merge.userAddress = table.buffer.address;
    merge.userWords[0] = remainders;

    begin(&engine);
    merger.cmdMerge(engine.commands, merge);
    barrier(&engine, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    submit_and_wait(&engine);
    Words of_a(COUNT_A), of_b(COUNT_B), expected;
    std::iota(of_a.begin(), of_a.end(), 0);
    std::iota(of_b.begin(), of_b.end(), TRM_SOURCE_B);
    const auto key = [&](std::uint32_t index) { return index < TRM_SOURCE_B ? a[index] : b[index - TRM_SOURCE_B]; };
    std::merge(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), std::back_inserter(expected),
               [&](auto left, auto right) { return less(key(left), key(right)); });
    EXPECT(indices.begins_with(expected));
    std::cout << COUNT_A + COUNT_B << " items merged by a comparator of the caller, 0 wrong\n";
}

}  // namespace

int main(int argc, char **argv) {
    Engine engine;
    create_engine(&engine);
    run(engine);
    if (argc > 1) run_own_comparator(engine, argv[1]);
    destroy_engine(&engine);
    return 0;
}

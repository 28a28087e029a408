// Splits through trommel.hpp, against std's stable sort by buckets: keys, pairs, a count on the device, a batch with a
// sort. With an argument, also by the user-defined function spread.glsl, from the GLSL or SPIR-V file of that name.

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include <trommel/sort.hpp>
#include <trommel/split.hpp>

#include "test.hpp"

namespace {

constexpr std::uint32_t COUNT = 20000;
constexpr std::uint32_t FEWER = 9999;
constexpr std::uint32_t GROUP = 100;

std::uint32_t key_of(std::uint32_t i) { return i * 2654435761u >> 8; }

/// Expected outputs of a split of the first count pairs.
struct Expected {
    template <class BucketOf>
    Expected(std::uint32_t buckets, std::uint32_t count, BucketOf bucket_of)
        : indices(count), counts(buckets), offsets(buckets + 1) {
        std::iota(indices.begin(), indices.end(), 0);
        const auto bucket = [&](std::uint32_t i) { return bucket_of(key_of(i)); };
        std::stable_sort(indices.begin(), indices.end(), [&](auto a, auto b) { return bucket(a) < bucket(b); });
        for (const auto i : indices) {
            keys.push_back(key_of(i));
            if (bucket(i) < buckets) ++counts[bucket(i)];
        }
        std::partial_sum(counts.begin(), counts.end(), offsets.begin() + 1);
        for (const auto items : counts) commands.insert(commands.end(), {(items + GROUP - 1) / GROUP, items != 0, 1});
    }

    Words indices, counts, offsets, keys, commands;
};

/// The outputs of a split.
struct Output {
    Output(const Engine &engine, std::uint32_t buckets)
        : keys(engine, COUNT), values(engine, COUNT), offsets(engine, buckets + 1), counts(engine, buckets),
          commands(engine, 3 * buckets) {}

    void set(TrmSplitInfo &info, bool pairs) const {
        info.keysOut = keys.range();
        if (pairs) info.valuesOut = values.range();
        info.offsets = offsets.range();
        info.counts = counts.range();
        info.commands = commands.range();
        info.commandItems = GROUP;
    }

    void check(const Expected &expected, bool pairs) const {
        EXPECT(keys.begins_with(expected.keys));
        EXPECT(!pairs || values.begins_with(expected.indices));
        EXPECT(offsets.begins_with(expected.offsets));
        EXPECT(counts.begins_with(expected.counts));
        EXPECT(commands.begins_with(expected.commands));
    }

    Memory keys, values, offsets, counts, commands;
};

void run(const Engine &engine) {
    const trommel::Device device(library_info(&engine));
    const trommel::Splitter fields(device, trommel::withBatches(trommel::bitsInfo(16, 4, TRM_VALUE_TYPE_U32)));
    const trommel::Splitter ranges(device, trommel::rangesInfo(9));
    auto deferred = trommel::withBatches(trommel::sorterInfo(TRM_KEY_TYPE_U32));
    deferred.flags |= TRM_SORTER_CREATE_DEFERRED_BIT;
    const trommel::Sorter sorter(device, deferred);
    EXPECT(!sorter.ready());
    sorter.compile();
    EXPECT(sorter.ready());
    EXPECT(fields.timestampCount(COUNT) >= 2);
    try {
        trommel::Splitter(device, trommel::bitsInfo(0, 0));
        EXPECT(!"no error");
    } catch (const trommel::Error &error) {
        EXPECT(error.result() == TRM_ERROR_MALFORMED);
    }

    Words unsplit(COUNT), indices(COUNT);
    std::iota(indices.begin(), indices.end(), 0);
    std::transform(indices.begin(), indices.end(), unsplit.begin(), key_of);
    const Memory keys(engine, unsplit), values(engine, indices), to_sort(engine, unsplit), count(engine, Words{FEWER});
    const Output alone(engine, 9), together(engine, 16);

    auto by_range = trommel::info<TrmSplitInfo>();
    by_range.count.max = COUNT;
    by_range.keys = keys.range();
    by_range.low = 1000000;
    by_range.width = 1500000;
    alone.set(by_range, false);
    const Memory scratch(engine, ranges.scratchSize(COUNT) / 4);
    by_range.scratch = scratch.scratch();

    auto by_field = trommel::info<TrmSplitInfo>();
    by_field.count = {COUNT, count.buffer.address};
    by_field.keys = keys.range();
    by_field.values = values.range();
    together.set(by_field, true);
    auto sort = trommel::info<TrmSortInfo>();
    sort.count.max = COUNT;
    sort.keys = to_sort.range();
    trommel::Batch batch;
    batch.add(fields, by_field);
    batch.add(sorter, sort);
    const Memory batch_scratch(engine, batch.scratchSize() / 4);

    begin(&engine);
    ranges.cmdSplit(engine.commands, by_range);
    batch.cmd(engine.commands, batch_scratch.scratch());
    barrier(&engine, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    submit_and_wait(&engine);

    const auto range = [](std::uint32_t key) { return key < 1000000 ? 0 : std::min((key - 1000000) / 1500000, 8u); };
    alone.check({9, COUNT, range}, false);
    together.check({16, FEWER, [](std::uint32_t key) { return key >> 4 & 15; }}, true);
    std::sort(unsplit.begin(), unsplit.end());
    EXPECT(to_sort.begins_with(unsplit));
    std::cout << COUNT << " items split, 0 wrong\n";
}

std::string read(const std::string &name) {
    std::ifstream file(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Creates a splitter from GLSL or from SPIR-V. Checks that errors in GLSL name their line.
trommel::Splitter own_splitter(const trommel::Device &device, const std::string &name) {
    const std::string file = read(name);
    const bool compiles = name.find(".glsl") != std::string::npos;
    try {
        // Invalid GLSL is refused in any case: it is malformed, or the library has no compiler.
        trommel::Splitter::fromGlsl(device, trommel::userInfo(5),
                                    "\nuint trm_bucket(KEY key, uint index, TrmUserData data) { return color; }");
        EXPECT(!"no error");
    } catch (const trommel::Error &error) {
        EXPECT(error.result() == (compiles ? TRM_ERROR_MALFORMED : TRM_ERROR_NOT_BUILT));
        EXPECT(!compiles || std::string(error.what()).find("trm_bucket.glsl:2: error: 'color'") != std::string::npos);
    }
    if (compiles) return trommel::Splitter::fromGlsl(device, trommel::userInfo(5), file.c_str());
    Words words(file.size() / 4);
    std::memcpy(words.data(), file.data(), words.size() * 4);
    return trommel::Splitter::fromSpirv(device, trommel::userInfo(5), words);
}

/// Splits by the function in tests/kernels/spread.glsl: a table maps remainders of keys to buckets. The index mask
/// userWords[3] is 0.
void run_own_function(const Engine &engine, const char *name) {
    const Words table{3, 0, 4, 1, 1, 2, 0};
    const auto remainders = static_cast<std::uint32_t>(table.size());
    const trommel::Device device(library_info(&engine));
    const auto splitter = own_splitter(device, name);
    Words unsplit(COUNT);
    for (std::uint32_t i = 0; i < COUNT; ++i) unsplit[i] = key_of(i);
    const Memory keys(engine, unsplit), buckets(engine, table), scratch(engine, splitter.scratchSize(COUNT) / 4);
    const Output output(engine, 5);
    auto split = trommel::info<TrmSplitInfo>();
    split.count.max = COUNT;
    split.keys = keys.range();
    split.userAddress = buckets.buffer.address;
    split.userWords[0] = remainders;
    split.scratch = scratch.scratch();
    output.set(split, false);

    begin(&engine);
    splitter.cmdSplit(engine.commands, split);
    barrier(&engine, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    submit_and_wait(&engine);
    output.check({5, COUNT, [&](std::uint32_t key) { return table[key % remainders]; }}, false);
    std::cout << COUNT << " items split by a function of the caller, 0 wrong\n";
}

}  // namespace

int main(int argc, char **argv) {
    Engine engine;
    create_engine(&engine);
    run(engine);
    if (argc > 1) run_own_function(engine, argv[1]);
    destroy_engine(&engine);
    return 0;
}

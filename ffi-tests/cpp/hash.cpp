// Hash tables through trommel.hpp, against std::unordered_map: values of several words are inserted, assigned, erased
// in a batch with a sort, and found. Each key of a mixed batch has an operation of its own.

#include <unordered_map>

#include <trommel/hash.hpp>
#include <trommel/sort.hpp>

#include "test.hpp"

namespace {

constexpr std::uint32_t COUNT = 9000;
constexpr std::uint32_t CAPACITY = 12000;
constexpr std::uint32_t VALUE_WORDS = 3;
using Value = std::vector<std::uint32_t>;

std::uint32_t key_of(std::uint32_t i) { return i * 2654435761u >> 19; }

/// The keys of a batch, and values that no other batch has.
struct Batch {
    Batch(const Engine &engine, std::uint32_t count, std::uint32_t first)
        : words(count), values(count * VALUE_WORDS), keys(engine, count), memory(engine, count * VALUE_WORDS) {
        for (std::uint32_t i = 0; i < count; ++i) words[i] = key_of(first + i);
        for (std::uint32_t i = 0; i < count * VALUE_WORDS; ++i) values[i] = (first + i) * 77u;
        std::copy(words.begin(), words.end(), keys.buffer.mapped);
        std::copy(values.begin(), values.end(), memory.buffer.mapped);
    }

    Value value(std::size_t i) const {
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(i * VALUE_WORDS);
        return {first, first + VALUE_WORDS};
    }

    Words words, values;
    Memory keys, memory;
};

// Inserts keys into a set with linear probing, while others are looked up.
void run_concurrently(const Engine &engine, const trommel::Device &device, const Batch &batch) {
    const auto sets = trommel::withLinearProbing(trommel::hasherInfo(TRM_HASH_OPERATION_INSERT, TRM_KEY_TYPE_U32));
    const auto shared = trommel::withBatches(trommel::withConcurrency(sets));
    const trommel::Hasher clear(device, trommel::withOperation(sets, TRM_HASH_OPERATION_CLEAR));
    const trommel::Hasher insert(device, shared);
    const trommel::Hasher find(device, trommel::withOperation(shared, TRM_HASH_OPERATION_FIND));
    const trommel::Hasher alone(device, trommel::withOperation(sets, TRM_HASH_OPERATION_FIND));
    try {
        trommel::Hasher(device, trommel::withConcurrency(trommel::withOperation(sets, TRM_HASH_OPERATION_CLEAR)));
        EXPECT(!"no error");
    } catch (const trommel::Error &error) {
        EXPECT(error.result() == TRM_ERROR_MALFORMED);
    }
    const Memory table(engine, insert.tableSize(2 * COUNT) / 4);
    const Memory during(engine, (COUNT + 31) / 32), after(engine, (COUNT + 31) / 32);
    auto info = trommel::info<TrmHashInfo>();
    info.table = table.range();
    info.capacity = 2 * COUNT;
    auto all = info;
    all.count.max = COUNT;
    all.keys = batch.keys.range();
    auto search = all, check = all;
    search.found = during.range();
    check.found = after.range();
    trommel::Batch both;
    both.add(insert, all);
    both.add(find, search);
    const Memory scratch(engine, both.scratchSize() / 4);
    const auto wait_for_writes = [&] {
        barrier(&engine, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
    };
    begin(&engine);
    clear.cmdHash(engine.commands, info);
    wait_for_writes();
    both.cmd(engine.commands, scratch.scratch());
    wait_for_writes();
    alone.cmdHash(engine.commands, check);
    barrier(&engine, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    submit_and_wait(&engine);
    for (std::size_t i = 0; i < COUNT; ++i) EXPECT((after.buffer.mapped[i / 32] >> i % 32 & 1) != 0);
    alone.checkTable(info.capacity, table.buffer.mapped, alone.tableSize(info.capacity));
}

// Inserts the keys of a batch into a multimap: keys that occur several times have as many entries. A stencil selects
// every third key of a count.
void count_entries(const Engine &engine, const trommel::Device &device, const Batch &batch) {
    const auto insert_info = trommel::hasherInfo(TRM_HASH_OPERATION_INSERT, TRM_KEY_TYPE_U32);
    const auto multimaps = trommel::forMultimaps(trommel::withLinearProbing(insert_info));
    EXPECT(multimaps.flags == TRM_HASHER_CREATE_MULTIMAP_BIT);
    const trommel::Hasher clear(device, trommel::withOperation(multimaps, TRM_HASH_OPERATION_CLEAR));
    const trommel::Hasher insert(device, multimaps);
    const trommel::Hasher count(device, trommel::withOperation(multimaps, TRM_HASH_OPERATION_COUNT));
    const trommel::Hasher count_some(
        device, trommel::withStencil(trommel::withOperation(multimaps, TRM_HASH_OPERATION_COUNT)));
    try {
        trommel::Hasher(device, trommel::withOperation(multimaps, TRM_HASH_OPERATION_FIND_OR_INSERT));
        EXPECT(!"no error");
    } catch (const trommel::Error &error) {
        EXPECT(error.result() == TRM_ERROR_MALFORMED);
    }
    const Memory table(engine, insert.tableSize(2 * COUNT) / 4), counts(engine, COUNT);
    const Memory stencil(engine, (COUNT + 31) / 32), counts_of_some(engine, COUNT);
    const auto is_selected = [](std::size_t i) { return i % 3 == 0; };
    std::fill_n(stencil.buffer.mapped, (COUNT + 31) / 32, 0u);
    for (std::size_t i = 0; i < COUNT; ++i) stencil.buffer.mapped[i / 32] |= std::uint32_t(is_selected(i)) << i % 32;
    const Memory scratch(engine, insert.scratchSize(COUNT) / 4);
    auto info = trommel::info<TrmHashInfo>();
    info.table = table.range();
    info.capacity = 2 * COUNT;
    auto all = info;
    all.count.max = COUNT;
    all.keys = batch.keys.range();
    all.counts = counts.range();
    all.scratch = scratch.scratch();
    const auto wait_for_writes = [&] {
        barrier(&engine, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
    };
    begin(&engine);
    clear.cmdHash(engine.commands, info);
    wait_for_writes();
    for (int i = 0; i < 2; ++i) {
        insert.cmdHash(engine.commands, all);
        wait_for_writes();
    }
    count.cmdHash(engine.commands, all);
    auto some = all;
    some.stencil = stencil.range();
    some.counts = counts_of_some.range();
    count_some.cmdHash(engine.commands, some);
    barrier(&engine, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    submit_and_wait(&engine);
    std::unordered_map<std::uint32_t, std::uint32_t> model;
    for (const auto key : batch.words) model[key] += 2;
    for (std::size_t i = 0; i < COUNT; ++i) {
        const auto expected = model[batch.words[i]];
        EXPECT(counts.buffer.mapped[i] == expected);
        EXPECT(counts_of_some.buffer.mapped[i] == (is_selected(i) ? expected : 0));
    }
    count.checkTable(info.capacity, table.buffer.mapped, count.tableSize(info.capacity));
}

// Applies an operation of its own to each key of a batch, in which keys occur several times.
void mix(const Engine &engine, const trommel::Device &device, const Batch &batch) {
    const auto mixes = trommel::hasherInfo(TRM_HASH_OPERATION_MIXED, TRM_KEY_TYPE_U32, VALUE_WORDS * 4);
    const trommel::Hasher clear(device, trommel::withOperation(mixes, TRM_HASH_OPERATION_CLEAR));
    const trommel::Hasher mixed(device, mixes);
    const Memory table(engine, mixed.tableSize(CAPACITY) / 4), opcodes(engine, COUNT), found(engine, (COUNT + 31) / 32);
    const Memory values(engine, COUNT * VALUE_WORDS), scratch(engine, mixed.scratchSize(COUNT) / 4);
    for (std::uint32_t i = 0; i < COUNT; ++i) opcodes.buffer.mapped[i] = key_of(i * 7) % 4;
    auto info = trommel::info<TrmHashInfo>();
    info.table = table.range();
    info.capacity = CAPACITY;
    auto all = info;
    all.count.max = COUNT;
    all.keys = batch.keys.range();
    all.values = batch.memory.range();
    all.opcodes = opcodes.range();
    all.found = found.range();
    all.valuesOut = values.range();
    all.scratch = scratch.scratch();
    begin(&engine);
    clear.cmdHash(engine.commands, info);
    barrier(&engine, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
            VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
    mixed.cmdHash(engine.commands, all);
    barrier(&engine, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    submit_and_wait(&engine);
    std::unordered_map<std::uint32_t, Value> model;
    const Value none(VALUE_WORDS, 0xffffffffu);
    std::size_t hits = 0;
    for (std::size_t i = 0; i < COUNT; ++i) {
        const auto key = batch.words[i];
        const auto known = model.find(key);
        const bool has_key = known != model.end();
        EXPECT((found.buffer.mapped[i / 32] >> i % 32 & 1) == std::uint32_t(has_key));
        const Value &value = has_key ? known->second : none;
        EXPECT(std::equal(value.begin(), value.end(), values.buffer.mapped + i * VALUE_WORDS));
        hits += has_key ? 1 : 0;
        switch (opcodes.buffer.mapped[i]) {
            case TRM_HASH_OPCODE_INSERT: model.emplace(key, batch.value(i)); break;
            case TRM_HASH_OPCODE_ASSIGN: model[key] = batch.value(i); break;
            case TRM_HASH_OPCODE_ERASE: model.erase(key); break;
            default: EXPECT(opcodes.buffer.mapped[i] == TRM_HASH_OPCODE_FIND);
        }
    }
    EXPECT(hits != 0 && hits != COUNT);
    mixed.checkTable(CAPACITY, table.buffer.mapped, mixed.tableSize(CAPACITY));
}

void run(const Engine &engine) {
    const trommel::Device device(library_info(&engine));
    const auto inserts = trommel::hasherInfo(TRM_HASH_OPERATION_INSERT, TRM_KEY_TYPE_U32, VALUE_WORDS * 4);
    EXPECT(inserts.valueType == TRM_VALUE_TYPE_BYTES && inserts.valueSize == 12);
    const trommel::Hasher insert(device, inserts);
    const trommel::Hasher clear(device, trommel::withOperation(inserts, TRM_HASH_OPERATION_CLEAR));
    const trommel::Hasher erase(
        device, trommel::withBatches(trommel::withOperation(inserts, TRM_HASH_OPERATION_ERASE)));
    const trommel::Hasher find(device, trommel::withOperation(inserts, TRM_HASH_OPERATION_FIND));
    auto deferred = trommel::withOperation(inserts, TRM_HASH_OPERATION_ASSIGN);
    deferred.flags |= TRM_HASHER_CREATE_DEFERRED_BIT;
    const trommel::Hasher assign(device, deferred);
    EXPECT(insert.ready() && !assign.ready());
    assign.compile();
    EXPECT(assign.ready());
    EXPECT(find.timestampCount(COUNT) == 2 && insert.timestampCount(COUNT) > 2);
    EXPECT(find.scratchSize(COUNT) == 0);
    EXPECT(find.tableSize(CAPACITY) == insert.tableSize(CAPACITY));
    try {
        trommel::Hasher(device, trommel::hasherInfo(TRM_HASH_OPERATION_INSERT, TRM_KEY_TYPE_U16));
        EXPECT(!"no error");
    } catch (const trommel::Error &error) {
        EXPECT(error.result() == TRM_ERROR_MALFORMED);
    }
    const trommel::Sorter sorter(device, trommel::withBatches(trommel::sorterInfo(TRM_KEY_TYPE_U32)));

    const Batch first(engine, COUNT, 0), second(engine, COUNT, COUNT / 2), third(engine, COUNT / 3, 17);
    const Memory table(engine, insert.tableSize(CAPACITY) / 4), to_sort(engine, first.words);
    const Memory found(engine, (COUNT + 31) / 32), values(engine, COUNT * VALUE_WORDS);
    const Memory scratch(engine, std::max(insert.scratchSize(COUNT), assign.scratchSize(COUNT)) / 4);
    auto info = trommel::info<TrmHashInfo>();
    info.table = table.range();
    info.capacity = CAPACITY;
    const auto batch_of = [&](const Batch &batch) {
        auto made = info;
        made.count.max = static_cast<std::uint32_t>(batch.words.size());
        made.keys = batch.keys.range();
        made.values = batch.memory.range();
        made.scratch = scratch.scratch();
        return made;
    };
    auto sort = trommel::info<TrmSortInfo>();
    sort.count.max = COUNT;
    sort.keys = to_sort.range();
    trommel::Batch batch;
    batch.add(erase, batch_of(third));
    batch.add(sorter, sort);
    const Memory batch_scratch(engine, batch.scratchSize() / 4);
    auto search = batch_of(first);
    search.values = values.range();
    search.found = found.range();

    const auto wait_for_writes = [&] {
        barrier(&engine, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT,
                VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT);
    };
    begin(&engine);
    clear.cmdHash(engine.commands, info);
    wait_for_writes();
    insert.cmdHash(engine.commands, batch_of(first));
    wait_for_writes();
    assign.cmdHash(engine.commands, batch_of(second));
    wait_for_writes();
    batch.cmd(engine.commands, batch_scratch.scratch());
    wait_for_writes();
    find.cmdHash(engine.commands, search);
    barrier(&engine, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    submit_and_wait(&engine);

    find.checkTable(CAPACITY, table.buffer.mapped, insert.tableSize(CAPACITY));
    try {
        find.checkTable(2 * CAPACITY, table.buffer.mapped, insert.tableSize(CAPACITY));
        EXPECT(!"no error");
    } catch (const trommel::Error &error) {
        EXPECT(error.result() == TRM_ERROR_TOO_SMALL);
    }

    std::unordered_map<std::uint32_t, Value> model;
    for (std::size_t i = 0; i < first.words.size(); ++i) model.emplace(first.words[i], first.value(i));
    for (std::size_t i = 0; i < second.words.size(); ++i) model[second.words[i]] = second.value(i);
    for (const auto key : third.words) model.erase(key);
    std::size_t missing = 0;
    for (std::size_t i = 0; i < COUNT; ++i) {
        const auto expected = model.find(first.words[i]);
        const bool is_found = (found.buffer.mapped[i / 32] >> i % 32 & 1) != 0;
        EXPECT(is_found == (expected != model.end()));
        const Value none(VALUE_WORDS, 0xffffffffu);
        const Value &value = is_found ? expected->second : none;
        EXPECT(std::equal(value.begin(), value.end(), values.buffer.mapped + i * VALUE_WORDS));
        missing += is_found ? 0 : 1;
    }
    EXPECT(missing != 0 && missing != COUNT);
    auto sorted = first.words;
    std::sort(sorted.begin(), sorted.end());
    EXPECT(to_sort.begins_with(sorted));
    run_concurrently(engine, device, first);
    count_entries(engine, device, first);
    mix(engine, device, first);
    std::cout << COUNT << " keys inserted and found, 0 wrong\n";
}

}  // namespace

int main() {
    Engine engine;
    create_engine(&engine);
    run(engine);
    destroy_engine(&engine);
    return 0;
}

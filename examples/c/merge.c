/*
 * A merge in an engine's own command buffer: a small sorted delta is merged into a large sorted base. Keys have an id
 * each. The number of items of the delta is in device memory, as if a dispatch had counted them. The host waits once,
 * at the end, and compares the result with a merge of its own.
 */
#include "engine.h"

#define BASE 100000u
#define MAX_DELTA 2000u
#define DELTA 1234u

/* Sorted keys. Some occur several times in each sequence, and some in both. */
static uint32_t base_key(uint32_t index)
{
    return index / 3;
}

static uint32_t delta_key(uint32_t index)
{
    return index / 2 * 50;
}

/* The keys and the ids of a sequence, in a buffer each. */
typedef struct {
    Buffer keys, ids;
} Items;

static Items create_items(const Engine *engine, uint32_t room)
{
    Items items;
    items.keys = create_buffer(engine, room * sizeof(uint32_t));
    items.ids = create_buffer(engine, room * sizeof(uint32_t));
    return items;
}

static void destroy_items(const Engine *engine, Items *items)
{
    destroy_buffer(engine, &items->ids);
    destroy_buffer(engine, &items->keys);
}

int main(void)
{
    Engine engine;
    create_engine(&engine);

    /* Once: the library's handle on the engine's device, and a merger of keys with values. */
    const TrmDeviceCreateInfo deviceInfo = library_info(&engine);
    TrmDevice device;
    CHECK(trmCreateDevice(&deviceInfo, &device));
    const TrmMergerCreateInfo mergerInfo = {
        .sType = TRM_STRUCTURE_TYPE_MERGER_CREATE_INFO,
        .structSize = sizeof mergerInfo,
        .keyType = TRM_KEY_TYPE_U32,
        .valueType = TRM_VALUE_TYPE_U32,
    };
    TrmMerger merger;
    CHECK(trmCreateMerger(device, &mergerInfo, &merger));

    /* The engine allocates all memory. Small merges need no scratch, but Vulkan has no empty buffers. */
    VkDeviceSize scratchSize;
    CHECK(trmGetMergerScratch(merger, BASE + MAX_DELTA, &scratchSize));
    Buffer scratch = create_buffer(&engine, scratchSize == 0 ? sizeof(uint32_t) : scratchSize);
    Items base = create_items(&engine, BASE);
    Items delta = create_items(&engine, MAX_DELTA);
    Items merged = create_items(&engine, BASE + MAX_DELTA);
    /* The number of items of the delta, and that of the result. */
    Buffer deltaCount = create_buffer(&engine, sizeof(uint32_t));
    Buffer mergedCount = create_buffer(&engine, sizeof(uint32_t));
    for (uint32_t i = 0; i < BASE; i++) {
        base.keys.mapped[i] = base_key(i);
        base.ids.mapped[i] = i;
    }
    for (uint32_t i = 0; i < DELTA; i++) {
        delta.keys.mapped[i] = delta_key(i);
        delta.ids.mapped[i] = BASE + i;
    }
    deltaCount.mapped[0] = DELTA;

    /* Every frame. */
    const TrmMergeInfo mergeInfo = {
        .sType = TRM_STRUCTURE_TYPE_MERGE_INFO,
        .structSize = sizeof mergeInfo,
        .countA = {.max = BASE},
        .countB = {.max = MAX_DELTA, .address = deltaCount.address},
        .keysA = {base.keys.address, base.keys.size},
        .valuesA = {base.ids.address, base.ids.size},
        .keysB = {delta.keys.address, delta.keys.size},
        .valuesB = {delta.ids.address, delta.ids.size},
        .keysOut = {merged.keys.address, merged.keys.size},
        .valuesOut = {merged.ids.address, merged.ids.size},
        .countOut = mergedCount.address,
        .scratch = {scratch.handle, 0, scratch.size},
    };
    begin(&engine);
    CHECK(trmCmdMerge(engine.commands, merger, &mergeInfo));
    barrier(&engine, VK_PIPELINE_STAGE_2_HOST_BIT, VK_ACCESS_2_HOST_READ_BIT);
    submit_and_wait(&engine);

    /* Of equal keys, those of the base come first. */
    uint32_t wrong = mergedCount.mapped[0] != BASE + DELTA;
    uint32_t a = 0, b = 0;
    while (a < BASE || b < DELTA) {
        const int fromDelta = a == BASE || (b < DELTA && delta_key(b) < base_key(a));
        const uint32_t key = fromDelta ? delta_key(b) : base_key(a);
        const uint32_t id = fromDelta ? BASE + b : a;
        wrong += merged.keys.mapped[a + b] != key || merged.ids.mapped[a + b] != id;
        a += !fromDelta;
        b += fromDelta;
    }
    printf("%u items merged into %u, %u wrong\n", DELTA, BASE, (unsigned)wrong);

    destroy_buffer(&engine, &mergedCount);
    destroy_buffer(&engine, &deltaCount);
    destroy_items(&engine, &merged);
    destroy_items(&engine, &delta);
    destroy_items(&engine, &base);
    destroy_buffer(&engine, &scratch);
    trmDestroyMerger(merger);
    trmDestroyDevice(device);
    destroy_engine(&engine);
    return wrong == 0 ? 0 : 1;
}

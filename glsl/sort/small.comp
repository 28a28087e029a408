// Sort of a problem that one workgroup holds, by digits: all of them in shared memory, one read and one write.
//
// In:  keys (and values), the count where it lies on the device.
// Out: keys (and values) sorted; the problem's status.
// Groups: one a problem.
// Progress: none needed.
//
// A key of one word goes through the digits in registers and shared memory, and so does a value of one word that belongs to it.
// Larger items are sorted by the place they came from: keys are fetched anew for each of their words, all words of the items at the end.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "lib/extensions.glsl"
#include "lib/shared.glsl"
#include "lib/memory.glsl"
#include "lib/subgroup.glsl"
#include "lib/scan.glsl"
#include "lib/keys.glsl"
#include "sort/problem.glsl"
#include "sort/moves.glsl"
#include "sort/planes.glsl"
#include "sort/tile.glsl"
#include "sort/order.glsl"
#include "sort/whole.glsl"

const bool CARRIES_VALUE = KEY_WORDS == 1 && VALUE_WORDS == 1;

void main() {
    uint p = linear_group();
    if (p >= args.problem_count) return;
    uint count = told_count(p);
    if (thread_id() == 0) write_status(p);
    if (count == 0) return;
    Move move = from_input_to_output();

    // 1. Load. The pads sort behind the last key and stay there.
    uint keys[ITEMS];
    uint carried[ITEMS];
    Plane values = source_plane(p, KEY_WORDS, move, count);
    uint word = BEGIN_BIT / 32;
    [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
        uint place = striped(k);
        keys[k] = place < count ? load_encoded(p, word, move, count, place) : PAD;
        carried[k] = place;
        if (CARRIES_VALUE && place < count) carried[k] = load_word(KEY_WORDS, values, true, place);
    }

    // 2. Every digit, through shared memory.
    [[dont_unroll]] for (uint d = 0; d < digit_count(BEGIN_BIT, END_BIT); ++d) {
        Digit digit = digit_at(d, BEGIN_BIT, END_BIT);
        if (KEY_WORDS > 1 && digit.word != word) {
            word = digit.word;
            [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
                keys[k] = carried[k] < count ? load_encoded(p, word, move, count, carried[k]) : PAD;
            }
        }
        uint places[PLACE_WORDS];
        order_by_digit(keys, digit, places);
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) keys[k] = sh_keys[striped(k)];
        barrier();
        if (ITEM_WORDS > 1) {
            [[unroll]] for (uint k = 0; k < ITEMS; ++k) sh_keys[place_of(places, k)] = carried[k];
            barrier();
            [[unroll]] for (uint k = 0; k < ITEMS; ++k) carried[k] = sh_keys[striped(k)];
            barrier();
        }
    }

    // 3. Store.
    if (KEY_WORDS == 1 && !DROPS_KEYS) {
        Plane target = target_plane(p, 0, move, count);
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            if (striped(k) < count) store_word(target, striped(k), KEYS_APART ? keys[k] : decode_top(keys[k]));
        }
    }
    if (CARRIES_VALUE) {
        Plane target = target_plane(p, KEY_WORDS, move, count);
        [[unroll]] for (uint k = 0; k < ITEMS; ++k) {
            if (striped(k) < count) store_word(target, striped(k), carried[k]);
        }
    } else {
        for (uint w = KEY_WORDS == 1 || DROPS_KEYS ? KEY_WORDS : 0; w < ITEM_WORDS; ++w) permute_word(p, w, count, carried);
    }
}

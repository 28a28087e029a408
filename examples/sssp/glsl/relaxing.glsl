// Relaxing an edge and appending to the list, for the kernels that do.
// Memory order: all atomics are relaxed. Distances only fall, so that an old value costs an item that turns out stale,
// and never a better distance: the atomicMin decides.

uint load_distance(uint vertex) {
    return atomicLoad(Words(args.distances).v[vertex], gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

void store_item(uvec2 list, uint place, State state, uint distance, uint vertex) {
    if (place < args.capacity) {
        Words(list).v[place] = distance - state.base;
        Words(list).v[args.capacity + place] = vertex;
    } else {
        atomicAdd(state.overflows, 1u);
    }
}

// Appends an item for each invocation that is here; one addition to a count for those of a subgroup.
void append(State state, uint distance, uint vertex) {
    if (distance < state.limit) {
        uvec4 here = subgroupBallot(true);
        uint first = 0u;
        if (subgroupElect()) {
            first = atomicAdd(state.near_count, subgroupBallotBitCount(here));
        }
        uint place = subgroupBroadcastFirst(first) + subgroupBallotExclusiveBitCount(here);
        store_item(args.near, place, state, distance, vertex);
    } else {
        uvec4 here = subgroupBallot(true);
        uint least = subgroupMin(distance);
        uint first = 0u;
        if (subgroupElect()) {
            first = atomicAdd(state.count, subgroupBallotBitCount(here));
            if (least < atomicLoad(state.nearest, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed)) {
                atomicMin(state.nearest, least);
            }
        }
        uint place = subgroupBroadcastFirst(first) + subgroupBallotExclusiveBitCount(here);
        store_item(args.pile, place, state, distance, vertex);
    }
}

// Goes along an edge from a vertex at this distance. A sum that does not fit is no way: distances that exist do, as the
// host checks.
void relax_edge(State state, uint distance, uint edge) {
    Edge e = Edges(args.edges).v[edge];
    uint reached = distance + e.weight;
    if (reached < distance || reached >= load_distance(e.target)) {
        return;
    }
    if (reached < atomicMin(Words(args.distances).v[e.target], reached)) {
        append(state, reached, e.target);
    }
}

// In:  a list, graph, distances. Out: lower distances, an item for each in the list for the next round or in the pile,
//      and in the pile those items of the list that are not near yet, unless stale.
//      A workgroup takes 256 items. The edges of those that are near are numbered through, so that each invocation has
//      as many however they are distributed; a vertex of very many is left to `tasks`, a workgroup a task.
// Paper: A. Davidson, S. Baxter, M. Garland, J. Owens, "Work-Efficient Parallel GPU Methods for Single-Source Shortest
// Paths",
//      IPDPS 2014 (near and far, buckets, edges shared out among invocations).
// Progress: none needed.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require

#include "args.glsl"
#include "relaxing.glsl"

const uint WORKGROUP = 256u;
layout(local_size_x = 256) in;

shared uint sh_ends[2][WORKGROUP];   // numbers of the edges: where each item's end
shared uint sh_edges[WORKGROUP];     // what to add to the number of an edge, to find it
shared uint sh_distances[WORKGROUP];
shared uint sh_vertices;             // relaxed

void add_tasks(State state, uint distance, uint first, uint end) {
    uint count = (end - first + TASK_EDGES - 1u) / TASK_EDGES;
    uint place = atomicAdd(state.tasks, count);
    for (uint i = 0u; i < count; i++, first += TASK_EDGES) {
        Tasks(args.tasks).v[place + i] = Task(first, min(first + TASK_EDGES, end), distance);
    }
}

// Inclusive sums over the workgroup, in sh_ends[0]: eight steps, an even number.
void sum_ends() {
    uint i = gl_LocalInvocationIndex;
    uint from = 0u;
    for (uint reach = 1u; reach < WORKGROUP; reach *= 2u, from ^= 1u) {
        barrier();
        sh_ends[from ^ 1u][i] = sh_ends[from][i] + (i >= reach ? sh_ends[from][i - reach] : 0u);
    }
    barrier();
}

// The item of the edge of this number: the first that ends behind it.
uint item_of(uint edge) {
    uint item = 0u;
    for (uint step = WORKGROUP / 2u; step > 0u; step /= 2u) {
        if (sh_ends[0][item + step - 1u] <= edge) {
            item += step;
        }
    }
    return item;
}

void count_edges(State state, uint n) {
    if (n > 0u && atomicAdd(state.edges.x, n) > NONE - n) {
        atomicAdd(state.edges.y, 1u);
    }
}

void main() {
    State state = State(args.state);
    uint local = gl_LocalInvocationIndex;
    uint first_item = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * WORKGROUP;
    uint i = first_item + local;
    bool any_near = first_item < state.near;
    if (local == 0u) {
        sh_vertices = 0u;
    }
    barrier();

    // 1. The item, unless it is stale.
    uint degree = 0u;
    if (i < state.total) {
        uint vertex = Words(args.list).v[args.capacity + i];
        uint distance = Words(args.list).v[i] + (state.base - state.shift);
        if (load_distance(vertex) == distance) {
            if (i >= state.near) {
                append(state, distance, vertex);
            } else {
                uint first = Words(args.rows).v[vertex];
                uint end = Words(args.rows).v[vertex + 1u];
                degree = end - first;
                sh_edges[local] = first;
                sh_distances[local] = distance;
                atomicAdd(sh_vertices, 1u);
                if (degree > TASK_EDGES) {
                    add_tasks(state, distance, first, end);
                    count_edges(state, degree);
                    degree = 0u;
                }
            }
        }
    }
    if (!any_near) {
        return;
    }

    // 2. Edges are numbered through.
    sh_ends[0][local] = degree;
    sum_ends();
    uint edges = sh_ends[0][WORKGROUP - 1u];
    if (degree > 0u) {
        sh_edges[local] -= sh_ends[0][local] - degree;
    }
    barrier();

    // 3. And relaxed.
    for (uint edge = local; edge < edges; edge += WORKGROUP) {
        uint item = item_of(edge);
        relax_edge(state, sh_distances[item], sh_edges[item] + edge);
    }

    // 4. For the record.
    if (local == 0u) {
        count_edges(state, edges);
        if (atomicAdd(state.vertices.x, sh_vertices) > NONE - sh_vertices) {
            atomicAdd(state.vertices.y, 1u);
        }
    }
}

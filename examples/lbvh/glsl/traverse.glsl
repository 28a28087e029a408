// The walk through the tree: nearest hit and any hit, with a stack in private memory and the nearer child first.

// The internal nodes of the deepest path (hierarchy.glsl); each leaves at most one child behind.
const uint STACK_SIZE = MORTON_BITS + 32;

struct Hit {
    float t;
    vec2 barycentric; // of the second and third corner
    uint triangle;    // NONE where nothing was hit
};

// Entry distance into a box, or a value above `t_max` where the ray passes by. A ray that starts inside enters at 0.
// The exit is widened by two units in the last place, so that rounding never opens a gap between boxes:
// T. Ize, "Robust BVH Ray Traversal", JCGT 2013.
float enter_box(vec3 lo, vec3 hi, vec3 origin, vec3 inverse, float t_max) {
    vec3 a = (lo - origin) * inverse;
    vec3 b = (hi - origin) * inverse;
    vec3 near = min(a, b);
    vec3 far = max(a, b);
    float t_in = max(max(near.x, near.y), max(near.z, 0.0));
    float t_out = min(min(far.x, far.y), min(far.z, t_max)) * 1.0000004;
    return t_in <= t_out ? t_in : uintBitsToFloat(0x7f800000u);
}

// T. Moller and B. Trumbore, "Fast, Minimum Storage Ray/Triangle Intersection", 1997; both sides count.
void hit_triangle(uint id, vec3 origin, vec3 direction, inout Hit hit) {
    uvec3 t = Triangles(args.triangles).v[id];
    Points p = Points(args.points);
    vec3 a = p.v[t.x];
    vec3 ab = p.v[t.y] - a;
    vec3 ac = p.v[t.z] - a;
    vec3 q = cross(direction, ac);
    float det = dot(ab, q);
    if (det == 0.0) {
        return;
    }
    float scale = 1.0 / det;
    vec3 ao = origin - a;
    float u = dot(ao, q) * scale;
    vec3 r = cross(ao, ab);
    float v = dot(direction, r) * scale;
    float distance = dot(ac, r) * scale;
    if (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && distance > 0.0 && distance < hit.t) {
        hit = Hit(distance, vec2(u, v), id);
    }
}

// The nearest hit before `t_max`, or any one where `any` is set. `visits` counts the nodes entered.
Hit trace(vec3 origin, vec3 direction, float t_max, bool any, inout uint visits) {
    // A zero component would make 0 * infinity of a ray that lies in a box's side.
    vec3 safe = mix(direction, vec3(1e-18), lessThan(abs(direction), vec3(1e-18)));
    vec3 inverse = 1.0 / safe;
    Nodes nodes = Nodes(args.nodes);
    uint first_leaf = args.triangle_count - 1u;
    Hit hit = Hit(t_max, vec2(0.0), NONE);

    uint stack[STACK_SIZE];
    float entry[STACK_SIZE];
    uint height = 0u;
    uint node = 0u;
    while (true) {
        visits++;
        bool descend = false;
        if (node >= first_leaf) {
            hit_triangle(nodes.v[node].left, origin, direction, hit);
            if (any && hit.triangle != NONE) {
                break;
            }
        } else {
            uint near = nodes.v[node].left;
            uint far = nodes.v[node].right;
            float t_near = enter_box(nodes.v[near].lo, nodes.v[near].hi, origin, inverse, hit.t);
            float t_far = enter_box(nodes.v[far].lo, nodes.v[far].hi, origin, inverse, hit.t);
            if (t_far < t_near) {
                uint node_swap = near;
                near = far;
                far = node_swap;
                float t_swap = t_near;
                t_near = t_far;
                t_far = t_swap;
            }
            if (t_far <= hit.t) {
                stack[height] = far;
                entry[height] = t_far;
                height++;
            }
            descend = t_near <= hit.t;
            node = near;
        }
        while (!descend && height > 0u) {
            height--;
            node = stack[height];
            descend = entry[height] <= hit.t;
        }
        if (!descend) {
            break;
        }
    }
    return hit;
}

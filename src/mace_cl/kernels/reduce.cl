// y[o, i] = reduction of x[o, r, i] over r. START, STEP(acc, v) and, at the end, DONE(acc) make the operator;
// JOIN(a, b) joins two partial results, MAP(T, v) is applied to each element first.
// Long sums are taken in pieces of PIECE elements, so that their error does not grow with their length.
// A work-item computes `outputs_per` outputs: o and a vector of V neighbours i (the last one overlaps), or, where i has
// one element only, V partial results along r that are joined.

#define PIECE 512

__kernel HINT GROUP void KERNEL(const __global T *restrict x, __global T *restrict y, int outputs, int outputs_per,
                                int r_size, int i_size) {
  const int end = min((int)(get_global_id(0) + 1) * outputs_per, outputs);
  for (int output = get_global_id(0) * outputs_per; output < end; output++) {
#ifdef ALONG
    const __global T *from = x + (size_t)output * r_size;
    T total = START;
    int r = 0;
#if V > 1
    VEC acc = (VEC)(START);
    while (r + V <= r_size) {
      VEC part = (VEC)(START);
      const int stop = min(r + PIECE * V, r_size);
      for (; r + V <= stop; r += V) {
        const VEC v = VLOAD(from + r);
        STEP(VEC, part, v)
      }
      acc = JOIN(acc, part);
    }
    T lanes[V];
    VSTORE(acc, lanes);
    for (int k = 0; k < V; k++) total = JOIN(total, lanes[k]);
#endif
    while (r < r_size) {
      T part = START;
      const int stop = min(r + PIECE, r_size);
      for (; r < stop; r++) {
        const T v = from[r];
        STEP(T, part, v)
      }
      total = JOIN(total, part);
    }
    y[output] = DONE(total, r_size);
#else
    const int vectors = (i_size + V - 1) / V;
    const int o = output / vectors, i = min(output % vectors * V, i_size - V);
    const __global T *from = x + (size_t)o * r_size * i_size + i;
    VEC acc = (VEC)(START);
    int r = 0;
    while (r < r_size) {
      VEC part = (VEC)(START);
      const int stop = min(r + PIECE, r_size);
      for (; r < stop; r++) {
        const VEC v = VLOAD(from + (size_t)r * i_size);
        STEP(VEC, part, v)
      }
      acc = JOIN(acc, part);
    }
    VSTORE(DONE(acc, r_size), y + (size_t)o * i_size + i);
#endif
  }
}

#undef PIECE

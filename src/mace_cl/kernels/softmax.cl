// Softmax and log-softmax of x[o, a, i] along a. A work-item does rows (o, vector of V neighbours i); where i
// has one element only, vectors run along a.

__kernel HINT GROUP void KERNEL(const __global float *restrict x, __global float *restrict y, int rows, int rows_per,
                                int a_size, int i_size) {
  const int end = min((int)(get_global_id(0) + 1) * rows_per, rows);
  for (int row = get_global_id(0) * rows_per; row < end; row++) {
#ifdef ALONG
    const __global float *from = x + (size_t)row * a_size;
    __global float *to = y + (size_t)row * a_size;
    float peak = -INFINITY;
    int a = 0;
#if V > 1
    VEC peaks = (VEC)(-INFINITY);
    for (; a + V <= a_size; a += V) peaks = fmax(peaks, VLOAD(from + a));
    float lanes[V];
    VSTORE(peaks, lanes);
    for (int k = 0; k < V; k++) peak = fmax(peak, lanes[k]);
#endif
    for (; a < a_size; a++) peak = fmax(peak, from[a]);
    float total = 0.0f;
    a = 0;
#if V > 1
    VEC totals = (VEC)(0.0f);
    for (; a + V <= a_size; a += V) {
      const VEC e = exp((VLOAD(from + a) - peak) * BETA);
      totals += e;
      VSTORE(e, to + a);
    }
    VSTORE(totals, lanes);
    for (int k = 0; k < V; k++) total += lanes[k];
#endif
    for (; a < a_size; a++) {
      to[a] = exp((from[a] - peak) * BETA);
      total += to[a];
    }
    a = 0;
#ifdef LOGARITHM
    const float shift = peak + log(total);
#if V > 1
    for (; a + V <= a_size; a += V) VSTORE(VLOAD(from + a) - shift, to + a);
#endif
    for (; a < a_size; a++) to[a] = from[a] - shift;
#else
    const float scale = 1.0f / total;
#if V > 1
    for (; a + V <= a_size; a += V) VSTORE(VLOAD(to + a) * scale, to + a);
#endif
    for (; a < a_size; a++) to[a] *= scale;
#endif
#else
    const int vectors = (i_size + V - 1) / V;
    const size_t at = (size_t)(row / vectors) * a_size * i_size + min(row % vectors * V, i_size - V);
    const __global float *from = x + at;
    __global float *to = y + at;
    VEC peak = (VEC)(-INFINITY);
    for (int a = 0; a < a_size; a++) peak = fmax(peak, VLOAD(from + (size_t)a * i_size));
    VEC total = (VEC)(0.0f);
    for (int a = 0; a < a_size; a++) total += exp((VLOAD(from + (size_t)a * i_size) - peak) * BETA);
#ifdef LOGARITHM
    const VEC shift = peak + log(total);
    for (int a = 0; a < a_size; a++) VSTORE(VLOAD(from + (size_t)a * i_size) - shift, to + (size_t)a * i_size);
#else
    const VEC scale = 1.0f / total;
    for (int a = 0; a < a_size; a++)
      VSTORE(exp((VLOAD(from + (size_t)a * i_size) - peak) * BETA) * scale, to + (size_t)a * i_size);
#endif
#endif
  }
}

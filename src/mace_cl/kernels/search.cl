// Index of the greatest (or least) element of x[o, a, i] along a. BETTER(v, best) says whether v replaces the best so far;
// the first not-a-number wins, as in the reference.

__kernel HINT GROUP void KERNEL(const __global T *restrict x, __global INDEX *restrict y, int outputs, int outputs_per,
                                int a_size, int i_size) {
  const int end = min((int)(get_global_id(0) + 1) * outputs_per, outputs);
  for (int output = get_global_id(0) * outputs_per; output < end; output++) {
    const __global T *from = x + (size_t)(output / i_size) * a_size * i_size + output % i_size;
    T best = from[0];
    int at = 0;
    for (int a = 1; a < a_size; a++) {
      const T v = from[(size_t)a * i_size];
      if (BETTER(v, best)) {
        best = v;
        at = a;
      }
    }
    y[output] = (INDEX)at;
  }
}

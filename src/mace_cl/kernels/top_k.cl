// The k first elements of x[o, a, i] along a in the order of BETTER(v, u), and their places a. A sorted list grows in the
// outputs themselves; as only a strictly better element moves others back, equal ones stay in their order.
// A work-item computes `lines_per` lines.

__kernel HINT GROUP void KERNEL(const __global T *restrict x, __global T *y, __global INDEX *places, int lines,
                                int lines_per, int size, int inner, int k) {
  const int end = min((int)(get_global_id(0) + 1) * lines_per, lines);
  for (int line = get_global_id(0) * lines_per; line < end; line++) {
    const __global T *restrict from = x + (size_t)(line / inner) * size * inner + line % inner;
    const size_t start = (size_t)(line / inner) * k * inner + line % inner;
    int kept = 0;
    T worst = from[0];
    for (int a = 0; a < size; a++) {
      const T v = from[(size_t)a * inner];
      if (kept == k && !BETTER(v, worst)) continue;
      int at = kept < k ? kept++ : k - 1;
      for (; at > 0 && BETTER(v, y[start + (size_t)(at - 1) * inner]); at--) {
        y[start + (size_t)at * inner] = y[start + (size_t)(at - 1) * inner];
        places[start + (size_t)at * inner] = places[start + (size_t)(at - 1) * inner];
      }
      y[start + (size_t)at * inner] = v;
      places[start + (size_t)at * inner] = (INDEX)a;
      worst = y[start + (size_t)(kept - 1) * inner];
    }
  }
}

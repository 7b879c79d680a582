// Running sums of x[o, a, i] along a: of the elements before (EXCLUSIVE) or up to a, from the end if REVERSE.
// A work-item computes `lines_per` lines.

__kernel HINT GROUP void KERNEL(const __global T *restrict x, __global T *restrict y, int lines, int lines_per, int size,
                                int inner) {
  const int end = min((int)(get_global_id(0) + 1) * lines_per, lines);
  for (int line = get_global_id(0) * lines_per; line < end; line++) {
    const size_t start = (size_t)(line / inner) * size * inner + line % inner;
    T sum = 0;
    for (int k = 0; k < size; k++) {
#ifdef REVERSE
      const size_t at = start + (size_t)(size - 1 - k) * inner;
#else
      const size_t at = start + (size_t)k * inner;
#endif
#ifdef EXCLUSIVE
      y[at] = sum;
      sum += x[at];
#else
      sum += x[at];
      y[at] = sum;
#endif
    }
  }
}

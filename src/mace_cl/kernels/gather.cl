// y[b, o, k, :] = x[b, o, index[b, k], :] for runs of `run` elements. Negative indices count from the end; one that is out of
// range is moved to the nearest element, so that nothing outside x is read.

__kernel HINT GROUP void KERNEL(const __global E *restrict x, const __global INDEX *restrict index,
                                __global E *restrict y, int rows, int rows_per, int outer, int count, int size,
                                int run) {
  const int row_end = min((int)(get_global_id(0) + 1) * rows_per, rows);
  for (int row = get_global_id(0) * rows_per; row < row_end; row++) {
    const int k = row % count, o = row / count % outer, b = row / count / outer;
    long at = index[b * count + k];
    at = clamp(at < 0 ? at + size : at, 0L, (long)size - 1);
    const __global E *from = x + (((size_t)b * outer + o) * size + at) * run;
    __global E *to = y + (size_t)row * run;
    int i = 0;
    for (; i + 8 <= run; i += 8) vstore8(vload8(0, from + i), 0, to + i);
    for (; i < run; i++) to[i] = from[i];
  }
}

// y = x with updates written at indices. A work-item owns some of y: it copies them and then applies the updates that
// fall on them, in order, so that the last of several wins and no two work-items write to one place. COMBINE(old, update) is
// what is stored. An index out of range is ignored.

#ifdef ALONG
// Owned: lines of y along the axis, which has `size` elements of stride `inner`. A line has updates where its coordinates
// are within those of the `count` long lines of updates; `table` holds, for each dimension but the axis, the size in y, the
// size in updates and the updates' stride.
__kernel HINT GROUP void KERNEL(const __global E *restrict x, const __global INDEX *restrict index,
                                const __global E *restrict updates, const __global int *restrict table,
                                __global E *restrict y, int lines, int lines_per, int size, int inner, int count,
                                int update_step, int rank) {
  const int line_end = min((int)(get_global_id(0) + 1) * lines_per, lines);
  for (int line = get_global_id(0) * lines_per; line < line_end; line++) {
    const size_t start = (size_t)(line / inner) * size * inner + line % inner;
    for (int a = 0; a < size; a++) y[start + (size_t)a * inner] = x[start + (size_t)a * inner];
    int rest = line, from = 0, inside = 1;
    for (int d = rank - 1; d >= 0; d--) {
      const int at = rest % table[3 * d];
      inside &= at < table[3 * d + 1];
      from += at * table[3 * d + 2];
      rest /= table[3 * d];
    }
    for (int k = 0; inside && k < count; k++) {
      long at = index[from + k * update_step];
      at = at < 0 ? at + size : at;
      if (at < 0 || at >= size) continue;
      const E old = y[start + at * inner], update = updates[from + k * update_step];
      y[start + at * inner] = COMBINE(old, update);
    }
  }
}
#else
// Owned: runs of `run` elements; `table` holds the sizes and the strides, in runs, of the dimensions that a tuple of `depth`
// indices names.
__kernel HINT GROUP void KERNEL(const __global E *restrict x, const __global INDEX *restrict index,
                                const __global E *restrict updates, const __global int *restrict table,
                                __global E *restrict y, int lines, int lines_per, int run, int count, int depth) {
  const int begin = get_global_id(0) * lines_per;
  const int end = min(begin + lines_per, lines);
  const size_t stop = (size_t)max(end, begin) * run;
  for (size_t i = (size_t)begin * run; i < stop; i++) y[i] = x[i];
  for (int k = 0; begin < end && k < count; k++) {
    long line = 0;
    int inside = 1;
    for (int d = 0; d < depth; d++) {
      long at = index[k * depth + d];
      at = at < 0 ? at + table[d] : at;
      inside &= at >= 0 && at < table[d];
      line += at * table[depth + d];
    }
    if (!inside || line < begin || line >= end) continue;
    for (int i = 0; i < run; i++) {
      const E old = y[line * run + i], update = updates[(size_t)k * run + i];
      y[line * run + i] = COMBINE(old, update);
    }
  }
}
#endif

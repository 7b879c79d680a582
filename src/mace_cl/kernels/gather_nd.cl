// y[b, m, :] = x[b, index tuple (b, m), :] for runs of `run` elements. `table` holds the sizes and strides of the dimensions
// that a tuple of `depth` indices names. Negative indices count from the end; one that is out of range is moved to the
// nearest element, so that nothing outside x is read.

__kernel HINT GROUP void KERNEL(const __global E *restrict x, const __global INDEX *restrict index,
                                const __global int *restrict table, __global E *restrict y, int rows, int rows_per,
                                int rows_per_batch, int batch_step, int depth, int run) {
  const int row_end = min((int)(get_global_id(0) + 1) * rows_per, rows);
  for (int row = get_global_id(0) * rows_per; row < row_end; row++) {
    int offset = row / rows_per_batch * batch_step;
    for (int k = 0; k < depth; k++) {
      const int size = table[k];
      long at = index[row * depth + k];
      at = clamp(at < 0 ? at + size : at, 0L, (long)size - 1);
      offset += (int)at * table[depth + k];
    }
    const __global E *restrict from = x + offset;
    __global E *restrict to = y + (size_t)row * run;
    int i = 0;
    for (; i + 8 <= run; i += 8) vstore8(vload8(0, from + i), 0, to + i);
    for (; i < run; i++) to[i] = from[i];
  }
}

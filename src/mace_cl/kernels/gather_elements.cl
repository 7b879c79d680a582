// y[i] = x[i with index[i] in place of its coordinate along one axis]. The dimensions but the last are walked through
// `table`, which holds their sizes and x's strides along them (0 for the axis). Along the last one x has stride
// `step` (0 where it is the axis). Negative indices count from the end; one that is out of range is moved to the nearest
// element, so that nothing outside x is read.

__kernel HINT GROUP void KERNEL(const __global E *restrict x, const __global INDEX *restrict index,
                                const __global int *restrict table, __global E *restrict y, int rows, int rows_per,
                                int outer_rank, int length, int step, int size, int axis_step) {
  const int row_end = min((int)(get_global_id(0) + 1) * rows_per, rows);
  for (int row = get_global_id(0) * rows_per; row < row_end; row++) {
    int rest = row, from = 0;
    for (int d = outer_rank - 1; d >= 0; d--) {
      from += rest % table[d] * table[outer_rank + d];
      rest /= table[d];
    }
    const __global INDEX *restrict places = index + (size_t)row * length;
    __global E *restrict to = y + (size_t)row * length;
    for (int i = 0; i < length; i++) {
      long at = places[i];
      at = clamp(at < 0 ? at + size : at, 0L, (long)size - 1);
      to[i] = x[from + i * step + (int)at * axis_step];
    }
  }
}

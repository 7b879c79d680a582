// y[row, i] = x at a place that tables say: one table for each outer dimension holds the offset that an index adds, or -1
// for an element that does not come from x and takes FILL. Along the last dimension either a run of x stands between
// `lead` elements of FILL and more FILL behind it, or INNER_TABLE says for each element where it comes from.
// A work-item writes `rows_per` rows.

__kernel HINT GROUP void KERNEL(const __global E *restrict x, __global E *restrict y, const __global int *restrict tables,
                                int rows, int inner, int rows_per, int lead, int run, int start DIM_PARAMS) {
  const E fill = FILL;
  const int row_end = min((int)(get_global_id(0) + 1) * rows_per, rows);
  for (int row = get_global_id(0) * rows_per; row < row_end; row++) {
    OFFSETS(row)
    __global E *restrict to = y + (size_t)row * inner;
    int i = 0;
    if (outside) {
      for (; i < inner; i++) to[i] = fill;
      continue;
    }
#ifdef INNER_TABLE
    const __global int *restrict table = tables + INNER_TABLE;
    for (; i < inner; i++) {
      const int at = table[i];
      to[i] = at < 0 ? fill : x[from + at];
    }
#else
    const __global E *restrict source = x + from + start;
    for (; i < lead; i++) to[i] = fill;
    int k = 0;
    for (; k + 8 <= run; k += 8) vstore8(vload8(0, source + k), 0, to + lead + k);
    for (; k < run; k++) to[lead + k] = source[k];
    for (i = lead + run; i < inner; i++) to[i] = fill;
#endif
  }
}

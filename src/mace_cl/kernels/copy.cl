// y[yo + i] = x[xo + i]: a block with its own strides on both sides. The block is seen as rows of `inner` elements;
// OFFSETS(row) declares where a row starts in x (xo_) and y (yo_). Elements are moved, never computed with.
// A work-item moves `rows_per` rows by `inner_per` elements.

__kernel HINT GROUP void KERNEL(const __global E *restrict x, __global E *restrict y, int x0, int y0, int rows,
                                int inner, int rows_per, int inner_per INNER_PARAMS DIM_PARAMS) {
  const int row_end = min((int)(get_global_id(1) + 1) * rows_per, rows);
  const int begin = get_global_id(0) * inner_per;
  const int end = min(begin + inner_per, inner);
  for (int row = get_global_id(1) * rows_per; row < row_end; row++) {
    OFFSETS(row)
    const __global E *restrict from = x + x0 + xo_;
    __global E *restrict to = y + y0 + yo_;
#ifdef DENSE
    int i = begin;
    for (; i + 8 <= end; i += 8) vstore8(vload8(0, from + i), 0, to + i);
    for (; i < end; i++) to[i] = from[i];
#else
    for (int i = begin; i < end; i++) to[i * y_step] = from[i * x_step];
#endif
  }
}

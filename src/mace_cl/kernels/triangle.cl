// The upper (UPPER) or lower triangle of matrices of `height` rows of `width` elements; the rest is 0. The diagonal begins at
// column k of row 0. A work-item writes `rows_per` rows.

__kernel HINT GROUP void KERNEL(const __global E *restrict x, __global E *restrict y, int rows, int rows_per,
                                int height, int width, int k) {
  const int row_end = min((int)(get_global_id(0) + 1) * rows_per, rows);
  for (int row = get_global_id(0) * rows_per; row < row_end; row++) {
    const long diagonal = (long)(row % height) + k;
#ifdef UPPER
    const int begin = (int)clamp(diagonal, 0L, (long)width), end = width;
#else
    const int begin = 0, end = (int)clamp(diagonal + 1, 0L, (long)width);
#endif
    const __global E *restrict from = x + (size_t)row * width;
    __global E *restrict to = y + (size_t)row * width;
    for (int i = 0; i < begin; i++) to[i] = 0;
    for (int i = begin; i < end; i++) to[i] = from[i];
    for (int i = end; i < width; i++) to[i] = 0;
  }
}

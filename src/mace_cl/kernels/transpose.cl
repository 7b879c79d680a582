// y[b, c, r] = x[b, r, c]: matrices of `height` rows and `width` columns, transposed. NARROW_ROWS (NARROW_COLUMNS) is the
// number of rows (columns) where they are few; otherwise both are at least 8, and tiles of 8 by 8 are transposed in registers,
// the last ones overlapping those before.
// A work-item takes `lines_per` lines: columns, rows or columns of tiles, of one matrix after another.

#ifndef NARROW_ROWS
#ifndef NARROW_COLUMNS
// Rows i and i + 4 interleaved, three times over, give the transposed tile.
static inline void FN(interleave)(const VEC *from, VEC *to) {
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const VEC a = from[i], b = from[i + 4];
    to[2 * i] = (VEC)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3);
    to[2 * i + 1] = (VEC)(a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7);
  }
}
#endif
#endif

__kernel HINT GROUP void KERNEL(const __global E *restrict x, __global E *restrict y, int lines, int lines_per,
                                int height, int width) {
  const int end = min((int)(get_global_id(0) + 1) * lines_per, lines);
  int line = get_global_id(0) * lines_per;
#if defined(NARROW_ROWS)
  while (line < end) {
    const int c = line % width, count = min(end - line, width - c);
    const __global E *restrict from = x + (size_t)(line - c) * NARROW_ROWS + c;
    __global E *restrict to = y + (size_t)line * NARROW_ROWS;
    for (int k = 0; k < count; k++) {
#pragma unroll
      for (int r = 0; r < NARROW_ROWS; r++) to[k * NARROW_ROWS + r] = from[r * width + k];
    }
    line += count;
  }
#elif defined(NARROW_COLUMNS)
  while (line < end) {
    const int r = line % height, count = min(end - line, height - r);
    const __global E *restrict from = x + (size_t)line * NARROW_COLUMNS;
    __global E *restrict to = y + (size_t)(line - r) * NARROW_COLUMNS + r;
    for (int k = 0; k < count; k++) {
#pragma unroll
      for (int c = 0; c < NARROW_COLUMNS; c++) to[c * height + k] = from[k * NARROW_COLUMNS + c];
    }
    line += count;
  }
#else
  for (; line < end; line++) {
    const int tiles = (width + 7) / 8;
    const int c = min(line % tiles * 8, width - 8);
    const size_t start = (size_t)(line / tiles) * height * width;
    for (int k = 0; k < height; k += 8) {
      const int r = min(k, height - 8);
      VEC a[8], b[8];
#pragma unroll
      for (int i = 0; i < 8; i++) a[i] = vload8(0, x + start + (size_t)(r + i) * width + c);
      FN(interleave)(a, b);
      FN(interleave)(b, a);
      FN(interleave)(a, b);
#pragma unroll
      for (int i = 0; i < 8; i++) vstore8(b[i], 0, y + start + (size_t)(c + i) * height + r);
    }
  }
#endif
}

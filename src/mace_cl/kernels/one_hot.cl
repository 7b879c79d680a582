// y[o, d, i] = values[1] where the index [o, i] is d, or d - depth, else values[0].
// A work-item writes `lines_per` lines of the depth's neighbours i.

__kernel HINT GROUP void KERNEL(const __global INDEX *restrict index, const __global E *restrict values,
                                __global E *restrict y, int lines, int lines_per, int depth, int inner) {
  const E off = values[0], on = values[1];
  const int end = min((int)(get_global_id(0) + 1) * lines_per, lines);
  for (int line = get_global_id(0) * lines_per; line < end; line++) {
    const long place = line % depth;
    const __global INDEX *restrict row = index + (size_t)(line / depth) * inner;
    __global E *restrict to = y + (size_t)line * inner;
    for (int i = 0; i < inner; i++) {
      const long at = row[i];
      to[i] = at == place || at == place - depth ? on : off;
    }
  }
}

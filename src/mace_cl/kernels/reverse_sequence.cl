// y[a, p, b, q, :] = x with the first length elements along time reversed, for runs of `run` elements; of the dimensions p
// and q one is time and the other counts the sequences (TIME_FIRST: p is time). A length out of range is moved to the nearest
// possible one. A work-item writes `rows_per` runs.

__kernel HINT GROUP void KERNEL(const __global E *restrict x, const __global INDEX *restrict lengths,
                                __global E *restrict y, int rows, int rows_per, int p_size, int between, int q_size,
                                int run) {
  const int row_end = min((int)(get_global_id(0) + 1) * rows_per, rows);
  for (int row = get_global_id(0) * rows_per; row < row_end; row++) {
    const int q = row % q_size, p = row / q_size / between % p_size;
#ifdef TIME_FIRST
    const int time = p, sequence = q, times = p_size, step = between * q_size;
#else
    const int time = q, sequence = p, times = q_size, step = 1;
#endif
    const int length = (int)clamp((long)lengths[sequence], 0L, (long)times);
    const int source = time < length ? row + (length - 1 - 2 * time) * step : row;
    const __global E *restrict from = x + (size_t)source * run;
    __global E *restrict to = y + (size_t)row * run;
    int i = 0;
    for (; i + 8 <= run; i += 8) vstore8(vload8(0, from + i), 0, to + i);
    for (; i < run; i++) to[i] = from[i];
  }
}

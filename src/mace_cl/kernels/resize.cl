// Linear and cubic scaling along up to two dimensions: data seen as [A, H, B, W, C], of which H and W are scaled.
// Tables hold, for each output index and tap, the input index and its weight. FLAGS: a table of 1 inside, 0 outside.
// A work-item computes rows of W outputs: row = (a * out_h + h) * b_size + b.

__kernel HINT GROUP void KERNEL(const __global float *restrict x, __global float *restrict y,
                                const __global int *restrict index_h, const __global float *restrict weight_h,
                                const __global int *restrict index_w, const __global float *restrict weight_w,
#ifdef FLAGS
                                const __global float *restrict flag_h, const __global float *restrict flag_w,
#endif
                                int rows, int rows_per, int in_h, int in_w, int out_h, int out_w, int b_size, int c) {
  const int row_end = min((int)(get_global_id(0) + 1) * rows_per, rows);
  for (int row = get_global_id(0) * rows_per; row < row_end; row++) {
    const int b = row % b_size, h = row / b_size % out_h, a = row / b_size / out_h;
    const __global float *image = x + ((size_t)a * in_h * b_size + b) * in_w * c;
    for (int w = 0; w < out_w; w++) {
      __global float *to = y + ((size_t)row * out_w + w) * c;
      for (int vector = 0; vector < (c + V - 1) / V; vector++) {
        const int channel = min(vector * V, c - V);
        VEC total = (VEC)(0.0f);
        for (int i = 0; i < TAPS_H; i++) {
          const __global float *from = image + (size_t)index_h[h * TAPS_H + i] * b_size * in_w * c + channel;
          VEC line = (VEC)(0.0f);
          for (int j = 0; j < TAPS_W; j++)
            line = fma((VEC)(weight_w[w * TAPS_W + j]), VLOAD(from + index_w[w * TAPS_W + j] * c), line);
          total = fma((VEC)(weight_h[h * TAPS_H + i]), line, total);
        }
#ifdef FLAGS
        total = flag_h[h] * flag_w[w] != 0.0f ? total : (VEC)(EXTRAPOLATION);
#endif
        VSTORE(total, to + channel);
      }
    }
  }
}

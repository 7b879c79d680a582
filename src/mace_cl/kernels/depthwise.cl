// Depthwise convolution in two dimensions, channels last; MULT output channels for each input channel.
//
// A tile is XT neighbouring output pixels of a row by one vector of V output channels. Weights are [kh][kw][channel].
// A work-item computes `rows_per` output rows (of all images, counted in order) by `vectors_per` vectors of channels.
// The last tile of a row and the last vector overlap the ones before them: out_w >= XT and channels >= V.

#define SPAN ((XT - 1) * SW + (KW - 1) * DW + 1)

#if MULT == 1
#define INPUT(p, channel) VLOAD((p) + (channel))
#else
static inline VEC FN(input)(const __global float *p, int channel) {
  float lane[V];
#pragma unroll
  for (int i = 0; i < V; i++) lane[i] = p[(channel + i) / MULT];
  return VLOAD(lane);
}
#define INPUT(p, channel) FN(input)(p, channel)
#endif

// Adds one row of the kernel to the sums; `line` is the input row, `from` the place of the first tap.
static inline void FN(row)(VEC acc[XT], const __global float *line, const __global float *weights,
                           int from, int w, int ci, int co, int channel, int is_inside) {
  VEC weight[KW], in[SPAN];
#pragma unroll
  for (int kx = 0; kx < KW; kx++) weight[kx] = VLOAD(weights + kx * co + channel);
#pragma unroll
  for (int t = 0; t < SPAN; t++) {
    const int x = from + t;
    in[t] = is_inside || (x >= 0 && x < w) ? INPUT(line + x * ci, channel) : (VEC)(0.0f);
  }
#pragma unroll
  for (int kx = 0; kx < KW; kx++) {
#pragma unroll
    for (int i = 0; i < XT; i++) acc[i] = fma(in[i * SW + kx * DW], weight[kx], acc[i]);
  }
}

static inline void FN(tile)(const __global float *x, const __global float *weights,
                            const __global float *bias, __global float *y EXTRA_PARAMS, int row,
                            int out_y, int out_x, int h, int w, int ci, int out_w, int co, int top, int left,
                            int channel) {
  VEC acc[XT];
  const int from = out_x * SW - left;
  const int is_inside = from >= 0 && from + SPAN <= w;
  const VEC start = VLOAD(bias + channel);
#pragma unroll
  for (int i = 0; i < XT; i++) acc[i] = start;
#pragma unroll
  for (int ky = 0; ky < KH; ky++) {
    const int in_y = out_y * SH - top + ky * DH;
    if (in_y < 0 || in_y >= h) continue;
    const __global float *line = x + in_y * w * ci;
    if (is_inside)
      FN(row)(acc, line, weights + ky * KW * co, from, w, ci, co, channel, 1);
    else
      FN(row)(acc, line, weights + ky * KW * co, from, w, ci, co, channel, 0);
  }
#pragma unroll
  for (int i = 0; i < XT; i++) {
    const int index = (row * out_w + out_x + i) * co + channel;
    VEC r;
    FINISH(VEC, VLOAD, r, acc[i], index, channel)
    VSTORE(r, y + index);
  }
}

__kernel HINT GROUP void KERNEL(const __global float *restrict x, const __global float *restrict weights,
                                const __global float *restrict bias, __global float *restrict y EXTRA_PARAMS,
                                int rows, int rows_per, int vectors_per, int h, int w, int ci, int out_h, int out_w,
                                int co, int top, int left) {
  const int row_end = min((int)(get_global_id(1) + 1) * rows_per, rows);
  const int vector_begin = get_global_id(0) * vectors_per;
  const int vector_end = min(vector_begin + vectors_per, (co + V - 1) / V);
  for (int row = get_global_id(1) * rows_per; row < row_end; row++) {
    for (int out_x = 0; out_x < out_w; out_x += XT) {
      for (int v = vector_begin; v < vector_end; v++) {
        FN(tile)(x + row / out_h * (h * w * ci), weights, bias, y EXTRAS, row, row % out_h, min(out_x, out_w - XT), h,
                 w, ci, out_w, co, top, left, min(v * V, co - V));
      }
    }
  }
}

#undef SPAN
#undef INPUT

// Depthwise separable block, channels last: [1x1 expansion, with EXPAND], depthwise convolution, 1x1 projection, each
// with its epilogue, in one kernel. What lies between them never leaves the cache.
//
// A work-item computes `rows_per` output rows (of all images) by `blocks_per` blocks of channels, `chunk` rows at a
// time. Its slice of the scratch holds the depthwise rows of a chunk (`middle`) and a ring of `ring_rows` expanded
// rows, so that rows that two chunks need are expanded once.
// Products are tiles of rows by vectors as in pointwise.cl (EMR by ENB for the expansion, MR by NB for the
// projection); the depthwise tile is XT pixels by a vector, as in depthwise.cl. `ch` is the number of depthwise
// channels. Last tiles and vectors overlap the ones before them.

#define SPAN ((XT - 1) * SW + (KW - 1) * DW + 1)

#ifdef EXPAND
static inline void FN(expand)(const __global float *x, const __global float *weights,
                              const __global float *bias, __global float *to EX_EXTRA_PARAMS, int index0,
                              int channel0, int ci, int ch) {
  VEC acc[EMR][ENB];
#pragma unroll
  for (int i = 0; i < EMR; i++) {
#pragma unroll
    for (int j = 0; j < ENB; j++) acc[i][j] = VLOAD(bias + j * V);
  }
  for (int c = 0; c < ci; c++) {
    VEC weight[ENB];
#pragma unroll
    for (int j = 0; j < ENB; j++) weight[j] = VLOAD(weights + c * (ENB * V) + j * V);
#pragma unroll
    for (int i = 0; i < EMR; i++) {
      const VEC a = (VEC)(x[i * ci + c]);
#pragma unroll
      for (int j = 0; j < ENB; j++) acc[i][j] = fma(a, weight[j], acc[i][j]);
    }
  }
#pragma unroll
  for (int i = 0; i < EMR; i++) {
#pragma unroll
    for (int j = 0; j < ENB; j++) {
      const int channel = min(channel0 + j * V, ch - V);
      const int index = index0 + i * ch + channel;
      VEC r;
      EX_FINISH(VEC, VLOAD, r, acc[i][j], index, channel)
      VSTORE(r, to + i * ch + channel);
    }
  }
}
#endif

// Adds one row of the depthwise kernel to the sums; `line` is the input row, `from` the place of the first tap.
static inline void FN(taps)(VEC acc[XT], const __global float *line, const __global float *weights, int from,
                            int w, int ch, int channel, int is_inside) {
  VEC weight[KW], in[SPAN];
#pragma unroll
  for (int kx = 0; kx < KW; kx++) weight[kx] = VLOAD(weights + kx * ch + channel);
#pragma unroll
  for (int t = 0; t < SPAN; t++) {
    const int x = from + t;
    in[t] = is_inside || (x >= 0 && x < w) ? VLOAD(line + x * ch + channel) : (VEC)(0.0f);
  }
#pragma unroll
  for (int kx = 0; kx < KW; kx++) {
#pragma unroll
    for (int i = 0; i < XT; i++) acc[i] = fma(in[i * SW + kx * DW], weight[kx], acc[i]);
  }
}

// `rows` holds the input rows, row y at y % ring_rows; `to` receives the tile, its pixels `ch` apart.
static inline void FN(depthwise)(const __global float *rows, const __global float *weights,
                                 const __global float *bias, __global float *to DW_EXTRA_PARAMS, int index0,
                                 int out_y, int out_x, int h, int w, int ch, int top, int left, int ring_rows,
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
#ifdef EXPAND
    const __global float *line = rows + in_y % ring_rows * w * ch;
#else
    const __global float *line = rows + in_y * w * ch;
#endif
    if (is_inside)
      FN(taps)(acc, line, weights + ky * KW * ch, from, w, ch, channel, 1);
    else
      FN(taps)(acc, line, weights + ky * KW * ch, from, w, ch, channel, 0);
  }
#pragma unroll
  for (int i = 0; i < XT; i++) {
    const int index = index0 + i * ch + channel;
    VEC r;
    DW_FINISH(VEC, VLOAD, r, acc[i], index, channel)
    VSTORE(r, to + i * ch + channel);
  }
}

static inline void FN(project)(const __global float *middle, const __global float *weights,
                               const __global float *bias, __global float *y EXTRA_PARAMS,
                               int pixel0, int channel0, int ch, int co) {
  VEC acc[MR][NB];
#pragma unroll
  for (int i = 0; i < MR; i++) {
#pragma unroll
    for (int j = 0; j < NB; j++) acc[i][j] = VLOAD(bias + j * V);
  }
  for (int c = 0; c < ch; c++) {
    VEC weight[NB];
#pragma unroll
    for (int j = 0; j < NB; j++) weight[j] = VLOAD(weights + c * (NB * V) + j * V);
#pragma unroll
    for (int i = 0; i < MR; i++) {
      const VEC a = (VEC)(middle[i * ch + c]);
#pragma unroll
      for (int j = 0; j < NB; j++) acc[i][j] = fma(a, weight[j], acc[i][j]);
    }
  }
#pragma unroll
  for (int i = 0; i < MR; i++) {
#pragma unroll
    for (int j = 0; j < NB; j++) {
      const int channel = min(channel0 + j * V, co - V);
      const int index = (pixel0 + i) * co + channel;
      VEC r;
      FINISH(VEC, VLOAD, r, acc[i][j], index, channel)
      VSTORE(r, y + index);
    }
  }
}

__kernel HINT GROUP void KERNEL(const __global float *restrict x,
#ifdef EXPAND
                                const __global float *restrict ew, const __global float *restrict eb,
#endif
                                const __global float *restrict dw, const __global float *restrict db,
                                const __global float *restrict pw, const __global float *restrict pb,
                                __global float *restrict scratch,
                                __global float *restrict y EX_EXTRA_PARAMS DW_EXTRA_PARAMS EXTRA_PARAMS, int rows,
                                int rows_per, int chunk, int blocks_per, int ring_rows, int slice, int h, int w,
                                int ci, int ch, int out_h, int out_w, int co, int top, int left) {
  const int row_begin = get_global_id(1) * rows_per, row_end = min(row_begin + rows_per, rows);
  const int block_begin = get_global_id(0) * blocks_per;
  const int block_end = min(block_begin + blocks_per, (co + NB * V - 1) / (NB * V));
  __global float *middle = scratch + (get_global_id(1) * get_global_size(0) + get_global_id(0)) * slice;
#ifdef EXPAND
  __global float *ring = middle + chunk * out_w * ch;
  int expanded = 0;
#endif
  int end;
  for (int begin = row_begin; begin < row_end; begin = end) {
    const int image = begin / out_h, first = begin % out_h;
    end = min(min(begin + chunk, row_end), (image + 1) * out_h);
#ifdef EXPAND
    if (first == 0) expanded = 0;
    const int low = max(first * SH - top, expanded);
    const int high = min((first + end - begin - 1) * SH - top + (KH - 1) * DH + 1, h);
    for (int block = 0; block * (ENB * V) < ch; block++) {
      for (int in_y = low; in_y < high; in_y++) {
        for (int i = 0; i < w; i += EMR) {
          const int in_x = min(i, w - EMR);
          const int pixel = (image * h + in_y) * w + in_x;
          FN(expand)(x + pixel * ci, ew + block * (ENB * V) * ci, eb + block * (ENB * V),
                     ring + (in_y % ring_rows * w + in_x) * ch EX_EXTRAS, pixel * ch, block * (ENB * V), ci, ch);
        }
      }
    }
    expanded = max(high, expanded);
    const __global float *input = ring;
#else
    const __global float *input = x + image * h * w * ch;
#endif
    for (int row = begin; row < end; row++) {
      for (int i = 0; i < out_w; i += XT) {
        const int out_x = min(i, out_w - XT);
        __global float *to = middle + ((row - begin) * out_w + out_x) * ch;
        for (int c = 0; c < ch; c += V) {
          FN(depthwise)(input, dw, db, to DW_EXTRAS, (row * out_w + out_x) * ch, row - image * out_h, out_x, h, w, ch,
                        top, left, ring_rows, min(c, ch - V));
        }
      }
    }
    const int pixels = (end - begin) * out_w;
    for (int block = block_begin; block < block_end; block++) {
      for (int p = 0; p < pixels; p += MR) {
        const int pixel = min(p, pixels - MR);
        FN(project)(middle + pixel * ch, pw + block * (NB * V) * ch, pb + block * (NB * V), y EXTRAS,
                    begin * out_w + pixel, block * (NB * V), ch, co);
      }
    }
  }
}

#undef SPAN

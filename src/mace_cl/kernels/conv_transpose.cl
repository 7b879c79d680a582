// Transposed convolution in two dimensions, channels last: any kernel, strides, dilations, padding and groups.
//
// Output pixels of a row whose places differ by a multiple of the stride (one phase) see the same taps. A tile is MR
// pixels of a phase by NB vectors of V output channels of one group. Each tap of each pixel is a pointer to its input
// channels, or to zeros where there is no input.
// Weights are [block][kh][kw][input channel][NB * V]. Last pixels and last channels overlap the ones before them.
//
// With PACK, the kernel is the one that brings weights [I, O, kh, kw] that are known only at run time into that order.

#ifdef PACK

__kernel GROUP void KERNEL(const __global float *restrict w, __global float *restrict packed, int blocks, int taps,
                           int ci, int group_co, int per_group, int one_value) {
  const int lane = get_global_id(0), block = get_global_id(1);
  if (lane >= NB * V || block >= blocks) return;
  const int group = block / per_group;
  const int o = min((block % per_group * (NB * V) + lane) / V * V, group_co - V) + lane % V;
  for (int t = 0; t < taps; t++) {
    for (int c = 0; c < ci; c++) {
      packed[((block * taps + t) * ci + c) * (NB * V) + lane] =
          w[one_value ? 0 : ((group * ci + c) * group_co + o) * taps + t];
    }
  }
}

#else

#define SIZES                                                                                                       \
  int h, int w, int total_ci, int out_h, int out_w, int co, int ci, int kh, int kw, int sh, int sw, int dh, int dw, \
      int top, int left
#define SIZE_ARGS h, w, total_ci, out_h, out_w, co, ci, kh, kw, sh, sw, dh, dw, top, left

// `x` is the image's first channel of the group; `first` the place in its row of the tile's first pixel.
static inline void FN(tile)(const __global float *x, const __global float *weights,
                            const __global float *bias, const __global float *zeros,
                            __global float *y EXTRA_PARAMS, int row, int first, int channel0,
                            int channel_end, SIZES) {
  VEC acc[MR][NB];
#pragma unroll
  for (int i = 0; i < MR; i++) {
#pragma unroll
    for (int j = 0; j < NB; j++) acc[i][j] = VLOAD(bias + j * V);
  }
  for (int ky = 0; ky < kh; ky++) {
    const int up = row % out_h + top - ky * dh;
    if (up < 0 || up % sh != 0 || up / sh >= h) continue;
    for (int kx = 0; kx < kw; kx++) {
      const int at = first + left - kx * dw;
      if (at % sw != 0) continue;
      const __global float *from[MR];
#pragma unroll
      for (int i = 0; i < MR; i++) {
        const int ix = at / sw + i;
        from[i] = ix >= 0 && ix < w ? x + (up / sh * w + ix) * total_ci : zeros;
      }
      const __global float *tap = weights + (ky * kw + kx) * ci * (NB * V);
      for (int c = 0; c < ci; c++) {
        VEC weight[NB];
#pragma unroll
        for (int j = 0; j < NB; j++) weight[j] = VLOAD(tap + c * (NB * V) + j * V);
#pragma unroll
        for (int i = 0; i < MR; i++) {
          const VEC a = (VEC)(from[i][c]);
#pragma unroll
          for (int j = 0; j < NB; j++) acc[i][j] = fma(a, weight[j], acc[i][j]);
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < MR; i++) {
#pragma unroll
    for (int j = 0; j < NB; j++) {
      const int channel = min(channel0 + j * V, channel_end - V);
      const int index = (row * out_w + first + i * sw) * co + channel;
      VEC r;
      FINISH(VEC, VLOAD, r, acc[i][j], index, channel)
      VSTORE(r, y + index);
    }
  }
}

// A work-item computes `rows_per` output rows (of all images) by `blocks_per` blocks of channels.
__kernel HINT GROUP void KERNEL(const __global float *restrict x, const __global float *restrict weights,
                                const __global float *restrict bias, const __global float *restrict zeros,
                                __global float *restrict y EXTRA_PARAMS, int rows, int rows_per, int blocks,
                                int blocks_per, int per_group, int group_co, SIZES) {
  const int row_end = min((int)(get_global_id(1) + 1) * rows_per, rows);
  const int block_end = min((int)(get_global_id(0) + 1) * blocks_per, blocks);
  for (int row = get_global_id(1) * rows_per; row < row_end; row++) {
    for (int block = get_global_id(0) * blocks_per; block < block_end; block++) {
      const int group = block / per_group;
      const int channel0 = group * group_co + block % per_group * (NB * V);
      const __global float *from = x + row / out_h * (h * w * total_ci) + group * ci;
      for (int phase = 0; phase < min(sw, out_w); phase++) {
        const int count = (out_w - phase + sw - 1) / sw;
        for (int q = 0; q < count; q += MR) {
          FN(tile)(from, weights + block * (kh * kw * ci * NB * V), bias + block * (NB * V), zeros, y EXTRAS, row,
                   phase + min(q, count - MR) * sw, channel0, (group + 1) * group_co, SIZE_ARGS);
        }
      }
    }
  }
}

#undef SIZES
#undef SIZE_ARGS

#endif

// 3x3 convolution with stride 1 by Winograd's F(4x4, 3x3), channels last: 36 products of matrices in place of 144.
//
// An output tile of 4x4 pixels comes from an input tile of 6x6. A work-item computes `tiles_per` tiles (of all images,
// counted in order) by `blocks_per` blocks of NB vectors of V output channels, `chunk` tiles at a time:
//   1. each input tile is transformed: wide[36][chunk][ci];
//   2. for each block, 36 products with the transformed weights [block][36][ci][NB * V] give sums[36][chunk][NB * V];
//   3. the sums are transformed back and finished.
// Last tiles of a product and last channels overlap the ones before them; tiles that hang over the image's edge read
// zeros there and write nothing.

#define POINTS 36

// The rows of B transposed, for six vectors `d` that stand `step` apart.
static inline void FN(forward)(VEC *d, int step) {
  const VEC d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step], d4 = d[4 * step], d5 = d[5 * step];
  const VEC even = d4 - 4.0f * d2, odd = d3 - 4.0f * d1, near = d4 - d2, far = 2.0f * (d3 - d1);
  d[0] = 4.0f * d0 - 5.0f * d2 + d4;
  d[step] = even + odd;
  d[2 * step] = even - odd;
  d[3 * step] = near + far;
  d[4 * step] = near - far;
  d[5 * step] = 4.0f * d1 - 5.0f * d3 + d5;
}

// The rows of A transposed: six vectors become four.
static inline void FN(backward)(VEC *m, int step) {
  const VEC m0 = m[0], m5 = m[5 * step];
  const VEC sum1 = m[step] + m[2 * step], difference1 = m[step] - m[2 * step];
  const VEC sum2 = m[3 * step] + m[4 * step], difference2 = m[3 * step] - m[4 * step];
  m[0] = m0 + sum1 + sum2;
  m[step] = difference1 + 2.0f * difference2;
  m[2 * step] = sum1 + 4.0f * sum2;
  m[3 * step] = difference1 + 8.0f * difference2 + m5;
}

// Transforms the input tile whose first pixel is (in_y, in_x), for one vector of channels.
static inline void FN(transform)(const __global float *x, __global float *wide, int in_y, int in_x, int h,
                                 int w, int ci, int point_step) {
  VEC d[POINTS];
  const int is_inside = in_y >= 0 && in_x >= 0 && in_y + 6 <= h && in_x + 6 <= w;
  for (int i = 0; i < 6; i++) {
#pragma unroll
    for (int j = 0; j < 6; j++) {
      const int y = in_y + i, column = in_x + j;
      const int is_there = is_inside || (y >= 0 && y < h && column >= 0 && column < w);
      d[i * 6 + j] = is_there ? VLOAD(x + (y * w + column) * ci) : (VEC)(0.0f);
    }
    FN(forward)(d + i * 6, 1);
  }
  for (int j = 0; j < 6; j++) {
    FN(forward)(d + j, 6);
#pragma unroll
    for (int i = 0; i < 6; i++) VSTORE(d[i * 6 + j], wide + (i * 6 + j) * point_step);
  }
}

// MR rows of one of the 36 products.
static inline void FN(product)(const __global float *wide, const __global float *weights,
                               __global float *sums, int ci) {
  VEC acc[MR][NB];
#pragma unroll
  for (int i = 0; i < MR; i++) {
#pragma unroll
    for (int j = 0; j < NB; j++) acc[i][j] = (VEC)(0.0f);
  }
  for (int c = 0; c < ci; c++) {
    VEC weight[NB];
#pragma unroll
    for (int j = 0; j < NB; j++) weight[j] = VLOAD(weights + c * (NB * V) + j * V);
#pragma unroll
    for (int i = 0; i < MR; i++) {
      const VEC a = (VEC)(wide[i * ci + c]);
#pragma unroll
      for (int j = 0; j < NB; j++) acc[i][j] = fma(a, weight[j], acc[i][j]);
    }
  }
#pragma unroll
  for (int i = 0; i < MR; i++) {
#pragma unroll
    for (int j = 0; j < NB; j++) VSTORE(acc[i][j], sums + (i * NB + j) * V);
  }
}

// Transforms one vector of channels of an output tile back and finishes it.
static inline void FN(finish)(const __global float *sums, VEC bias, __global float *y EXTRA_PARAMS,
                              int point_step, int image, int out_y, int out_x, int out_h, int out_w, int co,
                              int channel) {
  VEC m[POINTS];
  for (int j = 0; j < 6; j++) {
#pragma unroll
    for (int i = 0; i < 6; i++) m[i * 6 + j] = VLOAD(sums + (i * 6 + j) * point_step);
    FN(backward)(m + j, 6);
  }
  for (int i = 0; i < min(4, out_h - out_y); i++) {
    FN(backward)(m + i * 6, 1);
    for (int j = 0; j < min(4, out_w - out_x); j++) {
      const int index = ((image * out_h + out_y + i) * out_w + out_x + j) * co + channel;
      VEC r;
      const VEC sum = m[i * 6 + j] + bias;
      FINISH(VEC, VLOAD, r, sum, index, channel)
      VSTORE(r, y + index);
    }
  }
}

__kernel HINT GROUP void KERNEL(const __global float *restrict x, const __global float *restrict weights,
                                const __global float *restrict bias, __global float *restrict scratch,
                                __global float *restrict y EXTRA_PARAMS, int tiles, int tiles_per, int chunk,
                                int blocks_per, int slice, int h, int w, int ci, int out_h, int out_w, int co, int top,
                                int left) {
  const int tile_end = min((int)(get_global_id(1) + 1) * tiles_per, tiles);
  const int block_end = min((int)(get_global_id(0) + 1) * blocks_per, (co + NB * V - 1) / (NB * V));
  const int across = (out_w + 3) / 4, down = (out_h + 3) / 4;
  __global float *wide = scratch + (get_global_id(1) * get_global_size(0) + get_global_id(0)) * slice;
  __global float *sums = wide + POINTS * chunk * ci;
  for (int begin = get_global_id(1) * tiles_per; begin < tile_end; begin += chunk) {
    const int count = min(chunk, tile_end - begin);
    for (int t = 0; t < count; t++) {
      const int row = (begin + t) / across, column = (begin + t) % across;
      const __global float *image = x + row / down * (h * w * ci);
      for (int c = 0; c < ci; c += V) {
        const int channel = min(c, ci - V);
        FN(transform)(image + channel, wide + t * ci + channel, row % down * 4 - top, column * 4 - left, h, w, ci,
                      chunk * ci);
      }
    }
    for (int block = get_global_id(0) * blocks_per; block < block_end; block++) {
      for (int p = 0; p < POINTS; p++) {
        // Rows beyond `count` hold what an earlier chunk left: computed, never read.
        for (int t = 0; t < count; t += MR) {
          const int first = min(t, chunk - MR);
          FN(product)(wide + (p * chunk + first) * ci, weights + (block * POINTS + p) * ci * (NB * V),
                      sums + (p * chunk + first) * (NB * V), ci);
        }
      }
      for (int t = 0; t < count; t++) {
        const int row = (begin + t) / across, column = (begin + t) % across;
        for (int j = 0; j < NB; j++) {
          FN(finish)(sums + t * (NB * V) + j * V, VLOAD(bias + (block * NB + j) * V), y EXTRAS, chunk * (NB * V),
                     row / down, row % down * 4, column * 4, out_h, out_w, co, min((block * NB + j) * V, co - V));
        }
      }
    }
  }
}

#undef POINTS

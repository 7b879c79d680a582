// y[r, :] = epilogue(bias + x[r, :] * w) for rows r: 1x1 convolution of channels-last data, and a matrix times
// constants (fully connected).
//
// A tile is MR rows by NB vectors of V columns, held in registers while k runs. Weights come in blocks of NB vectors
// of columns, [block][k][NB * V]. A work-item computes `rows_per` rows by `blocks_per` blocks; it walks its rows in
// chunks, so that a chunk of x stays in the cache while the blocks pass by.
// Last rows and last columns overlap the ones before them, so m >= MR and n >= V.

#ifdef STRIDED
#define ROW_PARAMS , int out_h, int out_w, int image_step, int row_step, int pixel_step
#define ROW_ARGS , out_h, out_w, image_step, row_step, pixel_step
#define ROW(r) ((r) / (out_h * out_w) * image_step + (r) / out_w % out_h * row_step + (r) % out_w * pixel_step)
#else
#define ROW_PARAMS
#define ROW_ARGS
#define ROW(r) ((r) * k)
#endif

static inline void FN(tile)(const __global float *x, const __global float *w,
                            const __global float *bias, __global float *y EXTRA_PARAMS,
                            int row, int column, int n, int k ROW_PARAMS) {
  VEC acc[MR][NB];
  const __global float *from[MR];
#pragma unroll
  for (int i = 0; i < MR; i++) {
    from[i] = x + ROW(row + i);
#pragma unroll
    for (int j = 0; j < NB; j++) acc[i][j] = VLOAD(bias + j * V);
  }
  for (int c = 0; c < k; c++) {
    VEC weight[NB];
#pragma unroll
    for (int j = 0; j < NB; j++) weight[j] = VLOAD(w + c * (NB * V) + j * V);
#pragma unroll
    for (int i = 0; i < MR; i++) {
      const VEC a = (VEC)(from[i][c]);
#pragma unroll
      for (int j = 0; j < NB; j++) acc[i][j] = fma(a, weight[j], acc[i][j]);
    }
  }
#pragma unroll
  for (int i = 0; i < MR; i++) {
#pragma unroll
    for (int j = 0; j < NB; j++) {
      const int channel = min(column + j * V, n - V);
      const int index = (row + i) * n + channel;
      VEC r;
      FINISH(VEC, VLOAD, r, acc[i][j], index, channel)
      VSTORE(r, y + index);
    }
  }
}

__kernel HINT GROUP void KERNEL(const __global float *restrict x, const __global float *restrict w,
                                const __global float *restrict bias, __global float *restrict y EXTRA_PARAMS, int m,
                                int n, int k, int rows_per, int chunk, int blocks_per ROW_PARAMS) {
  const int row_end = min((int)(get_global_id(1) + 1) * rows_per, m);
  const int block_end = min((int)(get_global_id(0) + 1) * blocks_per, (n + NB * V - 1) / (NB * V));
  for (int begin = get_global_id(1) * rows_per; begin < row_end; begin += chunk) {
    const int end = min(begin + chunk, row_end);
    for (int block = get_global_id(0) * blocks_per; block < block_end; block++) {
      for (int r = begin; r < end; r += MR) {
        FN(tile)(x, w + block * (NB * V) * k, bias + block * (NB * V), y EXTRAS, max(min(r, end - MR), 0),
                 block * (NB * V), n, k ROW_ARGS);
      }
    }
  }
}

#undef ROW_PARAMS
#undef ROW_ARGS
#undef ROW

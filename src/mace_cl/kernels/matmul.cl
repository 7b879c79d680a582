// y[b] = epilogue(bias + x[b] * w[b]) for matrices known only at run time, or in batches.
//
// A tile is MR rows by NB vectors of V columns. `offsets` holds, for each product of the batch, where its x, w and bias
// start. With PACKED, w lies in blocks of NB vectors of columns, [block][k][NB * V]; else rows of w are dense. With
// TRANSPOSED, x is [k, m]. BIAS(T, r, index of row, column) loads the bias of a vector of columns.
// Last rows and last columns overlap the ones before them, so m >= MR and n >= V.
//
// With PACK, the kernel is the one that brings transposed matrices [n, k] into blocks.

#ifdef PACK

__kernel GROUP void KERNEL(const __global float *restrict w, __global float *restrict packed, int n, int k, int blocks,
                           int matrices) {
  const int block = get_global_id(0), matrix = get_global_id(1);
  if (block >= blocks || matrix >= matrices) return;
  const __global float *from = w + matrix * n * k;
  __global float *to = packed + (matrix * blocks + block) * k * (NB * V);
  for (int c = 0; c < k; c++) {
    for (int lane = 0; lane < NB * V; lane++) {
      const int column = min((block * (NB * V) + lane) / V * V, n - V) + lane % V;
      to[c * (NB * V) + lane] = from[column * k + c];
    }
  }
}

#else

#ifdef TRANSPOSED
#define A(i, c) from[c * m + i]
#else
#define A(i, c) from[i * k + c]
#endif

static inline void FN(tile)(const __global float *from, const __global float *w,
                            const __global float *bias, __global float *y EXTRA_PARAMS, int batch,
                            int row, int column0, int m, int n, int k, int row_step) {
  VEC acc[MR][NB];
  int column[NB];
#pragma unroll
  for (int j = 0; j < NB; j++) {
    column[j] = min(column0 + j * V, n - V);
#pragma unroll
    for (int i = 0; i < MR; i++) acc[i][j] = BIAS(bias, row + i, column[j]);
  }
  for (int c = 0; c < k; c++) {
    VEC weight[NB];
#pragma unroll
    for (int j = 0; j < NB; j++) {
#ifdef PACKED
      weight[j] = VLOAD(w + c * (NB * V) + j * V);
#else
      weight[j] = VLOAD(w + c * n + column[j]);
#endif
    }
#pragma unroll
    for (int i = 0; i < MR; i++) {
      const VEC a = (VEC)(A(i, c));
#pragma unroll
      for (int j = 0; j < NB; j++) acc[i][j] = fma(a, weight[j], acc[i][j]);
    }
  }
#pragma unroll
  for (int i = 0; i < MR; i++) {
#pragma unroll
    for (int j = 0; j < NB; j++) {
      const int channel = column[j];
      const int index = (batch * m + row + i) * n + channel;
      VEC r;
      FINISH(VEC, VLOAD, r, acc[i][j], index, channel)
      VSTORE(r, y + index);
    }
  }
}

__kernel HINT GROUP void KERNEL(const __global float *restrict x, const __global float *restrict w,
                                const __global float *restrict bias, const __global int *restrict offsets,
                                __global float *restrict y EXTRA_PARAMS, int batches, int m, int n, int k,
                                int rows_per, int chunk, int blocks_per, int row_step) {
  const int batch = get_global_id(2);
  if (batch >= batches) return;
  const int row_end = min((int)(get_global_id(1) + 1) * rows_per, m);
  const int block_end = min((int)(get_global_id(0) + 1) * blocks_per, (n + NB * V - 1) / (NB * V));
  const __global float *from = x + offsets[batch * 3];
  const __global float *matrix = w + offsets[batch * 3 + 1];
  const __global float *start = bias + offsets[batch * 3 + 2];
  for (int begin = get_global_id(1) * rows_per; begin < row_end; begin += chunk) {
    const int end = min(begin + chunk, row_end);
    for (int block = get_global_id(0) * blocks_per; block < block_end; block++) {
      for (int r = begin; r < end; r += MR) {
        const int row = max(min(r, end - MR), 0);
#ifdef PACKED
        const __global float *columns = matrix + block * (NB * V) * k;
#else
        const __global float *columns = matrix;
#endif
#ifdef TRANSPOSED
        FN(tile)(from + row, columns, start, y EXTRAS, batch, row, block * (NB * V), m, n, k, row_step);
#else
        FN(tile)(from + row * k, columns, start, y EXTRAS, batch, row, block * (NB * V), m, n, k, row_step);
#endif
      }
    }
  }
}

#undef A

#endif

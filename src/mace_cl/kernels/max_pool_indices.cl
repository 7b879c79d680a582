// The greatest element of each window of x [planes, d, h, w], and its index in x flattened (COLUMN_MAJOR: within a plane the
// first spatial dimension is the innermost one). A window that holds no element gives the least number and -1. Dimensions
// that a tensor lacks have size 1. A work-item computes `rows_per` rows of the output.

__kernel HINT GROUP void KERNEL(const __global T *restrict x, __global T *restrict y, __global long *restrict places,
                                int rows, int rows_per, int in_d, int in_h, int in_w, int out_d, int out_h, int out_w,
                                int pad_d, int pad_h, int pad_w) {
  const int row_end = min((int)(get_global_id(0) + 1) * rows_per, rows);
  for (int row = get_global_id(0) * rows_per; row < row_end; row++) {
    const int oh = row % out_h, od = row / out_h % out_d, plane = row / out_h / out_d;
    const __global T *restrict from = x + (size_t)plane * in_d * in_h * in_w;
    for (int ow = 0; ow < out_w; ow++) {
      T best = LEAST;
      int where = -1;
      for (int kd = 0; kd < KD; kd++) {
        const int d = od * SD - pad_d + kd * DD;
        if (d < 0 || d >= in_d) continue;
        for (int kh = 0; kh < KH; kh++) {
          const int h = oh * SH - pad_h + kh * DH;
          if (h < 0 || h >= in_h) continue;
          for (int kw = 0; kw < KW; kw++) {
            const int w = ow * SW - pad_w + kw * DW;
            if (w < 0 || w >= in_w) continue;
            const T v = from[(d * in_h + h) * in_w + w];
            if (where >= 0 && !(v > best)) continue;
            best = v;
#ifdef COLUMN_MAJOR
            where = (w * in_h + h) * in_d + d;
#else
            where = (d * in_h + h) * in_w + w;
#endif
          }
        }
      }
      y[(size_t)row * out_w + ow] = best;
      places[(size_t)row * out_w + ow] = where < 0 ? -1 : (long)plane * in_d * in_h * in_w + where;
    }
  }
}

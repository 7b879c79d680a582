// Pooling of channels-last data over three spatial dimensions (those that a tensor lacks have size 1).
// A work-item computes pixels [begin, end) and vectors of V channels; the last vector overlaps the one before.
// START, STEP(acc, v) and DONE(acc, count) make the operator: maximum, mean or p-norm.

__kernel HINT GROUP void KERNEL(const __global float *restrict x, __global float *restrict y, int pixels, int pixels_per,
                                int vectors_per, int c, int in_d, int in_h, int in_w, int out_d, int out_h, int out_w,
                                int pad_d, int pad_h, int pad_w, int end_d, int end_h, int end_w) {
  const int pixel_end = min((int)(get_global_id(1) + 1) * pixels_per, pixels);
  const int vector_end = min((int)(get_global_id(0) + 1) * vectors_per, (c + V - 1) / V);
  for (int pixel = get_global_id(1) * pixels_per; pixel < pixel_end; pixel++) {
    const int ow = pixel % out_w, oh = pixel / out_w % out_h, od = pixel / out_w / out_h % out_d;
    const int image = pixel / out_w / out_h / out_d;
    const int d0 = od * SD - pad_d, h0 = oh * SH - pad_h, w0 = ow * SW - pad_w;
    int count = 0;
#ifdef COUNT_PADDING
    for (int kd = 0; kd < KD; kd++)
      for (int kh = 0; kh < KH; kh++)
        for (int kw = 0; kw < KW; kw++)
          count += d0 + kd * DD < end_d && h0 + kh * DH < end_h && w0 + kw * DW < end_w;
#endif
    for (int vector = get_global_id(0) * vectors_per; vector < vector_end; vector++) {
      const int channel = min(vector * V, c - V);
      VEC acc = (VEC)(START);
      int seen = 0;
      for (int kd = 0; kd < KD; kd++) {
        const int d = d0 + kd * DD;
        if (d < 0 || d >= in_d) continue;
        for (int kh = 0; kh < KH; kh++) {
          const int h = h0 + kh * DH;
          if (h < 0 || h >= in_h) continue;
          const __global float *row = x + (((size_t)image * in_d + d) * in_h + h) * in_w * c + channel;
          for (int kw = 0; kw < KW; kw++) {
            const int w = w0 + kw * DW;
            if (w < 0 || w >= in_w) continue;
            const VEC v = VLOAD(row + w * c);
            STEP(acc, v)
            seen++;
          }
        }
      }
#ifndef COUNT_PADDING
      count = seen;
#endif
      VSTORE(DONE(acc, count), y + (size_t)pixel * c + channel);
    }
  }
}

// Direct convolution in two dimensions, or three with DEPTH, channels last: any kernel, strides, dilations, padding and
// groups.
//
// A tile is MR output pixels (of all images, counted in order) by NB vectors of V output channels of one group, held
// in registers while taps and input channels run. Each tap of each pixel is a pointer to its input channels, or to
// zeros where it falls into the padding, so that the inner loop is that of a matrix product.
// Weights are [block][kd][kh][kw][input channel][NB * V]. Last pixels and last channels overlap the ones before them.
//
// With PACK, the kernel is the one that brings weights [O, I, kh, kw] that are known only at run time into that order.

#ifdef PACK

// The output channel of lane `lane` of block `block`; `per_group` blocks belong to a group.
static inline int FN(channel)(int block, int lane, int group_co, int per_group) {
  const int start = (block % per_group * (NB * V) + lane) / V * V;
  return block / per_group * group_co + min(start, group_co - V) + lane % V;
}

__kernel GROUP void KERNEL(const __global float *restrict w, __global float *restrict packed, int blocks, int taps,
                           int ci, int group_co, int per_group, int one_value) {
  const int lane = get_global_id(0), block = get_global_id(1);
  if (lane >= NB * V || block >= blocks) return;
  const int o = FN(channel)(block, lane, group_co, per_group);
  for (int t = 0; t < taps; t++) {
    for (int c = 0; c < ci; c++) {
      packed[((block * taps + t) * ci + c) * (NB * V) + lane] = w[one_value ? 0 : (o * ci + c) * taps + t];
    }
  }
}

#else

// Adds `count` steps of the inner dimension to the sums; `w` moves on.
static inline void FN(product)(VEC acc[MR][NB], const __global float *const from[MR], const __global float *w,
                               int count) {
  for (int c = 0; c < count; c++) {
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
}

// `plane` counts the input's images; with DEPTH an image is a stack of `d` planes.
#ifdef DEPTH
#define DEPTH_SIZES , int d, int out_d, int kd, int sd, int dd, int front
#define DEPTH_SIZE_ARGS , d, out_d, kd, sd, dd, front
#define PLANE(i) (plane[i] + kz * dd)
#define TAPS (kd * kh * kw)
#else
#define DEPTH_SIZES
#define DEPTH_SIZE_ARGS
#define PLANE(i) plane[i]
#define TAPS (kh * kw)
#endif

#define SIZES                                                                                                       \
  int h, int w, int total_ci, int out_h, int out_w, int co, int ci, int kh, int kw, int sh, int sw, int dh, int dw, \
      int top, int left DEPTH_SIZES
#define SIZE_ARGS h, w, total_ci, out_h, out_w, co, ci, kh, kw, sh, sw, dh, dw, top, left DEPTH_SIZE_ARGS

static inline void FN(tile)(const __global float *x, const __global float *weights,
                            const __global float *bias, const __global float *zeros,
                            __global float *y EXTRA_PARAMS, int pixel, int channel0, int channel_end,
                            SIZES) {
  VEC acc[MR][NB];
  int in_y[MR], in_x[MR], plane[MR];
#ifdef DEPTH
  int in_z[MR];
#endif
#ifdef FOLD
  int least = w, most = 0;
#endif
#pragma unroll
  for (int i = 0; i < MR; i++) {
    const int row = (pixel + i) / out_w;
#ifdef DEPTH
    in_z[i] = row / out_h % out_d * sd - front;
    plane[i] = row / out_h / out_d * d + in_z[i];
#else
    plane[i] = row / out_h;
#endif
    in_y[i] = row % out_h * sh - top;
    in_x[i] = (pixel + i) % out_w * sw - left;
#ifdef FOLD
    least = min(least, in_x[i]);
    most = max(most, in_x[i] + kw);
#endif
#pragma unroll
    for (int j = 0; j < NB; j++) acc[i][j] = VLOAD(bias + j * V);
  }
#ifdef DEPTH
  for (int kz = 0; kz < kd; kz++) {
    const __global float *taps = weights + kz * kh * kw * ci * (NB * V);
#else
  {
    const __global float *taps = weights;
#endif
    for (int ky = 0; ky < kh; ky++) {
      const __global float *line[MR], *from[MR];
      bool inside[MR];
#pragma unroll
      for (int i = 0; i < MR; i++) {
        const int iy = in_y[i] + ky * dh;
        inside[i] = iy >= 0 && iy < h;
#ifdef DEPTH
        inside[i] = inside[i] && in_z[i] + kz * dd >= 0 && in_z[i] + kz * dd < d;
#endif
        line[i] = x + ((PLANE(i) * h + iy) * w + in_x[i]) * total_ci;
      }
#ifdef FOLD
      // The taps of a row of the kernel follow each other in memory.
      if (least >= 0 && most <= w) {
#pragma unroll
        for (int i = 0; i < MR; i++) from[i] = inside[i] ? line[i] : zeros;
        FN(product)(acc, from, taps + ky * kw * ci * (NB * V), kw * ci);
        continue;
      }
#endif
      for (int kx = 0; kx < kw; kx++) {
#pragma unroll
        for (int i = 0; i < MR; i++) {
          const int ix = in_x[i] + kx * dw;
          from[i] = inside[i] && ix >= 0 && ix < w ? line[i] + kx * dw * total_ci : zeros;
        }
        FN(product)(acc, from, taps + (ky * kw + kx) * ci * (NB * V), ci);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < MR; i++) {
#pragma unroll
    for (int j = 0; j < NB; j++) {
      const int channel = min(channel0 + j * V, channel_end - V);
      const int index = (pixel + i) * co + channel;
      VEC r;
      FINISH(VEC, VLOAD, r, acc[i][j], index, channel)
      VSTORE(r, y + index);
    }
  }
}

// `per_group` blocks compute the group_co output channels of a group.
__kernel HINT GROUP void KERNEL(const __global float *restrict x, const __global float *restrict weights,
                                const __global float *restrict bias, const __global float *restrict zeros,
                                __global float *restrict y EXTRA_PARAMS, int pixels, int pixels_per, int chunk,
                                int blocks, int blocks_per, int per_group, int group_co, SIZES) {
  const int pixel_end = min((int)(get_global_id(1) + 1) * pixels_per, pixels);
  const int block_end = min((int)(get_global_id(0) + 1) * blocks_per, blocks);
  for (int begin = get_global_id(1) * pixels_per; begin < pixel_end; begin += chunk) {
    const int end = min(begin + chunk, pixel_end);
    for (int block = get_global_id(0) * blocks_per; block < block_end; block++) {
      const int group = block / per_group;
      const int channel0 = group * group_co + block % per_group * (NB * V);
      for (int p = begin; p < end; p += MR) {
        FN(tile)(x + group * ci, weights + block * (TAPS * ci * NB * V), bias + block * (NB * V), zeros,
                 y EXTRAS, max(min(p, end - MR), 0), channel0, (group + 1) * group_co, SIZE_ARGS);
      }
    }
  }
}

#undef SIZES
#undef SIZE_ARGS
#undef DEPTH_SIZES
#undef DEPTH_SIZE_ARGS
#undef PLANE
#undef TAPS

#endif

// y[n, :, t] = x[n, :, point grid[n, t]], interpolated from TAPS elements along each of R spatial dimensions, whose sizes are
// in `sizes`. The grid names the last dimension first; -1 and 1 are the ends of x. Elements outside are 0 (ZEROS), those at the
// edge (BORDER) or mirrored (REFLECTION). A work-item computes `points_per` points with all their channels.

static inline float FN(mirrored)(float at, float size) {
#ifdef ALIGN_CORNERS
  const float low = 0.0f, span = size - 1.0f;
#else
  const float low = -0.5f, span = size;
#endif
  if (span == 0.0f) return 0.0f;
  const float folded = fmod(fabs(at - low), 2.0f * span);
  return clamp((folded > span ? 2.0f * span - folded : folded) + low, 0.0f, size - 1.0f);
}

// Indices and weights of the taps along one dimension; not-a-number reads the first element.
static inline void FN(taps)(float g, int size, int *index, float *weight) {
  const float n = (float)size;
#ifdef ALIGN_CORNERS
  float at = (g + 1.0f) / 2.0f * (n - 1.0f);
#else
  float at = ((g + 1.0f) * n - 1.0f) / 2.0f;
#endif
#if defined(BORDER) && TAPS < 4
  at = fmin(fmax(at, 0.0f), n - 1.0f);
#elif defined(REFLECTION) && TAPS < 4
  at = FN(mirrored)(at, n);
#endif
#if TAPS == 1
  const float first = rint(at);
  weight[0] = 1.0f;
#else
  const float low = floor(at), t = at - low;
#if TAPS == 2
  const float first = low;
  weight[0] = 1.0f - t;
  weight[1] = t;
#else
  const float first = low - 1.0f, a = -0.75f;
  weight[0] = ((a * (1.0f + t) - 5.0f * a) * (1.0f + t) + 8.0f * a) * (1.0f + t) - 4.0f * a;
  weight[1] = ((a + 2.0f) * t - (a + 3.0f)) * t * t + 1.0f;
  weight[2] = ((a + 2.0f) * (1.0f - t) - (a + 3.0f)) * (1.0f - t) * (1.0f - t) + 1.0f;
  weight[3] = ((a * (2.0f - t) - 5.0f * a) * (2.0f - t) + 8.0f * a) * (2.0f - t) - 4.0f * a;
#endif
#endif
  for (int k = 0; k < TAPS; k++) {
    float place = first + k;
#if defined(REFLECTION) && TAPS == 4
    place = FN(mirrored)(place, n);
#elif defined(ZEROS)
    if (!(place >= 0.0f && place <= n - 1.0f)) weight[k] = 0.0f;
#endif
    index[k] = (int)rint(fmin(fmax(place, 0.0f), n - 1.0f));
  }
}

__kernel GROUP void KERNEL(const __global float *restrict x, const __global float *restrict grid,
                           const __global int *restrict sizes, __global float *restrict y, int points, int points_per,
                           int points_per_image, int channels, int plane) {
  const int end = min((int)(get_global_id(0) + 1) * points_per, points);
  for (int point = get_global_id(0) * points_per; point < end; point++) {
    int index[R][TAPS];
    float weight[R][TAPS];
    for (int d = 0; d < R; d++)
      FN(taps)(grid[(size_t)point * R + (R - 1 - d)], sizes[d], index[d], weight[d]);
    int place[CORNERS];
    float factor[CORNERS];
    for (int corner = 0; corner < CORNERS; corner++) {
      int rest = corner, offset = 0, step = 1;
      float product = 1.0f;
      for (int d = R - 1; d >= 0; d--) {
        offset += index[d][rest % TAPS] * step;
        product *= weight[d][rest % TAPS];
        step *= sizes[d];
        rest /= TAPS;
      }
      place[corner] = offset;
      factor[corner] = product;
    }
    const int image = point / points_per_image, t = point % points_per_image;
    for (int c = 0; c < channels; c++) {
      const __global float *from = x + ((size_t)image * channels + c) * plane;
      float sum = 0.0f;
      for (int corner = 0; corner < CORNERS; corner++) sum += from[place[corner]] * factor[corner];
      y[((size_t)image * channels + c) * points_per_image + t] = sum;
    }
  }
}

// y = f(operands), element by element, with broadcasting. The output is seen as rows of `inner` elements; OFFSETS(row)
// declares where each operand's row starts, COMPUTE(T, LOAD, r, i) computes r of type T for the elements from i on.
// A work-item computes `rows_per` rows by `inner_per` elements.

__kernel HINT GROUP void KERNEL(OPERANDS __global TY *restrict y, int rows, int inner, int rows_per,
                                int inner_per DIM_PARAMS) {
  const int row_end = min((int)(get_global_id(1) + 1) * rows_per, rows);
  const int begin = get_global_id(0) * inner_per;
  const int end = min(begin + inner_per, inner);
  for (int row = get_global_id(1) * rows_per; row < row_end; row++) {
    OFFSETS(row)
    __global TY *restrict out = y + row * inner;
    int i = begin;
#ifdef VEC
    for (; i + V <= end; i += V) {
      VEC r;
      COMPUTE(VEC, VLOAD, r, i)
      VSTORE(r, out + i);
    }
#endif
    for (; i < end; i++) {
      TR r;
      COMPUTE(TR, LOAD_ONE, r, i)
      STORE(r, out, i);
    }
  }
}

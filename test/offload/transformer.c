/* A transformer's layer in single precision: attention of several heads that looks back only, and a network of two
 * layers, both behind a normalisation and beside a sum. The host computes the same. `transformer N` times N layers, one
 * after the other, on 64 tokens. */
#include "check.h"

#define TOLERANCE 2e-5 /* of a value, in which sums of up to 512 products are; values are about 1 */

enum { TOKENS = 64, WIDTH = 128, HEADS = 4, HEAD = WIDTH / HEADS, INNER = 4 * WIDTH, QKV = 3 * WIDTH };

/* Everything that is on the device, in one piece. */
enum {
  X = 0,
  NORMAL = X + TOKENS * WIDTH,
  THREE = NORMAL + TOKENS * WIDTH,
  SCORE = THREE + TOKENS * QKV,
  MIXED = SCORE + HEADS * TOKENS * TOKENS,
  HIDDEN = MIXED + TOKENS * WIDTH,
  WEIGHTS = HIDDEN + TOKENS * INNER,
  W_THREE = WEIGHTS,
  W_OUT = W_THREE + WIDTH * QKV,
  W_UP = W_OUT + WIDTH * WIDTH,
  W_DOWN = W_UP + WIDTH * INNER,
  ALL = W_DOWN + INNER * WIDTH
};

/* What becomes of a product. */
typedef enum use { STORE, ADD, GELU } use_t;

/* d[to] of TOKENS rows = d[a] (TOKENS x inner) times d[w] (inner x columns). */
static void multiply(float *d, int to, int a, int w, int inner, int columns, use_t use, int on_device) {
#pragma omp target teams distribute parallel for collapse(2) if (target : on_device) map(tofrom : d[0 : ALL])
  for (int i = 0; i < TOKENS; i++)
    for (int j = 0; j < columns; j++) {
      float sum = 0;
      for (int k = 0; k < inner; k++)
        sum += d[a + i * inner + k] * d[w + k * columns + j];
      float *at = &d[to + i * columns + j];
      if (use == GELU)
        *at = 0.5f * sum * (1 + tanhf(0.7978846f * (sum + 0.044715f * sum * sum * sum)));
      else
        *at = use == ADD ? *at + sum : sum;
    }
}

static void normalise(float *d, int on_device) {
#pragma omp target teams distribute parallel for if (target : on_device) map(tofrom : d[0 : ALL])
  for (int i = 0; i < TOKENS; i++) {
    float mean = 0, square = 0;
    for (int k = 0; k < WIDTH; k++)
      mean += d[X + i * WIDTH + k];
    mean /= WIDTH;
    for (int k = 0; k < WIDTH; k++)
      square += (d[X + i * WIDTH + k] - mean) * (d[X + i * WIDTH + k] - mean);
    const float factor = 1 / sqrtf(square / WIDTH + 1e-5f);
    for (int k = 0; k < WIDTH; k++)
      d[NORMAL + i * WIDTH + k] = (d[X + i * WIDTH + k] - mean) * factor;
  }
}

/* Row i of a head's scores: of the tokens up to i. */
static void attend(float *d, int on_device) {
#pragma omp target teams distribute parallel for collapse(2) if (target : on_device) map(tofrom : d[0 : ALL])
  for (int h = 0; h < HEADS; h++)
    for (int i = 0; i < TOKENS; i++) {
      float *row = &d[SCORE + (h * TOKENS + i) * TOKENS], most = -1e30f, sum = 0;
      for (int j = 0; j <= i; j++) {
        float s = 0;
        for (int k = 0; k < HEAD; k++)
          s += d[THREE + i * QKV + h * HEAD + k] * d[THREE + j * QKV + WIDTH + h * HEAD + k];
        row[j] = s * 0.17677669f; /* by the root of HEAD */
        most = fmaxf(most, row[j]);
      }
      for (int j = 0; j <= i; j++)
        sum += row[j] = expf(row[j] - most);
      for (int k = 0; k < HEAD; k++) {
        float value = 0;
        for (int j = 0; j <= i; j++)
          value += row[j] * d[THREE + j * QKV + 2 * WIDTH + h * HEAD + k];
        d[MIXED + i * WIDTH + h * HEAD + k] = value / sum;
      }
    }
}

static void layer(float *d, int on_device) {
  normalise(d, on_device);
  multiply(d, THREE, NORMAL, W_THREE, WIDTH, QKV, STORE, on_device);
  attend(d, on_device);
  multiply(d, X, MIXED, W_OUT, WIDTH, WIDTH, ADD, on_device);
  normalise(d, on_device);
  multiply(d, HIDDEN, NORMAL, W_UP, WIDTH, INNER, GELU, on_device);
  multiply(d, X, HIDDEN, W_DOWN, INNER, WIDTH, ADD, on_device);
}

int main(int argc, char **argv) {
  const int layers = check_size(argc, argv, 1, 1000);
  float *d = calloc(ALL, sizeof *d), *want = calloc(ALL, sizeof *want);
  uint64_t seed = 3;
  if (!d || !want)
    return 1;
  for (int i = 0; i < ALL; i++)
    d[i] = (float)(int64_t)check_random(&seed) * 0x1p-63f * (i < WEIGHTS ? 1 : 0.1f);
  memcpy(want, d, ALL * sizeof *d);
  const double start = omp_get_wtime();
#pragma omp target data map(tofrom : d[0 : ALL])
  for (int i = 0; i < layers; i++)
    layer(d, 1);
  if (argc > 1)
    printf("transformer: %.6f s\n", omp_get_wtime() - start);
  for (int i = 0; i < layers; i++)
    layer(want, 0);
  for (int i = 0; i < TOKENS * WIDTH; i++)
    check_near("output", i, (double)d[X + i], (double)want[X + i], TOLERANCE * layers, 1 + fabs((double)want[X + i]));
  return check_done("transformer");
}

/*
 * Reference for the bench: keccak-256 of 64-byte nodes, one lane, in plain C of the same shape as
 * assembly/hashNode.ts. The first and the last round are outside of the loop, so that the compiler can drop what is zero or
 * unused in them.
 *
 * Reads pairs of hashes from standard input, hashes all of them repeatedly for about MILLISECONDS (first argument) of CPU
 * time, then writes the hashes to standard output and the rate, in hashes per second of CPU time, to standard error.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROTL(x, n) (((x) << (n)) | ((x) >> (64 - (n))))

static const uint64_t RC[24] = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000, 0x000000000000808b,
    0x0000000080000001, 0x8000000080008081, 0x8000000000008009, 0x000000000000008a, 0x0000000000000088,
    0x0000000080008009, 0x000000008000000a, 0x000000008000808b, 0x800000000000008b, 0x8000000000008089,
    0x8000000000008003, 0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008,
};

/* theta, then rho, pi and chi row by row, then iota: a becomes the next state */
#define ROUND(rc)                                                                                   \
  c0 = a0 ^ a5 ^ a10 ^ a15 ^ a20; c1 = a1 ^ a6 ^ a11 ^ a16 ^ a21; c2 = a2 ^ a7 ^ a12 ^ a17 ^ a22;   \
  c3 = a3 ^ a8 ^ a13 ^ a18 ^ a23; c4 = a4 ^ a9 ^ a14 ^ a19 ^ a24;                                   \
  d0 = c4 ^ ROTL(c1, 1); d1 = c0 ^ ROTL(c2, 1); d2 = c1 ^ ROTL(c3, 1); d3 = c2 ^ ROTL(c4, 1);       \
  d4 = c3 ^ ROTL(c0, 1);                                                                            \
  b0 = a0 ^ d0; b1 = ROTL(a6 ^ d1, 44); b2 = ROTL(a12 ^ d2, 43); b3 = ROTL(a18 ^ d3, 21);           \
  b4 = ROTL(a24 ^ d4, 14);                                                                          \
  e0 = b0 ^ (~b1 & b2) ^ (rc); e1 = b1 ^ (~b2 & b3); e2 = b2 ^ (~b3 & b4); e3 = b3 ^ (~b4 & b0);    \
  e4 = b4 ^ (~b0 & b1);                                                                             \
  b0 = ROTL(a3 ^ d3, 28); b1 = ROTL(a9 ^ d4, 20); b2 = ROTL(a10 ^ d0, 3); b3 = ROTL(a16 ^ d1, 45);  \
  b4 = ROTL(a22 ^ d2, 61);                                                                          \
  e5 = b0 ^ (~b1 & b2); e6 = b1 ^ (~b2 & b3); e7 = b2 ^ (~b3 & b4); e8 = b3 ^ (~b4 & b0);           \
  e9 = b4 ^ (~b0 & b1);                                                                             \
  b0 = ROTL(a1 ^ d1, 1); b1 = ROTL(a7 ^ d2, 6); b2 = ROTL(a13 ^ d3, 25); b3 = ROTL(a19 ^ d4, 8);    \
  b4 = ROTL(a20 ^ d0, 18);                                                                          \
  e10 = b0 ^ (~b1 & b2); e11 = b1 ^ (~b2 & b3); e12 = b2 ^ (~b3 & b4); e13 = b3 ^ (~b4 & b0);       \
  e14 = b4 ^ (~b0 & b1);                                                                            \
  b0 = ROTL(a4 ^ d4, 27); b1 = ROTL(a5 ^ d0, 36); b2 = ROTL(a11 ^ d1, 10); b3 = ROTL(a17 ^ d2, 15); \
  b4 = ROTL(a23 ^ d3, 56);                                                                          \
  e15 = b0 ^ (~b1 & b2); e16 = b1 ^ (~b2 & b3); e17 = b2 ^ (~b3 & b4); e18 = b3 ^ (~b4 & b0);       \
  e19 = b4 ^ (~b0 & b1);                                                                            \
  b0 = ROTL(a2 ^ d2, 62); b1 = ROTL(a8 ^ d3, 55); b2 = ROTL(a14 ^ d4, 39); b3 = ROTL(a15 ^ d0, 41); \
  b4 = ROTL(a21 ^ d1, 2);                                                                           \
  e20 = b0 ^ (~b1 & b2); e21 = b1 ^ (~b2 & b3); e22 = b2 ^ (~b3 & b4); e23 = b3 ^ (~b4 & b0);       \
  e24 = b4 ^ (~b0 & b1);                                                                            \
  a0 = e0; a1 = e1; a2 = e2; a3 = e3; a4 = e4;                                                      \
  a5 = e5; a6 = e6; a7 = e7; a8 = e8; a9 = e9;                                                      \
  a10 = e10; a11 = e11; a12 = e12; a13 = e13; a14 = e14;                                            \
  a15 = e15; a16 = e16; a17 = e17; a18 = e18; a19 = e19;                                            \
  a20 = e20; a21 = e21; a22 = e22; a23 = e23; a24 = e24;

static void hash_node(const uint8_t *pair, uint8_t *node) {
  uint64_t w[8];
  memcpy(w, pair, 64);
  uint64_t a0 = w[0], a1 = w[1], a2 = w[2], a3 = w[3], a4 = w[4], a5 = w[5], a6 = w[6], a7 = w[7];
  uint64_t a8 = 1, a9 = 0, a10 = 0, a11 = 0, a12 = 0, a13 = 0, a14 = 0, a15 = 0, a16 = 0x8000000000000000;
  uint64_t a17 = 0, a18 = 0, a19 = 0, a20 = 0, a21 = 0, a22 = 0, a23 = 0, a24 = 0;
  uint64_t b0, b1, b2, b3, b4, c0, c1, c2, c3, c4, d0, d1, d2, d3, d4;
  uint64_t e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11, e12, e13, e14, e15, e16, e17, e18, e19, e20, e21, e22;
  uint64_t e23, e24;
  ROUND(RC[0])
  for (int round = 1; round < 23; round++) {
    ROUND(RC[round])
  }
  ROUND(RC[23])
  uint64_t digest[4] = {a0, a1, a2, a3};
  memcpy(node, digest, 32);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
  const double budget = argc > 1 ? atof(argv[1]) / 1000 : 0.1;
  uint8_t *pairs = malloc(1 << 24);
  const size_t count = fread(pairs, 64, (1 << 24) / 64, stdin);
  uint8_t *nodes = malloc(32 * count + 1);
  if (pairs == NULL || nodes == NULL || count == 0) return 1;
  double hashes = 0;
  const double start = seconds();
  double elapsed = 0;
  while (elapsed < budget) {
    for (size_t i = 0; i < count; i++) hash_node(pairs + 64 * i, nodes + 32 * i);
    hashes += (double)count;
    elapsed = seconds() - start;
  }
  if (fwrite(nodes, 32, count, stdout) != count) return 1;
  fprintf(stderr, "%.0f\n", hashes / elapsed);
  return 0;
}

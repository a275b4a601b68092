// SPDX-License-Identifier: Apache-2.0
/* The processors that the calling thread runs on: bit N is processor N, so the first 64 only. */
#define _GNU_SOURCE
#include <sched.h>

#include "natives.h"

#define PROCESSORS 64

/* As many as a kernel may have: with less room it tells nothing at all. */
#define MOST_PROCESSORS 8192

struct processors {
  cpu_set_t sets[MOST_PROCESSORS / CPU_SETSIZE];
};

/* The first of them, of which a mask tells; 0 if the kernel does not say. */
static uint64_t first_now(void) {
  struct processors now;
  if (sched_getaffinity(0, sizeof now, now.sets)) {
    return 0;
  }
  uint64_t mask = 0;
  for (int i = 0; i < PROCESSORS; i++) {
    mask |= (uint64_t)(CPU_ISSET_S(i, sizeof now, now.sets) != 0) << i;
  }
  return mask;
}

/* It has no way to fail: a mask without a processor of this machine changes nothing. */
AFFINITY(void, setAffinity, jlong mask) {
  /* Who gives back what getAffinity answered keeps the processors beyond, of which it cannot tell. */
  if ((uint64_t)mask == first_now()) {
    return;
  }
  cpu_set_t wish;
  CPU_ZERO(&wish);
  for (int i = 0; i < PROCESSORS; i++) {
    if ((uint64_t)mask >> i & 1) {
      CPU_SET(i, &wish);
    }
  }
  sched_setaffinity(0, sizeof wish, &wish);
}

AFFINITY(jlong, getAffinity) {
  return (jlong)first_now();
}

// SPDX-License-Identifier: Apache-2.0
/* The CPU affinity of the calling thread. Bit N of a mask is processor N, so a mask has the first
   64 processors only. */
#define _GNU_SOURCE
#include <sched.h>

#include "natives.h"

#define PROCESSORS 64

/* The most processors of a kernel: sched_getaffinity(2) fails if the set is smaller than the
   kernel's. */
#define MOST_PROCESSORS 8192

struct processors {
  cpu_set_t sets[MOST_PROCESSORS / CPU_SETSIZE];
};

/* Returns the mask of the first 64 processors, or 0 if the call fails. */
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

/* Cannot report a failure: a mask without a processor of this machine changes nothing. */
AFFINITY(void, setAffinity, jlong mask) {
  /* A program that restores the result of getAffinity keeps its processors from 64 on, which are
     not in the mask. */
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

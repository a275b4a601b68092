/* The processors that the calling thread runs on: bit N is processor N, so the first 64 only. */
#define _GNU_SOURCE
#include <sched.h>

#include "natives.h"

#define PROCESSORS 64

/* It has no way to fail: a mask without a processor of this machine changes nothing. */
AFFINITY(void, setAffinity, jlong mask) {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  for (int i = 0; i < PROCESSORS; i++) {
    if ((uint64_t)mask >> i & 1) {
      CPU_SET(i, &processors);
    }
  }
  sched_setaffinity(0, sizeof processors, &processors);
}

AFFINITY(jlong, getAffinity) {
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof processors, &processors)) {
    return 0;
  }
  uint64_t mask = 0;
  for (int i = 0; i < PROCESSORS; i++) {
    mask |= (uint64_t)(CPU_ISSET(i, &processors) != 0) << i;
  }
  return (jlong)mask;
}

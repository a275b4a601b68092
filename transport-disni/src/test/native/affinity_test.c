// SPDX-License-Identifier: Apache-2.0
/* affinity.c on a machine of 2,048 processors, which the kernel's calls here only pretend. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../main/native/disni/natives.h"

#define PROCESSORS 2048

#define CLAIM(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      printf("WRONG %s:%d: %s\n", __FILE__, __LINE__, #condition);     \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

jlong Java_com_ibm_disni_util_NativeAffinity__1getAffinity(JNIEnv *env, jclass self);
void Java_com_ibm_disni_util_NativeAffinity__1setAffinity(JNIEnv *env, jclass self, jlong mask);

static jlong get(void) {
  return Java_com_ibm_disni_util_NativeAffinity__1getAffinity(NULL, NULL);
}

static void set(jlong mask) {
  Java_com_ibm_disni_util_NativeAffinity__1setAffinity(NULL, NULL, mask);
}

static uint8_t allowed[PROCESSORS / 8];

int sched_getaffinity(pid_t thread, size_t size, cpu_set_t *set) {
  (void)thread;
  if (size < sizeof allowed) {
    errno = EINVAL;
    return -1;
  }
  memset(set, 0, size);
  memcpy(set, allowed, sizeof allowed);
  return 0;
}

int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t *set) {
  (void)thread;
  memset(allowed, 0, sizeof allowed);
  memcpy(allowed, set, size < sizeof allowed ? size : sizeof allowed);
  return 0;
}

static void tells_the_first_64_processors(void) {
  memset(allowed, 0, sizeof allowed);
  allowed[0] = 5;
  allowed[8] = 1;
  CLAIM(get() == 5);
}

static void keeps_the_other_processors_when_it_is_given_what_it_told(void) {
  set(get());
  CLAIM(allowed[0] == 5 && allowed[8] == 1);
}

static void runs_on_no_others_when_it_is_told_to(void) {
  set(2);
  CLAIM(allowed[0] == 2 && allowed[8] == 0);
}

#define RUN(claim) \
  claim();         \
  puts(#claim)

int main(void) {
  RUN(tells_the_first_64_processors);
  RUN(keeps_the_other_processors_when_it_is_given_what_it_told);
  RUN(runs_on_no_others_when_it_is_told_to);
  return 0;
}

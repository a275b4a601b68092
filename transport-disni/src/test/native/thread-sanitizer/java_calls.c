// SPDX-License-Identifier: Apache-2.0
/* What the thread sanitizer must know of Java, whose locks it does not see: two native calls that a lock of Java
   keeps apart do not overlap. So a call sees, from its start, all that the calls before it have done, and what the
   sanitizer reports is what two calls did at the same time. */
#include <jni.h>
#include <stdatomic.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

#define HOOK __attribute__((no_instrument_function, visibility("default"))) void

static char ended_calls;
static __thread int depth;

/* The compiler calls these round each function of libraries that are built with -finstrument-functions. */
HOOK __cyg_profile_func_enter(void *function, void *caller) {
  (void)function;
  (void)caller;
  if (depth++ == 0) {
    __tsan_acquire(&ended_calls);
  }
}

HOOK __cyg_profile_func_exit(void *function, void *caller) {
  (void)function;
  (void)caller;
  if (--depth == 0) {
    __tsan_release(&ended_calls);
  }
}

static volatile long counter;
static atomic_int arrived;

#define OVERLAPPING(name) \
  JNIEXPORT void JNICALL Java_io_verbena_disni_OverlappingCalls_##name(JNIEnv *env, jclass type)

OVERLAPPING(count) {
  (void)env;
  (void)type;
  counter++;
}

/* Counts once two threads are in it, which a relaxed order does not make known to each other. Often, as the
   sanitizer may miss one access of two at the very same instant. */
OVERLAPPING(countTogether) {
  (void)env;
  (void)type;
  atomic_fetch_add_explicit(&arrived, 1, memory_order_relaxed);
  while (atomic_load_explicit(&arrived, memory_order_relaxed) < 2) {
  }
  for (int i = 0; i < 100000; i++) {
    counter++;
  }
}

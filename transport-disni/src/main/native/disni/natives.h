// SPDX-License-Identifier: Apache-2.0
/* Includes and macros for the native methods of com.ibm.disni. */
#ifndef VERBENA_NATIVES_H
#define VERBENA_NATIVES_H

#include <infiniband/verbs.h>
#include <jni.h>
#include <rdma/rdma_cma.h>

#include "../common/errors.h"
#include "../common/pointers.h"
#include "closing.h"
#include "handles.h"

#define UNUSED __attribute__((unused))

/* _name of com.ibm.disni.verbs.impl.NativeDispatcher: an instance method. */
#define DISPATCHER(type, name, ...)                                              \
  JNIEXPORT type JNICALL Java_com_ibm_disni_verbs_impl_NativeDispatcher__1##name( \
      JNIEnv *env UNUSED, jobject self UNUSED, ##__VA_ARGS__)

/* _name of com.ibm.disni.util.NativeAffinity: a static method. */
#define AFFINITY(type, name, ...)                                      \
  JNIEXPORT type JNICALL Java_com_ibm_disni_util_NativeAffinity__1##name( \
      JNIEnv *env UNUSED, jclass self UNUSED, ##__VA_ARGS__)

/* Throws java.io.IOException: "ibv_create_cq: Cannot allocate memory [errno 12]". Returns error. */
int fail(JNIEnv *env, const char *verb, int error);

/* Returns whether the object may be used; if not, throws EBADF. */
static inline bool check(JNIEnv *env, const char *verb, const void *object, enum handle_kind kind) {
  if (handle_usable(object, kind)) {
    return true;
  }
  fail(env, verb, EBADF);
  return false;
}

#endif

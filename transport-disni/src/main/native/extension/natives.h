// SPDX-License-Identifier: Apache-2.0
/* What all files of the native methods of io.verbena.disni.Extension share. */
#ifndef VERBENA_NATIVES_H
#define VERBENA_NATIVES_H

#include <infiniband/verbs.h>
#include <jni.h>
#include <stdbool.h>
#include <rdma/rdma_cma.h>

#include "../common/errors.h"
#include "../common/pointers.h"
/* Written by javac, so that a signature that differs does not compile. */
#include "io_verbena_disni_Extension.h"
#include "words.h"

#define UNUSED __attribute__((unused))

/* A static native method of Extension. */
#define EXTENSION(type, name, ...)                                   \
  JNIEXPORT type JNICALL Java_io_verbena_disni_Extension_##name(     \
      JNIEnv *env UNUSED, jclass self UNUSED, ##__VA_ARGS__)

#endif

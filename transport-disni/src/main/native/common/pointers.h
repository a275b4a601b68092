// SPDX-License-Identifier: Apache-2.0
/* Java holds pointers as long. */
#ifndef VERBENA_POINTERS_H
#define VERBENA_POINTERS_H

#include <jni.h>
#include <stdint.h>

_Static_assert(sizeof(void *) == sizeof(jlong), "64-bit machines only");

#define POINTER(type, handle) ((type *)(uintptr_t)(handle))

static inline jlong to_handle(const void *pointer) {
  return (jlong)(uintptr_t)pointer;
}

#endif

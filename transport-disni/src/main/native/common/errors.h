// SPDX-License-Identifier: Apache-2.0
/* Converts the different error results of verbs into a positive errno, never 0. */
#ifndef VERBENA_ERRORS_H
#define VERBENA_ERRORS_H

#include <errno.h>

/* Returns the errno of a call that has returned NULL or -1. */
static inline int error_now(void) {
  return errno > 0 ? errno : EIO;
}

/* Converts the result of a call: 0, an errno, a negative errno, or -1 with errno set (providers
   differ). */
static inline int error_of(int result) {
  if (result == 0) {
    return 0;
  }
  if (result == -1) {
    return error_now();
  }
  return result < 0 ? -result : result;
}

#endif

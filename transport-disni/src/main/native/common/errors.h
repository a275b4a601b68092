// SPDX-License-Identifier: Apache-2.0
/* The three ways in which verbs fail, as one: a positive errno, never 0. */
#ifndef VERBENA_ERRORS_H
#define VERBENA_ERRORS_H

#include <errno.h>

/* After a call that answers NULL or -1 and sets errno. */
static inline int error_now(void) {
  return errno > 0 ? errno : EIO;
}

/* After a call that answers the errno, or -1 and sets it, or (providers differ) the negative errno. */
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

// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "natives.h"

int fail(JNIEnv *env, const char *verb, int error) {
  char text[128];
  if (strerror_r(error, text, sizeof text)) {
    snprintf(text, sizeof text, "unknown error");
  }
  char message[256];
  snprintf(message, sizeof message, "%s: %s [errno %d]", verb, text, error);
  jclass type = (*env)->FindClass(env, "java/io/IOException");
  if (type) {
    (*env)->ThrowNew(env, type, message);
  }
  return error;
}

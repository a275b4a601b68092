// SPDX-License-Identifier: Apache-2.0
/* Memory regions and windows; deallocating protection domains, which libdisni would delay. */
#include "natives.h"

EXTENSION(jint, deallocateDomain, jlong domain) {
  return domain ? -error_of(ibv_dealloc_pd(POINTER(struct ibv_pd, domain))) : -EINVAL;
}

EXTENSION(jint, reregister, jlong region_handle, jint flags, jlong domain, jlong address,
          jlong length, jint access, jlong words_address) {
  struct ibv_mr *region = POINTER(struct ibv_mr, region_handle);
  if (!region || length < 0) {
    return -EINVAL;
  }
  /* Negative results are codes of ibv_rereg_mr(3) itself; errno has the reason. */
  errno = 0;
  if (ibv_rereg_mr(region, flags, POINTER(struct ibv_pd, domain), POINTER(void, address),
                   (size_t)length, access)) {
    return -error_now();
  }
  jlong *words = WORDS(words_address);
  words[KEY_LKEY] = region->lkey;
  words[KEY_RKEY] = region->rkey;
  return 0;
}

EXTENSION(jlong, allocateWindow, jlong domain, jint type, jlong words_address) {
  if (!domain) {
    return -EINVAL;
  }
  struct ibv_mw *window = ibv_alloc_mw(POINTER(struct ibv_pd, domain), (enum ibv_mw_type)type);
  if (!window) {
    return -error_now();
  }
  jlong *words = WORDS(words_address);
  words[KEY_LKEY] = 0;
  words[KEY_RKEY] = window->rkey;
  return to_handle(window);
}

/* Returns the key, which may have any 32 bits, so a negative number is no error. */
EXTENSION(jint, windowKey, jlong window) {
  return (jint)POINTER(struct ibv_mw, window)->rkey;
}

EXTENSION(jint, deallocateWindow, jlong window) {
  return window ? -error_of(ibv_dealloc_mw(POINTER(struct ibv_mw, window))) : -EINVAL;
}

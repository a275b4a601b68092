// SPDX-License-Identifier: Apache-2.0
/* Protection domains and memory regions. */
#include "natives.h"

DISPATCHER(jlong, allocPd, jlong context) {
  struct ibv_pd *domain = context ? ibv_alloc_pd(POINTER(struct ibv_context, context)) : NULL;
  if (!domain) {
    fail(env, "ibv_alloc_pd", context ? error_now() : ENODEV);
    return 0;
  }
  handle_add(domain, PROTECTION_DOMAIN);
  return to_handle(domain);
}

DISPATCHER(jint, deallocPd, jlong domain) {
  return -close_domain(POINTER(struct ibv_pd, domain));
}

DISPATCHER(jint, getPdHandle, jlong domain_handle) {
  struct ibv_pd *domain = POINTER(struct ibv_pd, domain_handle);
  return check(env, "ibv_pd.handle", domain, PROTECTION_DOMAIN) ? (jint)domain->handle : -1;
}

DISPATCHER(jlong, regMr, jlong domain_handle, jlong address, jint length, jint access,
           jlong local_key, jlong remote_key, jlong handle) {
  struct ibv_pd *domain = POINTER(struct ibv_pd, domain_handle);
  if (!check(env, "ibv_reg_mr", domain, PROTECTION_DOMAIN)) {
    return 0;
  }
  if (length < 0 || !local_key || !remote_key || !handle) {
    fail(env, "ibv_reg_mr", EINVAL);
    return 0;
  }
  /* access is no constant, so the macro of verbs.h calls ibv_reg_mr_iova2, as intended. */
  struct ibv_mr *region = ibv_reg_mr(domain, POINTER(void, address), (size_t)length, access);
  if (!region) {
    fail(env, "ibv_reg_mr", error_now());
    return 0;
  }
  handle_add(region, MEMORY_REGION);
  *POINTER(uint32_t, local_key) = region->lkey;
  *POINTER(uint32_t, remote_key) = region->rkey;
  *POINTER(uint32_t, handle) = region->handle;
  return to_handle(region);
}

DISPATCHER(void, deregMr, jlong region) {
  int error = close_region(POINTER(struct ibv_mr, region));
  if (error) {
    fail(env, "ibv_dereg_mr", error);
  }
}

/* Returns no bit of IbvContext.IBV_ODP_SUPPORT_*: registering pins the memory. */
DISPATCHER(jint, queryOdpSupport, jlong context UNUSED) {
  return 0;
}

DISPATCHER(jint, expPrefetchMr, jlong region UNUSED, jlong address UNUSED, jint length UNUSED) {
  return -fail(env, "ibv_advise_mr", EOPNOTSUPP);
}

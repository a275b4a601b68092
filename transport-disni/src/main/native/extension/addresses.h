// SPDX-License-Identifier: Apache-2.0
/* Converts a GID to and from the two numbers that Java has for it. */
#ifndef VERBENA_ADDRESSES_H
#define VERBENA_ADDRESSES_H

#include <endian.h>
#include <infiniband/verbs.h>

#include "../common/pointers.h"

static inline union ibv_gid gid_of(jlong high, jlong low) {
  return (union ibv_gid){.global = {.subnet_prefix = htobe64((uint64_t)high),
                                    .interface_id = htobe64((uint64_t)low)}};
}

static inline jlong gid_high(const union ibv_gid *gid) {
  return (jlong)be64toh(gid->global.subnet_prefix);
}

static inline jlong gid_low(const union ibv_gid *gid) {
  return (jlong)be64toh(gid->global.interface_id);
}

#endif

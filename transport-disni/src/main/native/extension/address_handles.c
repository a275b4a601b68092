// SPDX-License-Identifier: Apache-2.0
/* Address handles. */
#include "addresses.h"
#include "natives.h"

EXTENSION(jlong, createAddressHandle, jlong domain, jlong words_address) {
  const jlong *words = WORDS(words_address);
  if (!domain) {
    return -EINVAL;
  }
  struct ibv_ah_attr route = {
      .grh = {.dgid = gid_of(words[ADDRESS_GID_HIGH], words[ADDRESS_GID_LOW]),
              .sgid_index = (uint8_t)words[ADDRESS_SGID_INDEX],
              .hop_limit = (uint8_t)words[ADDRESS_HOP_LIMIT],
              .traffic_class = (uint8_t)words[ADDRESS_TRAFFIC_CLASS],
              .flow_label = (uint32_t)words[ADDRESS_FLOW_LABEL]},
      .is_global = words[ADDRESS_IS_GLOBAL] != 0,
      .dlid = (uint16_t)words[ADDRESS_LID],
      .sl = (uint8_t)words[ADDRESS_SL],
      .port_num = (uint8_t)words[ADDRESS_PORT]};
  struct ibv_ah *handle = ibv_create_ah(POINTER(struct ibv_pd, domain), &route);
  return handle ? to_handle(handle) : -error_now();
}

EXTENSION(jint, destroyAddressHandle, jlong handle) {
  return handle ? -error_of(ibv_destroy_ah(POINTER(struct ibv_ah, handle))) : -EINVAL;
}

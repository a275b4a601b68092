// SPDX-License-Identifier: Apache-2.0
/* Profiles: lines of a name and its values; # begins a comment. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

#define ATTR(field) {#field, offsetof(struct ibv_device_attr, field), sizeof(((struct ibv_device_attr *)0)->field)}

static const struct {
  const char *name;
  size_t offset, size;
} attributes[] = {
    ATTR(max_mr_size),  ATTR(vendor_id),  ATTR(vendor_part_id), ATTR(max_qp),
    ATTR(max_qp_wr),    ATTR(device_cap_flags), ATTR(max_sge),  ATTR(max_sge_rd),
    ATTR(max_cq),       ATTR(max_cqe),    ATTR(max_mr),         ATTR(max_pd),
    ATTR(max_qp_rd_atom), ATTR(max_qp_init_rd_atom), ATTR(atomic_cap), ATTR(max_mw),
    ATTR(max_ah),       ATTR(max_srq),    ATTR(max_srq_wr),     ATTR(max_srq_sge)};

static bool set_attribute(struct ibv_device_attr *attr, const char *name, uint64_t value) {
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
    if (!strcmp(attributes[i].name, name)) {
      /* Little-endian, as all machines that this runs on. */
      memcpy((char *)attr + attributes[i].offset, &value, attributes[i].size);
      return true;
    }
  }
  return false;
}

static bool set_flag(struct profile *profile, const char *name, bool value) {
  const struct {
    const char *name;
    bool *flag;
  } flags[] = {{"rc", &profile->has_rc},
               {"ud", &profile->has_ud},
               {"delivers_datagrams", &profile->delivers_datagrams},
               {"mw", &profile->has_mw},
               {"resize_cq", &profile->has_resize},
               {"rereg_mr", &profile->has_rereg},
               {"single_threaded_cq", &profile->has_single_threaded},
               {"by_cm_only", &profile->by_cm_only},
               {"remote_read_sinks", &profile->remote_read_sinks},
               {"flushes_late", &profile->flushes_late},
               {"never_flushes_late", &profile->never_flushes_late},
               {"hides_state", &profile->hides_state},
               {"leaves_bad_unset", &profile->leaves_bad_unset}};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
    if (!strcmp(flags[i].name, name)) {
      *flags[i].flag = value;
      return true;
    }
  }
  return false;
}

static bool set_port(struct ibv_port_attr *port, const char *field, const char *value) {
  if (!strcmp(field, "state")) {
    port->state = strcmp(value, "active") ? IBV_PORT_DOWN : IBV_PORT_ACTIVE;
  } else if (!strcmp(field, "link")) {
    port->link_layer =
        strcmp(value, "infiniband") ? IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND;
  } else if (!strcmp(field, "mtu")) {
    port->active_mtu = (enum ibv_mtu)atoi(value);
    port->max_mtu = IBV_MTU_4096;
  } else if (!strcmp(field, "max_msg_sz")) {
    port->max_msg_sz = (uint32_t)strtoul(value, NULL, 0);
  } else if (!strcmp(field, "gid_tbl_len")) {
    port->gid_tbl_len = atoi(value);
  } else if (!strcmp(field, "lid")) {
    port->lid = (uint16_t)atoi(value);
  } else {
    return false;
  }
  return true;
}

bool profile_set_gid(struct profile *profile, char *words[]) {
  int port = atoi(words[0]), index = atoi(words[1]);
  if (port < 1 || port > MAX_PORTS || index < 0 || index >= MAX_GIDS) {
    return false;
  }
  struct gid *gid = &profile->gids[port - 1][index];
  *gid = (struct gid){.set = true,
                      .type = !strcmp(words[2], "v2")   ? IBV_GID_TYPE_ROCE_V2
                              : !strcmp(words[2], "v1") ? IBV_GID_TYPE_ROCE_V1
                                                        : IBV_GID_TYPE_IB};
  if (strchr(words[3], ':')) {
    return inet_pton(AF_INET6, words[3], gid->gid.raw) == 1;
  }
  gid->gid.raw[10] = gid->gid.raw[11] = 0xff;
  return inet_pton(AF_INET, words[3], gid->gid.raw + 12) == 1;
}

static bool set(struct profile *profile, char *words[], int count) {
  if (!strcmp(words[0], "name") && count == 2) {
    snprintf(profile->name, sizeof profile->name, "%s", words[1]);
  } else if (!strcmp(words[0], "firmware") && count == 2) {
    snprintf(profile->attr.fw_ver, sizeof profile->attr.fw_ver, "%s", words[1]);
  } else if (!strcmp(words[0], "transport") && count == 2) {
    profile->transport = !strcmp(words[1], "iwarp") ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
  } else if (!strcmp(words[0], "max_inline") && count == 2) {
    profile->max_inline = (uint32_t)atoi(words[1]);
  } else if (!strcmp(words[0], "ece") && count == 2) {
    profile->ece = (uint32_t)strtoul(words[1], NULL, 0);
  } else if (!strcmp(words[0], "cq_moderation") && count == 3) {
    profile->moderation = (struct ibv_cq_moderation_caps){.max_cq_count = (uint16_t)atoi(words[1]),
                                                          .max_cq_period = (uint16_t)atoi(words[2])};
  } else if (!strcmp(words[0], "port") && count == 4) {
    int port = atoi(words[1]);
    if (port < 1 || port > MAX_PORTS) {
      return false;
    }
    profile->attr.phys_port_cnt =
        profile->attr.phys_port_cnt > port ? profile->attr.phys_port_cnt : (uint8_t)port;
    return set_port(&profile->ports[port - 1], words[2], words[3]);
  } else if (!strcmp(words[0], "gid") && count == 5) {
    return profile_set_gid(profile, words + 1);
  } else if (count == 2) {
    uint64_t value = strtoull(words[1], NULL, 0);
    return set_flag(profile, words[0], value) || set_attribute(&profile->attr, words[0], value);
  } else {
    return false;
  }
  return true;
}

bool profile_read(struct profile *profile, const char *path) {
  FILE *file = fopen(path, "re");
  if (!file) {
    fprintf(stderr, "fake rdma-core: %s: %s\n", path, strerror(errno));
    return false;
  }
  memset(profile, 0, sizeof *profile);
  char line[256];
  bool good = true;
  for (int number = 1; good && fgets(line, sizeof line, file); number++) {
    char *words[6], *rest = NULL;
    int count = 0;
    line[strcspn(line, "#\n")] = 0;
    for (char *word = strtok_r(line, " \t", &rest); word && count < 6;
         word = strtok_r(NULL, " \t", &rest)) {
      words[count++] = word;
    }
    if (count && !set(profile, words, count)) {
      fprintf(stderr, "fake rdma-core: %s:%d: %s\n", path, number, words[0]);
      good = false;
    }
  }
  fclose(file);
  return good;
}

// SPDX-License-Identifier: Apache-2.0
#include "handles.h"

#include <stdint.h>
#include <stdlib.h>

/* Entries are never freed. There is one per address, and malloc reuses addresses. */
#define BUCKET_BITS 12
#define BUCKETS (1U << BUCKET_BITS)

static _Atomic(struct handle *) buckets[BUCKETS];

static _Atomic(struct handle *) *bucket_of(const void *object, enum handle_kind kind) {
  uint64_t key = ((uint64_t)(uintptr_t)object >> 4) + kind;
  return &buckets[(key * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - BUCKET_BITS)];
}

struct handle *handle_find(const void *object, enum handle_kind kind) {
  struct handle *handle = atomic_load_explicit(bucket_of(object, kind), memory_order_acquire);
  while (handle && (handle->object != object || handle->kind != kind)) {
    handle = handle->next;
  }
  return handle;
}

void handle_add(void *object, enum handle_kind kind) {
  struct handle *handle = handle_find(object, kind);
  if (handle) {
    atomic_store(&handle->unacknowledged, 0);
    atomic_store(&handle->state, HANDLE_LIVE);
    return;
  }
  handle = calloc(1, sizeof *handle);
  if (!handle) {
    return;
  }
  handle->object = object;
  handle->kind = kind;
  _Atomic(struct handle *) *bucket = bucket_of(object, kind);
  handle->next = atomic_load(bucket);
  while (!atomic_compare_exchange_weak(bucket, &handle->next, handle)) {
  }
}

bool handle_usable(const void *object, enum handle_kind kind) {
  if (!object) {
    return false;
  }
  struct handle *handle = handle_find(object, kind);
  return !handle || atomic_load_explicit(&handle->state, memory_order_acquire) == HANDLE_LIVE;
}

void handle_each(enum handle_kind kind, void (*visit)(struct handle *, void *), void *argument) {
  for (unsigned i = 0; i < BUCKETS; i++) {
    for (struct handle *handle = atomic_load(&buckets[i]); handle; handle = handle->next) {
      if (handle->kind == kind) {
        visit(handle, argument);
      }
    }
  }
}

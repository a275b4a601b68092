// SPDX-License-Identifier: Apache-2.0
/*
 * What this library gave out and what became of it. DiSNI's Java objects keep raw pointers and are
 * closed in any order, more than once, from several threads; this table tells a pointer to a live
 * object from one to freed memory, before libibverbs looks at it.
 *
 * A lookup takes no lock. A pointer that is not in the table was made by someone else and is taken
 * at its word. What the table cannot prevent: one thread using an object at the very moment in which
 * another destroys it.
 */
#ifndef VERBENA_HANDLES_H
#define VERBENA_HANDLES_H

#include <stdatomic.h>
#include <stdbool.h>

enum handle_kind {
  EVENT_CHANNEL,
  IDENTIFIER,
  PROTECTION_DOMAIN,
  MEMORY_REGION,
  COMPLETION_CHANNEL,
  COMPLETION_QUEUE,
  QUEUE_PAIR
};

enum handle_state {
  HANDLE_LIVE,
  /* Destroyed for the program; for the library as soon as what still uses it is gone. */
  HANDLE_CLOSING,
  HANDLE_GONE
};

struct handle {
  struct handle *next;
  void *object;
  enum handle_kind kind;
  _Atomic int state;
  /* Of a completion queue: events that the program got and has not acknowledged. */
  _Atomic unsigned unacknowledged;
};

/* A new object. Without memory for the entry it goes unwatched, but works. */
void handle_add(void *object, enum handle_kind kind);

/* NULL for what the table does not know. */
struct handle *handle_find(const void *object, enum handle_kind kind);

/* Whether a verb may be called with it: not NULL, and not destroyed. */
bool handle_usable(const void *object, enum handle_kind kind);

/* Calls visit for every entry of this kind. */
void handle_each(enum handle_kind kind, void (*visit)(struct handle *, void *), void *argument);

#endif

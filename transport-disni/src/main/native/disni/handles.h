// SPDX-License-Identifier: Apache-2.0
/*
 * The table of the objects that this library has created, with their states. DiSNI's Java objects
 * hold raw pointers and are closed in any order, more than once, by several threads. The table
 * tells a pointer to a live object from a pointer to freed memory, before libibverbs dereferences
 * it.
 *
 * A lookup takes no lock. A pointer that is not in the table was created elsewhere and counts as
 * live. The table cannot prevent that one thread uses an object at the moment in which another
 * thread destroys it.
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
  /* Closed for the program; destroyed as soon as its last user is. */
  HANDLE_CLOSING,
  HANDLE_GONE
};

struct handle {
  struct handle *next;
  void *object;
  enum handle_kind kind;
  _Atomic int state;
  /* For a completion queue: the events taken and not yet acknowledged. */
  _Atomic unsigned unacknowledged;
};

/* Adds a new object. If there is no memory for the entry, the object is not in the table and counts
   as live. */
void handle_add(void *object, enum handle_kind kind);

/* Returns the entry of an object, or NULL if it is not in the table. */
struct handle *handle_find(const void *object, enum handle_kind kind);

/* Returns whether a verb may be called with this object: it is not NULL and not closed. */
bool handle_usable(const void *object, enum handle_kind kind);

/* Calls visit for every entry of this kind. */
void handle_each(enum handle_kind kind, void (*visit)(struct handle *, void *), void *argument);

#endif

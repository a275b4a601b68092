// SPDX-License-Identifier: Apache-2.0
/*
 * What reaches the driver, counted, and what the driver takes for it by itself: for FakePosting.java.
 */
#include <jni.h>

#include "fake.h"

#define AT(type, address) ((type *)(uintptr_t)(address))

/* FakePosting.sends: how often was posted, how many requests, how many of them inline. */
EXPORT jlong Java_io_verbena_disni_FakePosting_sends(JNIEnv *env, jclass type, jlong pair,
                                                     jint kind) {
  (void)env, (void)type;
  pthread_mutex_lock(&fabric);
  const struct fake_qp *qp = AT(struct fake_qp, pair);
  uint64_t count = kind == 0 ? qp->posts : kind == 1 ? qp->tail : qp->inline_sends;
  pthread_mutex_unlock(&fabric);
  return (jlong)count;
}

static uint64_t receives(const struct receive_queue *queue, jint kind) {
  return kind == 0 ? queue->posts : queue->tail;
}

/* FakePosting.receives: how often was posted, and how many receives. */
EXPORT jlong Java_io_verbena_disni_FakePosting_receives(JNIEnv *env, jclass type, jlong pair,
                                                        jint kind) {
  (void)env, (void)type;
  pthread_mutex_lock(&fabric);
  uint64_t count = receives(&AT(struct fake_qp, pair)->receives, kind);
  pthread_mutex_unlock(&fabric);
  return (jlong)count;
}

/* FakePosting.sharedReceives: likewise. */
EXPORT jlong Java_io_verbena_disni_FakePosting_sharedReceives(JNIEnv *env, jclass type,
                                                              jlong queue, jint kind) {
  (void)env, (void)type;
  pthread_mutex_lock(&fabric);
  uint64_t count = receives(&AT(struct fake_srq, queue)->queue, kind);
  pthread_mutex_unlock(&fabric);
  return (jlong)count;
}

/* FakePosting.nothing: what a call costs. */
EXPORT jint Java_io_verbena_disni_FakePosting_nothing(JNIEnv *env, jclass type, jlong pair) {
  (void)env, (void)type;
  return pair ? 0 : -1;
}

static int post_sends(struct ibv_qp *pair, struct ibv_send_wr *first, bool linked) {
  struct ibv_send_wr *bad;
  if (linked) {
    return ibv_post_send(pair, first, &bad);
  }
  int error = 0;
  for (struct ibv_send_wr *wr = first, *next; wr && !error; wr = next) {
    next = wr->next;
    wr->next = NULL;
    error = ibv_post_send(pair, wr, &bad);
    wr->next = next;
  }
  return error;
}

static int post_receives(struct ibv_qp *pair, struct ibv_recv_wr *first, bool linked) {
  struct ibv_recv_wr *bad;
  if (linked) {
    return ibv_post_recv(pair, first, &bad);
  }
  int error = 0;
  for (struct ibv_recv_wr *wr = first, *next; wr && !error; wr = next) {
    next = wr->next;
    wr->next = NULL;
    error = ibv_post_recv(pair, wr, &bad);
    wr->next = next;
  }
  return error;
}

/* FakePosting.drive: posts a chain so many times, at once or one by one; answers 0 or an errno. */
EXPORT jint Java_io_verbena_disni_FakePosting_drive(JNIEnv *env, jclass type, jlong pair,
                                                    jlong chain, jboolean receives,
                                                    jboolean linked, jint times) {
  (void)env, (void)type;
  struct ibv_qp *qp = AT(struct ibv_qp, pair);
  int error = 0;
  for (jint i = 0; i < times && !error; i++) {
    error = receives ? post_receives(qp, AT(struct ibv_recv_wr, chain), linked)
                     : post_sends(qp, AT(struct ibv_send_wr, chain), linked);
  }
  return error;
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import java.nio.ByteBuffer;

/**
 * What DiSNI lacks, from the library {@code verbena_disni} beside it: calls of libibverbs and
 * librdmacm on the raw pointers that DiSNI's objects are.
 *
 * <p>A call answers 0 or more, or a negative {@code errno}; it never throws, and allocates nothing
 * in Java. Pointers are positive. Blocks of arguments and results are arrays of 64-bit words in
 * native order at an address that the caller owns; {@link Words} names their slots, and the C side
 * has the same names in {@code words.h}. Work requests and completions are the structures of
 * libibverbs themselves, see {@link Layout}.
 */
final class Extension {

  /** What {@link #version} must answer: changes with any change of this contract. */
  static final int VERSION = 5;

  private Extension() {}

  static native int version();

  /** The address of a direct buffer's first byte, position 0; 0 for any other. */
  static native long address(ByteBuffer buffer);

  // ---- waiting: one file descriptor of the object's and one to wake the waiter

  /** {@code eventfd(2)}, non-blocking. */
  static native int openWakeup();

  /** Makes the next or the present wait on it end. */
  static native int wakeup(int wakeupFd);

  static native int closeWakeup(int wakeupFd);

  // ---- devices (ibv_get_device_list, rdma_get_devices, ibv_query_device_ex, ibv_query_port, ...)

  /**
   * Writes the names of the devices that librdmacm sees, 64 bytes each, padded with NUL.
   *
   * @return how many there are, which may be more than were written
   */
  static native int deviceNames(long names, int capacity);

  /** The context that librdmacm has of this device; it stays open with the process. */
  static native long context(long name);

  /** Writes the name of the context's device, 64 bytes, padded with NUL. */
  static native int deviceName(long context, long name);

  /**
   * Fills {@link Words.DeviceWords}; the firmware's version, 64 bytes, goes to the other address.
   */
  static native int queryDevice(long context, long words, long firmware);

  /** Fills {@link Words.PortWords}. */
  static native int queryPort(long context, int port, long words);

  /**
   * Writes GID number {@code index}, 16 bytes in network order, and returns its type: 0 IB or RoCE
   * v1, 1 RoCE v2.
   */
  static native int queryGid(long context, int port, int index, long gid);

  /**
   * Waits for an asynchronous event and fills {@link Words.AsyncWords}. It is not yet acknowledged.
   *
   * @return 1 if there was one, 0 if the time is over or the waiter was woken
   */
  static native int asyncEvent(long context, int wakeupFd, int timeoutMillis, long words);

  /** Acknowledges it: until then what it is about is not destroyed. */
  static native int acknowledgeAsyncEvent(long words);

  // ---- memory

  /** {@code ibv_dealloc_pd(3)}. */
  static native int deallocateDomain(long domain);

  /** {@code ibv_rereg_mr(3)}: fills {@link Words.KeyWords}. */
  static native int reregister(
      long region, int flags, long domain, long address, long length, int access, long words);

  /** {@code ibv_alloc_mw(3)}: type 1 or 2; fills {@link Words.KeyWords}. */
  static native long allocateWindow(long domain, int type, long words);

  /** The window's key now. */
  static native int windowKey(long window);

  static native int deallocateWindow(long window);

  // ---- completion queues

  /**
   * {@code ibv_create_cq_ex(3)} as an ordinary queue; {@code singleThreaded} is a wish that the
   * device may not know.
   */
  static native long createCompletionQueue(
      long context, int depth, long channel, boolean singleThreaded, long words);

  /** {@code ibv_resize_cq(3)}: returns the new depth. */
  static native int resizeCompletionQueue(long queue, int depth);

  static native int destroyCompletionQueue(long queue);

  /** {@code ibv_destroy_comp_channel(3)}. */
  static native int destroyCompletionChannel(long channel);

  /** {@code ibv_poll_cq(3)} into {@link Layout#WC_SIZE} bytes each; returns how many. */
  static native int poll(long queue, int count, long completions);

  /** {@code ibv_req_notify_cq(3)}. */
  static native int arm(long queue, boolean solicitedOnly);

  /**
   * Waits until a completion channel has an event, and leaves it there.
   *
   * @return 1 if there is one, 0 if the time is over or the waiter was woken
   */
  static native int completionEventReady(long channel, int wakeupFd, int timeoutMillis);

  /**
   * Takes an event of a completion channel if there is one; it is not yet acknowledged. Never
   * waits.
   *
   * @return the completion queue, 0 if there was none, or -errno
   */
  static native long completionEvent(long channel);

  /** {@code ibv_ack_cq_events(3)}. */
  static native int acknowledge(long queue, int count);

  // ---- shared receive queues

  /** {@code ibv_create_srq(3)}: reads and fills {@link Words.SharedReceiveWords}. */
  static native long createSharedReceiveQueue(long domain, long words);

  /** {@code ibv_modify_srq(3)} with IBV_SRQ_LIMIT. */
  static native int limitSharedReceiveQueue(long queue, int limit);

  /** {@code ibv_query_srq(3)}: fills {@link Words.SharedReceiveWords}. */
  static native int querySharedReceiveQueue(long queue, long words);

  static native int destroySharedReceiveQueue(long queue);

  /** {@code ibv_post_srq_recv(3)}; the refused request's address, or 0, goes to {@code bad}. */
  static native int postSharedReceive(long queue, long requests, long bad);

  // ---- queue pairs

  /** {@code ibv_create_qp(3)}: reads {@link Words.QueuePairWords}, writes what was granted. */
  static native long createQueuePair(long domain, long words);

  /**
   * {@code rdma_create_qp(3)}: as {@link #createQueuePair}, for a connection; the queue pair is in
   * INIT, or in RTS if it is one for datagrams.
   */
  static native long createConnectionQueuePair(long identifier, long domain, long words);

  static native int destroyQueuePair(long pair);

  /** {@code rdma_destroy_qp(3)}. */
  static native int destroyConnectionQueuePair(long identifier);

  /** {@code ibv_modify_qp(3)} with {@link Words.AttributeWords}. */
  static native int modifyQueuePair(long pair, long words);

  /** {@code ibv_query_qp(3)}: fills {@link Words.AttributeWords}, the mask too. */
  static native int queryQueuePair(long pair, long words);

  /** {@code ibv_post_send(3)}; the refused request's address, or 0, goes to {@code bad}. */
  static native int postSend(long pair, long requests, long bad);

  /** {@code ibv_post_recv(3)}; likewise. */
  static native int postReceive(long pair, long requests, long bad);

  /**
   * {@code ibv_post_send(3)} of one SEND, RDMA_WRITE or RDMA_READ with one buffer, which is the
   * shortest way to post: nothing is written in Java.
   */
  static native int postOneSend(
      long pair,
      long id,
      int opcode,
      int flags,
      long remoteAddress,
      int remoteKey,
      long address,
      int length,
      int key);

  /** {@code ibv_bind_mw(3)}; {@link #windowKey} is the new key at once. */
  static native int bindWindow(
      long pair,
      long window,
      long id,
      int flags,
      long region,
      long address,
      long length,
      int access);

  /** {@code ibv_post_recv(3)} of one receive with one buffer. */
  static native int postOneReceive(long pair, long id, long address, int length, int key);

  // ---- address handles

  /** {@code ibv_create_ah(3)} from {@link Words.AddressWords}. */
  static native long createAddressHandle(long domain, long words);

  static native int destroyAddressHandle(long handle);

  // ---- connections

  /**
   * Waits until a {@code rdma_event_channel} has an event, and leaves it there.
   *
   * @return 1 if there is one, 0 if the time is over or the waiter was woken
   */
  static native int connectionEventReady(long channel, int wakeupFd, int timeoutMillis);

  /**
   * Takes an event of a {@code rdma_event_channel} if there is one, copies it to {@link
   * Words.EventWords} and its private data (256 bytes at the most) to the other address, and
   * acknowledges it. Never waits.
   *
   * @return 1 if there was one, else 0
   */
  static native int connectionEvent(long channel, long words, long privateData);

  /** {@code rdma_destroy_event_channel(3)}: after its last identifier. */
  static native int destroyEventChannel(long channel);

  /** {@code rdma_destroy_id(3)}: after its queue pair. */
  static native int destroyIdentifier(long identifier);

  /** {@code rdma_connect(3)} with {@link Words.ParameterWords}. */
  static native int connect(long identifier, long words);

  /** {@code rdma_accept(3)} with {@link Words.ParameterWords}. */
  static native int accept(long identifier, long words);

  /** {@code rdma_reject(3)}. */
  static native int reject(long identifier, long privateData, int length);

  /**
   * Writes the {@code sockaddr} (28 bytes, IPv4 or IPv6) of this end, or of the peer.
   *
   * @return its family: 2 for IPv4, 10 for IPv6, 0 if there is none yet
   */
  static native int socketAddress(long identifier, boolean peer, long sockaddr);

  /** {@code rdma_set_option(3)}: lets another listener take the address at once. */
  static native int reuseAddress(long identifier);

  /** The context of the device that an identifier is bound to; 0 if none. */
  static native long contextOf(long identifier);
}

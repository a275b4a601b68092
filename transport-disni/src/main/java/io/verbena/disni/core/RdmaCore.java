// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni.core;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Calls of libibverbs and librdmacm on raw pointers.
 *
 * <p>A call returns 0 or more, or a negative {@code errno}; the calls that DiSNI has throw {@link
 * IOException} instead. Pointers are positive. Blocks of arguments and results are arrays of 64-bit
 * words in native byte order, at an address that the caller owns; {@link Words} names their slots.
 * Work requests and completions are the structures of libibverbs themselves. Calls of the data path
 * allocate nothing.
 *
 * <p>No call checks its pointers: the caller keeps each object from being destroyed until the call
 * returns.
 */
public interface RdmaCore {

  /** Returns the scheme of the device addresses, without {@code ://}. */
  String scheme();

  /** Returns the address of a direct buffer's byte 0, or 0 for a heap buffer. */
  long address(ByteBuffer buffer);

  // ---- what DiSNI has: an IOException ends with [errno N]

  long createEventChannel() throws IOException;

  long createId(long channel, short portSpace) throws IOException;

  void bindAddr(long id, long sockaddr) throws IOException;

  void listen(long id, int backlog) throws IOException;

  /** Calls {@code rdma_resolve_addr(3)}; {@code source} may be 0. */
  void resolveAddr(long id, long source, long destination, int timeoutMillis) throws IOException;

  void resolveRoute(long id, int timeoutMillis) throws IOException;

  /** Calls {@code rdma_disconnect(3)}; returns a negative number if it fails. */
  int disconnect(long id);

  long allocPd(long context) throws IOException;

  long createCompChannel(long context) throws IOException;

  /**
   * Calls {@code ibv_reg_mr(3)}; writes lkey, rkey and handle, 4 bytes each, to the last three
   * addresses.
   */
  long regMr(long pd, long address, int length, int access, long lkey, long rkey, long handle)
      throws IOException;

  void deregMr(long mr) throws IOException;

  // ---- waiting: one file descriptor of the object's and one to wake the waiter

  /** Opens a non-blocking {@code eventfd(2)}; returns its descriptor. */
  int openWakeup();

  /** Ends the current wait on this descriptor, or else the next one. */
  int wakeup(int wakeupFd);

  int closeWakeup(int wakeupFd);

  // ---- devices (ibv_get_device_list, rdma_get_devices, ibv_query_device_ex, ibv_query_port, ...)

  /**
   * Writes the names of the devices that librdmacm sees, 64 bytes each, padded with NUL.
   *
   * @return how many there are, which may be more than were written
   */
  int deviceNames(long names, int capacity);

  /** Returns librdmacm's context of the device of this name, which is never closed. */
  long context(long name);

  /** Writes the name of the context's device, 64 bytes, padded with NUL. */
  int deviceName(long context, long name);

  /**
   * Fills {@link Words.DeviceWords}, and writes the firmware version, 64 bytes, to the last
   * address.
   */
  int queryDevice(long context, long words, long firmware);

  /** {@code ibv_query_device_ex(3)}: fills {@link Words.ModerationWords}. */
  int queryModeration(long context, long words);

  /** Fills {@link Words.PortWords}. */
  int queryPort(long context, int port, long words);

  /**
   * Writes GID number {@code index}, 16 bytes in network order, and returns its type: 0 IB or RoCE
   * v1, 1 RoCE v2.
   */
  int queryGid(long context, int port, int index, long gid);

  /**
   * Calls {@code ibv_query_gid_table(3)}, and writes each GID of a port that is set, 16 bytes in
   * network order, at offset 16 times its index. Writes no other bytes, and no GID from index
   * {@code length} on.
   *
   * @return one more than the highest index written
   */
  int queryGids(long context, int port, long gids, int length);

  /**
   * Waits for an asynchronous event and fills {@link Words.AsyncWords}. Does not acknowledge the
   * event.
   *
   * @return 1 if there was an event, 0 if the time is over or the waiter was woken
   */
  int asyncEvent(long context, int wakeupFd, int timeoutMillis, long words);

  /** Acknowledges an asynchronous event; destroying its object waits for that. */
  int acknowledgeAsyncEvent(long words);

  // ---- memory

  /** {@code ibv_dealloc_pd(3)}. */
  int deallocateDomain(long domain);

  /** {@code ibv_rereg_mr(3)}: fills {@link Words.KeyWords}. */
  int reregister(
      long region, int flags, long domain, long address, long length, int access, long words);

  /** {@code ibv_alloc_mw(3)}: type 1 or 2; fills {@link Words.KeyWords}. */
  long allocateWindow(long domain, int type, long words);

  /** Returns the window's current rkey. */
  int windowKey(long window);

  int deallocateWindow(long window);

  // ---- completion queues

  /**
   * Calls {@code ibv_create_cq(3)}, or {@code ibv_create_cq_ex(3)} if {@code singleThreaded} is
   * set; a device that does not support that flag gets an ordinary queue. Writes the granted depth
   * to {@code words}.
   */
  long createCompletionQueue(
      long context, int depth, long channel, int vector, boolean singleThreaded, long words);

  /** {@code ibv_resize_cq(3)}: returns the new depth. */
  int resizeCompletionQueue(long queue, int depth);

  /**
   * Calls {@code ibv_modify_cq(3)} with IBV_CQ_ATTR_MODERATE: the queue raises an event after
   * {@code count} completions, or after {@code period} microseconds. A resize keeps these values:
   * the kernel's mlx5_ib_resize_cq changes only the fields of the size.
   */
  int moderate(long queue, int count, int period);

  int destroyCompletionQueue(long queue);

  /** {@code ibv_destroy_comp_channel(3)}. */
  int destroyCompletionChannel(long channel);

  /**
   * Calls {@code ibv_poll_cq(3)} into an array of {@code struct ibv_wc}; returns the number polled.
   */
  int poll(long queue, int count, long completions);

  /** {@code ibv_req_notify_cq(3)}. */
  int arm(long queue, boolean solicitedOnly);

  /**
   * Waits until a completion channel has an event; does not take the event.
   *
   * @return 1 if there is an event, 0 if the time is over or the waiter was woken
   */
  int completionEventReady(long channel, int wakeupFd, int timeoutMillis);

  /**
   * Takes an event of a completion channel if there is one; does not acknowledge it. Never waits.
   *
   * @return the completion queue's pointer, 0 if there was no event, or -errno
   */
  long completionEvent(long channel);

  /** {@code ibv_ack_cq_events(3)}. */
  int acknowledge(long queue, int count);

  // ---- shared receive queues

  /** {@code ibv_create_srq(3)}: reads and fills {@link Words.SharedReceiveWords}. */
  long createSharedReceiveQueue(long domain, long words);

  /** {@code ibv_modify_srq(3)} with IBV_SRQ_LIMIT. */
  int limitSharedReceiveQueue(long queue, int limit);

  /** {@code ibv_query_srq(3)}: fills {@link Words.SharedReceiveWords}. */
  int querySharedReceiveQueue(long queue, long words);

  int destroySharedReceiveQueue(long queue);

  /**
   * Calls {@code ibv_post_srq_recv(3)}; writes the address of the refused request, or 0, to {@code
   * bad}.
   */
  int postSharedReceive(long queue, long requests, long bad);

  // ---- queue pairs

  /**
   * {@code ibv_create_qp(3)}: reads {@link Words.QueuePairWords}, writes the granted capabilities.
   */
  long createQueuePair(long domain, long words);

  /**
   * {@code rdma_create_qp(3)}: as {@link #createQueuePair}, for datagrams; the queue pair is in
   * RTS.
   */
  long createConnectionQueuePair(long identifier, long domain, long words);

  int destroyQueuePair(long pair);

  /** {@code rdma_destroy_qp(3)}. */
  int destroyConnectionQueuePair(long identifier);

  /** {@code ibv_modify_qp(3)} with {@link Words.AttributeWords}. */
  int modifyQueuePair(long pair, long words);

  /** {@code ibv_query_qp(3)}: fills {@link Words.AttributeWords}, including the mask. */
  int queryQueuePair(long pair, long words);

  /**
   * Calls {@code ibv_post_send(3)}; writes the address of the refused request, or 0, to {@code
   * bad}.
   */
  int postSend(long pair, long requests, long bad);

  /** Calls {@code ibv_post_recv(3)}; {@code bad} as in {@link #postSend}. */
  int postReceive(long pair, long requests, long bad);

  /**
   * Calls {@code ibv_bind_mw(3)}; {@link #windowKey} returns the new key as soon as this returns.
   */
  int bindWindow(
      long pair,
      long window,
      long id,
      int flags,
      long region,
      long address,
      long length,
      int access);

  // ---- address handles

  /** {@code ibv_create_ah(3)} from {@link Words.AddressWords}. */
  long createAddressHandle(long domain, long words);

  int destroyAddressHandle(long handle);

  // ---- connections

  /**
   * Waits until a {@code rdma_event_channel} has an event; does not take the event.
   *
   * @return 1 if there is an event, 0 if the time is over or the waiter was woken
   */
  int connectionEventReady(long channel, int wakeupFd, int timeoutMillis);

  /**
   * Takes an event of a {@code rdma_event_channel} if there is one, copies its fields to {@link
   * Words.EventWords} and its private data (at most 256 bytes) to the last address, and
   * acknowledges it. Never waits.
   *
   * @return 1 if there was an event, else 0
   */
  int connectionEvent(long channel, long words, long privateData);

  /** {@code rdma_destroy_event_channel(3)}. Its identifiers must be destroyed before. */
  int destroyEventChannel(long channel);

  /** {@code rdma_destroy_id(3)}. Its queue pair must be destroyed before. */
  int destroyIdentifier(long identifier);

  /** {@code rdma_connect(3)} with {@link Words.ParameterWords}. */
  int connect(long identifier, long words);

  /** {@code rdma_accept(3)} with {@link Words.ParameterWords}. */
  int accept(long identifier, long words);

  /** {@code rdma_establish(3)}. */
  int establish(long identifier);

  /**
   * {@code rdma_init_qp_attr(3)}: fills {@link Words.AttributeWords}, including the mask, for
   * moving a connection's queue pair to a state.
   */
  int connectionAttributes(long identifier, int state, long words);

  /**
   * Negotiates enhanced connection establishment (ECE), the vendor options of a queue pair: offers
   * the local options to the peer ({@code ibv_query_ece(3)}, {@code rdma_set_local_ece(3)}), or
   * applies the options that the peer has offered ({@code rdma_get_remote_ece(3)}, {@code
   * ibv_set_ece(3)}).
   *
   * @return {@code -ECONNREFUSED} if the driver refuses the peer's options
   */
  int negotiate(long identifier, long pair);

  /** {@code rdma_set_option(3)} with RDMA_OPTION_ID_TOS. */
  int typeOfService(long identifier, int value);

  /** {@code rdma_reject(3)}. */
  int reject(long identifier, long privateData, int length);

  /**
   * Writes the {@code sockaddr} (at most 28 bytes, IPv4 or IPv6) of this end, or of the peer.
   *
   * @return the address family: 2 for IPv4, 10 for IPv6, 0 if there is no address yet
   */
  int socketAddress(long identifier, boolean peer, long sockaddr);

  /**
   * Returns the context of the device that an identifier is bound to, or 0 if it is bound to none.
   */
  long contextOf(long identifier);

  /** Returns the number of the port that an identifier is bound to, or 0 if it is bound to none. */
  int portOf(long identifier);
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni.core;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Calls of libibverbs and librdmacm on raw pointers.
 *
 * <p>A call returns 0 or more, or a negative {@code errno}; those of DiSNI's throw instead. On the
 * data path it allocates nothing. Pointers are positive. Blocks of arguments and results are arrays
 * of 64-bit words in native order at an address that the caller owns; {@link Words} names their
 * slots. Work requests and completions are the structures of libibverbs themselves.
 *
 * <p>It checks no pointer: the caller makes sure that its object is there until the call returns.
 */
public interface RdmaCore {

  /** The scheme of the addresses whose devices are used by it. */
  String scheme();

  /** The address of a direct buffer's first byte, position 0; 0 for any other. */
  long address(ByteBuffer buffer);

  // ---- what DiSNI has: an IOException ends with [errno N]

  long createEventChannel() throws IOException;

  long createId(long channel, short portSpace) throws IOException;

  void bindAddr(long id, long sockaddr) throws IOException;

  void listen(long id, int backlog) throws IOException;

  /** {@code source} may be 0. */
  void resolveAddr(long id, long source, long destination, int timeoutMillis) throws IOException;

  void resolveRoute(long id, int timeoutMillis) throws IOException;

  /** Disconnects; returns a negative number if it fails. */
  int disconnect(long id);

  long allocPd(long context) throws IOException;

  long createCompChannel(long context) throws IOException;

  /** Writes lkey, rkey and handle, 4 bytes each, to the last three addresses. */
  long regMr(long pd, long address, int length, int access, long lkey, long rkey, long handle)
      throws IOException;

  void deregMr(long mr) throws IOException;

  // ---- waiting: one file descriptor of the object's and one to wake the waiter

  /** {@code eventfd(2)}, non-blocking. */
  int openWakeup();

  /** Makes the next or the present wait on it end. */
  int wakeup(int wakeupFd);

  int closeWakeup(int wakeupFd);

  // ---- devices (ibv_get_device_list, rdma_get_devices, ibv_query_device_ex, ibv_query_port, ...)

  /**
   * Writes the names of the devices that librdmacm sees, 64 bytes each, padded with NUL.
   *
   * @return how many there are, which may be more than were written
   */
  int deviceNames(long names, int capacity);

  /** The context that librdmacm has of this device; it stays open with the process. */
  long context(long name);

  /** Writes the name of the context's device, 64 bytes, padded with NUL. */
  int deviceName(long context, long name);

  /**
   * Fills {@link Words.DeviceWords}; the firmware's version, 64 bytes, goes to the other address.
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
   * {@code ibv_query_gid_table(3)}: writes the GIDs of a port that are set, each 16 bytes in
   * network order at 16 times its index; nothing where none is, nor from index {@code length} on.
   *
   * @return one past the last index that was written
   */
  int queryGids(long context, int port, long gids, int length);

  /**
   * Waits for an asynchronous event and fills {@link Words.AsyncWords}. It is not yet acknowledged.
   *
   * @return 1 if there was one, 0 if the time is over or the waiter was woken
   */
  int asyncEvent(long context, int wakeupFd, int timeoutMillis, long words);

  /** Acknowledges it: until then what it is about is not destroyed. */
  int acknowledgeAsyncEvent(long words);

  // ---- memory

  /** {@code ibv_dealloc_pd(3)}. */
  int deallocateDomain(long domain);

  /** {@code ibv_rereg_mr(3)}: fills {@link Words.KeyWords}. */
  int reregister(
      long region, int flags, long domain, long address, long length, int access, long words);

  /** {@code ibv_alloc_mw(3)}: type 1 or 2; fills {@link Words.KeyWords}. */
  long allocateWindow(long domain, int type, long words);

  /** The window's key now. */
  int windowKey(long window);

  int deallocateWindow(long window);

  // ---- completion queues

  /**
   * {@code ibv_create_cq_ex(3)} as an ordinary queue; {@code singleThreaded} is a wish that the
   * device may not know.
   */
  long createCompletionQueue(
      long context, int depth, long channel, int vector, boolean singleThreaded, long words);

  /** {@code ibv_resize_cq(3)}: returns the new depth. */
  int resizeCompletionQueue(long queue, int depth);

  /**
   * {@code ibv_modify_cq(3)} with IBV_CQ_ATTR_MODERATE: an event after so many completions, or so
   * many microseconds. A resize keeps it: the kernel's mlx5_ib_resize_cq selects the fields of the
   * size alone.
   */
  int moderate(long queue, int count, int period);

  int destroyCompletionQueue(long queue);

  /** {@code ibv_destroy_comp_channel(3)}. */
  int destroyCompletionChannel(long channel);

  /** {@code ibv_poll_cq(3)} into {@code struct ibv_wc} each; returns how many. */
  int poll(long queue, int count, long completions);

  /** {@code ibv_req_notify_cq(3)}. */
  int arm(long queue, boolean solicitedOnly);

  /**
   * Waits until a completion channel has an event, and leaves it there.
   *
   * @return 1 if there is one, 0 if the time is over or the waiter was woken
   */
  int completionEventReady(long channel, int wakeupFd, int timeoutMillis);

  /**
   * Takes an event of a completion channel if there is one; it is not yet acknowledged. Never
   * waits.
   *
   * @return the completion queue, 0 if there was none, or -errno
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

  /** {@code ibv_post_srq_recv(3)}; the refused request's address, or 0, goes to {@code bad}. */
  int postSharedReceive(long queue, long requests, long bad);

  // ---- queue pairs

  /** {@code ibv_create_qp(3)}: reads {@link Words.QueuePairWords}, writes what was granted. */
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

  /** {@code ibv_query_qp(3)}: fills {@link Words.AttributeWords}, the mask too. */
  int queryQueuePair(long pair, long words);

  /** {@code ibv_post_send(3)}; the refused request's address, or 0, goes to {@code bad}. */
  int postSend(long pair, long requests, long bad);

  /** {@code ibv_post_recv(3)}; likewise. */
  int postReceive(long pair, long requests, long bad);

  /** {@code ibv_bind_mw(3)}; {@link #windowKey} is the new key at once. */
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
   * Waits until a {@code rdma_event_channel} has an event, and leaves it there.
   *
   * @return 1 if there is one, 0 if the time is over or the waiter was woken
   */
  int connectionEventReady(long channel, int wakeupFd, int timeoutMillis);

  /**
   * Takes an event of a {@code rdma_event_channel} if there is one, copies it to {@link
   * Words.EventWords} and its private data (256 bytes at the most) to the other address, and
   * acknowledges it. Never waits.
   *
   * @return 1 if there was one, else 0
   */
  int connectionEvent(long channel, long words, long privateData);

  /** {@code rdma_destroy_event_channel(3)}: after its last identifier. */
  int destroyEventChannel(long channel);

  /** {@code rdma_destroy_id(3)}: after its queue pair. */
  int destroyIdentifier(long identifier);

  /** {@code rdma_connect(3)} with {@link Words.ParameterWords}. */
  int connect(long identifier, long words);

  /** {@code rdma_accept(3)} with {@link Words.ParameterWords}. */
  int accept(long identifier, long words);

  /** {@code rdma_establish(3)}. */
  int establish(long identifier);

  /**
   * {@code rdma_init_qp_attr(3)}: fills {@link Words.AttributeWords}, the mask too, for the way of
   * a connection's queue pair into a state.
   */
  int connectionAttributes(long identifier, int state, long words);

  /**
   * Offers the peer what the driver of a queue pair can do beyond the standard ({@code
   * ibv_query_ece(3)}, {@code rdma_set_local_ece(3)}), or agrees to what the peer has offered
   * ({@code rdma_get_remote_ece(3)}, {@code ibv_set_ece(3)}).
   *
   * @return {@code -ECONNREFUSED} if the driver refuses the peer
   */
  int negotiate(long identifier, long pair);

  /** {@code rdma_set_option(3)} with RDMA_OPTION_ID_TOS. */
  int typeOfService(long identifier, int value);

  /** {@code rdma_reject(3)}. */
  int reject(long identifier, long privateData, int length);

  /**
   * Writes the {@code sockaddr} (28 bytes, IPv4 or IPv6) of this end, or of the peer.
   *
   * @return its family: 2 for IPv4, 10 for IPv6, 0 if there is none yet
   */
  int socketAddress(long identifier, boolean peer, long sockaddr);

  /** The context of the device that an identifier is bound to; 0 if none. */
  long contextOf(long identifier);

  /** The number of that device's port; 0 if none. */
  int portOf(long identifier);
}

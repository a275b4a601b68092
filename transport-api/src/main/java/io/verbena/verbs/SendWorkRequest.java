// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A request for the send queue ({@code ibv_send_wr}). A flyweight: fill it, post it, use it again;
 * posting copies it. The methods named after an operation start a new request: they clear flags and
 * buffers, and keep id and link. Not thread-safe.
 *
 * <pre>{@code
 * queuePair.postSend(request.id(7).read(token.address(), token.key()).signaled()
 *     .buffer(region.address(), 4096, region.lkey()));
 * }</pre>
 */
public final class SendWorkRequest {
  /** Requests a completion on success too. */
  public static final int SIGNALED = 1 << 1;

  /** Delays the request until all earlier READs and atomics of this queue are done. */
  public static final int FENCE = 1;

  /** Raises an event at a peer that armed its completion queue for solicited completions only. */
  public static final int SOLICITED = 1 << 2;

  /** Carries the payload in the request itself. */
  public static final int INLINE = 1 << 3;

  private final ScatterGatherList buffers;
  private long id;
  private SendOpcode opcode = SendOpcode.SEND;
  private int flags;
  private int immediate;
  private long remoteAddress;
  private int remoteKey;
  private long compareOrAdd;
  private long swap;

  /** The payload of this request if it is INLINE, else of an earlier one. */
  private @Nullable ByteBuffer inlineData;

  private @Nullable AddressHandle addressHandle;
  private int remoteQueuePair;
  private int remoteQueueKey;
  private @Nullable MemoryWindow window;
  private @Nullable MemoryRegion windowRegion;
  private int windowAccess;
  private @Nullable SendWorkRequest next;

  /** A request of one buffer. */
  public SendWorkRequest() {
    this(1);
  }

  /** A request of up to {@code maxScatterGather} buffers. */
  public SendWorkRequest(int maxScatterGather) {
    buffers = new ScatterGatherList(maxScatterGather);
  }

  private SendWorkRequest start(SendOpcode opcode) {
    // Mostly the same as before: skipping the store also skips the garbage collector's barrier.
    if (this.opcode != opcode) {
      this.opcode = opcode;
    }
    flags = 0;
    buffers.clear();
    return this;
  }

  private SendWorkRequest start(SendOpcode opcode, long remoteAddress, int remoteKey) {
    this.remoteAddress = remoteAddress;
    this.remoteKey = remoteKey;
    return start(opcode);
  }

  /** Starts a SEND into the peer's next receive. */
  public SendWorkRequest send() {
    return start(SendOpcode.SEND);
  }

  /** Starts a SEND_WITH_IMM. */
  public SendWorkRequest sendWithImmediate(int immediate) {
    this.immediate = immediate;
    return start(SendOpcode.SEND_WITH_IMM);
  }

  /**
   * Starts a SEND_WITH_INV: the message invalidates the peer's key {@code remoteKey} on arrival.
   */
  public SendWorkRequest sendWithInvalidate(int remoteKey) {
    return start(SendOpcode.SEND_WITH_INV, 0, remoteKey);
  }

  /** Starts an RDMA_WRITE to the peer's memory. */
  public SendWorkRequest write(long remoteAddress, int remoteKey) {
    return start(SendOpcode.RDMA_WRITE, remoteAddress, remoteKey);
  }

  /** Starts an RDMA_WRITE_WITH_IMM: a WRITE that also takes one of the peer's receives. */
  public SendWorkRequest writeWithImmediate(long remoteAddress, int remoteKey, int immediate) {
    this.immediate = immediate;
    return start(SendOpcode.RDMA_WRITE_WITH_IMM, remoteAddress, remoteKey);
  }

  /** Starts an RDMA_READ from the peer's memory. */
  public SendWorkRequest read(long remoteAddress, int remoteKey) {
    return start(SendOpcode.RDMA_READ, remoteAddress, remoteKey);
  }

  /**
   * Starts an ATOMIC_CMP_AND_SWP on 8 aligned bytes of the peer's memory, in the peer's byte order;
   * the old value is written to the buffer.
   */
  public SendWorkRequest compareAndSwap(
      long remoteAddress, int remoteKey, long expected, long swap) {
    this.compareOrAdd = expected;
    this.swap = swap;
    return start(SendOpcode.ATOMIC_CMP_AND_SWP, remoteAddress, remoteKey);
  }

  /** Starts an ATOMIC_FETCH_AND_ADD; otherwise as {@link #compareAndSwap}. */
  public SendWorkRequest fetchAndAdd(long remoteAddress, int remoteKey, long addend) {
    this.compareOrAdd = addend;
    return start(SendOpcode.ATOMIC_FETCH_AND_ADD, remoteAddress, remoteKey);
  }

  /**
   * Starts a LOCAL_INV, which invalidates the key of a type 2 window or of a region of this end.
   */
  public SendWorkRequest localInvalidate(int key) {
    return start(SendOpcode.LOCAL_INV, 0, key);
  }

  /**
   * Starts a BIND_MW, which gives the peer of the queue pair access to the one buffer of this
   * request through a type 2 window. The buffer must lie in {@code region}.
   *
   * @param key the window's new key, of which only the low 8 bits count
   * @param access bits of {@link Access}, remote rights only
   */
  public SendWorkRequest bind(MemoryWindow window, int key, MemoryRegion region, int access) {
    this.window = window;
    this.windowRegion = region;
    this.windowAccess = access;
    return start(SendOpcode.BIND_MW, 0, key);
  }

  /**
   * Starts a bind of a window of type 1, for {@link QueuePair#bindMemoryWindow}, which gives the
   * peers of all queue pairs of the domain access to the one buffer of this request. The buffer
   * must lie in {@code region}. Without a buffer, or with one of length 0, the window is unbound.
   *
   * @param access bits of {@link Access}, remote rights only
   */
  public SendWorkRequest bind(MemoryWindow window, MemoryRegion region, int access) {
    return bind(window, 0, region, access);
  }

  /** Sets the id, which the completion returns. */
  public SendWorkRequest id(long id) {
    this.id = id;
    return this;
  }

  /** Adds {@link #SIGNALED}. */
  public SendWorkRequest signaled() {
    flags |= SIGNALED;
    return this;
  }

  /** Adds {@link #FENCE}. */
  public SendWorkRequest fence() {
    flags |= FENCE;
    return this;
  }

  /** Adds {@link #SOLICITED}. */
  public SendWorkRequest solicited() {
    flags |= SOLICITED;
    return this;
  }

  /** Replaces the buffers by this one; the length is in bytes. */
  public SendWorkRequest buffer(long address, int length, int lkey) {
    buffers.clear();
    buffers.add(address, length, lkey);
    return this;
  }

  /**
   * Makes the bytes of {@code data} from position to limit the payload, in place of buffers, and
   * adds {@link #INLINE}. The buffer may be direct or heap memory and need not be registered. The
   * post copies the bytes and leaves the position alone. The request keeps a reference to the
   * buffer until it gets another one.
   */
  @SuppressWarnings("ReferenceEquality") // buffers with equal bytes may be different memory
  public SendWorkRequest inline(ByteBuffer data) {
    buffers.clear();
    if (inlineData != data) {
      inlineData = data;
    }
    flags |= INLINE;
    return this;
  }

  /** Sets the destination of a UD request. */
  public SendWorkRequest to(AddressHandle handle, int remoteQueuePair, int remoteQueueKey) {
    this.addressHandle = handle;
    this.remoteQueuePair = remoteQueuePair;
    this.remoteQueueKey = remoteQueueKey;
    return this;
  }

  /** Links a request to be posted behind this one in the same call. */
  public SendWorkRequest next(@Nullable SendWorkRequest next) {
    if (this.next != next) {
      this.next = next;
    }
    return this;
  }

  /**
   * Copies all fields of another request, except its link.
   *
   * @throws IllegalStateException if its buffers do not fit
   */
  public void copyFrom(SendWorkRequest other) {
    buffers.copyFrom(other.buffers);
    id = other.id;
    opcode = other.opcode;
    flags = other.flags;
    immediate = other.immediate;
    remoteAddress = other.remoteAddress;
    remoteKey = other.remoteKey;
    compareOrAdd = other.compareOrAdd;
    swap = other.swap;
    inlineData = other.inlineData();
    addressHandle = other.addressHandle;
    remoteQueuePair = other.remoteQueuePair;
    remoteQueueKey = other.remoteQueueKey;
    window = other.window;
    windowRegion = other.windowRegion;
    windowAccess = other.windowAccess;
  }

  /** Returns the id. */
  public long id() {
    return id;
  }

  /** Returns the operation. */
  public SendOpcode opcode() {
    return opcode;
  }

  /** Returns the flags: {@link #SIGNALED}, {@link #FENCE}, {@link #SOLICITED}, {@link #INLINE}. */
  public int flags() {
    return flags;
  }

  /** Returns the immediate, in host order. */
  public int immediate() {
    return immediate;
  }

  /** Returns the peer's address. */
  public long remoteAddress() {
    return remoteAddress;
  }

  /** Returns the peer's key, or the key to invalidate or to bind. */
  public int remoteKey() {
    return remoteKey;
  }

  /** Returns the expected value of a compare-and-swap, or the addend of a fetch-and-add. */
  public long compareOrAdd() {
    return compareOrAdd;
  }

  /** Returns the value that a compare-and-swap stores. */
  public long swap() {
    return swap;
  }

  /** Returns the local buffers. */
  public ScatterGatherList buffers() {
    return buffers;
  }

  /** Returns the payload of an inline request, else null. */
  public @Nullable ByteBuffer inlineData() {
    return (flags & INLINE) == 0 ? null : inlineData;
  }

  /** Returns the address handle of a UD request, else null. */
  public @Nullable AddressHandle addressHandle() {
    return addressHandle;
  }

  /** Returns the number of the queue pair that a UD request goes to. */
  public int remoteQueuePair() {
    return remoteQueuePair;
  }

  /** Returns the queue key of a UD request. */
  public int remoteQueueKey() {
    return remoteQueueKey;
  }

  /** Returns the window to bind, else null. */
  public @Nullable MemoryWindow window() {
    return window;
  }

  /** Returns the region that the window is bound to, else null. */
  public @Nullable MemoryRegion windowRegion() {
    return windowRegion;
  }

  /** Returns the rights of the bound window, as bits of {@link Access}. */
  public int windowAccess() {
    return windowAccess;
  }

  /** Returns the request to post behind this one in the same call, or null. */
  public @Nullable SendWorkRequest next() {
    return next;
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A request for the send queue. A flyweight: fill it, post it, use it again; posting copies all it
 * says. The methods named after an operation start a new request: they clear flags, buffers and
 * operands, but keep id and link. Not thread-safe.
 *
 * <pre>{@code
 * queuePair.postSend(request.id(7).read(token.address(), token.key()).signaled()
 *     .buffer(region.address(), 4096, region.lkey()));
 * }</pre>
 */
public final class SendWorkRequest {
  /** Make a completion also on success. */
  public static final int SIGNALED = 1 << 1;

  /** Start only when all earlier READs and atomics of this queue are done. */
  public static final int FENCE = 1;

  /** Raise an event at a peer that armed for solicited completions only. */
  public static final int SOLICITED = 1 << 2;

  /** The payload travels in the request. */
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

  /** Of this request if it is INLINE, else of an earlier one. */
  private @Nullable ByteBuffer inlineData;

  private @Nullable AddressHandle addressHandle;
  private int remoteQueuePair;
  private int remoteQueueKey;
  private @Nullable MemoryWindow window;
  private @Nullable MemoryRegion windowRegion;
  private int windowAccess;
  private @Nullable SendWorkRequest next;

  /** Returns a request of one buffer. */
  public SendWorkRequest() {
    this(1);
  }

  /** A request of up to {@code maxScatterGather} buffers. */
  public SendWorkRequest(int maxScatterGather) {
    buffers = new ScatterGatherList(maxScatterGather);
  }

  private SendWorkRequest start(SendOpcode opcode) {
    // A request mostly does what it did last: a reference that is not stored needs no barrier.
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

  /** SEND: into the peer's next receive. */
  public SendWorkRequest send() {
    return start(SendOpcode.SEND);
  }

  /** SEND_WITH_IMM. */
  public SendWorkRequest sendWithImmediate(int immediate) {
    this.immediate = immediate;
    return start(SendOpcode.SEND_WITH_IMM);
  }

  /** SEND_WITH_INV: the message invalidates the peer's key {@code remoteKey} as it arrives. */
  public SendWorkRequest sendWithInvalidate(int remoteKey) {
    return start(SendOpcode.SEND_WITH_INV, 0, remoteKey);
  }

  /** RDMA_WRITE to the peer's memory. */
  public SendWorkRequest write(long remoteAddress, int remoteKey) {
    return start(SendOpcode.RDMA_WRITE, remoteAddress, remoteKey);
  }

  /** RDMA_WRITE_WITH_IMM: a WRITE that also takes one of the peer's receives. */
  public SendWorkRequest writeWithImmediate(long remoteAddress, int remoteKey, int immediate) {
    this.immediate = immediate;
    return start(SendOpcode.RDMA_WRITE_WITH_IMM, remoteAddress, remoteKey);
  }

  /** RDMA_READ from the peer's memory. */
  public SendWorkRequest read(long remoteAddress, int remoteKey) {
    return start(SendOpcode.RDMA_READ, remoteAddress, remoteKey);
  }

  /**
   * ATOMIC_CMP_AND_SWP on 8 aligned bytes of the peer's memory, in the peer's byte order; the value
   * from before lands in the buffer.
   */
  public SendWorkRequest compareAndSwap(
      long remoteAddress, int remoteKey, long expected, long swap) {
    this.compareOrAdd = expected;
    this.swap = swap;
    return start(SendOpcode.ATOMIC_CMP_AND_SWP, remoteAddress, remoteKey);
  }

  /** ATOMIC_FETCH_AND_ADD; as {@link #compareAndSwap}. */
  public SendWorkRequest fetchAndAdd(long remoteAddress, int remoteKey, long addend) {
    this.compareOrAdd = addend;
    return start(SendOpcode.ATOMIC_FETCH_AND_ADD, remoteAddress, remoteKey);
  }

  /** LOCAL_INV: invalidates the key of a type 2 window or of a region of ours. */
  public SendWorkRequest localInvalidate(int key) {
    return start(SendOpcode.LOCAL_INV, 0, key);
  }

  /**
   * BIND_MW: lets a type 2 window show the one buffer of this request, which lies in {@code
   * region}, to the peer of the queue pair.
   *
   * @param key the window's new key; its low 8 bits count, the others stay as they are
   * @param access bits of {@link Access}, remote rights only
   */
  public SendWorkRequest bind(MemoryWindow window, int key, MemoryRegion region, int access) {
    this.window = window;
    this.windowRegion = region;
    this.windowAccess = access;
    return start(SendOpcode.BIND_MW, 0, key);
  }

  /**
   * A bind of a window of type 1, for {@link QueuePair#bindMemoryWindow}: lets it show the one
   * buffer of this request, which lies in {@code region}, to the peers of all queue pairs of its
   * domain. Without a buffer, or with one of length 0, it shows nothing any more.
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

  /** Replaces the buffers by this one. */
  public SendWorkRequest buffer(long address, int length, int lkey) {
    buffers.clear();
    buffers.add(address, length, lkey);
    return this;
  }

  /**
   * Makes the bytes of {@code data} from position to limit the payload, in place of buffers, and
   * adds {@link #INLINE}. Java has no address for memory that is not registered, so the buffer
   * itself is given, direct or heap; the post copies it and leaves its position alone. The request
   * refers to the buffer, unused, until it is given another.
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

  /** Addresses a UD request. */
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

  /** Returns what compare-and-swap expects, or what fetch-and-add adds. */
  public long compareOrAdd() {
    return compareOrAdd;
  }

  /** Returns what compare-and-swap stores. */
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

  /** Returns where a UD request goes, else null. */
  public @Nullable AddressHandle addressHandle() {
    return addressHandle;
  }

  /** Returns the queue pair that a UD request goes to. */
  public int remoteQueuePair() {
    return remoteQueuePair;
  }

  /** Returns the queue key that a UD request carries. */
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

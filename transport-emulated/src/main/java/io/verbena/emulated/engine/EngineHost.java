// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.mapped.PayloadReference;
import io.verbena.emulated.mapped.ReadGrant;
import io.verbena.verbs.Access;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;

/**
 * The HCA around one queue pair, as its engine uses it: memory, receives, completions, events. The
 * engine calls it within the calls to the engine, on the same thread. No method throws, and none
 * calls the engine back.
 *
 * <p><b>Memory.</b> {@code access} is one bit of {@link Access}, or 0 for local read. The
 * protection domain is the queue pair's. The engine never passes a length of 0. Buffers are
 * accessed by index; their position and limit do not change. The bytes of one call are moved in
 * ascending order or all at once. The result may change between packets of one message, since keys
 * can be invalidated.
 *
 * <p><b>Completions.</b> The engine completes each request and each receive at most once, in the
 * order of its queue. A send is completed if it is {@link SendWorkRequest#SIGNALED} or fails; its
 * completion retires all sends before it.
 */
public interface EngineHost {

  /** Returns whether this queue pair may access {@code length} bytes of its own memory. */
  AccessResult checkLocal(int lkey, long address, int length, int access);

  /** Copies bytes from local memory to a packet; checks the access as {@link #checkLocal} does. */
  AccessResult readLocal(int lkey, long address, ByteBuffer to, int offset, int length);

  /**
   * Makes a packet refer to bytes of local memory that the peer can map, instead of copying them.
   *
   * @return false if the peer cannot map the memory, or {@link #readLocal} would not be granted
   */
  boolean referLocal(int lkey, long address, int length, PayloadReference to);

  /** Copies bytes of a packet to local memory; requires {@link Access#LOCAL_WRITE}. */
  AccessResult writeLocal(int lkey, long address, ByteBuffer from, int offset, int length);

  /**
   * Copies bytes of a packet to a buffer of a receive, as {@link #writeLocal} does; buffers of a
   * shared receive queue are in that queue's protection domain.
   */
  AccessResult writeReceive(int lkey, long address, ByteBuffer from, int offset, int length);

  /**
   * Returns whether the peer may access local memory by the rkey of a region or window. The engine
   * checks the rights of the queue pair; this does not.
   *
   * @param length in bytes, up to 2<sup>31</sup>
   */
  AccessResult checkRemote(int rkey, long address, long length, int access);

  /** Copies bytes for a READ; requires {@link Access#REMOTE_READ}. */
  AccessResult readRemote(int rkey, long address, ByteBuffer to, int offset, int length);

  /** Refers to bytes for a READ instead of copying them, as {@link #referLocal} does. */
  boolean referRemote(int rkey, long address, int length, PayloadReference to);

  /**
   * Describes all memory around an address that the peer may READ by an rkey.
   *
   * @param to receives the range and its place
   * @return false if the peer cannot map it
   */
  boolean grantRemote(int rkey, long address, ReadGrant to);

  /** Copies bytes of a WRITE; requires {@link Access#REMOTE_WRITE}. */
  AccessResult writeRemote(int rkey, long address, ByteBuffer from, int offset, int length);

  /**
   * Compares and swaps 8 aligned bytes in this machine's byte order; requires {@link
   * Access#REMOTE_ATOMIC}. Atomic with respect to all atomics of the device.
   *
   * @param result receives the original value if the access is granted
   */
  AccessResult compareAndSwap(
      int rkey, long address, long expected, long swap, AtomicResult result);

  /** Adds to 8 aligned bytes, under the rules of {@link #compareAndSwap}. */
  AccessResult fetchAndAdd(int rkey, long address, long addend, AtomicResult result);

  /** Invalidates a key for a LOCAL_INV; returns false if the key cannot be invalidated. */
  boolean invalidateLocally(int key);

  /**
   * Invalidates a key for a peer's SEND_WITH_INV; returns false if the key cannot be invalidated.
   */
  boolean invalidateRemotely(int rkey);

  /** Executes a BIND_MW; returns false if it is refused. */
  boolean bind(SendWorkRequest request);

  /**
   * Takes the next receive of the queue pair's own or shared receive queue.
   *
   * @param into receives the id and the buffers; its link does not change
   * @return false if there is none
   */
  boolean takeReceive(ReceiveWorkRequest into);

  /**
   * Completes the receive that was taken last, with success. The arguments are those of {@link
   * io.verbena.verbs.WorkCompletion#set}.
   *
   * @param solicited whether to raise an event also on a queue that is armed for solicited
   *     completions only
   */
  void receiveDone(
      long id,
      CompletionOpcode opcode,
      int byteLength,
      int immediate,
      int sourceQueuePair,
      int flags,
      boolean solicited);

  /**
   * Completes the receive that was taken last, with an error, which also raises solicited events.
   */
  void receiveFailed(long id, CompletionStatus status);

  /**
   * Completes a signaled request with success; {@code position} is its position in the {@link
   * SendRing}.
   */
  void sendDone(long position, SendWorkRequest request, CompletionOpcode opcode, int byteLength);

  /** Completes a request with an error, signaled or not. */
  void sendFailed(long position, SendWorkRequest request, CompletionStatus status);

  /** Increments a counter of the device. */
  void count(Counter counter);

  /** Raises an event of this queue pair. */
  void raise(AsyncEvent.Type event);

  /**
   * Called when the engine itself has moved to {@link QueuePairState#ERR}, or from RTS to {@link
   * QueuePairState#SQE}. The flushed completions follow this call.
   */
  void moved(QueuePairState to);

  /**
   * Called when the engine has something to send, for instance after an alarm: the caller of the
   * engine then has to call {@link QueuePairEngine#run}.
   */
  void ready();
}

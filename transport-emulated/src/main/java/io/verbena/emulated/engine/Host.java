// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.PayloadReference;
import io.verbena.emulated.roce.ReadGrant;
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
 * The HCA around one queue pair, as its engine uses it: memory, receives, completions, events.
 * Called within the calls to the engine, by the same caller. No method throws, and none calls the
 * engine back.
 *
 * <p><b>Memory.</b> {@code access} is one bit of {@link Access}, or 0 for local read. The
 * protection domain is the queue pair's. The engine never passes a length of 0. Buffers are
 * accessed by index: their position and limit stay. Bytes of one call are moved in ascending order
 * or all at once; between packets of one message the answer may change, since keys die.
 *
 * <p><b>Completions.</b> The engine completes each request and each receive at most once, in the
 * order of its queue. A send is completed if it was {@link SendWorkRequest#SIGNALED} or failed; its
 * completion retires all before it.
 */
public interface Host {

  /** Returns whether this queue pair may access {@code length} bytes of its own memory. */
  AccessResult checkLocal(int lkey, long address, int length, int access);

  /** Moves bytes from local memory to a packet; checks as {@link #checkLocal} does. */
  AccessResult readLocal(int lkey, long address, ByteBuffer to, int offset, int length);

  /**
   * Refers to bytes of local memory that the peer can map, instead of moving them.
   *
   * @return false if that cannot be, or {@link #readLocal} would not be granted
   */
  boolean referLocal(int lkey, long address, int length, PayloadReference to);

  /** Moves bytes of a packet to local memory; needs {@link Access#LOCAL_WRITE}. */
  AccessResult writeLocal(int lkey, long address, ByteBuffer from, int offset, int length);

  /**
   * Moves bytes of a packet to a buffer of a receive, as {@link #writeLocal} does; buffers of a
   * shared receive queue are in that queue's protection domain.
   */
  AccessResult writeReceive(int lkey, long address, ByteBuffer from, int offset, int length);

  /**
   * Returns whether the peer may access memory here, under an rkey of a region or of a window. The
   * rights of the queue pair itself are not checked: the engine does that.
   *
   * @param length up to 2<sup>31</sup>
   */
  AccessResult checkRemote(int rkey, long address, long length, int access);

  /** Moves bytes for a READ; needs {@link Access#REMOTE_READ}. */
  AccessResult readRemote(int rkey, long address, ByteBuffer to, int offset, int length);

  /** Refers to bytes for a READ instead of moving them, as {@link #referLocal} does. */
  boolean referRemote(int rkey, long address, int length, PayloadReference to);

  /**
   * Describes all memory around an address that the peer may READ under an rkey.
   *
   * @param to gets the range and its place
   * @return false if the peer cannot map it
   */
  boolean grantRemote(int rkey, long address, ReadGrant to);

  /** Moves bytes of a WRITE; needs {@link Access#REMOTE_WRITE}. */
  AccessResult writeRemote(int rkey, long address, ByteBuffer from, int offset, int length);

  /**
   * Compares and swaps 8 aligned bytes in this machine's byte order; needs {@link
   * Access#REMOTE_ATOMIC}. Atomic with respect to all atomics of the device.
   *
   * @param result filled if granted
   */
  AccessResult compareAndSwap(
      int rkey, long address, long expected, long swap, AtomicResult result);

  /** Adds to 8 aligned bytes; as {@link #compareAndSwap}. */
  AccessResult fetchAndAdd(int rkey, long address, long addend, AtomicResult result);

  /** Invalidates a key for a LOCAL_INV; false if it is not a key that may be invalidated. */
  boolean invalidateLocally(int key);

  /**
   * Invalidates a key for a peer's SEND_WITH_INV; false if it is not a key that may be invalidated.
   */
  boolean invalidateRemotely(int rkey);

  /** Executes a BIND_MW; false if it is refused. */
  boolean bind(SendWorkRequest request);

  /**
   * Takes the next receive of the queue pair's own or shared receive queue.
   *
   * @param into gets the receive's id and buffers; its link is left alone
   * @return false if there is none
   */
  boolean takeReceive(ReceiveWorkRequest into);

  /**
   * Completes the receive last taken with success. The arguments are those of {@link
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

  /** Completes the receive last taken with an error, which also raises solicited events. */
  void receiveFailed(long id, CompletionStatus status);

  /** Completes a signaled request with success. */
  void sendDone(long position, SendWorkRequest request, CompletionOpcode opcode, int byteLength);

  /** Completes a request with an error, signaled or not. */
  void sendFailed(long position, SendWorkRequest request, CompletionStatus status);

  /** Counts an occurrence of what a device counts. */
  void count(Counter counter);

  /** Raises an event of this queue pair. */
  void raise(AsyncEvent.Type event);

  /**
   * The engine went to {@link QueuePairState#ERR}, or from RTS to {@link QueuePairState#SQE}, by
   * itself; the flushed completions follow this call.
   */
  void moved(QueuePairState to);

  /**
   * Called when an alarm gave the engine something to send: {@link QueuePairEngine#run} is to be
   * called.
   */
  void ready();
}

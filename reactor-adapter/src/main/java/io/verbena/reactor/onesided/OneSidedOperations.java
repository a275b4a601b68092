// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.onesided;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaException;
import io.verbena.RemoteMemory;
import io.verbena.core.loop.AwaitedVisitor;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.reactor.guard.Admission;
import io.verbena.reactor.guard.FailureGuard;
import io.verbena.reactor.queue.LoopResources;
import io.verbena.reactor.queue.OneSidedSlots;
import io.verbena.reactor.queue.SendSlots;
import io.verbena.reactor.send.MessageSender;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Creates the one-sided operations of a connection, queues them for slots, and counts those in
 * flight. Operations are created and subscribed to on any thread; all else happens on the loop.
 */
public final class OneSidedOperations {
  private final LoopResources resources;
  private final CompletionLoop loop;
  private final OneSidedSlots slots;
  private final SendSlots sends;
  private final MessageSender sender;
  private final FailureGuard guard;
  private final Admission admission;
  private final AtomicResults results;
  private final OperationQueue operations;
  private final OperationQueue notifications;
  private long tickets;
  private boolean advancing;
  private int inFlight;

  /**
   * Creates the operations of a connection, in these slots.
   *
   * @param sender notifies the peer of WRITEs
   */
  public OneSidedOperations(
      LoopResources resources,
      OneSidedSlots slots,
      MessageSender sender,
      FailureGuard guard,
      Admission admission) {
    this.resources = resources;
    this.slots = slots;
    this.sender = sender;
    this.guard = guard;
    this.admission = admission;
    loop = resources.loop();
    sends = slots.sends();
    results = new AtomicResults(resources, sends.slots());
    operations = new OperationQueue(loop, sends.ticks(), admission);
    notifications = new OperationQueue(loop, sends.ticks(), admission);
  }

  // ---- operations, as in RdmaConnection

  /** Reads into a new registered buffer, which belongs to the subscriber. */
  public Mono<ByteBuf> read(RemoteMemory from) {
    return new ReadOperation(this, requireNonNull(from, "from"));
  }

  /** Reads into a buffer of the caller. */
  public Mono<Void> read(RemoteMemory from, ByteBuf into) {
    return new ReadIntoOperation(this, requireNonNull(from, "from"), requireNonNull(into, "into"));
  }

  /** Reads in pieces of {@code pieceLength} bytes; the last one may be shorter. */
  public Flux<ByteBuf> readPieces(RemoteMemory from, int pieceLength) {
    requireNonNull(from, "from");
    if (pieceLength <= 0 || pieceLength > RemoteChecks.LONGEST) {
      throw new IllegalArgumentException(
          "pieceLength: " + pieceLength + " (expected: 1 to " + RemoteChecks.LONGEST + ")");
    }
    return new PieceFlux(this, from, pieceLength);
  }

  /** Writes. */
  public Mono<Void> write(ByteBuf data, RemoteMemory to) {
    return WriteOperation.plain(this, requireNonNull(data, "data"), requireNonNull(to, "to"));
  }

  /** Writes, and notifies the peer with the immediate value. */
  public Mono<Void> writeWithImmediate(ByteBuf data, RemoteMemory to, int immediate) {
    return WriteOperation.withImmediate(
        this, requireNonNull(data, "data"), requireNonNull(to, "to"), immediate);
  }

  /** Compares and swaps. */
  public Mono<Long> compareAndSwap(RemoteMemory at, long expected, long swap) {
    return AtomicOperation.compareAndSwap(this, requireNonNull(at, "at"), expected, swap);
  }

  /** Fetches and adds. */
  public Mono<Long> fetchAndAdd(RemoteMemory at, long addend) {
    return AtomicOperation.fetchAndAdd(this, requireNonNull(at, "at"), addend);
  }

  // ---- what its operations use

  LoopResources resources() {
    return resources;
  }

  CompletionLoop loop() {
    return loop;
  }

  OneSidedSlots slots() {
    return slots;
  }

  SendSlots sends() {
    return sends;
  }

  MessageSender sender() {
    return sender;
  }

  FailureGuard guard() {
    return guard;
  }

  Admission admission() {
    return admission;
  }

  String peer() {
    return admission.peer();
  }

  AtomicResults results() {
    return results;
  }

  /** Returns the queue of operations that do not notify the peer. */
  OperationQueue operations() {
    return operations;
  }

  /** Returns the queue of operations that need credits of the peer, which may take long. */
  OperationQueue notifications() {
    return notifications;
  }

  /** Posts an operation, or queues it, or fails it if too many wait. */
  void start(OneSidedOperation<?> operation) {
    if (isWaiting()) {
      // Slots that have come free since belong to the operations that wait.
      advance();
    }
    operation.ticket = tickets++;
    OperationQueue queue = operation.waitingQueue();
    queue.start(operation, operations.isEmpty() && queue.isEmpty());
  }

  /** Counts a request that was posted. */
  void requestPosted() {
    inFlight++;
    slots.operationPosted();
  }

  /** Counts a request that ended. */
  void requestEnded() {
    inFlight--;
  }

  // ---- what the connection's life does to them

  /**
   * Posts waiting operations while there are slots, the oldest first. Others may pass a notice that
   * waits for credits; the notice itself passes none, as it says that everything written before has
   * arrived.
   */
  public void advance() {
    if (advancing) {
      // Called by a subscriber that gets a refusal and begins another operation: the outer call
      // posts it.
      return;
    }
    advancing = true;
    try {
      boolean posted = isWaiting();
      while (posted && slots.mayPost()) {
        boolean isNoticeNext = notifications.nextTicket() < operations.nextTicket();
        posted = (isNoticeNext && notifications.advance()) || operations.advance();
      }
    } finally {
      advancing = false;
    }
  }

  /** Returns whether any operation waits for a slot. */
  public boolean isWaiting() {
    return !operations.isEmpty() || !notifications.isEmpty();
  }

  /** Returns whether operations wait while none is in flight. */
  public boolean isStarved() {
    return inFlight == 0 && isWaiting();
  }

  /** Returns whether no operation waits or is in flight. */
  public boolean isDone() {
    return inFlight == 0 && operations.isEmpty() && notifications.isEmpty();
  }

  /** Fails operations that have waited for longer than so many ticks. */
  public void expire(int ticks) {
    operations.expire(ticks);
    notifications.expire(ticks);
  }

  /**
   * Calls {@code visitor} with the operations that wait or are in flight; on a watchdog's thread.
   */
  public void forEachAwaited(AwaitedVisitor visitor) {
    sends.forEachAwaited(visitor);
    operations.forEachAwaited(visitor);
    notifications.forEachAwaited(visitor);
  }

  /** Fails all operations that wait. */
  public void fail(Failure failure) {
    guard.guarded(() -> operations.fail(failure));
    guard.guarded(() -> notifications.fail(failure));
  }

  /** Releases the memory for results of atomics, once the queue pair is destroyed. */
  public void release() {
    results.release();
  }

  /** Makes the exception for an operation of this name. */
  @FunctionalInterface
  public interface Failure {

    /** Returns the exception. */
    RdmaException of(String operation);
  }
}

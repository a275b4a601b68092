// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.Capability;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairAttributes.Field;
import io.verbena.verbs.QueuePairCapabilities;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairReading;
import io.verbena.verbs.QueuePairReading.Figure;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.provider.QueuePairTransitions;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The common part of an emulated HCA's queue pairs: state and attributes, the completion queues,
 * and the memory that its domain lets it access. Subclasses execute the requests.
 *
 * <p>The state changes by compare-and-set, since a failing request changes it without a lock;
 * attributes change under this object's monitor, which is never held while waiting for a queue.
 * Calls that modify or close the queue pair run one after the other, including their waits: when
 * such a call returns, no thread works on anything that it took away.
 */
public abstract class EmulatedQueuePair implements QueuePair {
  private static final int LOCAL_WRITE = Access.LOCAL_WRITE.bit();
  private static final VarHandle STATE;

  static {
    try {
      STATE =
          MethodHandles.lookup()
              .findVarHandle(EmulatedQueuePair.class, "state", QueuePairState.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final EmulatedProtectionDomain domain;
  private final EmulatedDevice device;
  private final KeyTable keys;
  private final int number;
  private final QueuePairType type;
  private final QueuePairCapabilities capabilities;
  private final EmulatedCompletionQueue sendCompletions;
  private final EmulatedCompletionQueue receiveCompletions;
  private final @Nullable EmulatedSharedReceiveQueue shared;
  private final EmulatedProtectionDomain receiveDomain;

  /** This queue pair's counts of the events that the device counts. */
  private final EmulatedCounters counts;

  private int sendAttachment;
  private int receiveAttachment;
  private int sharedAttachment;
  private int place;

  private volatile QueuePairState state = QueuePairState.RESET;
  private volatile boolean closed;
  private volatile int destination = -1;
  private volatile int sendPsn;
  private volatile int receivePsn;
  private volatile int access;
  private volatile boolean readsAndAtomics;
  private volatile boolean ownReadsAndAtomics;
  private volatile int queueKey;
  private volatile boolean established;
  private boolean lastReceiveTold;

  /** Held by the thread that modifies or closes the queue pair, until all consequences are done. */
  private final ReentrantLock changing = new ReentrantLock();

  private QueuePairAttributes attributes = new QueuePairAttributes();

  protected EmulatedQueuePair(
      EmulatedProtectionDomain domain, int number, QueuePairOptions options) {
    this.domain = domain;
    this.device = domain.device();
    counts = new EmulatedCounters(device.counters().counted());
    this.keys = device.keys();
    this.number = number;
    type = options.type();
    capabilities =
        new QueuePairCapabilities(
            options.maxSend(),
            options.maxReceive(),
            options.maxSendScatterGather(),
            options.maxReceiveScatterGather(),
            options.maxInlineData());
    sendCompletions = (EmulatedCompletionQueue) options.sendQueue();
    receiveCompletions = (EmulatedCompletionQueue) options.receiveQueue();
    shared = (EmulatedSharedReceiveQueue) options.sharedReceiveQueue();
    receiveDomain = shared == null ? domain : shared.protectionDomain();
  }

  /** Returns the queue pair's place in the device's table, which sets it. */
  final int place() {
    return place;
  }

  final void place(int newPlace) {
    place = newPlace;
  }

  /**
   * Attaches the queue pair to its completion queues and its shared receive queue. Called once,
   * after construction.
   */
  final void attach() {
    if (shared != null) {
      sharedAttachment = shared.attach(this);
    }
    int attached = 0;
    try {
      sendAttachment = sendCompletions.attach(this);
      attached++;
      receiveAttachment = receiveCompletions.attach(this);
      attached++;
    } finally {
      if (attached == 1) {
        sendCompletions.detach(sendAttachment);
      }
      if (attached < 2 && shared != null) {
        shared.detach(sharedAttachment);
      }
    }
  }

  /** Frees the slots of all sends before {@code position}. Called by the polling thread. */
  protected abstract void freeSends(long position);

  /** Frees the slots of all receives before {@code position}. Called by the polling thread. */
  protected abstract void freeReceives(long position);

  /**
   * Called when the queue pair has changed to a state; the caller holds the monitor.
   *
   * @return the consequences, which the caller runs after it has released the monitor
   */
  protected abstract Runnable entered(QueuePairState to);

  /** Called when attributes have changed, but not the state; the caller holds the monitor. */
  protected abstract void attributesChanged();

  /**
   * Completes all pending requests as flushed, once no peer works on them any more, and then
   * {@linkplain #reportLastReceive reports} that no more receives are taken.
   */
  protected abstract void flush();

  /** Returns whether requests that were posted before SQD are not finished yet. */
  protected abstract boolean isDraining();

  /** Reports free slots to the shared receive queue. */
  protected abstract void reportPolled();

  /**
   * Called when a receive was posted to the shared receive queue, after this queue pair found that
   * queue empty.
   */
  protected abstract void receivePosted();

  /** Waits until every thread that works on one of its queues at this moment is done. */
  protected abstract void awaitHandover();

  /** Waits until every thread that copies at this moment for the queue pair or its peer is done. */
  protected abstract void awaitCopies();

  /** Reads the figures of its queues without ownership; they may be slightly outdated. */
  protected abstract void readQueues(Map<Figure, Long> into);

  /**
   * Begins a wait for other threads, see {@link Ownership#beginWait}. Called by the owner of the
   * send queue.
   */
  protected abstract void beginWait();

  /** Ends the wait that {@link #beginWait} began. */
  protected abstract void endWait();

  /** Counts an event on the queue pair and on the device, and emits its Flight Recorder event. */
  public final void count(Counter counter) {
    counts.count(counter);
    device.counters().count(counter);
    QueuePairEvents.emit(counter, device, number, destination);
  }

  /** Returns its device. */
  public final EmulatedDevice device() {
    return device;
  }

  protected final KeyTable keys() {
    return keys;
  }

  /** Returns the completion queue of its sends. */
  public final EmulatedCompletionQueue sendCompletions() {
    return sendCompletions;
  }

  /** Returns the completion queue of its receives. */
  public final EmulatedCompletionQueue receiveCompletions() {
    return receiveCompletions;
  }

  /** Returns the shared receive queue that it takes receives from, or null. */
  public final @Nullable EmulatedSharedReceiveQueue shared() {
    return shared;
  }

  /** Returns whether a responder acknowledges its messages. */
  public final boolean isReliable() {
    return type == QueuePairType.RC;
  }

  /** Returns whether the queue pair is in a state in which it takes messages. */
  public final boolean isReceiving() {
    return switch (state) {
      case RTR, RTS, SQD, SQE -> !closed;
      case RESET, INIT, ERR -> false;
    };
  }

  /** Returns the queue key that datagrams for it must carry. */
  public final int queueKey() {
    return queueKey;
  }

  /** Returns its attachment number at {@link #sendCompletions}. */
  public final int sendAttachment() {
    return sendAttachment;
  }

  /** Returns its attachment number at {@link #receiveCompletions}. */
  public final int receiveAttachment() {
    return receiveAttachment;
  }

  public final boolean isClosed() {
    return closed;
  }

  /** Returns the exception for a post to this queue pair after it was closed. */
  public final PostException closedError(long workRequestId) {
    return new PostException(
        VerbsError.CLOSED, workRequestId, "queue pair " + number + " is closed");
  }

  /** Returns the present attributes. The object is never modified: a change replaces it. */
  public final QueuePairAttributes attributes() {
    return attributes;
  }

  /** Returns the number of the queue pair that it is connected to, or -1. */
  protected final int destination() {
    return destination;
  }

  /** Returns the first PSN that it sends. */
  protected final int sendPsn() {
    return sendPsn;
  }

  /** Returns the first PSN that it expects. */
  protected final int receivePsn() {
    return receivePsn;
  }

  /** Returns whether the queue pair gives its peer a right, which is a bit of {@link Access}. */
  public final boolean allows(int right) {
    return (access & right) != 0;
  }

  /**
   * Returns whether the peer supports atomics and immediate data, which a peer on iWARP may lack;
   * true while there is no peer.
   */
  protected boolean peerHasExtensions() {
    return true;
  }

  @Override
  public final boolean supports(Capability capability) {
    boolean isExtension =
        capability == Capability.ATOMICS || capability == Capability.IMMEDIATE_DATA;
    return device().attributes().supports(capability) && (!isExtension || peerHasExtensions());
  }

  /** Returns whether the queue pair has resources for READs and atomics of its peer. */
  public final boolean servesReadsAndAtomics() {
    return readsAndAtomics;
  }

  /** Returns whether the queue pair may have outstanding READs and atomics of its own. */
  public final boolean requestsReadsAndAtomics() {
    return ownReadsAndAtomics;
  }

  /**
   * Looks up the memory that {@code key} opens through this queue pair. Returns null unless the
   * memory contains {@code length} bytes from {@code address} on and the key gives all rights of
   * {@code needed}. Every access looks up its key here, with keys of regions and windows, local and
   * remote.
   *
   * @param needed bits of {@link Access}, or {@link KeyEntry#LOCAL_READ}
   */
  public final @Nullable KeyEntry open(int key, long address, int length, int needed) {
    return permitted(keys.find(key), address, length, needed);
  }

  /**
   * Returns the memory that {@code key} opens through this queue pair, regardless of range and
   * rights, or null.
   */
  public final @Nullable KeyEntry opened(int key) {
    KeyEntry found = keys.find(key);
    return found != null && found.isOpenTo(this, domain) ? found : null;
  }

  /** Returns whether {@code key} opens any memory, even if only through other queue pairs. */
  public final boolean isKey(int key) {
    return keys.find(key) != null;
  }

  /**
   * Does the same as {@link #open(int, long, int, int)}, given an entry that was found before
   * ownership was taken. The entry may have been killed since, or belong to another queue pair.
   */
  public final @Nullable KeyEntry open(
      @Nullable KeyEntry hint, int key, long address, int length, int needed) {
    return hint != null && hint.isOpenedBy(key)
        ? permitted(hint, address, length, needed)
        : open(key, address, length, needed);
  }

  /**
   * Does the same as {@link #open(int, long, int, int)} for a buffer of a receive. The buffers of a
   * shared receive queue belong to that queue's domain.
   */
  public final @Nullable KeyEntry openReceive(int key, long address, int length) {
    return permitted(keys.find(key), receiveDomain, address, length, LOCAL_WRITE);
  }

  private @Nullable KeyEntry permitted(
      @Nullable KeyEntry key, long address, int length, int needed) {
    return permitted(key, domain, address, length, needed);
  }

  private @Nullable KeyEntry permitted(
      @Nullable KeyEntry key,
      EmulatedProtectionDomain owner,
      long address,
      int length,
      int needed) {
    return key != null && key.permits(this, owner, address, length, needed) ? key : null;
  }

  /**
   * Executes a LOCAL_INV; returns false if the key cannot be invalidated. Called by the owner of
   * the send queue.
   */
  public final boolean invalidateLocally(int key) {
    KeyEntry entry = keys.entry(key);
    return entry != null && entry.holder.invalidate(key, this, false);
  }

  /**
   * Executes the invalidation of a peer's SEND_WITH_INV; returns false if the key cannot be
   * invalidated. Called by the thread that executes the peer's request.
   */
  public final boolean invalidateRemotely(int key) {
    KeyEntry entry = keys.entry(key);
    return entry != null && entry.holder.invalidate(key, this, true);
  }

  @Override
  public final int number() {
    return number;
  }

  @Override
  public final QueuePairType type() {
    return type;
  }

  @Override
  public final EmulatedProtectionDomain protectionDomain() {
    return domain;
  }

  @Override
  public final QueuePairCapabilities capabilities() {
    return capabilities;
  }

  @Override
  public final @Nullable SharedReceiveQueue sharedReceiveQueue() {
    return shared;
  }

  @Override
  public final QueuePairState state() {
    return state;
  }

  @Override
  public final void modify(QueuePairAttributes change) {
    changing.lock();
    try {
      modifyNow(change, null);
    } finally {
      changing.unlock();
    }
  }

  /**
   * Moves the queue pair from INIT or RTR to RTR or RTS. Called on a fabric where only the
   * connection manager connects, without address vectors.
   *
   * @param granted the attributes that the manager has agreed on with the peer
   * @throws VerbsException {@code INVALID} in another state, {@code CLOSED}
   */
  protected final void connected(QueuePairState to, QueuePairAttributes granted) {
    changing.lock();
    try {
      modifyNow(granted, to);
    } finally {
      changing.unlock();
    }
  }

  /**
   * Modifies the queue pair.
   *
   * @param connected the state to which the connection manager moves it, or null if a program
   *     modifies it
   */
  private void modifyNow(QueuePairAttributes change, @Nullable QueuePairState connected) {
    Runnable consequences;
    synchronized (this) {
      QueuePairState from;
      QueuePairState to;
      do {
        from = state;
        to = connected == null ? check(change, from) : checkConnected(connected, from);
        if (to != QueuePairState.RESET) {
          apply(change, from, to);
        }
        // If a failure has moved it to SQE or ERR meanwhile, the change is checked again from that
        // state.
      } while (!STATE.compareAndSet(this, from, to));
      if (to == QueuePairState.RESET) {
        // Applied only now: a peer that lacks a right checks whether the reason is this state.
        apply(change, from, to);
      }
      if (from == to && to != QueuePairState.ERR) {
        attributesChanged();
        return;
      }
      consequences = entered(to);
    }
    consequences.run();
    if (device.isBroken()) {
      // The device has failed since the check, and may have skipped this queue pair in its earlier
      // state.
      fail();
    }
  }

  private QueuePairState checkConnected(QueuePairState to, QueuePairState from) {
    checkAlive();
    if (from != QueuePairState.INIT && from != QueuePairState.RTR) {
      throw new VerbsException(
          VerbsError.INVALID,
          "connect queue pair: state: "
              + from
              + " (expected: "
              + QueuePairState.INIT
              + " or "
              + QueuePairState.RTR
              + ")");
    }
    return to;
  }

  private void checkAlive() {
    if (closed) {
      throw new VerbsException(VerbsError.CLOSED, "modify queue pair " + number + ": closed");
    }
    device.requireWhole("modify queue pair");
  }

  /** Returns the state that a change leads to from another one. */
  private QueuePairState check(QueuePairAttributes change, QueuePairState from) {
    checkAlive();
    QueuePairState to = QueuePairTransitions.check(type, from, change, 1, 1, device.attributes());
    if (to == QueuePairState.SQD) {
      device.attributes().require(Capability.SEND_QUEUE_DRAIN);
    }
    Mtu most = device.fabric().mtu();
    if (change.has(Field.PATH_MTU) && change.pathMtu().compareTo(most) > 0) {
      throw new VerbsException(
          VerbsError.INVALID,
          "modify queue pair: "
              + Field.PATH_MTU
              + ": "
              + change.pathMtu().bytes()
              + " (expected: <= "
              + most.bytes()
              + ", the port's)");
    }
    AddressVector vector = change.addressVector();
    if (vector != null) {
      device.fabric().check("modify queue pair: address vector", vector);
    }
    if (from == QueuePairState.SQD
        && (to == QueuePairState.SQD || to == QueuePairState.RTS)
        && isDraining()) {
      throw new VerbsException(
          VerbsError.INVALID, "modify queue pair: " + from + " to " + to + " while it drains");
    }
    return to;
  }

  private void apply(QueuePairAttributes change, QueuePairState from, QueuePairState to) {
    QueuePairAttributes merged = new QueuePairAttributes();
    if (to != QueuePairState.RESET) {
      Attributes.merge(attributes, merged);
      Attributes.merge(change, merged);
    }
    if (from != to && to == QueuePairState.SQD && !change.has(Field.EN_SQD_ASYNC_NOTIFY)) {
      // The option of an earlier drain does not apply to this one.
      merged.drainedNotify(false);
    }
    if (to != QueuePairState.ERR) {
      lastReceiveTold = false;
    }
    if (to == QueuePairState.RESET) {
      established = false;
    }
    attributes = merged.state(to).currentState(to);
    queueKey = merged.queueKey();
    access = Access.bits(merged.access());
    readsAndAtomics = merged.maxDestinationReadAtomic() > 0;
    ownReadsAndAtomics = merged.maxReadAtomic() > 0;
    sendPsn = merged.sendPsn();
    receivePsn = merged.receivePsn();
    if (to == QueuePairState.RESET) {
      destination = -1;
    } else if (change.has(Field.DEST_QPN)) {
      destination = change.destinationQueuePair();
    }
  }

  @Override
  public final synchronized QueuePairAttributes query() {
    QueuePairAttributes copy = new QueuePairAttributes();
    Attributes.merge(attributes, copy);
    return copy.state(state).currentState(state);
  }

  @Override
  public final QueuePairReading reading() {
    Map<Figure, Long> figures = new EnumMap<>(Figure.class);
    readQueues(figures);
    figures.put(Figure.SEND_COMPLETIONS_WAITING, sendCompletions.waiting());
    figures.put(Figure.SEND_COMPLETIONS_SIZE, (long) sendCompletions.depth());
    figures.put(Figure.RECEIVE_COMPLETIONS_WAITING, receiveCompletions.waiting());
    figures.put(Figure.RECEIVE_COMPLETIONS_SIZE, (long) receiveCompletions.depth());
    for (Counter counter : counts.counted()) {
      figures.put(Figure.of(counter), counts.get(counter));
    }
    return new QueuePairReading(number, type, state, destination, figures);
  }

  /**
   * Moves the queue pair to ERR, unless it is closed or in RESET; returns whether this call moved
   * it.
   */
  public final boolean moveToError() {
    while (true) {
      QueuePairState now = state;
      if (closed || now == QueuePairState.RESET || now == QueuePairState.ERR) {
        return false;
      }
      if (STATE.compareAndSet(this, now, QueuePairState.ERR)) {
        return true;
      }
    }
  }

  /**
   * Moves an unreliable queue pair to SQE, after a request failed at its own end (IBTA volume 1,
   * queue pair states).
   */
  public final void moveToSendError() {
    while (true) {
      QueuePairState now = state;
      if (closed
          || (now != QueuePairState.RTS && now != QueuePairState.SQD)
          || STATE.compareAndSet(this, now, QueuePairState.SQE)) {
        return;
      }
    }
  }

  /** Moves the queue pair to ERR and flushes it. The caller must not own any queue. */
  public final void fail() {
    if (moveToError()) {
      flush();
    }
  }

  /** Flushes the queue pair after {@link #moveToError}. The caller must not own any queue. */
  public final void flushPending() {
    flush();
  }

  /**
   * Does the same as {@link #fail} after one of its completions was lost, and raises {@code
   * QP_FATAL}: nothing else reports the failure to the program.
   */
  final void failAfterLostCompletion() {
    if (moveToError()) {
      device.raise(AsyncEvent.Type.QP_FATAL, this);
      flush();
    }
  }

  /** Called when a message has arrived; raises {@code COMM_EST} for the first one in RTR. */
  protected final void messageArrived() {
    if (!established && state == QueuePairState.RTR) {
      established = true;
      device.raise(AsyncEvent.Type.COMM_EST, this);
    }
  }

  /**
   * Raises, once in ERR, {@code QP_LAST_WQE_REACHED}: no more receives of the shared receive queue
   * are taken.
   */
  protected final synchronized void reportLastReceive() {
    if (shared != null && state == QueuePairState.ERR && !lastReceiveTold) {
      lastReceiveTold = true;
      device.raise(AsyncEvent.Type.QP_LAST_WQE_REACHED, this);
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>A second call waits until the first one is done.
   */
  @Override
  public final void close() {
    changing.lock();
    try {
      if (!closed) {
        closeNow();
      }
    } finally {
      changing.unlock();
    }
  }

  private void closeNow() {
    Runnable consequences;
    synchronized (this) {
      closed = true;
      state = QueuePairState.RESET;
      consequences = entered(QueuePairState.RESET);
    }
    consequences.run();
    // Removed only now: a thread that takes memory away has to wait for this queue pair's copies.
    device.removeQueuePair(this);
    sendCompletions.detach(sendAttachment);
    receiveCompletions.detach(receiveAttachment);
    if (shared != null) {
      shared.detach(sharedAttachment);
    }
    domain.closed(EmulatedProtectionDomain.Kind.QUEUE_PAIR);
  }
}

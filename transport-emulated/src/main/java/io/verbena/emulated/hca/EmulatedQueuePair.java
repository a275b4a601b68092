// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.Capability;
import io.verbena.verbs.DeviceCounters.Counter;
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
 * What every queue pair of an emulated HCA has: its state and attributes, where it completes, and
 * what its domain lets it reach. How requests are done is the subclass's.
 *
 * <p>The state changes by compare-and-set, since a failing request changes it without a lock;
 * attributes change under this object's monitor, which is never held while a queue is waited for.
 * Whoever modifies or closes it does so one after the other, each with all that it waits for, so
 * that when such a call returns nobody works on what was taken away.
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

  /** What happened to this queue pair of what the device counts. */
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
  private volatile int queueKey;
  private volatile boolean established;
  private boolean lastReceiveTold;

  /** Held by whoever modifies or closes it, until what follows from that is done. */
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

  /** Its place in the table of its device, which sets it. */
  final int place() {
    return place;
  }

  final void place(int newPlace) {
    place = newPlace;
  }

  /** Makes the queues that it shares with others know of it; once, when it is whole. */
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

  /** Frees the slots of all sends before {@code position}; for whoever polls. */
  protected abstract void freeSends(long position);

  /** Frees the slots of all receives before {@code position}; for whoever polls. */
  protected abstract void freeReceives(long position);

  /**
   * The queue pair has changed to a state, and its monitor is held.
   *
   * @return what is to be done about it when the monitor is not held any more
   */
  protected abstract Runnable entered(QueuePairState to);

  /** Attributes have changed, and the state has not; the monitor is held. */
  protected abstract void attributesChanged();

  /**
   * Completes all that is pending as flushed, once no peer works on it any more, and then
   * {@linkplain #tellLastReceive tells} that it takes no more receives.
   */
  protected abstract void flush();

  /** Whether requests that were posted before SQD are not finished yet. */
  protected abstract boolean isDraining();

  /** Tells its shared receive queue of the slots that are free. */
  protected abstract void tellPolled();

  /** A receive was posted to its shared receive queue, after that had none left. */
  protected abstract void receivePosted();

  /** Returns once whoever works on one of its queues at this moment is done. */
  protected abstract void awaitHandover();

  /** Returns once whoever copies at this moment for it, or for its peer, is done. */
  protected abstract void awaitCopies();

  /** Reads the figures of its queues, a moment old, without any ownership. */
  protected abstract void readQueues(Map<Figure, Long> into);

  /** For the owner of its send queue, who waits for others: see {@link Ownership#beginWait}. */
  protected abstract void beginWait();

  /** The end of that. */
  protected abstract void endWait();

  /** Something happened that the device counts. */
  public final void count(Counter counter) {
    counts.count(counter);
    device.counters().count(counter);
    QueuePairEvents.emit(counter, device, number, destination);
  }

  /** The device that it is a queue pair of. */
  public final EmulatedDevice device() {
    return device;
  }

  protected final KeyTable keys() {
    return keys;
  }

  /** Where its sends complete. */
  public final EmulatedCompletionQueue sendCompletions() {
    return sendCompletions;
  }

  /** Where its receives complete. */
  public final EmulatedCompletionQueue receiveCompletions() {
    return receiveCompletions;
  }

  /** The shared receive queue that it takes receives from, or null. */
  public final @Nullable EmulatedSharedReceiveQueue shared() {
    return shared;
  }

  /** Whether there is a responder that acknowledges what it sends. */
  public final boolean isReliable() {
    return type == QueuePairType.RC;
  }

  /** Whether it is in a state in which messages are taken. */
  public final boolean isReceiving() {
    return switch (state) {
      case RTR, RTS, SQD, SQE -> !closed;
      case RESET, INIT, ERR -> false;
    };
  }

  /** The queue key that datagrams for it must carry. */
  public final int queueKey() {
    return queueKey;
  }

  /** What {@link #sendCompletions} knows it by. */
  public final int sendAttachment() {
    return sendAttachment;
  }

  /** What {@link #receiveCompletions} knows it by. */
  public final int receiveAttachment() {
    return receiveAttachment;
  }

  /** Whether it was closed. */
  public final boolean isClosed() {
    return closed;
  }

  /** The error of a post when it is closed. */
  public final PostException closedError(long workRequestId) {
    return new PostException(
        VerbsError.CLOSED, workRequestId, "queue pair " + number + " is closed");
  }

  /** The attributes as they are now; never changed, but replaced. */
  public final QueuePairAttributes attributes() {
    return attributes;
  }

  /** The number of the queue pair that it is connected to, or -1. */
  protected final int destination() {
    return destination;
  }

  /** The first PSN that it sends with. */
  protected final int sendPsn() {
    return sendPsn;
  }

  /** The first PSN that it expects. */
  protected final int receivePsn() {
    return receivePsn;
  }

  /** Whether peers may do this through the queue pair; a bit of {@link Access}. */
  public final boolean allows(int right) {
    return (access & right) != 0;
  }

  /**
   * Whether its peer has atomics and immediate data, which a peer on iWARP may lack; not false
   * before there is one.
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

  /** Whether it has resources for READs and atomics of its peer. */
  public final boolean servesReadsAndAtomics() {
    return readsAndAtomics;
  }

  /**
   * What {@code key} opens through this queue pair, if {@code length} bytes from {@code address} on
   * lie in it and it gives all the rights of {@code needed}; else null. The one place where any key
   * is looked up for access, a region's or a window's, local or remote.
   *
   * @param needed bits of {@link Access}, or {@link MemoryKey#LOCAL_READ}
   */
  public final @Nullable MemoryKey open(int key, long address, int length, int needed) {
    return permitted(keys.find(key), address, length, needed);
  }

  /** What {@code key} opens through this queue pair, whatever its range and rights; or null. */
  public final @Nullable MemoryKey opened(int key) {
    MemoryKey found = keys.find(key);
    return found != null && found.isOpenTo(this, domain) ? found : null;
  }

  /** Whether {@code key} opens anything, be it through other queue pairs alone. */
  public final boolean isKey(int key) {
    return keys.find(key) != null;
  }

  /**
   * As {@link #open(int, long, int, int)}, of an entry that was found before ownership was taken,
   * and may have died since, or be another queue pair's.
   */
  public final @Nullable MemoryKey open(
      @Nullable MemoryKey hint, int key, long address, int length, int needed) {
    return hint != null && hint.isOpenedBy(key)
        ? permitted(hint, address, length, needed)
        : open(key, address, length, needed);
  }

  /**
   * As {@link #open(int, long, int, int)}, for a buffer of a receive: those of a shared receive
   * queue are of that queue's domain.
   */
  public final @Nullable MemoryKey openReceive(int key, long address, int length) {
    return permitted(keys.find(key), receiveDomain, address, length, LOCAL_WRITE);
  }

  private @Nullable MemoryKey permitted(
      @Nullable MemoryKey key, long address, int length, int needed) {
    return permitted(key, domain, address, length, needed);
  }

  private @Nullable MemoryKey permitted(
      @Nullable MemoryKey key,
      EmulatedProtectionDomain owner,
      long address,
      int length,
      int needed) {
    return key != null && key.permits(this, owner, address, length, needed) ? key : null;
  }

  /** For the owner of its send queue: does a LOCAL_INV; false if the key cannot be invalidated. */
  public final boolean invalidateLocally(int key) {
    MemoryKey entry = keys.entry(key);
    return entry != null && entry.holder.invalidate(key, this, false);
  }

  /** For whoever does what its peer asks: invalidates for a SEND_WITH_INV, likewise. */
  public final boolean invalidateRemotely(int key) {
    MemoryKey entry = keys.entry(key);
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
   * For a fabric whose connection manager alone connects, without address vectors: goes to RTR or
   * RTS, from INIT or RTR.
   *
   * @param granted what the manager has agreed on with the peer
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
   * Makes a change.
   *
   * @param connected where the connection manager takes it, or null if a program changes it
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
        // If it went to SQE or ERR by itself meanwhile, it is asked whether it may leave that.
      } while (!STATE.compareAndSet(this, from, to));
      if (to == QueuePairState.RESET) {
        // Not before: peers that find no rights any more look whether it is that.
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
      // Since it was looked whether it is; the device may have looked at this one before.
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

  /** The state that a change leads to from another one. */
  private QueuePairState check(QueuePairAttributes change, QueuePairState from) {
    checkAlive();
    QueuePairState to = QueuePairTransitions.check(type, from, change, 1, 1, device.attributes());
    if (to == QueuePairState.SQD) {
      device.attributes().require(Capability.SEND_QUEUE_DRAIN);
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
      // What an earlier drain was asked for says nothing about this one.
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

  /** Puts the queue pair into ERR, if it is in a state to go there; true if this call did. */
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
   * Puts an unreliable queue pair into SQE, after a request failed at its own end (IBTA volume 1,
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

  /** Goes to ERR and flushes. Not under ownership of any queue. */
  public final void fail() {
    if (moveToError()) {
      flush();
    }
  }

  /** As {@link #fail}, since a completion of it was lost: nothing else can tell the program. */
  final void failUntold() {
    if (moveToError()) {
      device.raise(AsyncEvent.Type.QP_FATAL, this);
      flush();
    }
  }

  /** A message has arrived; the first one before RTS tells the program that the peer is there. */
  protected final void messageArrived() {
    if (!established && state == QueuePairState.RTR) {
      established = true;
      device.raise(AsyncEvent.Type.COMM_EST, this);
    }
  }

  /** In ERR, with a shared receive queue, and no receive of that is taken any more: once. */
  protected final synchronized void tellLastReceive() {
    if (shared != null && state == QueuePairState.ERR && !lastReceiveTold) {
      lastReceiveTold = true;
      device.raise(AsyncEvent.Type.QP_LAST_WQE_REACHED, this);
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>A second call returns when the first does.
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
    // Not before: who takes memory away has to wait for what it still copies.
    device.removeQueuePair(this);
    sendCompletions.detach(sendAttachment);
    receiveCompletions.detach(receiveAttachment);
    if (shared != null) {
      shared.detach(sharedAttachment);
    }
    domain.closed(EmulatedProtectionDomain.Kind.QUEUE_PAIR);
  }
}

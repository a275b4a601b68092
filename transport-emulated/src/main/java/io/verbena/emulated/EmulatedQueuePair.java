package io.verbena.emulated;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairAttributes.Field;
import io.verbena.verbs.QueuePairCapabilities;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.provider.QueuePairTransitions;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * An RC queue pair: its state and attributes, and the way to its peer. The work is done by its
 * {@link SendQueue} and {@link ReceiveQueue}.
 *
 * <p>The state changes by compare-and-set, since a failing request changes it without a lock;
 * attributes change under this object's monitor, which is never held while a queue is waited for.
 */
final class EmulatedQueuePair implements QueuePair {
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
  private final QueuePairCapabilities capabilities;
  private final EmulatedCompletionQueue sendCompletions;
  private final EmulatedCompletionQueue receiveCompletions;
  private final int sendAttachment;
  private final int receiveAttachment;
  private final SendQueue sends;
  private final ReceiveQueue receives;

  private volatile QueuePairState state = QueuePairState.RESET;
  private volatile boolean closed;
  private volatile @Nullable EmulatedQueuePair peer;
  private volatile int destination = -1;
  private volatile int sendPsn;
  private volatile int receivePsn;
  private volatile int access;
  private volatile boolean readsAndAtomics;
  private QueuePairAttributes attributes = new QueuePairAttributes();

  EmulatedQueuePair(EmulatedProtectionDomain domain, int number, QueuePairOptions options) {
    this.domain = domain;
    this.device = domain.device();
    this.keys = device.keys();
    this.number = number;
    capabilities =
        new QueuePairCapabilities(
            options.maxSend(),
            options.maxReceive(),
            options.maxSendScatterGather(),
            options.maxReceiveScatterGather(),
            options.maxInlineData());
    sends = new SendQueue(this, options);
    receives = new ReceiveQueue(options.maxReceive(), options.maxReceiveScatterGather());
    sendCompletions = (EmulatedCompletionQueue) options.sendQueue();
    receiveCompletions = (EmulatedCompletionQueue) options.receiveQueue();
    sendAttachment = sendCompletions.attach(this);
    receiveAttachment = attachReceives();
  }

  private int attachReceives() {
    boolean attached = false;
    try {
      int attachment = receiveCompletions.attach(this);
      attached = true;
      return attachment;
    } finally {
      if (!attached) {
        sendCompletions.detach(sendAttachment);
      }
    }
  }

  EmulatedDevice device() {
    return device;
  }

  SendQueue sends() {
    return sends;
  }

  ReceiveQueue receives() {
    return receives;
  }

  EmulatedCompletionQueue sendCompletions() {
    return sendCompletions;
  }

  EmulatedCompletionQueue receiveCompletions() {
    return receiveCompletions;
  }

  int sendAttachment() {
    return sendAttachment;
  }

  boolean isClosed() {
    return closed;
  }

  PostException closedError(long workRequestId) {
    return new PostException(
        VerbsError.CLOSED, workRequestId, "queue pair " + number + " is closed");
  }

  @Nullable EmulatedQueuePair peer() {
    return peer;
  }

  int rnrRetry() {
    return attributes.rnrRetry();
  }

  int retryCount() {
    return attributes.retryCount();
  }

  int timeout() {
    return attributes.timeout();
  }

  long peerRnrTimerNanos() {
    EmulatedQueuePair other = peer;
    return RnrTimer.nanos(other == null ? 0 : other.attributes.minRnrTimer());
  }

  /** Whether peers may do this through the queue pair; a bit of {@link Access}. */
  boolean allows(int right) {
    return (access & right) != 0;
  }

  boolean servesReadsAndAtomics() {
    return readsAndAtomics;
  }

  /**
   * The region that {@code key} names, if {@code length} bytes from {@code address} on lie in it,
   * it is of this queue pair's domain and has all the rights of {@code needed}; else null.
   */
  @Nullable EmulatedMemoryRegion region(int key, long address, int length, int needed) {
    return permitted(keys.find(key), address, length, needed);
  }

  /**
   * As {@link #region(int, long, int, int)}, of a region that was found before ownership was taken,
   * and may have died since, or be another queue pair's.
   */
  @Nullable EmulatedMemoryRegion region(
      @Nullable EmulatedMemoryRegion hint, int key, long address, int length, int needed) {
    return hint != null && hint.key() == key && hint.isAlive()
        ? permitted(hint, address, length, needed)
        : region(key, address, length, needed);
  }

  private @Nullable EmulatedMemoryRegion permitted(
      @Nullable EmulatedMemoryRegion region, long address, int length, int needed) {
    return region != null
            && region.domain == domain
            && (region.accessBits & needed) == needed
            && region.contains(address, length)
        ? region
        : null;
  }

  /**
   * The connected peer if it is in a state to answer, else null. For the owner of the send queue.
   */
  @Nullable EmulatedQueuePair reachablePeer() {
    EmulatedQueuePair other = peer;
    if (other == null || other.closed) {
      other = findPeer();
    }
    // A packet from another queue pair, or with a PSN far from the one expected, is dropped.
    if (other == null || other.destination != number || other.receivePsn != sendPsn) {
      return null;
    }
    QueuePairState its = other.state;
    return its == QueuePairState.RTS || its == QueuePairState.RTR ? other : null;
  }

  private @Nullable EmulatedQueuePair findPeer() {
    AddressVector vector = attributes.addressVector();
    EmulatedDevice there = vector == null ? null : Fabric.device(vector.destination());
    EmulatedQueuePair found = there == null ? null : there.queuePair(destination);
    peer = found;
    if (found != null && found.destination == number) {
      // So that the peer, before it takes anything away, waits for the owner of our send queue.
      found.peer = this;
    }
    return found;
  }

  /** Completes the receive that the owner of the peer's send queue, {@code sender}, has filled. */
  void completeReceive(
      long entry,
      CompletionStatus status,
      CompletionOpcode opcode,
      int flags,
      int byteLength,
      int immediate,
      boolean solicited,
      SendQueue sender) {
    publishReceive(entry, status, opcode, flags, byteLength, immediate, solicited);
    receives.readAhead();
    if (entry == CompletionRing.OVERRUN) {
      sender.afterRelease(receiveCompletions::overrun);
    }
    if (status != CompletionStatus.SUCCESS) {
      sender.afterRelease(this::fail);
    }
  }

  private void publishReceive(
      long entry,
      CompletionStatus status,
      CompletionOpcode opcode,
      int flags,
      int byteLength,
      int immediate,
      boolean solicited) {
    long id = receives.id();
    long frees = receives.take();
    if (entry != CompletionRing.OVERRUN) {
      receiveCompletions.publish(
          entry,
          id,
          number,
          receiveAttachment,
          status,
          opcode,
          flags,
          byteLength,
          immediate,
          frees,
          solicited);
    }
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public QueuePairType type() {
    return QueuePairType.RC;
  }

  @Override
  public EmulatedProtectionDomain protectionDomain() {
    return domain;
  }

  @Override
  public QueuePairCapabilities capabilities() {
    return capabilities;
  }

  @Override
  public @Nullable SharedReceiveQueue sharedReceiveQueue() {
    return null;
  }

  @Override
  public QueuePairState state() {
    return state;
  }

  @Override
  public void modify(QueuePairAttributes change) {
    QueuePairState to;
    EmulatedQueuePair before;
    synchronized (this) {
      before = peer;
      QueuePairState from = state;
      if (closed) {
        throw new VerbsException(VerbsError.CLOSED, "modify queue pair " + number + ": closed");
      }
      if (change.has(Field.STATE) && change.state() == QueuePairState.SQD) {
        throw new VerbsException(
            VerbsError.NOT_SUPPORTED, "modify queue pair: " + device.name() + " has no SQD");
      }
      to = QueuePairTransitions.check(QueuePairType.RC, from, change, 1, device.attributes());
      apply(change, to);
      if (!STATE.compareAndSet(this, from, to)) {
        throw new VerbsException(
            VerbsError.INVALID, "modify queue pair: it went from " + from + " to " + state);
      }
    }
    if (to == QueuePairState.RESET) {
      drop(before);
    } else if (to == QueuePairState.ERR) {
      flush();
    } else if (to == QueuePairState.RTR) {
      EmulatedQueuePair other = findPeer();
      if (other != null && other.sends.isStalled()) {
        other.sends.resume();
      }
    }
  }

  private void apply(QueuePairAttributes change, QueuePairState to) {
    QueuePairAttributes merged = new QueuePairAttributes();
    if (to != QueuePairState.RESET) {
      Attributes.merge(attributes, merged);
      Attributes.merge(change, merged);
    }
    attributes = merged.state(to).currentState(to);
    access = Access.bits(merged.access());
    readsAndAtomics = merged.maxDestinationReadAtomic() > 0;
    sendPsn = merged.sendPsn();
    receivePsn = merged.receivePsn();
    if (to == QueuePairState.RESET) {
      peer = null;
      destination = -1;
    } else if (change.has(Field.DEST_QPN)) {
      destination = change.destinationQueuePair();
    }
  }

  @Override
  public synchronized QueuePairAttributes query() {
    QueuePairAttributes copy = new QueuePairAttributes();
    Attributes.merge(attributes, copy);
    return copy.state(state).currentState(state);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Taking ownership waits until the stores of the copy before are out, so what does not need it
   * is done first: it costs nothing then.
   */
  @Override
  public void postSend(SendWorkRequest request) {
    sends.check(request);
    EmulatedMemoryRegion local = localHint(request);
    EmulatedMemoryRegion remote = remoteHint(request);
    SendWorkRequest next = request.next();
    sends.ownership.acquire();
    try {
      sends.post(request, local, remote);
      while (next != null) {
        sends.check(next);
        sends.post(next, localHint(next), remoteHint(next));
        next = next.next();
      }
    } finally {
      sends.release();
    }
  }

  private @Nullable EmulatedMemoryRegion localHint(SendWorkRequest request) {
    return request.buffers().size() == 1 ? keys.find(request.buffers().lkey(0)) : null;
  }

  private @Nullable EmulatedMemoryRegion remoteHint(SendWorkRequest request) {
    EmulatedQueuePair other = peer;
    return other != null && request.opcode() != SendOpcode.SEND
        ? other.keys.find(request.remoteKey())
        : null;
  }

  @Override
  public void postReceive(ReceiveWorkRequest request) {
    receives.posting.acquire();
    QueuePairState now;
    try {
      now = state;
      if (closed) {
        throw closedError(request.id());
      }
      if (now == QueuePairState.RESET) {
        throw new PostException(
            VerbsError.INVALID, request.id(), "state: RESET (expected: INIT or later)");
      }
      for (ReceiveWorkRequest next = request; next != null; next = next.next()) {
        receives.post(next);
      }
    } finally {
      receives.posting.release();
    }
    // No fence between the post and this look: a sender that stalls right now and is missed here
    // looks
    // again by its own timer, since RNR is the exception, and the fence would be paid by every
    // post.
    EmulatedQueuePair other = peer;
    if (other != null && other.sends.isStalled()) {
      other.sends.resume();
    }
    if (now == QueuePairState.ERR || state == QueuePairState.ERR) {
      flushReceives();
    }
  }

  /** Puts the queue pair into ERR, if it is in a state to go there; true if this call did. */
  boolean moveToError() {
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

  /** Goes to ERR and flushes. Not under ownership of any queue. */
  void fail() {
    if (moveToError()) {
      flush();
    }
  }

  /** Completes all that is pending as flushed, once no peer works on it any more. */
  void flush() {
    sends.flush();
    flushReceives();
  }

  /** Returns once whoever works on one of its queues at this moment is done. */
  void awaitHandover() {
    sends.ownership.awaitHandover();
    receives.posting.awaitHandover();
    EmulatedQueuePair other = peer;
    if (other != null) {
      other.sends.ownership.awaitHandover();
    }
  }

  private void flushReceives() {
    EmulatedQueuePair other = peer;
    if (other != null) {
      other.sends.ownership.awaitHandover();
    }
    boolean overrun = false;
    receives.posting.acquire();
    try {
      while (state == QueuePairState.ERR && receives.hasNext()) {
        long entry = receiveCompletions.claim();
        overrun |= entry == CompletionRing.OVERRUN;
        publishReceive(entry, CompletionStatus.WR_FLUSH_ERR, CompletionOpcode.RECV, 0, 0, 0, false);
      }
    } finally {
      receives.posting.release();
    }
    if (overrun) {
      receiveCompletions.overrun();
    }
  }

  /**
   * Drops all that is pending without completion, once {@code other} does not work on it any more.
   */
  private void drop(@Nullable EmulatedQueuePair other) {
    sends.clear();
    if (other != null) {
      other.sends.ownership.awaitHandover();
    }
    receives.posting.acquire();
    receives.clear();
    receives.posting.release();
  }

  @Override
  public void close() {
    EmulatedQueuePair other;
    synchronized (this) {
      if (closed) {
        return;
      }
      other = peer;
      closed = true;
      state = QueuePairState.RESET;
    }
    device.removeQueuePair(this);
    drop(other);
    sendCompletions.detach(sendAttachment);
    receiveCompletions.detach(receiveAttachment);
    domain.closed(EmulatedProtectionDomain.Kind.QUEUE_PAIR);
  }
}

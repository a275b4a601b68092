// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.core.RdmaCore;
import io.verbena.disni.core.Words.AttributeWords;
import io.verbena.disni.core.Words.QueuePairWords;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Capability;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairCapabilities;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairReading;
import io.verbena.verbs.QueuePairReading.Figure;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.provider.QueuePairListeners;
import io.verbena.verbs.provider.QueuePairTransitions;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.concurrent.locks.Lock;
import java.util.function.LongToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair ({@code ibv_create_qp(3)}): its state, its send queue and its receive queue. Each
 * queue has a lock for posting, {@code sending} and {@code receiving}, as in the driver. Modifying,
 * failing and closing the queue pair hold both locks, taken in this order.
 */
final class DisniQueuePair extends SlotHolder implements QueuePair {
  private static final int NO_PEER = -1;

  private static final AtomicReferenceFieldUpdater<DisniQueuePair, QueuePairState> KNOWN =
      AtomicReferenceFieldUpdater.newUpdater(DisniQueuePair.class, QueuePairState.class, "known");

  private final DisniProtectionDomain domain;
  private final DisniDevice device;
  private final long pointer;
  private final int number;
  private final QueuePairType type;
  private final QueuePairCapabilities capabilities;
  private final PairQueues queues;
  private final @Nullable DisniConnection connection;

  private final Object sending = new Object();
  private final SendQueue sends;
  private final Object receiving = new Object();
  private final ReceiveQueue receives;

  /** Whether this class flushes requests that are posted in ERR, because the HCA does not. */
  private final boolean flushesItself;

  /** Whether this class has flushed the sends that the HCA did not flush. */
  private boolean sendsAreFlushed;

  private boolean receivesAreFlushed;

  /**
   * The last state that the program, the connection manager or a failed completion put it in. In
   * the HCA, the queue pair may be in ERR already; that does not matter for posting, because every
   * request that RTS permits is permitted in ERR too.
   */
  private volatile QueuePairState known;

  /** Whether the program has closed it; the HCA may still refuse to destroy it. */
  private volatile boolean closed;

  private boolean destroyed;

  private DisniQueuePair(
      DisniProtectionDomain domain,
      @Nullable DisniConnection connection,
      QueuePairOptions options,
      PairQueues queues,
      long pointer,
      Block granted) {
    this.domain = domain;
    this.connection = connection;
    type = options.type();
    this.queues = queues;
    this.pointer = pointer;
    device = domain.device();
    number = granted.getInt(QueuePairWords.QP_NUM);
    capabilities =
        new QueuePairCapabilities(
            granted.getInt(QueuePairWords.MAX_SEND_WR),
            granted.getInt(QueuePairWords.MAX_RECV_WR),
            granted.getInt(QueuePairWords.MAX_SEND_SGE),
            granted.getInt(QueuePairWords.MAX_RECV_SGE),
            granted.getInt(QueuePairWords.MAX_INLINE_DATA));
    DeviceQuirks quirks = device.context().quirks();
    flushesItself = quirks.neverFlushesLate();
    sends =
        new SendQueue(
            device.core(),
            pointer,
            type,
            capabilities,
            device.attributes(),
            options.signalAll(),
            quirks,
            device.context().posters(),
            sending);
    receives = new ReceiveQueue(device.core(), pointer, capabilities, quirks);
    known = created(type, connection);
    if (type == QueuePairType.UD) {
      noteDatagrams(device.at());
    }
    tag(device.context().queues().reserve());
    device.context().queues().put(this);
    device.context().created(pointer, device, this);
    queues.join(number, type);
    QueuePairListeners.opened(this);
  }

  /**
   * Creates a queue pair: in RESET without a connection, in INIT with one, in RTS for the datagrams
   * of one.
   *
   * @param connection the connection that has the queue pair, or null
   */
  static DisniQueuePair create(
      DisniProtectionDomain domain,
      @Nullable DisniConnection connection,
      QueuePairOptions options) {
    RdmaCore core = domain.device().core();
    PairQueues queues = new PairQueues(options);
    Block words = queues.words(options);
    queues.attach(options.type());
    boolean created = false;
    try {
      long pointer =
          Errno.check("create queue pair", make(domain, connection, options.type(), words));
      DisniQueuePair pair =
          NativeObject.own(
              "destroy queue pair",
              pointer,
              made -> {
                if (connection != null && options.type() != QueuePairType.UD) {
                  Errno.check("initialize queue pair", connection.initialize(made));
                }
                return new DisniQueuePair(domain, connection, options, queues, made, words);
              },
              made -> destroy(core, connection, made));
      created = true;
      return pair;
    } finally {
      if (!created) {
        queues.detach();
      }
    }
  }

  private static long make(
      DisniProtectionDomain domain,
      @Nullable DisniConnection connection,
      QueuePairType type,
      Block words) {
    RdmaCore core = domain.device().core();
    Lock numbered = domain.device().context().numbers().readLock();
    numbered.lock();
    try {
      return connection == null || type != QueuePairType.UD
          ? core.createQueuePair(domain.pointer(), words.address())
          : core.createConnectionQueuePair(connection.pointer(), domain.pointer(), words.address());
    } finally {
      numbered.unlock();
    }
  }

  /** Returns the state of a new queue pair. */
  private static QueuePairState created(QueuePairType type, @Nullable DisniConnection connection) {
    if (connection == null) {
      return QueuePairState.RESET;
    }
    return type == QueuePairType.UD ? QueuePairState.RTS : QueuePairState.INIT;
  }

  private static int destroy(RdmaCore core, @Nullable DisniConnection connection, long pointer) {
    return connection == null
        ? core.destroyQueuePair(pointer)
        : connection.destroyQueuePair(pointer);
  }

  long pointer() {
    return pointer;
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public QueuePairType type() {
    return type;
  }

  @Override
  public DisniProtectionDomain protectionDomain() {
    return domain;
  }

  @Override
  public QueuePairCapabilities capabilities() {
    return capabilities;
  }

  @Override
  public @Nullable SharedReceiveQueue sharedReceiveQueue() {
    return queues.shared();
  }

  @Override
  public QueuePairState state() {
    takeConnectionEvents();
    synchronized (receiving) {
      return closed ? QueuePairState.RESET : AttributeBlock.state(queryWords());
    }
  }

  /**
   * Takes connection events, if the device does not report the state of its queue pairs: a
   * disconnect puts this one into ERR.
   */
  private void takeConnectionEvents() {
    if (connection != null && device.context().quirks().hidesState()) {
      connection.manager().takeEvents();
    }
  }

  @Override
  public QueuePairAttributes query() {
    takeConnectionEvents();
    synchronized (receiving) {
      checkOpen("query");
      return AttributeBlock.read(queryWords());
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>Lacks retransmissions, which the kernel counts only per device, and the receives of a shared
   * receive queue, which cannot be counted per queue pair.
   */
  @Override
  public QueuePairReading reading() {
    takeConnectionEvents();
    QueuePairState state = QueuePairState.RESET;
    int peer = NO_PEER;
    synchronized (receiving) {
      if (!closed) {
        QueuePairAttributes now = AttributeBlock.read(queryWords());
        state = now.state();
        // Queue pair 0 belongs to the subnet manager and is never a peer.
        peer = now.destinationQueuePair() == 0 ? NO_PEER : now.destinationQueuePair();
      }
    }
    Map<Figure, Long> figures = new EnumMap<>(Figure.class);
    figures.put(Figure.SENDS_DONE, sends.slots().freed());
    figures.put(Figure.SENDS_POSTED, sends.slots().posted());
    figures.put(Figure.SEND_QUEUE_SIZE, (long) capabilities.maxSend());
    if (queues.shared() == null) {
      figures.put(Figure.RECEIVES_DONE, receives.slots().freed());
      figures.put(Figure.RECEIVES_POSTED, receives.slots().posted());
      figures.put(Figure.RECEIVE_QUEUE_SIZE, (long) capabilities.maxReceive());
    }
    queues.read(figures);
    return new QueuePairReading(number, type, state, peer, figures);
  }

  private Block queryWords() {
    Block words = Block.of(AttributeWords.values());
    Errno.check("query queue pair", device.core().queryQueuePair(pointer, words.address()));
    if (device.context().quirks().hidesState()) {
      words.set(AttributeWords.STATE, known.code());
    }
    return words;
  }

  private void checkOpen(String verb) {
    if (closed) {
      throw new VerbsException(VerbsError.CLOSED, verb + " queue pair " + number + ": closed");
    }
  }

  @Override
  public void modify(QueuePairAttributes change) {
    synchronized (sending) {
      synchronized (receiving) {
        checkOpen("modify");
        checkKind(change);
        QueuePairState from = AttributeBlock.state(queryWords());
        AddressVector vector = change.addressVector();
        int gids = vector == null ? 1 : device.at().gidsFor(vector.sourceGidIndex());
        QueuePairState to =
            QueuePairTransitions.check(
                type, from, change, device.at().number(), gids, device.attributes());
        Errno.check("modify queue pair", callModify(change));
        moved(to);
        if (to == QueuePairState.RESET) {
          dropRequests();
        }
      }
    }
  }

  /** Refuses attributes that iWARP does not have, on an iWARP device. */
  private void checkKind(QueuePairAttributes change) {
    if (!device.context().quirks().isIwarp()) {
      return;
    }
    if (change.addressVector() != null) {
      throw new VerbsException(
          VerbsError.NOT_SUPPORTED,
          "modify queue pair: AV (expected: none, iWARP is connected by its connection manager)");
    }
    if (change.has(QueuePairAttributes.Field.STATE) && change.state() == QueuePairState.SQD) {
      device.attributes().require(Capability.SEND_QUEUE_DRAIN);
    }
  }

  /** Drops the outstanding requests, and their completions that were not yet polled. */
  private void dropRequests() {
    tag(device.context().queues().renew(tag()));
    queues.awaitPollers();
    // A poller that had found this queue pair before may have seen a failure and set ERR.
    known = QueuePairState.RESET;
    queues.purge(number);
    queues.emptied();
    sends.slots().clear();
    receives.slots().clear();
    sendsAreFlushed = false;
    receivesAreFlushed = false;
  }

  /**
   * Records the state that the program or the connection manager has put it in. Keeps ERR unless
   * the new state is RESET: a poller may have seen a failure, and set ERR, after the kernel's
   * transition.
   */
  void moved(QueuePairState to) {
    KNOWN.updateAndGet(
        this,
        now -> now == QueuePairState.ERR && to != QueuePairState.RESET ? QueuePairState.ERR : to);
  }

  /**
   * Calls a step of its connection with its pointer, under both locks.
   *
   * @return the result of the step, or {@code -EINVAL} if the queue pair is closed
   */
  int step(LongToIntFunction step) {
    synchronized (sending) {
      synchronized (receiving) {
        return closed ? -Errno.EINVAL : step.applyAsInt(pointer);
      }
    }
  }

  /**
   * Puts the queue pair into ERR from any state but RESET, and flushes its requests.
   *
   * @return 0 or a negative errno; 0 also if it is closed or in RESET, or if the device is gone
   */
  int fail() {
    synchronized (sending) {
      synchronized (receiving) {
        if (closed || known == QueuePairState.RESET) {
          return 0;
        }
        int done = callModify(new QueuePairAttributes().state(QueuePairState.ERR));
        known = QueuePairState.ERR;
        flushRest();
        // A device that is gone flushes nothing; that is no error for the caller.
        return done == -Errno.EIO || done == -Errno.ENODEV ? 0 : done;
      }
    }
  }

  /** Flushes, in ERR, the outstanding requests that the HCA does not flush. */
  void flushRest() {
    if (flushesItself) {
      synchronized (sending) {
        synchronized (receiving) {
          if (!closed) {
            flushSends();
            flushReceives();
          }
        }
      }
    }
  }

  private void flushSends() {
    if (!sendsAreFlushed) {
      sendsAreFlushed = true;
      endFlush();
      queues.sends().flushRest(sends.slots(), Cookie.send(tag(), 0), number);
    }
  }

  private void flushReceives() {
    if (!receivesAreFlushed && queues.shared() == null) {
      receivesAreFlushed = true;
      endFlush();
      queues.receives().flushRest(receives.slots(), Cookie.receive(tag(), 0), number);
    }
  }

  /**
   * Goes to ERR, so that the HCA flushes all that it ever flushes; if this fails, the device is
   * gone.
   */
  private void endFlush() {
    callModify(new QueuePairAttributes().state(QueuePairState.ERR));
  }

  // ---- posting

  @Override
  public void postSend(SendWorkRequest request) {
    synchronized (sending) {
      checkMaySend(request.id());
      if (flushesItself && known == QueuePairState.ERR) {
        flushSends();
        sends.flush(request, tag(), number, queues.sends());
      } else {
        sends.post(request, tag());
      }
    }
  }

  @Override
  public void bindMemoryWindow(SendWorkRequest request) {
    synchronized (sending) {
      checkMaySend(request.id());
      sends.bind(request, tag());
    }
  }

  private void checkMaySend(long id) {
    QueuePairState state = known;
    if (closed) {
      throw PostErrors.closed(id, "queue pair " + number);
    }
    if (state == QueuePairState.RESET
        || state == QueuePairState.INIT
        || state == QueuePairState.RTR) {
      throw PostErrors.invalid(id, "state: " + state + " (expected: RTS)");
    }
  }

  @Override
  public void postReceive(ReceiveWorkRequest request) {
    synchronized (receiving) {
      if (closed) {
        throw PostErrors.closed(request.id(), "queue pair " + number);
      }
      if (queues.shared() != null) {
        throw PostErrors.invalid(request.id(), "the queue pair has a shared receive queue");
      }
      if (known == QueuePairState.RESET) {
        throw PostErrors.invalid(request.id(), "state: RESET (expected: INIT or later)");
      }
      if (flushesItself && known == QueuePairState.ERR) {
        flushReceives();
        receives.flush(request, tag(), number, queues.receives());
        return;
      }
      try {
        receives.post(request, tag());
      } finally {
        if (known == QueuePairState.ERR) {
          flushLate();
        }
      }
    }
  }

  // ---- completing

  @Override
  long free(boolean receive, int sequence, int queuePair) {
    return (receive ? receives.slots() : sends.slots()).free(sequence);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Called by the thread that polls a completion queue; the queue pair cannot be destroyed
   * meanwhile.
   */
  @Override
  void failed() {
    if (type == QueuePairType.RC && known != QueuePairState.ERR) {
      known = QueuePairState.ERR;
      flushLate();
    }
  }

  /**
   * Modifies the queue pair from ERR to ERR, which makes Soft-RoCE flush again. Soft-RoCE flushes
   * receives on the transition to ERR only; a later post stays in user space and the kernel would
   * never complete it. Ignores a failure: the device is gone or the queue pair was reset, so
   * nothing is left to flush, and the poller must still return the completions that it has polled.
   */
  private void flushLate() {
    if (device.context().quirks().flushesLate()) {
      callModify(new QueuePairAttributes().state(QueuePairState.ERR));
    }
  }

  /** Calls {@code ibv_modify_qp(3)}; returns 0 or a negative errno. */
  private int callModify(QueuePairAttributes change) {
    Block words = AttributeBlock.write(change, device.at().number());
    AddressVector vector = change.addressVector();
    if (vector != null) {
      words.set(AttributeWords.AV_IS_GLOBAL, device.at().needsRoute(vector) ? 1 : 0);
    }
    int done = device.core().modifyQueuePair(pointer, words.address());
    words.keep();
    return done;
  }

  /**
   * {@inheritDoc}
   *
   * <p>If the HCA refuses to destroy the queue pair, it takes no more requests and returns no more
   * completions, and {@code close} can be called again.
   */
  @Override
  public void close() {
    // The same lock order as in a connection that puts its queue pair into ERR.
    synchronized (connection == null ? this : connection.manager().steps()) {
      synchronized (sending) {
        synchronized (receiving) {
          if (destroyed) {
            return;
          }
          leave();
          stop();
          giveNumberBack();
        }
      }
    }
    queues.detach();
    domain.closed(DisniProtectionDomain.Kind.QUEUE_PAIR);
  }

  /**
   * Goes to ERR, after which no completions are added, and purges the completions of receives of a
   * shared receive queue. Drivers such as mlx5 drop the completions of a destroyed queue pair that
   * were not polled; without the purge, their slots would never be freed.
   */
  private void stop() {
    if (queues.shared() != null && known != QueuePairState.RESET) {
      // If this fails, the device is gone and adds no completions either.
      callModify(new QueuePairAttributes().state(QueuePairState.ERR));
      queues.purge(number);
    }
  }

  /**
   * Destroys the queue pair, and purges the completions with its number before the driver can
   * assign the number to another queue pair.
   */
  private void giveNumberBack() {
    if (queues.shared() == null) {
      destroy();
      return;
    }
    Lock freed = device.context().numbers().writeLock();
    freed.lock();
    try {
      destroy();
      queues.purge(number);
    } finally {
      freed.unlock();
    }
  }

  private void destroy() {
    Errno.check("destroy queue pair", destroy(device.core(), connection, pointer));
    destroyed = true;
  }

  /**
   * Removes the queue pair from all tables before its memory is freed: no look-up by pointer or tag
   * finds it from then on.
   */
  private void leave() {
    if (!closed) {
      closed = true;
      DisniContext context = device.context();
      context.destroyed(pointer);
      context.queues().remove(tag());
      context.posters().remove(sending);
      queues.awaitPollers();
      // Listeners are foreign code and may throw, so they come last: a second close then only
      // destroys.
      QueuePairListeners.closed(this);
    }
  }
}

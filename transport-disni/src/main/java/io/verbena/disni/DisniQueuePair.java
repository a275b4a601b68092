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
 * A queue pair: its states, and its two queues, each with a lock for posting, as the driver has;
 * what takes the queue pair away holds both.
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

  /** Whether this end flushes what is posted in ERR, since the HCA does not. */
  private final boolean flushesItself;

  /** Whether this end has flushed what the HCA did not flush of the sends. */
  private boolean sendsAreFlushed;

  private boolean receivesAreFlushed;

  /**
   * The last state that the program or the connection manager put it in; an error moves it to ERR
   * without a word, but what may be posted in RTS may be posted in ERR too.
   */
  private volatile QueuePairState known;

  /** The program is done with it. */
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
   * Creates it, in INIT for a connection, else in RESET.
   *
   * @param connection whose queue pair it is, or null
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
          Fresh.own(
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

  /** The state in which the calls leave it that create it. */
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
    hear();
    synchronized (receiving) {
      return closed ? QueuePairState.RESET : AttributeBlock.state(queryWords());
    }
  }

  /** Asks the connection manager for an end that the device itself does not report. */
  private void hear() {
    if (connection != null && device.context().quirks().hidesState()) {
      connection.manager().look();
    }
  }

  @Override
  public QueuePairAttributes query() {
    hear();
    synchronized (receiving) {
      checkOpen("query");
      return AttributeBlock.read(queryWords());
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>The kernel counts retransmissions for the device alone, and it is unknown which receives of
   * a shared receive queue came here.
   */
  @Override
  public QueuePairReading reading() {
    hear();
    QueuePairState state = QueuePairState.RESET;
    int peer = NO_PEER;
    synchronized (receiving) {
      if (!closed) {
        QueuePairAttributes now = AttributeBlock.read(queryWords());
        state = now.state();
        // 0 is the subnet manager's, and no peer's.
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
        Errno.check("modify queue pair", tell(change));
        moved(to);
        if (to == QueuePairState.RESET) {
          dropRequests();
        }
      }
    }
  }

  /** Refuses attributes that iWARP does not have. */
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

  /** Drops what was posted, and what completed of it and was not polled. */
  private void dropRequests() {
    tag(device.context().queues().renew(tag()));
    queues.awaitPollers();
    // One that had found it before may have met a failure, and noted ERR.
    known = QueuePairState.RESET;
    queues.purge(number);
    queues.emptied();
    sends.slots().clear();
    receives.slots().clear();
    sendsAreFlushed = false;
    receivesAreFlushed = false;
  }

  /**
   * Notes the state that the program or the connection manager has put it in. Only a reset leads
   * out of ERR: a poller may have met a failure, and noted ERR, since the kernel took the step.
   */
  void moved(QueuePairState to) {
    KNOWN.updateAndGet(
        this,
        now -> now == QueuePairState.ERR && to != QueuePairState.RESET ? QueuePairState.ERR : to);
  }

  /**
   * Applies a step of its connection.
   *
   * @return what the step answers, or {@code -EINVAL} if it is closed
   */
  int step(LongToIntFunction step) {
    synchronized (sending) {
      synchronized (receiving) {
        return closed ? -Errno.EINVAL : step.applyAsInt(pointer);
      }
    }
  }

  /**
   * Flushes it, wherever it is.
   *
   * @return 0 or a negative errno
   */
  int fail() {
    synchronized (sending) {
      synchronized (receiving) {
        if (closed || known == QueuePairState.RESET) {
          return 0;
        }
        int done = tell(new QueuePairAttributes().state(QueuePairState.ERR));
        known = QueuePairState.ERR;
        flushRest();
        // A device that is gone flushes nothing, and that is no error of the caller.
        return done == -Errno.EIO || done == -Errno.ENODEV ? 0 : done;
      }
    }
  }

  /** In ERR: flushes what the HCA has been given and does not flush. */
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

  /** Makes the HCA flush all that it will; if this fails, the device is gone. */
  private void endFlush() {
    tell(new QueuePairAttributes().state(QueuePairState.ERR));
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
   * <p>Called while a completion queue is polled, so while this queue pair cannot be destroyed.
   */
  @Override
  void failed() {
    if (type == QueuePairType.RC && known != QueuePairState.ERR) {
      known = QueuePairState.ERR;
      flushLate();
    }
  }

  /**
   * Goes to ERR from ERR, which flushes again. Soft-RoCE flushes receives when it goes to ERR, but
   * a user-space post does not reach the kernel, and what is posted in ERR would lie there for
   * ever. If that fails, the device is gone or the queue pair was reset: nothing is left to flush,
   * and a poller must get the completions that it has taken already.
   */
  private void flushLate() {
    if (device.context().quirks().flushesLate()) {
      tell(new QueuePairAttributes().state(QueuePairState.ERR));
    }
  }

  /** {@code ibv_modify_qp(3)}; returns 0, or the errno below it. */
  private int tell(QueuePairAttributes change) {
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
   * <p>If the HCA refuses to destroy it, it takes and completes nothing any more, and closing it
   * can be tried again.
   */
  @Override
  public void close() {
    // In the order in which a connection takes them that puts its queue pair into ERR.
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
   * Takes its completions of a shared queue's receives: drivers (mlx5) drop with a queue pair the
   * completions that were not polled, and the slots would never be free again. In ERR nothing is
   * added to them.
   */
  private void stop() {
    if (queues.shared() != null && known != QueuePairState.RESET) {
      // If it fails, the device is gone, and adds nothing either.
      tell(new QueuePairAttributes().state(QueuePairState.ERR));
      queues.purge(number);
    }
  }

  /** Destroys it, and drops what is left under its number before that can be another's. */
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
   * Removes it from all tables before its memory is another's: no look-up by pointer or tag finds
   * it any more.
   */
  private void leave() {
    if (!closed) {
      closed = true;
      DisniContext context = device.context();
      context.destroyed(pointer);
      context.queues().remove(tag());
      context.posters().remove(sending);
      queues.awaitPollers();
      // Last: it is foreign code, and whoever closes again destroys what is not used any more.
      QueuePairListeners.closed(this);
    }
  }
}

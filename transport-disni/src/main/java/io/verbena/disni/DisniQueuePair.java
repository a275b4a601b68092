package io.verbena.disni;

import io.verbena.disni.Words.AttributeWords;
import io.verbena.disni.Words.QueuePairWords;
import io.verbena.verbs.Capability;
import io.verbena.verbs.DeviceAttributes;
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
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair. Requests are written as libibverbs takes them, up to {@link SendBatch#SIZE} for one
 * native call, each with a {@link Cookie} in place of its id.
 *
 * <p>What a user-space driver does not check is checked here, before anything is posted: it may
 * find out only when the request stands in its queue already. Each of the two queues has a lock for
 * those who post, as the driver has; what takes the queue pair away holds both.
 */
final class DisniQueuePair implements QueuePair, SlotHolder {
  private final DisniProtectionDomain domain;
  private final DisniDevice device;
  private final long pointer;
  private final int number;
  private final QueuePairOptions options;
  private final QueuePairCapabilities capabilities;
  private final DisniCompletionQueue sendCompletions;
  private final DisniCompletionQueue receiveCompletions;
  private final @Nullable DisniSharedReceiveQueue shared;
  private final @Nullable DisniConnection connection;
  private final DeviceAttributes limits;

  private final Object sending = new Object();
  private final SendBatch sendBatch;
  private final Slots sends;
  private final Object receiving = new Object();
  private final ReceiveBatch receiveBatch;
  private final Slots receives;

  /**
   * The last state that the program or the connection manager put it in; an error moves it to ERR
   * without a word, but what may be posted in RTS may be posted in ERR too.
   */
  private volatile QueuePairState known;

  private volatile int tag;
  private volatile boolean closed;

  private DisniQueuePair(
      DisniProtectionDomain domain,
      @Nullable DisniConnection connection,
      QueuePairOptions options,
      long pointer,
      Block granted) {
    this.domain = domain;
    this.connection = connection;
    this.options = options;
    this.pointer = pointer;
    device = domain.device();
    limits = device.attributes();
    number = granted.getInt(QueuePairWords.QP_NUM);
    capabilities =
        new QueuePairCapabilities(
            granted.getInt(QueuePairWords.MAX_SEND_WR),
            granted.getInt(QueuePairWords.MAX_RECV_WR),
            granted.getInt(QueuePairWords.MAX_SEND_SGE),
            granted.getInt(QueuePairWords.MAX_RECV_SGE),
            granted.getInt(QueuePairWords.MAX_INLINE_DATA));
    sendCompletions = (DisniCompletionQueue) options.sendQueue();
    receiveCompletions = (DisniCompletionQueue) options.receiveQueue();
    shared = (DisniSharedReceiveQueue) options.sharedReceiveQueue();
    sendBatch = new SendBatch(capabilities.maxSendScatterGather(), capabilities.maxInlineData());
    sends = new Slots(capabilities.maxSend());
    receiveBatch = new ReceiveBatch(Math.max(1, capabilities.maxReceiveScatterGather()));
    receives = new Slots(capabilities.maxReceive());
    known = connection == null ? QueuePairState.RESET : QueuePairState.INIT;
    tag = device.context().queues().reserve();
    device.context().queues().put(this);
    device.context().created(pointer, device, this);
  }

  /** {@code ibv_create_qp(3)}. */
  static DisniQueuePair create(DisniProtectionDomain domain, QueuePairOptions options) {
    return create(domain, null, options);
  }

  /** {@code rdma_create_qp(3)}. */
  static DisniQueuePair createFor(
      DisniConnection connection, DisniProtectionDomain domain, QueuePairOptions options) {
    return create(domain, connection, options);
  }

  private static DisniQueuePair create(
      DisniProtectionDomain domain,
      @Nullable DisniConnection connection,
      QueuePairOptions options) {
    DisniCompletionQueue sendQueue = (DisniCompletionQueue) options.sendQueue();
    DisniCompletionQueue receiveQueue = (DisniCompletionQueue) options.receiveQueue();
    DisniSharedReceiveQueue shared = (DisniSharedReceiveQueue) options.sharedReceiveQueue();
    Block words = words(options, sendQueue, receiveQueue, shared);
    int attached = 0;
    boolean created = false;
    try {
      sendQueue.attach();
      attached++;
      receiveQueue.attach();
      attached++;
      if (shared != null) {
        shared.attach(options.type());
      }
      attached++;
      long pointer =
          Errno.check(
              "create queue pair",
              connection == null
                  ? Extension.createQueuePair(domain.pointer(), words.address())
                  : Extension.createConnectionQueuePair(
                      connection.pointer(), domain.pointer(), words.address()));
      DisniQueuePair pair = new DisniQueuePair(domain, connection, options, pointer, words);
      created = true;
      return pair;
    } finally {
      if (!created) {
        detach(attached, sendQueue, receiveQueue, shared);
      }
    }
  }

  private static void detach(
      int attached,
      DisniCompletionQueue sendQueue,
      DisniCompletionQueue receiveQueue,
      @Nullable DisniSharedReceiveQueue shared) {
    if (attached > 0) {
      sendQueue.detach();
    }
    if (attached > 1) {
      receiveQueue.detach();
    }
    if (attached > 2 && shared != null) {
      shared.detach();
    }
  }

  private static Block words(
      QueuePairOptions options,
      DisniCompletionQueue sendQueue,
      DisniCompletionQueue receiveQueue,
      @Nullable DisniSharedReceiveQueue shared) {
    return Block.of(QueuePairWords.values())
        .set(QueuePairWords.TYPE, options.type().code())
        .set(QueuePairWords.SEND_CQ, sendQueue.pointer())
        .set(QueuePairWords.RECV_CQ, receiveQueue.pointer())
        .set(QueuePairWords.SRQ, shared == null ? 0 : shared.pointer())
        .set(QueuePairWords.SQ_SIG_ALL, options.signalAll() ? 1 : 0)
        .set(QueuePairWords.MAX_SEND_WR, options.maxSend())
        .set(QueuePairWords.MAX_RECV_WR, shared == null ? options.maxReceive() : 0)
        .set(QueuePairWords.MAX_SEND_SGE, options.maxSendScatterGather())
        .set(QueuePairWords.MAX_RECV_SGE, shared == null ? options.maxReceiveScatterGather() : 0)
        .set(QueuePairWords.MAX_INLINE_DATA, options.maxInlineData());
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public QueuePairType type() {
    return options.type();
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
    return shared;
  }

  @Override
  public QueuePairState state() {
    synchronized (receiving) {
      return closed ? QueuePairState.RESET : AttributeBlock.state(queryWords());
    }
  }

  @Override
  public QueuePairAttributes query() {
    synchronized (receiving) {
      checkOpen("query");
      return AttributeBlock.read(queryWords());
    }
  }

  private Block queryWords() {
    Block words = Block.of(AttributeWords.values());
    Errno.check("query queue pair", Extension.queryQueuePair(pointer, words.address()));
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
        QueuePairState from = AttributeBlock.state(queryWords());
        int gids = change.has(Field.AV) ? device.port().gids().size() : 1;
        QueuePairState to = QueuePairTransitions.check(options.type(), from, change, gids, limits);
        Block words = AttributeBlock.write(change);
        Errno.check("modify queue pair", Extension.modifyQueuePair(pointer, words.address()));
        known = to;
        if (to == QueuePairState.RESET) {
          dropRequests();
        }
      }
    }
  }

  /** What was posted is gone, and what completed of it is not told any more. */
  private void dropRequests() {
    tag = device.context().queues().renew(tag);
    sendCompletions.awaitPoller();
    receiveCompletions.awaitPoller();
    sends.clear();
    receives.clear();
  }

  /** The connection manager has put it into this state. */
  void moved(QueuePairState to) {
    known = to;
  }

  /** Flushes it, wherever it is. */
  void fail() {
    synchronized (sending) {
      synchronized (receiving) {
        QueuePairState from = closed ? QueuePairState.RESET : AttributeBlock.state(queryWords());
        if (from != QueuePairState.RESET && from != QueuePairState.ERR) {
          modify(new QueuePairAttributes().state(QueuePairState.ERR));
        }
      }
    }
  }

  // ---- posting

  @Override
  public void postSend(SendWorkRequest request) {
    synchronized (sending) {
      SendWorkRequest next = request;
      while (next != null) {
        sendBatch.clear();
        PostException refusal = null;
        while (next != null && !sendBatch.isFull()) {
          refusal = refuse(next);
          if (refusal != null) {
            break;
          }
          sendBatch.add(next, Cookie.send(tag, sends.take(next.id())));
          next = next.next();
        }
        if (sendBatch.count() > 0) {
          post(request);
        }
        if (refusal != null) {
          throw refusal;
        }
        request = next;
      }
    }
  }

  private void post(SendWorkRequest first) {
    int refused = Extension.postSend(pointer, sendBatch.address(), sendBatch.badAddress());
    if (refused < 0) {
      int posted = sendBatch.posted();
      sends.giveBack(sendBatch.count() - posted);
      SendWorkRequest bad = first;
      for (int i = 0; i < posted && bad != null; i++) {
        bad = bad.next();
      }
      throw refused(bad == null ? first.id() : bad.id(), refused);
    }
  }

  /** The error of a request that the HCA or its driver refused. */
  static PostException refused(long id, int negative) {
    return new PostException(Errno.error(-negative), id, "refused with errno " + -negative);
  }

  private @Nullable PostException refuse(SendWorkRequest request) {
    if (closed) {
      return closedError(request.id());
    }
    QueuePairState state = known;
    if (state == QueuePairState.RESET
        || state == QueuePairState.INIT
        || state == QueuePairState.RTR) {
      return new PostException(
          VerbsError.INVALID, request.id(), "state: " + state + " (expected: RTS)");
    }
    PostException refusal = refuseOpcode(request);
    if (refusal == null) {
      refusal = refusePayload(request);
    }
    if (refusal == null && sends.isFull()) {
      refusal =
          new PostException(
              VerbsError.NO_MEMORY,
              request.id(),
              "sends outstanding: " + sends.capacity() + " (expected: < " + sends.capacity() + ")");
    }
    return refusal;
  }

  /** The table of opcodes and transports: {@code ibv_post_send(3)}. */
  private @Nullable PostException refuseOpcode(SendWorkRequest request) {
    SendOpcode opcode = request.opcode();
    boolean supported =
        switch (opcode) {
          case SEND, SEND_WITH_IMM -> true;
          case RDMA_WRITE, RDMA_WRITE_WITH_IMM -> options.type() != QueuePairType.UD;
          case RDMA_READ -> options.type() == QueuePairType.RC;
          case ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD ->
              options.type() == QueuePairType.RC && limits.supports(Capability.ATOMICS);
          case SEND_WITH_INV ->
              options.type() != QueuePairType.UD
                  && limits.supports(Capability.SEND_WITH_INVALIDATE);
          case LOCAL_INV ->
              options.type() != QueuePairType.UD && limits.supports(Capability.LOCAL_INVALIDATE);
          case BIND_MW ->
              options.type() != QueuePairType.UD
                  && limits.supports(Capability.MEMORY_WINDOW_TYPE_2B);
        };
    if (!supported) {
      return new PostException(
          VerbsError.NOT_SUPPORTED, request.id(), "opcode: " + opcode + " on " + options.type());
    }
    if (options.type() == QueuePairType.UD
        && !(request.addressHandle() instanceof DisniAddressHandle)) {
      return new PostException(VerbsError.INVALID, request.id(), "no address handle of the device");
    }
    if (opcode == SendOpcode.BIND_MW
        && !(request.window() instanceof DisniMemoryWindow
            && request.windowRegion() instanceof DisniMemoryRegion
            && request.buffers().size() == 1)) {
      return new PostException(
          VerbsError.INVALID,
          request.id(),
          "a bind needs a window, a region and one buffer of the device");
    }
    return null;
  }

  private @Nullable PostException refusePayload(SendWorkRequest request) {
    ByteBuffer inline = request.inlineData();
    if (inline == null) {
      if ((request.flags() & SendWorkRequest.INLINE) != 0) {
        return new PostException(VerbsError.INVALID, request.id(), "INLINE without inline data");
      }
      return tooManyEntries(
          request.id(), request.buffers().size(), capabilities.maxSendScatterGather());
    }
    switch (request.opcode()) {
      case RDMA_READ, ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD, LOCAL_INV, BIND_MW -> {
        return new PostException(
            VerbsError.INVALID, request.id(), "inline data with " + request.opcode());
      }
      default -> {}
    }
    int most = capabilities.maxInlineData();
    if (inline.remaining() > most) {
      return new PostException(
          VerbsError.INVALID,
          request.id(),
          "inline data: " + inline.remaining() + " (expected: <= " + most + ")");
    }
    return null;
  }

  private static @Nullable PostException tooManyEntries(long id, int entries, int most) {
    return entries <= most
        ? null
        : new PostException(
            VerbsError.INVALID,
            id,
            "scatter/gather entries: " + entries + " (expected: <= " + most + ")");
  }

  /** Fails for more entries than a queue takes. */
  static void checkEntries(long id, int entries, int most) {
    PostException refusal = tooManyEntries(id, entries, most);
    if (refusal != null) {
      throw refusal;
    }
  }

  private PostException closedError(long id) {
    return new PostException(VerbsError.CLOSED, id, "queue pair " + number + " is closed");
  }

  @Override
  public void postReceive(ReceiveWorkRequest request) {
    synchronized (receiving) {
      ReceiveWorkRequest next = request;
      while (next != null) {
        receiveBatch.clear();
        PostException refusal = null;
        while (next != null && receiveBatch.count() < ReceiveBatch.SIZE) {
          refusal = refuse(next);
          if (refusal != null) {
            break;
          }
          receiveBatch.add(next, Cookie.receive(tag, receives.take(next.id())));
          next = next.next();
        }
        if (receiveBatch.count() > 0) {
          post(request);
          if (known == QueuePairState.ERR) {
            flushReceives();
          }
        }
        if (refusal != null) {
          throw refusal;
        }
        request = next;
      }
    }
  }

  private void post(ReceiveWorkRequest first) {
    int refused = Extension.postReceive(pointer, receiveBatch.address(), receiveBatch.badAddress());
    if (refused < 0) {
      int posted = receiveBatch.posted();
      receives.giveBack(receiveBatch.count() - posted);
      ReceiveWorkRequest bad = first;
      for (int i = 0; i < posted && bad != null; i++) {
        bad = bad.next();
      }
      throw refused(bad == null ? first.id() : bad.id(), refused);
    }
  }

  private @Nullable PostException refuse(ReceiveWorkRequest request) {
    if (closed) {
      return closedError(request.id());
    }
    if (shared != null) {
      return new PostException(
          VerbsError.INVALID, request.id(), "the queue pair has a shared receive queue");
    }
    if (known == QueuePairState.RESET) {
      return new PostException(
          VerbsError.INVALID, request.id(), "state: RESET (expected: INIT or later)");
    }
    PostException refusal =
        tooManyEntries(
            request.id(), request.buffers().size(), capabilities.maxReceiveScatterGather());
    if (refusal == null && receives.isFull()) {
      int most = receives.capacity();
      refusal =
          new PostException(
              VerbsError.NO_MEMORY,
              request.id(),
              "receives outstanding: " + most + " (expected: < " + most + ")");
    }
    return refusal;
  }

  // ---- completing

  @Override
  public int tag() {
    return tag;
  }

  @Override
  public long free(boolean receive, int sequence) {
    return receive ? receives.free(sequence) : sends.free(sequence);
  }

  @Override
  public boolean isOfDatagrams() {
    return options.type() == QueuePairType.UD;
  }

  /**
   * {@inheritDoc}
   *
   * <p>Called while a completion queue is polled, so while this queue pair cannot be destroyed.
   */
  @Override
  public void failed() {
    if (options.type() == QueuePairType.RC && known != QueuePairState.ERR) {
      known = QueuePairState.ERR;
      flushReceives();
    }
  }

  /**
   * Goes to ERR from ERR, which flushes again. Soft-RoCE flushes receives when it goes to ERR, but
   * a user-space post does not reach the kernel, and what is posted in ERR would lie there for
   * ever.
   */
  private void flushReceives() {
    Block words = AttributeBlock.write(new QueuePairAttributes().state(QueuePairState.ERR));
    Errno.check("flush queue pair", Extension.modifyQueuePair(pointer, words.address()));
  }

  @Override
  public void close() {
    // In the order in which a connection takes them that puts its queue pair into ERR.
    synchronized (connection == null ? this : connection.manager().steps()) {
      synchronized (sending) {
        synchronized (receiving) {
          if (closed) {
            return;
          }
          closed = true;
          destroy();
        }
      }
    }
    detach(3, sendCompletions, receiveCompletions, shared);
    domain.closed(DisniProtectionDomain.Kind.QUEUE_PAIR);
  }

  private void destroy() {
    DisniContext context = device.context();
    context.destroyed(pointer);
    context.queues().remove(tag);
    sendCompletions.awaitPoller();
    receiveCompletions.awaitPoller();
    if (connection == null) {
      Errno.check("destroy queue pair", Extension.destroyQueuePair(pointer));
    } else {
      connection.destroyQueuePair(pointer);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.mapped.PayloadReference;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.Psn;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ScatterGatherList;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendWorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * Turns requests into packets in the order of the queue, and sends packets again from the oldest
 * unacknowledged one (IBTA volume 1, requester side; go-back-N).
 *
 * <pre>
 *                 +-- nothing posted, window full, fence, reads at their limit: wait
 *   cursor at a --+-- local operation: done at once
 *   new request   +-- READ of granted memory: copied, and done at once
 *                 +-- invalid: waits at the cursor until all before it are done, then fails
 *                 +-- else: gets its PSNs
 *   cursor within a request: sends one packet, or the rest of a READ as one request
 * </pre>
 */
final class Requester {
  /** The most packets in flight without an answer; a READ counts when it is sent. */
  static final int MAX_UNACKNOWLEDGED = 128;

  /** The most packets from one request for an acknowledgement to the next. */
  static final int ACK_INTERVAL = 64;

  /** The most packets of a request; with more, PSNs would be ambiguous. */
  private static final int MAX_PACKETS = 1 << 22;

  /**
   * The most bytes of a READ that is copied without a packet: other queue pairs wait during the
   * copy.
   */
  private static final int MOST_READ = 1 << 20;

  private static final long NONE = -1;

  private final EngineContext context;
  private final SendWindow window;
  private final RetryClock clock;
  private final CongestionWindow congestion;
  private final LossProbe probe;
  private final Failure failure;
  private long failedPosition = NONE;
  private CompletionStatus failedStatus = CompletionStatus.SUCCESS;
  private int sinceAckRequest;
  private boolean drained;

  /** Called when a request fails; stops the queue pair and flushes the other requests. */
  interface Failure {
    void requestFailed();
  }

  Requester(
      EngineContext context,
      SendWindow window,
      RetryClock clock,
      CongestionWindow congestion,
      LossProbe probe,
      Failure failure) {
    this.context = context;
    this.window = window;
    this.clock = clock;
    this.congestion = congestion;
    this.probe = probe;
    this.failure = failure;
  }

  void clear() {
    failedPosition = NONE;
    sinceAckRequest = 0;
    drained = false;
    probe.clear();
    context.share.clear();
  }

  /** Adapts to a state that was just entered. */
  void stateChanged() {
    drained = false;
  }

  /** Returns whether there are requests to execute, or packets to send, perhaps not yet. */
  boolean isDue() {
    return window.cursor < window.started || window.hasNext() || probe.isToSend();
  }

  /** Executes one step, which sends at most one packet; returns false if there is nothing to do. */
  boolean step() {
    if (context.state != QueuePairState.RTS && context.state != QueuePairState.SQD) {
      return false;
    }
    if (clock.awaitsReceiver()) {
      return false;
    }
    if (probe.isToSend() && sendOnceMore(probe.take())) {
      return true;
    }
    SendWindow w = window;
    if (w.cursor == failedPosition) {
      return failIfOldest();
    }
    if (w.cursor < w.started && w.packets(w.cursor) == 0) {
      w.skip();
      return true;
    }
    int out = out();
    if (out >= congestion.packets() || !hasRoom(out)) {
      return false;
    }
    boolean done = w.cursor < w.started ? !mustWaitForPart() && sendPacket() : begin();
    int sent = out() - out;
    if (sent > 0) {
      context.share.sent(sent);
    }
    return done;
  }

  /** Returns the rest of the turn to the peer's window, since there is nothing to send. */
  void rest() {
    context.share.rest();
  }

  /** Returns whether a packet may be sent besides the {@code out} packets in flight. */
  private boolean hasRoom(int out) {
    if (window.cursor == window.started && !window.hasNext()) {
      return true;
    }
    // If no packet in flight requests an answer, one more packet must go out: only an answer frees
    // room.
    return (out > 0 && out <= sinceAckRequest) || context.share.take(out);
  }

  /** Returns the number of packets in flight without those that will be sent again. */
  private int out() {
    return Psn.difference(window.cursorPsn(), window.unacknowledged);
  }

  /** Sends all packets again from the oldest unacknowledged one; called by the completer. */
  void goBack() {
    probe.clear();
    window.goBack();
    context.share.out(out());
  }

  /** Notes that the oldest request has changed; called by the completer. */
  void headMoved() {
    SendWindow w = window;
    while (w.head < w.started && w.packets(w.head) == 0) {
      w.completeHead();
    }
    w.catchUp();
    context.share.out(out());
    if (context.state == QueuePairState.SQD) {
      drained();
    }
  }

  /** Fails the oldest request and the queue pair. */
  void fail(CompletionStatus status) {
    context.withdraw();
    window.failHead(status);
    failure.requestFailed();
  }

  private boolean begin() {
    if (context.state == QueuePairState.SQD) {
      drained();
      return false;
    }
    SendWindow w = window;
    if (!w.hasNext()) {
      return false;
    }
    SendWorkRequest request = w.request(w.started);
    if (mustWait(request)) {
      return false;
    }
    CompletionStatus status = check(request);
    if (status != CompletionStatus.SUCCESS) {
      return failAtCursor(status);
    }
    if (RequestOpcodes.isLocal(request.opcode())) {
      return doLocally(request);
    }
    if (context.options.type() == QueuePairType.UD && Segments.length(request) > context.mtu) {
      // The datagram is not sent, but the request succeeds (IBTA volume 1, C10-93.1.1).
      return done();
    }
    if (request.opcode() == SendOpcode.RDMA_READ && w.awaitsReadsOnly()) {
      PayloadReference granted = find(request);
      // The copy must not overtake other READs, which are completed soon.
      boolean waits = granted != null && !w.isIdle();
      boolean read = granted != null && !waits && read(request, granted);
      context.reference().clear();
      if (waits) {
        return false;
      }
      if (read) {
        w.readsOutstanding++;
        return done();
      }
    }
    if (RequestOpcodes.isReadOrAtomic(request.opcode())) {
      w.readsOutstanding++;
    }
    w.begin(context.packets(packetBytes(request)));
    return sendPacket();
  }

  /**
   * Returns the bytes of a request that are split into packets: 0 for an atomic, which is one
   * packet.
   */
  private static long packetBytes(SendWorkRequest request) {
    return RequestOpcodes.isAtomic(request.opcode()) ? 0 : Segments.length(request);
  }

  /** Returns the memory of a READ if the peer lets this end read it without a packet, else null. */
  private @Nullable PayloadReference find(SendWorkRequest request) {
    long length = Segments.length(request);
    return context.reliable() && length > 0 && length <= MOST_READ
        ? context.findReadable(request.remoteKey(), request.remoteAddress(), (int) length)
        : null;
  }

  /**
   * Copies the bytes of a READ out of the peer's memory. Returns false if the copy fails or the
   * peer has revoked the grant meanwhile; then the READ is sent as a packet, and its answer gives
   * the reason.
   */
  private boolean read(SendWorkRequest request, PayloadReference from) {
    ScatterGatherList buffers = request.buffers();
    return Segments.check(context.host, buffers, Access.LOCAL_WRITE.bit()) == AccessResult.GRANTED
        && Segments.scatter(
                context.host,
                buffers,
                0,
                from.memory(),
                from.offset(),
                (int) Segments.length(request))
            == AccessResult.GRANTED
        && from.confirm();
  }

  private CompletionStatus check(SendWorkRequest request) {
    SendOpcode operation = request.opcode();
    if (RequestOpcodes.isLocal(operation)) {
      return context.options.type() == QueuePairType.UD
          ? CompletionStatus.LOC_QP_OP_ERR
          : CompletionStatus.SUCCESS;
    }
    if (RequestOpcodes.of(context.options.type(), operation, true, true) == null) {
      return CompletionStatus.LOC_QP_OP_ERR;
    }
    long length = Segments.length(request);
    if (RequestOpcodes.isAtomic(operation)) {
      if (length != Long.BYTES) {
        return CompletionStatus.LOC_LEN_ERR;
      }
    } else if (length > context.options.maxMessage() || (length - 1) / context.mtu >= MAX_PACKETS) {
      return CompletionStatus.LOC_LEN_ERR;
    }
    if (RequestOpcodes.isReadOrAtomic(operation)) {
      return context.maxReadAtomic == 0 ? CompletionStatus.LOC_QP_OP_ERR : CompletionStatus.SUCCESS;
    }
    if (context.options.type() == QueuePairType.UD && request.addressHandle() == null) {
      return CompletionStatus.LOC_QP_OP_ERR;
    }
    return request.inlineData() != null
            || Segments.check(context.host, request.buffers(), 0) == AccessResult.GRANTED
        ? CompletionStatus.SUCCESS
        : CompletionStatus.LOC_PROT_ERR;
  }

  private boolean mustWait(SendWorkRequest request) {
    SendWindow w = window;
    if ((request.flags() & SendWorkRequest.FENCE) != 0 && w.readsOutstanding > 0) {
      return true;
    }
    if (request.opcode() == SendOpcode.LOCAL_INV) {
      // Packets may have to be sent again from the region whose key this invalidates.
      return !w.isIdle();
    }
    return RequestOpcodes.isReadOrAtomic(request.opcode())
        && context.maxReadAtomic > 0
        && w.readsOutstanding >= mostReads();
  }

  /**
   * Returns the most READs and atomics to have outstanding. If READs are requested in parts, one
   * fewer, since a READ may have two parts outstanding.
   */
  private int mostReads() {
    boolean inParts = context.options.flow().readPart() < Integer.MAX_VALUE;
    return inParts ? Math.max(1, context.maxReadAtomic - 1) : context.maxReadAtomic;
  }

  /**
   * Returns whether the next part of a READ must wait until at most one earlier part is in flight,
   * or none if the peer serves only one READ at a time.
   */
  private boolean mustWaitForPart() {
    SendWindow w = window;
    int part = context.options.flow().readPart();
    if (part == Integer.MAX_VALUE
        || w.packet == 0
        || w.request(w.cursor).opcode() != SendOpcode.RDMA_READ) {
      return false;
    }
    int out = Psn.difference(w.cursorPsn(), w.unacknowledged);
    return out > (context.maxReadAtomic > 1 ? part : 0);
  }

  /** Returns one past the last packet of the part of a READ that contains {@code packet}. */
  private int partEnd(int packet, int packets) {
    int part = context.options.flow().readPart();
    return part == Integer.MAX_VALUE ? packets : Math.min(packets, (packet / part + 1) * part);
  }

  private boolean doLocally(SendWorkRequest request) {
    boolean bind = request.opcode() == SendOpcode.BIND_MW;
    if (bind ? context.host.bind(request) : context.host.invalidateLocally(request.remoteKey())) {
      return done();
    }
    return failAtCursor(bind ? CompletionStatus.MW_BIND_ERR : CompletionStatus.LOC_QP_OP_ERR);
  }

  /** Completes the next request without a packet. */
  private boolean done() {
    window.begin(0);
    window.skip();
    headMoved();
    return true;
  }

  private boolean failAtCursor(CompletionStatus status) {
    failedPosition = window.cursor;
    failedStatus = status;
    return failIfOldest();
  }

  private boolean failIfOldest() {
    if (window.head != failedPosition) {
      return false;
    }
    failedPosition = NONE;
    fail(failedStatus);
    return true;
  }

  private void drained() {
    if (window.isIdle() && !drained) {
      drained = true;
      if (context.drainedNotify) {
        context.host.raise(AsyncEvent.Type.SQ_DRAINED);
      }
    }
  }

  /**
   * Sends a packet again without moving the cursor; returns false if the cursor is before that
   * packet and will send it anyway.
   */
  private boolean sendOnceMore(LossProbe.Packet which) {
    SendWindow w = window;
    boolean oldest = which == LossProbe.Packet.OLDEST;
    int psn = oldest ? w.unacknowledged : Psn.plus(w.sentEnd, -1);
    if (!w.awaitsAnswer() || Psn.difference(w.cursorPsn(), psn) <= 0) {
      return false;
    }
    long cursor = w.cursor;
    int packet = w.packet;
    w.moveTo(psn);
    sinceAckRequest = ACK_INTERVAL;
    context.host.count(Counter.RETRANSMISSIONS);
    boolean sent = sendPacket();
    if (context.state == QueuePairState.ERR) {
      return true;
    }
    if (sent && oldest) {
      probe.sentOldest(w.cursorPsn(), w.sentEnd);
    }
    w.cursor = cursor;
    w.packet = packet;
    return sent;
  }

  private boolean sendPacket() {
    SendWindow w = window;
    SendWorkRequest request = w.request(w.cursor);
    int index = w.packet;
    int packets = w.packets(w.cursor);
    int psn = w.cursorPsn();
    boolean whole = RequestOpcodes.isReadOrAtomic(request.opcode());
    long done = (long) index * context.mtu;
    int referred =
        !whole && context.takesReferences()
            ? Segments.refer(context.host, request, done, context.mtu, context.reference())
            : 0;
    int ahead = whole ? partEnd(index, packets) - index : context.packets(referred);
    boolean last = whole || index + ahead == packets;
    PacketOpcode opcode =
        RequestOpcodes.of(context.options.type(), request.opcode(), index == 0, last);
    if (opcode == null) {
      throw new IllegalStateException("no packet for " + request.opcode());
    }
    RocePacket packet = context.start(opcode, psn);
    switch (opcode.kind()) {
      case READ_REQUEST ->
          packet
              .remoteAddress(request.remoteAddress() + done)
              .remoteKey(request.remoteKey())
              .dmaLength(
                  Math.min(Segments.length(request), (long) partEnd(index, packets) * context.mtu)
                      - done);
      case COMPARE_SWAP ->
          packet
              .remoteAddress(request.remoteAddress())
              .remoteKey(request.remoteKey())
              .swapOrAdd(request.swap())
              .compare(request.compareOrAdd());
      case FETCH_ADD ->
          packet
              .remoteAddress(request.remoteAddress())
              .remoteKey(request.remoteKey())
              .swapOrAdd(request.compareOrAdd());
      default -> {
        long length = Segments.length(request);
        int bytes = last ? (int) (length - done) : context.mtu;
        setHeaders(packet, opcode, request, length, last);
        if (referred > 0) {
          packet.refer(referred).reference().queuePair(context.options.number());
        } else if (Segments.gather(context.host, request, done, packet, bytes)
            != AccessResult.GRANTED) {
          return failAtCursor(CompletionStatus.LOC_PROT_ERR);
        }
      }
    }
    if (context.reliable()) {
      sinceAckRequest += last ? 0 : ahead;
      packet.ackRequested(
          last || sinceAckRequest >= congestion.ackInterval() || context.share.endsTurn());
      if (packet.ackRequested()) {
        sinceAckRequest = 0;
      }
    }
    w.sent(ahead);
    AddressHandle handle = request.addressHandle();
    if (context.options.type() == QueuePairType.UD && handle != null) {
      context.send(handle.vector());
    } else {
      context.send();
    }
    if (context.reliable()) {
      clock.sent();
    } else {
      w.unacknowledged = w.sentEnd;
      if (last) {
        w.completeHead();
        headMoved();
      }
    }
    return true;
  }

  /**
   * Returns the queue key of a datagram; a key with the high bit stands for the sender's own key
   * (IBTA volume 1, controlled queue keys).
   */
  private int queueKey(SendWorkRequest request) {
    int key = request.remoteQueueKey();
    return key < 0 ? context.queueKey : key;
  }

  private void setHeaders(
      RocePacket packet, PacketOpcode opcode, SendWorkRequest request, long length, boolean last) {
    if (opcode.starts() && opcode.kind() == PacketOpcode.Kind.WRITE) {
      packet
          .remoteAddress(request.remoteAddress())
          .remoteKey(request.remoteKey())
          .dmaLength(length);
    }
    if (context.options.type() == QueuePairType.UD) {
      packet
          .destinationQueuePair(request.remoteQueuePair())
          .queueKey(queueKey(request))
          .sourceQueuePair(context.options.number());
    }
    if (!last) {
      return;
    }
    switch (request.opcode()) {
      case SEND_WITH_IMM, RDMA_WRITE_WITH_IMM -> packet.immediate(request.immediate());
      case SEND_WITH_INV -> packet.invalidatedKey(request.remoteKey());
      default -> {}
    }
    if (request.opcode() != SendOpcode.RDMA_WRITE) {
      packet.solicited((request.flags() & SendWorkRequest.SOLICITED) != 0);
    }
  }
}

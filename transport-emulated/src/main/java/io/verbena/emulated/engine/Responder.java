// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.engine.ReplyQueue.Reply;
import io.verbena.emulated.engine.ResourceTable.Resource;
import io.verbena.emulated.roce.Aeth;
import io.verbena.emulated.roce.ExtendedHeader;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.PacketOpcode.Kind;
import io.verbena.emulated.roce.Psn;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

/**
 * Executes the requests of a reliable connection's peer (IBTA volume 1, responder side). Each
 * packet passes the stages in this order, as in Soft-RoCE, so that a packet with two faults gets
 * the same NAK.
 *
 * <pre>
 *  PSN        later than expected: one NAK 0x60, then silence until the expected one comes
 *             earlier: a duplicate, which changes nothing
 *               SEND, WRITE: acknowledged again     atomic: answered from the saved result
 *               READ: executed again, from any packet on
 *  SEQUENCE   FIRST MIDDLE* LAST or ONLY             else 0x61
 *  RIGHTS     rights that the queue pair gives       else 0x61
 *  RESOURCE   READ, atomic: room to remember it      else 0x61
 *             SEND, immediate data: a receive        else RNR NAK, then silence until it comes again
 *  LENGTH     FIRST, MIDDLE: one MTU; LAST: 1..MTU   else 0x61
 *  MEMORY     rkey, range, domain, rights            else 0x62; then lengths against each other 0x61
 *  EXECUTE    moves bytes; a message too long 0x61, an unusable receive 0x63;
 *             a key that cannot be invalidated: the message is acknowledged, but its receive fails
 *  COMPLETE   the receive, at the end of a message that took one
 *  REPLY      READ response, atomic ack, or ACK if asked for, which may be held back a while
 * </pre>
 */
final class Responder {
  private static final long MAX_LENGTH = 1L << 31;
  private static final int ACK = Aeth.ack(Aeth.UNLIMITED_CREDITS);

  private final EngineContext context;
  private final Failure failure;
  private final ReceiveProgress receive;
  private final InboundWrite write;
  private final ResourceTable resources = new ResourceTable();
  private final ReplyQueue replies = new ReplyQueue();

  /** Null if each message is acknowledged at once. */
  private final @Nullable AckDelay delay;

  private int expected;
  private int messageSequence;

  /** True after a NAK; then packets after the expected one get no further NAK. */
  private boolean nakSent;

  /** The kind, SEND or WRITE, of the current message; null between messages. */
  private @Nullable Kind open;

  /**
   * Called when a request is refused; the queue pair stops, but still sends its pending answers.
   */
  interface Failure {
    void requestRefused();
  }

  Responder(
      EngineContext context,
      ReceiveProgress receive,
      InboundWrite write,
      @Nullable AckDelay delay,
      Failure failure) {
    this.context = context;
    this.delay = delay;
    this.receive = receive;
    this.write = write;
    this.failure = failure;
  }

  /** Starts anew for a new connection. */
  void startAt(int psn) {
    expected = psn;
    messageSequence = 0;
    nakSent = false;
    open = null;
    resources.reset(context.maxDestinationReadAtomic);
    replies.reset(context.maxDestinationReadAtomic);
    if (delay != null) {
      delay.reset();
    }
  }

  /** Applies a changed limit of READs and atomics; keeps the last ones and the pending answers. */
  void resize() {
    resources.resize(context.maxDestinationReadAtomic);
    replies.resize(context.maxDestinationReadAtomic);
  }

  /** Drops all pending answers. */
  void clear() {
    replies.clear();
    if (delay != null) {
      delay.stop();
    }
  }

  /**
   * Drops the pending answers, except a held acknowledgement, which could have been sent before.
   */
  void stop() {
    replies.clear();
    release();
    if (delay != null) {
      delay.stop();
    }
  }

  /** Moves the held acknowledgements to the pending answers. */
  void release() {
    if (delay != null && delay.isHolding()) {
      delay.released();
      replies.acknowledge(Psn.plus(expected, -1), ACK, messageSequence);
    }
  }

  /** Drops the held acknowledgements, since another answer implies them. */
  private void implied() {
    if (delay != null) {
      delay.released();
    }
  }

  void receive(RocePacket packet) {
    if (replies.isFull()) {
      return;
    }
    int ahead = Psn.difference(packet.psn(), expected);
    if (ahead < 0) {
      context.host.count(Counter.DUPLICATES);
      duplicate(packet);
    } else if (ahead > 0) {
      outOfSequence();
    } else {
      nakSent = false;
      inSequence(packet);
    }
  }

  private void outOfSequence() {
    if (!nakSent) {
      nakSent = true;
      context.host.count(Counter.OUT_OF_SEQUENCE);
      nak(Aeth.SEQUENCE_ERROR);
    }
  }

  private void nak(int syndrome) {
    implied();
    replies.add(ReplyQueue.Kind.NAK, expected, syndrome, messageSequence);
  }

  private void inSequence(RocePacket packet) {
    Refusal refusal = checkSequence(packet.opcode());
    if (refusal == Refusal.NONE) {
      refusal = checkRights(packet.opcode().kind());
    }
    if (refusal == Refusal.NONE) {
      refusal = checkResource(packet.opcode());
    }
    if (refusal == Refusal.NONE) {
      refusal = checkLength(packet);
    }
    if (refusal == Refusal.NONE) {
      refusal = checkMemory(packet);
    }
    if (refusal == Refusal.NONE) {
      refusal = execute(packet);
    }
    switch (refusal) {
      case NONE, WITHDRAWN -> {}
      case NOT_READY -> {
        nakSent = true;
        context.host.count(Counter.RNR_SENT);
        nak(Aeth.rnrNak(context.minRnrTimer));
      }
      default -> refuse(refusal);
    }
  }

  private void refuse(Refusal refusal) {
    if (refusal.syndrome != Refusal.NO_NAK) {
      nak(refusal.syndrome);
    } else {
      release();
    }
    if (!receive.fail(refusal.status)) {
      context.host.raise(refusal.event);
    }
    failure.requestRefused();
  }

  private Refusal checkSequence(PacketOpcode opcode) {
    boolean continues = opcode.kind() == open && !opcode.starts();
    boolean begins = open == null && opcode.starts();
    return continues || begins ? Refusal.NONE : Refusal.INVALID;
  }

  private Refusal checkRights(Kind kind) {
    boolean allowed =
        switch (kind) {
          case READ_REQUEST -> context.allows(Access.REMOTE_READ.bit());
          case WRITE -> context.allows(Access.REMOTE_WRITE.bit());
          case COMPARE_SWAP, FETCH_ADD -> context.allows(Access.REMOTE_ATOMIC.bit());
          default -> true;
        };
    return allowed ? Refusal.NONE : Refusal.INVALID;
  }

  private Refusal checkResource(PacketOpcode opcode) {
    return switch (opcode.kind()) {
      case READ_REQUEST, COMPARE_SWAP, FETCH_ADD ->
          resources.capacity() > 0 ? Refusal.NONE : Refusal.INVALID;
      case WRITE ->
          !opcode.has(ExtendedHeader.IMM_DT) || receive.take() ? Refusal.NONE : Refusal.NOT_READY;
      default -> receive.take() ? Refusal.NONE : Refusal.NOT_READY;
    };
  }

  private Refusal checkLength(RocePacket packet) {
    PacketOpcode opcode = packet.opcode();
    if (opcode.has(ExtendedHeader.RETH) && packet.dmaLength() > MAX_LENGTH) {
      return Refusal.INVALID;
    }
    return hasFittingPayload(packet, context.mtu) ? Refusal.NONE : Refusal.INVALID;
  }

  /** Returns whether the length of a packet's payload is allowed at its place in the message. */
  static boolean hasFittingPayload(RocePacket packet, int mtu) {
    int payload = packet.payloadLength();
    if (packet.isReferring()) {
      return payload > 0 && (packet.opcode().ends() || payload % mtu == 0);
    }
    return switch (packet.opcode().position()) {
      case FIRST, MIDDLE -> payload == mtu;
      case LAST -> payload > 0 && payload <= mtu;
      case ONLY -> payload <= mtu;
    };
  }

  private Refusal checkMemory(RocePacket packet) {
    return switch (packet.opcode().kind()) {
      case WRITE -> {
        Refusal refusal = Refusal.NONE;
        if (packet.opcode().starts()) {
          write.begin(packet);
          refusal = write.check();
        }
        yield refusal != Refusal.NONE || write.fits(packet) ? refusal : Refusal.INVALID;
      }
      case READ_REQUEST ->
          packet.dmaLength() == 0
              ? Refusal.NONE
              : checkRemote(packet, packet.dmaLength(), Access.REMOTE_READ);
      case COMPARE_SWAP, FETCH_ADD -> {
        Refusal refusal = checkRemote(packet, Long.BYTES, Access.REMOTE_ATOMIC);
        yield refusal != Refusal.NONE || (packet.remoteAddress() & Long.BYTES - 1) == 0
            ? refusal
            : Refusal.INVALID;
      }
      default -> Refusal.NONE;
    };
  }

  private Refusal checkRemote(RocePacket packet, long length, Access access) {
    return Refusal.ofRemote(
        context.host.checkRemote(packet.remoteKey(), packet.remoteAddress(), length, access.bit()));
  }

  private Refusal execute(RocePacket packet) {
    return switch (packet.opcode().kind()) {
      case READ_REQUEST -> read(packet);
      case COMPARE_SWAP, FETCH_ADD -> atomic(packet);
      case WRITE -> {
        Refusal refusal = write.append(packet);
        yield refusal == Refusal.NONE ? endPacket(packet) : refusal;
      }
      default -> {
        int length = packet.payloadLength();
        if (!receive.hasRoom(length)) {
          yield Refusal.TOO_LONG;
        }
        boolean appended = receive.append(packet.payload(), packet.payloadIndex(), length);
        if (!packet.confirm()) {
          yield Refusal.WITHDRAWN;
        }
        yield appended ? endPacket(packet) : Refusal.RECEIVE_MEMORY;
      }
    };
  }

  private Refusal read(RocePacket packet) {
    long length = packet.dmaLength();
    int packets = context.packets(length);
    resources.addRead(expected, packets, packet.remoteAddress(), packet.remoteKey(), length);
    // A READ counts in the message sequence number as soon as it is accepted.
    countMessage();
    implied();
    replyRead(packet, true, false);
    if (length > 0) {
      context.grantReads(packet.remoteKey(), packet.remoteAddress());
    }
    expected = Psn.plus(expected, packets);
    return Refusal.NONE;
  }

  private void replyRead(RocePacket packet, boolean first, boolean again) {
    Reply reply = replies.add(ReplyQueue.Kind.READ, packet.psn(), ACK, messageSequence);
    reply.address = packet.remoteAddress();
    reply.rkey = packet.remoteKey();
    reply.left = packet.dmaLength();
    reply.first = first;
    reply.again = again;
  }

  private Refusal atomic(RocePacket packet) {
    AtomicResult result = resources.nextResult();
    AccessResult outcome =
        packet.opcode().kind() == Kind.COMPARE_SWAP
            ? context.host.compareAndSwap(
                packet.remoteKey(),
                packet.remoteAddress(),
                packet.compare(),
                packet.swapOrAdd(),
                result)
            : context.host.fetchAndAdd(
                packet.remoteKey(), packet.remoteAddress(), packet.swapOrAdd(), result);
    if (outcome != AccessResult.GRANTED) {
      return Refusal.ofRemote(outcome);
    }
    resources.addAtomic(expected);
    countMessage();
    implied();
    replyAtomic(expected, result.original());
    expected = Psn.next(expected);
    return Refusal.NONE;
  }

  private void replyAtomic(int psn, long original) {
    replies.add(ReplyQueue.Kind.ATOMIC, psn, ACK, messageSequence).original = original;
  }

  private void countMessage() {
    messageSequence = Psn.next(messageSequence);
  }

  /** Finishes the execution of a packet of a SEND or WRITE. */
  private Refusal endPacket(RocePacket packet) {
    PacketOpcode opcode = packet.opcode();
    boolean ends = opcode.ends();
    open = ends ? null : opcode.kind();
    if (ends) {
      countMessage();
    }
    expected = Psn.plus(expected, context.packets(packet.payloadLength()) - 1);
    if (packet.ackRequested() && !(ends && delay != null && delay.holds())) {
      implied();
      replies.acknowledge(expected, ACK, messageSequence);
    }
    expected = Psn.next(expected);
    if (opcode.has(ExtendedHeader.IETH)
        && !context.host.invalidateRemotely(packet.invalidatedKey())) {
      return Refusal.INVALIDATION;
    }
    if (ends) {
      complete(packet);
    }
    return Refusal.NONE;
  }

  private void complete(RocePacket packet) {
    PacketOpcode opcode = packet.opcode();
    boolean written = opcode.kind() == Kind.WRITE;
    boolean withImmediate = opcode.has(ExtendedHeader.IMM_DT);
    if (written && !withImmediate) {
      return;
    }
    boolean withKey = opcode.has(ExtendedHeader.IETH);
    receive.complete(
        written ? CompletionOpcode.RECV_RDMA_WITH_IMM : CompletionOpcode.RECV,
        written ? write.length() : receive.filled(),
        withImmediate ? packet.immediate() : withKey ? packet.invalidatedKey() : 0,
        0,
        withImmediate ? WorkCompletion.WITH_IMM : withKey ? WorkCompletion.WITH_INV : 0,
        packet.solicited());
  }

  private void duplicate(RocePacket packet) {
    // The peer lacks the held acknowledgement. There is room for it only before another answer is
    // added.
    release();
    if (replies.isFull()) {
      return;
    }
    int psn = packet.psn();
    switch (packet.opcode().kind()) {
      case READ_REQUEST -> {
        Resource resource = resources.find(false, psn);
        if (resource != null
            && resource.covers(packet.remoteAddress(), packet.remoteKey(), packet.dmaLength())) {
          replyRead(packet, psn == resource.firstPsn(), true);
        }
      }
      case COMPARE_SWAP, FETCH_ADD -> {
        Resource resource = resources.find(true, psn);
        if (resource != null) {
          replyAtomic(psn, resource.result.original());
        }
      }
      // Acknowledges all packets so far: a peer that repeats one has received no acknowledgement.
      default -> replies.acknowledge(Psn.plus(expected, -1), ACK, messageSequence);
    }
  }

  /** Returns whether there are pending answers. */
  boolean isDue() {
    return !replies.isEmpty();
  }

  /** Sends one packet of the pending answers; returns false if there is none. */
  boolean reply() {
    if (replies.isEmpty()) {
      return false;
    }
    Reply reply = replies.first();
    switch (reply.kind) {
      case ACK, NAK -> {
        answer(PacketOpcode.RC_ACKNOWLEDGE, reply);
        replies.remove();
      }
      case ATOMIC -> {
        answer(PacketOpcode.RC_ATOMIC_ACKNOWLEDGE, reply).original(reply.original);
        replies.remove();
      }
      case READ -> {
        return replyPart(reply);
      }
    }
    context.send();
    return true;
  }

  private RocePacket answer(PacketOpcode opcode, Reply reply) {
    RocePacket packet = context.start(opcode, reply.psn);
    if (opcode.has(ExtendedHeader.AETH)) {
      packet.syndrome(reply.syndrome).messageSequence(reply.messageSequence);
    }
    return packet;
  }

  private boolean replyPart(Reply reply) {
    int referred = refer(reply);
    int length = referred > 0 ? referred : (int) Math.min(reply.left, context.mtu);
    boolean last = reply.left == length;
    RocePacket packet = answer(readResponse(reply.first, last), reply);
    if (referred > 0) {
      packet.refer(referred);
    } else {
      packet.payloadLength(length);
    }
    if (length > 0 && referred == 0) {
      AccessResult outcome =
          context.host.readRemote(
              reply.rkey, reply.address, packet.bytes(), packet.payloadOffset(), length);
      if (outcome != AccessResult.GRANTED) {
        return failRead(reply, Refusal.ofRemote(outcome));
      }
    }
    context.send();
    if (last) {
      replies.remove();
    } else {
      reply.first = false;
      reply.psn = Psn.plus(reply.psn, context.packets(length));
      reply.address += length;
      reply.left -= length;
    }
    return true;
  }

  /**
   * Makes the packet refer to the next bytes of a READ; returns their number, or 0 if they must be
   * copied.
   */
  private int refer(Reply reply) {
    int length = context.takesReferences() ? Segments.referable(reply.left, context.mtu) : 0;
    return length > 0
            && context.host.referRemote(reply.rkey, reply.address, length, context.reference())
        ? length
        : 0;
  }

  private static PacketOpcode readResponse(boolean first, boolean last) {
    if (first) {
      return last ? PacketOpcode.RC_READ_RESPONSE_ONLY : PacketOpcode.RC_READ_RESPONSE_FIRST;
    }
    return last ? PacketOpcode.RC_READ_RESPONSE_LAST : PacketOpcode.RC_READ_RESPONSE_MIDDLE;
  }

  /**
   * Fails a READ whose memory became inaccessible before all of it was sent. A repeated READ gets
   * only a NAK, and the connection goes on: the first answer may have arrived long ago, and the
   * memory been closed rightly. A requester that still waits fails by the NAK; any other ignores
   * it.
   */
  private boolean failRead(Reply reply, Refusal refusal) {
    if (reply.again) {
      reply.kind = ReplyQueue.Kind.NAK;
      reply.syndrome = refusal.syndrome;
      return reply();
    }
    int psn = reply.psn;
    clear();
    replies.add(ReplyQueue.Kind.NAK, psn, refusal.syndrome, messageSequence);
    context.host.raise(refusal.event);
    failure.requestRefused();
    return true;
  }
}

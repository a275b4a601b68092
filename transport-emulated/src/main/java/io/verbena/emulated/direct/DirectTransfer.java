// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import io.verbena.emulated.engine.RequestOpcodes;
import io.verbena.emulated.hca.KeyEntry;
import io.verbena.emulated.hca.ReceiveRing;
import io.verbena.verbs.Access;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ScatterGatherList;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Requester and responder of one direction of a connection within this JVM: checks a request
 * against both ends in the order in which hardware does, moves its bytes once, and completes the
 * peer's receive, if the request takes one. Only the owner of the {@link DirectSendQueue} uses this
 * class.
 *
 * <p>The order of checks is that of rxe's responder: the requester's memory (for SEND and WRITE);
 * the operation against the peer's rights; a receive, if it needs one; lengths; the peer's memory;
 * the requester's memory (for READ and atomics, when the response arrives).
 *
 * <p>Without acknowledgements (UC, UD) the requester learns only of its own failures. The responder
 * silently drops a message that it refuses, and the receive stays for the next message. A receive
 * from a shared receive queue completes with the error instead, and the queue pair continues
 * (classes D and E of responder errors, IBTA volume 1).
 */
final class DirectTransfer {
  private static final int LOCAL_READ = KeyEntry.LOCAL_READ;
  private static final int LOCAL_WRITE = Access.LOCAL_WRITE.bit();
  private static final int REMOTE_WRITE = Access.REMOTE_WRITE.bit();
  private static final int REMOTE_READ = Access.REMOTE_READ.bit();
  private static final int REMOTE_ATOMIC = Access.REMOTE_ATOMIC.bit();

  /**
   * Up to this length, in bytes, a completion is claimed before the copy, so that no fence
   * separates the stores of the payload from that of the completion. For longer messages, a claimed
   * entry would hold up the completion queue.
   */
  private static final int CLAIM_FIRST = 1024;

  /** The result of a copy. */
  private enum Copied {
    ALL,
    SOURCE_FAILED,
    TARGET_FAILED
  }

  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private final DirectQueuePair pair;
  private final boolean acknowledged;
  private final @Nullable DirectDatagrams datagrams;
  private final Spans from = new Spans();
  private final Spans to = new Spans();
  private final int claimFirst;

  /**
   * The parts of READs and atomics; null, like {@link #sendParts}, if messages are moved at once.
   */
  private final @Nullable MessageParts readParts;

  private final @Nullable MessageParts sendParts;

  /** The parts of the request that is tried now. */
  private @Nullable MessageParts moving;

  private boolean hadByPeer;

  DirectTransfer(DirectQueuePair pair, @Nullable AsyncScheduler scheduler) {
    this.pair = pair;
    acknowledged = pair.isReliable();
    // Without acknowledgements a receive stays for the next message if this one fails.
    claimFirst = scheduler == null && acknowledged ? CLAIM_FIRST : -1;
    readParts = scheduler == null ? null : new MessageParts(scheduler.random());
    sendParts = scheduler == null ? null : new MessageParts(scheduler.random());
    datagrams = pair.type() == QueuePairType.UD ? new DirectDatagrams(pair) : null;
  }

  /**
   * Sets whether the peer has received the request that is tried next: it then answers, even if
   * another request has stopped it since. Used only if an {@link AsyncScheduler} executes the
   * requests.
   */
  void hadByPeer(boolean had) {
    hadByPeer = had;
  }

  /** Forgets which parts of unfinished messages were moved. */
  void restart() {
    if (readParts != null && sendParts != null) {
      readParts.reset();
      sendParts.reset();
    }
  }

  /** Drops the request that is being tried. */
  void abandon() {
    restart();
    clearSpans();
  }

  /**
   * Tries a request once.
   *
   * @param local the entry found for the key of its first buffer, or null; may be outdated
   * @param remote the entry found for its remote key, or null; may be outdated
   */
  TransferResult attempt(
      SendWorkRequest request, @Nullable KeyEntry local, @Nullable KeyEntry remote) {
    if (sendParts == null) {
      return attemptAll(pair.reachablePeer(), request, local, remote);
    }
    MessageParts parts = RequestOpcodes.isReadOrAtomic(request.opcode()) ? readParts : sendParts;
    moving = parts;
    DirectQueuePair peer = hadByPeer ? pair.peer() : pair.reachablePeer();
    TransferResult result = attemptAll(peer, request, local, remote);
    if (result != TransferResult.UNDER_WAY && parts != null) {
      parts.reset();
    }
    return result;
  }

  private TransferResult attemptAll(
      @Nullable DirectQueuePair peer,
      SendWorkRequest request,
      @Nullable KeyEntry local,
      @Nullable KeyEntry remote) {
    if (RequestOpcodes.isReadOrAtomic(request.opcode())) {
      TransferResult own = checkReadOrAtomic(request);
      if (own != TransferResult.DONE) {
        return own;
      }
    }
    if (peer == null) {
      return withoutPeer(request);
    }
    TransferResult result =
        switch (request.opcode()) {
          case SEND, SEND_WITH_IMM, SEND_WITH_INV -> send(request, peer, local);
          case RDMA_WRITE, RDMA_WRITE_WITH_IMM -> write(request, peer, local, remote);
          case RDMA_READ -> read(request, peer, local, remote);
          case ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD -> atomic(request, peer);
          case LOCAL_INV, BIND_MW -> throw new AssertionError(request.opcode());
        };
    return acknowledged ? result : result.unacknowledged();
  }

  /** Checks a READ or atomic at this end, without the peer. */
  private TransferResult checkReadOrAtomic(SendWorkRequest request) {
    if (RequestOpcodes.isAtomic(request.opcode())
        && request.buffers().totalLength() != Long.BYTES) {
      return TransferResult.LOCAL_LENGTH;
    }
    return pair.requestsReadsAndAtomics() ? TransferResult.DONE : TransferResult.LOCAL_OPERATION;
  }

  /** Executes datagrams, and requests whose peer cannot answer. */
  private TransferResult withoutPeer(SendWorkRequest request) {
    if (RequestOpcodes.isReadOrAtomic(request.opcode())) {
      return TransferResult.NO_ANSWER;
    }
    if (datagrams != null) {
      return datagrams.send(request);
    }
    boolean permitted = gather(request);
    from.clear();
    if (!permitted) {
      return TransferResult.LOCAL_PROTECTION;
    }
    return acknowledged ? TransferResult.NO_ANSWER : TransferResult.DONE;
  }

  private static int payloadLength(SendWorkRequest request) {
    ByteBuffer inline = request.inlineData();
    return inline == null ? (int) request.buffers().totalLength() : inline.remaining();
  }

  private TransferResult send(
      SendWorkRequest request, DirectQueuePair peer, @Nullable KeyEntry local) {
    int length = payloadLength(request);
    ByteBuffer source = NOTHING;
    int sourceOffset = 0;
    ScatterGatherList buffers = request.buffers();
    ByteBuffer inline = request.inlineData();
    if (inline != null) {
      source = inline;
      sourceOffset = inline.position();
    } else if (buffers.size() == 1 && length > 0) {
      KeyEntry region = pair.open(local, buffers.lkey(0), buffers.address(0), length, LOCAL_READ);
      if (region == null) {
        return TransferResult.LOCAL_PROTECTION;
      }
      source = region.memory();
      sourceOffset = region.offset(buffers.address(0));
    } else if (buffers.size() > 1 && !gather(request)) {
      return TransferResult.LOCAL_PROTECTION;
    }
    boolean gathered = buffers.size() > 1;
    ReceiveRing receives = peer.receives();
    if (!peer.hasReceive()) {
      from.clear();
      return TransferResult.RECEIVER_NOT_READY;
    }
    int flags = 0;
    int immediate = 0;
    if (request.opcode() == SendOpcode.SEND_WITH_IMM) {
      flags = WorkCompletion.WITH_IMM;
      immediate = request.immediate();
    } else if (request.opcode() == SendOpcode.SEND_WITH_INV) {
      flags = WorkCompletion.WITH_INV;
      immediate = request.remoteKey();
    }
    if (length > receives.totalLength()) {
      from.clear();
      refuseLength(peer);
      return TransferResult.INVALID_REQUEST;
    }
    KeyEntry target = null;
    int targetOffset = 0;
    boolean scattered = gathered || (length > 0 && receives.length(0) < length);
    if (scattered) {
      if (!gathered) {
        from.add(source, sourceOffset, length);
      }
      if (!to.add(receives, length, peer)) {
        clearSpans();
        refuse(peer, CompletionStatus.LOC_PROT_ERR);
        return TransferResult.REMOTE_OPERATION;
      }
    } else if (length > 0) {
      target = peer.openReceive(receives.lkey(0), receives.address(0), length);
      if (target == null) {
        refuse(peer, CompletionStatus.LOC_PROT_ERR);
        return TransferResult.REMOTE_OPERATION;
      }
      targetOffset = target.offset(receives.address(0));
    }
    long entry =
        length <= claimFirst ? peer.receiveCompletions().claim() : DirectQueuePair.UNCLAIMED;
    Copied copied = Copied.ALL;
    try {
      if (scattered) {
        moveSpans(length);
      } else if (target != null) {
        move(source, sourceOffset, target.memory(), targetOffset, length);
      }
    } catch (RuntimeException | Error e) {
      copied = scattered ? failedEndOfSpans() : failedEnd(source, sourceOffset, length);
    }
    if (scattered) {
      clearSpans();
    }
    if (copied == Copied.ALL && isMoreToMove()) {
      return TransferResult.UNDER_WAY;
    }
    if (copied == Copied.SOURCE_FAILED) {
      if (acknowledged) {
        refuse(peer, entry, CompletionStatus.WR_FLUSH_ERR);
      }
      return TransferResult.LOCAL_PROTECTION;
    }
    boolean moved = copied == Copied.ALL;
    CompletionStatus status = moved ? CompletionStatus.SUCCESS : CompletionStatus.LOC_PROT_ERR;
    if (moved && flags == WorkCompletion.WITH_INV && !peer.invalidateRemotely(immediate)) {
      // The message itself has arrived, and is acknowledged: a class J error of the responder.
      status = CompletionStatus.REM_INV_REQ_ERR;
    }
    DirectSendQueue sends = pair.sends();
    peer.completeReceive(
        entry,
        sends
            .completion()
            .ends(status, CompletionOpcode.RECV, length)
            .carries(flags, immediate)
            .solicits((request.flags() & SendWorkRequest.SOLICITED) != 0),
        sends);
    return moved ? TransferResult.DONE : TransferResult.REMOTE_OPERATION;
  }

  private TransferResult write(
      SendWorkRequest request,
      DirectQueuePair peer,
      @Nullable KeyEntry local,
      @Nullable KeyEntry remote) {
    int length = payloadLength(request);
    ScatterGatherList buffers = request.buffers();
    ByteBuffer source = request.inlineData();
    int sourceOffset = 0;
    if (source != null) {
      sourceOffset = source.position();
    } else if (buffers.size() == 1 && length > 0) {
      KeyEntry region = pair.open(local, buffers.lkey(0), buffers.address(0), length, LOCAL_READ);
      if (region == null) {
        return TransferResult.LOCAL_PROTECTION;
      }
      source = region.memory();
      sourceOffset = region.offset(buffers.address(0));
    } else if (buffers.size() > 1 && !gather(request)) {
      return TransferResult.LOCAL_PROTECTION;
    }
    boolean withImmediate = request.opcode() == SendOpcode.RDMA_WRITE_WITH_IMM;
    TransferResult refusal = TransferResult.DONE;
    if (!peer.allows(REMOTE_WRITE)) {
      refusal = withoutRight(peer);
    } else if (withImmediate && acknowledged && !peer.hasReceive()) {
      from.clear();
      return TransferResult.RECEIVER_NOT_READY;
    }
    KeyEntry target = null;
    if (refusal == TransferResult.DONE && length > 0) {
      target =
          peer.open(remote, request.remoteKey(), request.remoteAddress(), length, REMOTE_WRITE);
      if (target == null) {
        refusal = TransferResult.REMOTE_ACCESS;
      }
    }
    if (refusal != TransferResult.DONE) {
      from.clear();
      if (withImmediate && acknowledged && refusal == TransferResult.REMOTE_ACCESS) {
        refuse(peer, CompletionStatus.REM_ACCESS_ERR);
      } else if (acknowledged) {
        raise(peer, refusal);
      }
      return refusal;
    }
    if (withImmediate && !acknowledged && !peer.hasReceive()) {
      from.clear();
      return TransferResult.RECEIVER_NOT_READY;
    }
    Copied copied = Copied.ALL;
    if (target != null) {
      int targetOffset = target.offset(request.remoteAddress());
      try {
        if (source == null) {
          to.add(target.memory(), targetOffset, length);
          moveSpans(length);
        } else {
          move(source, sourceOffset, target.memory(), targetOffset, length);
        }
      } catch (RuntimeException | Error e) {
        copied = source == null ? failedEndOfSpans() : failedEnd(source, sourceOffset, length);
      }
      if (source == null) {
        clearSpans();
      }
    }
    if (copied == Copied.ALL && isMoreToMove()) {
      return TransferResult.UNDER_WAY;
    }
    if (copied == Copied.SOURCE_FAILED) {
      return TransferResult.LOCAL_PROTECTION;
    }
    boolean moved = copied == Copied.ALL;
    // Without acknowledgements neither end learns of a refused WRITE, as with packets.
    if (withImmediate && (moved || acknowledged)) {
      CompletionStatus status = moved ? CompletionStatus.SUCCESS : CompletionStatus.LOC_PROT_ERR;
      DirectSendQueue sends = pair.sends();
      peer.completeReceive(
          DirectQueuePair.UNCLAIMED,
          sends
              .completion()
              .ends(status, CompletionOpcode.RECV_RDMA_WITH_IMM, length)
              .carries(WorkCompletion.WITH_IMM, request.immediate())
              .solicits((request.flags() & SendWorkRequest.SOLICITED) != 0),
          sends);
    }
    return moved ? TransferResult.DONE : TransferResult.REMOTE_OPERATION;
  }

  private TransferResult read(
      SendWorkRequest request,
      DirectQueuePair peer,
      @Nullable KeyEntry local,
      @Nullable KeyEntry remote) {
    ScatterGatherList buffers = request.buffers();
    int length = (int) buffers.totalLength();
    if (!peer.allows(REMOTE_READ) || !peer.servesReadsAndAtomics()) {
      TransferResult refusal = withoutRight(peer);
      raise(peer, refusal);
      return refusal;
    }
    if (length == 0) {
      return TransferResult.DONE;
    }
    KeyEntry source =
        peer.open(remote, request.remoteKey(), request.remoteAddress(), length, REMOTE_READ);
    if (source == null) {
      raise(peer, TransferResult.REMOTE_ACCESS);
      return TransferResult.REMOTE_ACCESS;
    }
    int sourceOffset = source.offset(request.remoteAddress());
    if (buffers.size() == 1) {
      KeyEntry target = pair.open(local, buffers.lkey(0), buffers.address(0), length, LOCAL_WRITE);
      if (target == null) {
        return TransferResult.LOCAL_PROTECTION;
      }
      int targetOffset = target.offset(buffers.address(0));
      try {
        move(source.memory(), sourceOffset, target.memory(), targetOffset, length);
        return moved(Copied.ALL);
      } catch (RuntimeException | Error e) {
        return moved(failedEnd(source.memory(), sourceOffset, length));
      }
    }
    if (!to.add(buffers, pair, LOCAL_WRITE)) {
      clearSpans();
      return TransferResult.LOCAL_PROTECTION;
    }
    from.add(source.memory(), sourceOffset, length);
    try {
      moveSpans(length);
      return moved(Copied.ALL);
    } catch (RuntimeException | Error e) {
      return moved(failedEndOfSpans());
    } finally {
      clearSpans();
    }
  }

  /** Returns whether the peer would execute a READ or atomic now. */
  boolean isServed(SendWorkRequest request) {
    DirectQueuePair peer = pair.reachablePeer();
    boolean isRead = request.opcode() == SendOpcode.RDMA_READ;
    int right = isRead ? REMOTE_READ : REMOTE_ATOMIC;
    int length = (int) request.buffers().totalLength();
    long address = request.remoteAddress();
    return peer != null
        && peer.allows(right)
        && peer.servesReadsAndAtomics()
        && (isRead || (length == Long.BYTES && (address & Long.BYTES - 1) == 0))
        && (length == 0 || peer.open(request.remoteKey(), address, length, right) != null);
  }

  /** Returns the result of a READ, whose source is the peer's memory. */
  private TransferResult moved(Copied copied) {
    return switch (copied) {
      case ALL -> isMoreToMove() ? TransferResult.UNDER_WAY : TransferResult.DONE;
      case SOURCE_FAILED -> TransferResult.REMOTE_OPERATION;
      case TARGET_FAILED -> TransferResult.LOCAL_PROTECTION;
    };
  }

  /** Returns whether only a part of the message was moved, so that more follows. */
  private boolean isMoreToMove() {
    return moving != null && moving.next();
  }

  private TransferResult atomic(SendWorkRequest request, DirectQueuePair peer) {
    ScatterGatherList buffers = request.buffers();
    if (!peer.allows(REMOTE_ATOMIC) || !peer.servesReadsAndAtomics()) {
      TransferResult refusal = withoutRight(peer);
      raise(peer, refusal);
      return refusal;
    }
    KeyEntry target =
        peer.open(request.remoteKey(), request.remoteAddress(), Long.BYTES, REMOTE_ATOMIC);
    if (target == null) {
      raise(peer, TransferResult.REMOTE_ACCESS);
      return TransferResult.REMOTE_ACCESS;
    }
    if ((request.remoteAddress() & Long.BYTES - 1) != 0) {
      TransferResult refusal = withoutRight(peer);
      raise(peer, refusal);
      return refusal;
    }
    long at = request.remoteAddress();
    boolean swap = request.opcode() == SendOpcode.ATOMIC_CMP_AND_SWP;
    TransferResult refusal = TransferResult.REMOTE_OPERATION;
    try {
      long before =
          swap
              ? target.compareAndSwap(at, request.compareOrAdd(), request.swap())
              : target.fetchAndAdd(at, request.compareOrAdd());
      // From here on the peer has executed the atomic, and only its answer can fail.
      refusal = TransferResult.LOCAL_PROTECTION;
      if (!to.add(buffers, pair, LOCAL_WRITE)) {
        return refusal;
      }
      to.writeLong(before);
    } catch (RuntimeException | Error e) {
      return refusal;
    } finally {
      clearSpans();
    }
    return TransferResult.DONE;
  }

  private boolean gather(SendWorkRequest request) {
    if (from.add(request.buffers(), pair, LOCAL_READ)) {
      return true;
    }
    from.clear();
    return false;
  }

  private void clearSpans() {
    from.clear();
    to.clear();
  }

  /** Does the same as {@link #move}, for several buffers at one end. */
  private void moveSpans(int length) {
    if (moving == null) {
      Spans.copy(from, to, length);
    } else {
      moving.begin(length);
      Spans.copy(from, to, moving.from(), moving.length());
    }
  }

  /**
   * Copies the bytes once. Throws if the program took memory away while it was registered: {@link
   * IllegalStateException} if the memory was freed, {@code WrongThreadException} if other threads
   * cannot access it, {@link InternalError} if its file was truncated. The request then fails like
   * one on a closed region, at the end whose memory it is. The callers catch the exception, not
   * this method, since the JVM may throw an {@link InternalError} as late as on return.
   */
  private void move(
      ByteBuffer source, int sourceOffset, ByteBuffer target, int targetOffset, int length) {
    if (moving == null) {
      target.put(targetOffset, source, sourceOffset, length);
    } else {
      moving.begin(length);
      int skip = moving.from();
      target.put(targetOffset + skip, source, sourceOffset + skip, moving.length());
    }
  }

  /** Returns which end's memory made the copy fail. */
  private static Copied failedEnd(ByteBuffer source, int sourceOffset, int length) {
    return Spans.isReadable(source, sourceOffset, length)
        ? Copied.TARGET_FAILED
        : Copied.SOURCE_FAILED;
  }

  private Copied failedEndOfSpans() {
    return from.isReadable() ? Copied.TARGET_FAILED : Copied.SOURCE_FAILED;
  }

  private void refuseLength(DirectQueuePair peer) {
    if (acknowledged || peer.shared() != null) {
      refuse(peer, CompletionStatus.LOC_LEN_ERR);
    }
  }

  /** Completes the peer's next receive with an error, which stops the peer's queue pair. */
  private void refuse(DirectQueuePair peer, CompletionStatus status) {
    refuse(peer, DirectQueuePair.UNCLAIMED, status);
  }

  private void refuse(DirectQueuePair peer, long entry, CompletionStatus status) {
    DirectSendQueue sends = pair.sends();
    peer.completeReceive(entry, sends.completion().ends(status, CompletionOpcode.RECV, 0), sends);
  }

  /**
   * Returns the refusal of a peer that does not allow a request: no answer, if it has just been
   * reset.
   */
  private static TransferResult withoutRight(DirectQueuePair peer) {
    return peer.isReceiving() ? TransferResult.INVALID_REQUEST : TransferResult.NO_ANSWER;
  }

  /** Raises an event at the peer for a refusal that completes none of its receives. */
  private static void raise(DirectQueuePair peer, TransferResult refusal) {
    if (refusal == TransferResult.NO_ANSWER) {
      return;
    }
    peer.device()
        .raise(
            refusal == TransferResult.REMOTE_ACCESS
                ? AsyncEvent.Type.QP_ACCESS_ERR
                : AsyncEvent.Type.QP_REQ_ERR,
            peer);
  }
}

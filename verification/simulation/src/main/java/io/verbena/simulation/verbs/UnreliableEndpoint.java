// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

import io.verbena.simulation.scenario.Arena;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.WorkCompletion;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An endpoint of an unreliable connection (UC) or for datagrams (UD). Requests complete when they
 * are sent. Each received message is a complete message of the peer, received no more often than
 * the wire delivered its last packet.
 */
final class UnreliableEndpoint extends SimulatedEndpoint {
  private static final int PSNS = 1 << 24;

  /** The number of duplicates of each packet that the wire sent to this endpoint, by PSN. */
  private final Map<Integer, Integer> duplicates = new HashMap<>();

  private final boolean datagrams;
  private @Nullable AddressHandle addressHandle;
  private @Nullable Gid peerGid;
  private int nextPsn;

  /** The PSN of the packet that arrived last. */
  private int arrivedPsn = -1;

  /** The number of packets that arrived when there may have been no receive. */
  private int arrivedWithoutReceive;

  private int lastReceived = -1;

  UnreliableEndpoint(
      VerbsSimulation simulation,
      Arena arena,
      int index,
      ConnectionConfig config,
      PostedReceives receives) {
    super(simulation, arena, index, config, 0, receives);
    datagrams = config.type() == QueuePairType.UD;
    nextPsn = config.psn(side);
  }

  @Override
  void connectTo(Gid gid) {
    peerGid = gid;
    if (datagrams) {
      addressHandle = domain().createAddressHandle(AddressVector.to(gid));
      pair().modify(to(QueuePairState.INIT).pkeyIndex(0).port(1).queueKey(queueKey()));
      pair().modify(to(QueuePairState.RTR));
    } else {
      pair()
          .modify(
              to(QueuePairState.INIT).pkeyIndex(0).port(1).access(EnumSet.of(Access.REMOTE_WRITE)));
      pair()
          .modify(
              to(QueuePairState.RTR)
                  .addressVector(AddressVector.to(gid))
                  .pathMtu(config.mtu())
                  .destinationQueuePair(peer().pair().number())
                  .receivePsn(config.psn(1 - side)));
    }
    pair().modify(to(QueuePairState.RTS).sendPsn(config.psn(side)));
  }

  @Override
  UnreliableEndpoint peer() {
    return (UnreliableEndpoint) super.peer();
  }

  private int queueKey() {
    return index + 1;
  }

  // ---- operations of the program

  @Override
  boolean mayPost(Operation operation) {
    return true;
  }

  @Override
  boolean needsFence(Operation operation) {
    return false;
  }

  @Override
  void fill(PostedRequest post) {
    Operation operation = post.operation;
    UnreliableEndpoint to = peer();
    SingleWriterRegister register = to.register(operation);
    int rkey = to.region().rkey();
    switch (operation.kind()) {
      case SEND, TOO_LARGE, WRONG_QUEUE_KEY -> request.send();
      case SEND_IMMEDIATE -> request.sendWithImmediate(operation.number());
      case WRITE -> {
        request.write(to.address(register.at), rkey);
        register.write(arena, post, sourceAt(operation));
      }
      case WRITE_IMMEDIATE -> {
        request.writeWithImmediate(to.address(register.at), rkey, operation.number());
        register.write(arena, post, sourceAt(operation));
      }
      case WRONG_KEY -> request.write(to.address(register.at), ~rkey);
      default -> throw new AssertionError(operation);
    }
    AddressHandle handle = addressHandle;
    if (handle != null) {
      int key = to.queueKey() + (operation.kind() == OperationKind.WRONG_QUEUE_KEY ? 1 : 0);
      request.to(handle, to.pair().number(), key);
    }
    addPayload(operation);
    post.lastPsn = (nextPsn + config.packets(operation.length()) - 1) % PSNS;
    nextPsn = (post.lastPsn + 1) % PSNS;
  }

  // ---- packets and completions

  /** Called when the wire duplicates a packet to this endpoint. */
  void onDuplicated(int psn) {
    duplicates.merge(psn, 1, Integer::sum);
  }

  /** Called when a packet arrives, which may be damaged. */
  void onArrival(int psn) {
    arrivedPsn = psn;
    if (receives.mayBeExhausted()) {
      arrivedWithoutReceive++;
    }
  }

  @Override
  void onReceiveCompletion(WorkCompletion completion, int slot) {
    requireOwn(completion);
    if (completion.status() == CompletionStatus.WR_FLUSH_ERR) {
      requireFailureReason();
      requireFirstFlush();
      acceptPartial(slot);
      return;
    }
    UnreliableEndpoint from = peer();
    PostedRequest message = from.messageEndingAt(arrivedPsn);
    require(message != null, "received a message that was not sent or is incomplete");
    OperationKind kind = message.operation.kind();
    require(
        message.deliveries++ <= duplicates.getOrDefault(arrivedPsn, 0),
        "message received again",
        message);
    require(
        message.message > lastReceived || from.hasFaults(),
        "message received out of order",
        message);
    lastReceived = message.message;
    if (!completion.isSuccess()) {
      boolean tooLarge = completion.status() == CompletionStatus.LOC_LEN_ERR;
      require(tooLarge && mustFailReceive(kind), "receive failed", completion);
      acceptPartial(slot);
      return;
    }
    require(!kind.isRejected(), "received a message that must be dropped", message);
    boolean written = kind == OperationKind.WRITE_IMMEDIATE;
    boolean immediate = written || kind == OperationKind.SEND_IMMEDIATE;
    int headerLength = datagrams ? PostedReceives.GRH_LENGTH : 0;
    int length = message.operation.length();
    require(
        completion.opcode()
            == (written ? CompletionOpcode.RECV_RDMA_WITH_IMM : CompletionOpcode.RECV),
        "opcode of a receive");
    require(completion.byteLength() == headerLength + length, "length of a message", message);
    require(completion.hasImmediate() == immediate, "immediate of a message");
    require(
        !immediate || completion.immediate() == message.operation.number(),
        "value of the immediate");
    int at = from.sourceAt(message.operation);
    if (written) {
      require(same(at, register(message.operation).at, length), "bytes of a WRITE", message);
    } else {
      require(same(at, slot + headerLength, length), "bytes of a message", message);
      arena.memory.get(at, arena.expected, slot + headerLength, length);
    }
    if (datagrams) {
      requireReplyAddress(completion, slot);
    }
    acceptPartial(slot);
  }

  /**
   * Returns whether the message must complete its receive with an error: if it is too large and the
   * receive is in a shared queue.
   */
  private boolean mustFailReceive(OperationKind kind) {
    return kind == OperationKind.TOO_LARGE && receives.isShared();
  }

  private void requireReplyAddress(WorkCompletion completion, int slot) {
    require(completion.sourceQueuePair() == peer().pair().number(), "source queue pair");
    try (AddressHandle back =
        domain()
            .createAddressHandle(completion, arena.memory.slice(slot, PostedReceives.GRH_LENGTH))) {
      require(back.vector().destination().equals(peerGid), "source of a datagram", back.vector());
    }
    arena.memory.get(slot, arena.expected, slot, PostedReceives.GRH_LENGTH);
  }

  /** Returns the message whose last packet has this PSN, or null. */
  private @Nullable PostedRequest messageEndingAt(int psn) {
    for (PostedRequest post : posts) {
      if (post.lastPsn == psn) {
        return post.operation.kind().takesReceive() ? post : null;
      }
    }
    return null;
  }

  /**
   * Adopts the bytes that dropped messages may have left in a receive, which later messages reuse.
   */
  private void acceptPartial(int slot) {
    if (datagrams || arena.isAsExpected(slot, maxLength())) {
      return;
    }
    for (PostedRequest post : peer().posts) {
      if (post.operation.kind().takesReceive()) {
        acceptPartial(slot, peer().sourceAt(post.operation), post.operation.length());
      }
    }
  }

  @Override
  void succeed(PostedRequest post) {
    post.state = PostedRequest.State.DONE;
  }

  @Override
  void fail(PostedRequest post, CompletionStatus status) {
    require(status == CompletionStatus.WR_FLUSH_ERR, status.name(), post);
    requireFailureReason();
    post.state = PostedRequest.State.FAILED;
    sendFailed = true;
  }

  @Override
  boolean mayHaveFailed() {
    return closed || failedByProgram;
  }

  // ---- checks at the end

  private boolean hasFaults() {
    return simulation.faultCostSince(this, 0) > 0;
  }

  /**
   * Checks that faults on the wire and missing receives explain all lost messages. Each of them may
   * cost two messages at most.
   */
  void requireReasonForLosses() {
    UnreliableEndpoint from = peer();
    if (mayHaveFailed() || from.mayHaveFailed()) {
      return;
    }
    int lost = 0;
    for (PostedRequest post : from.posts) {
      OperationKind kind = post.operation.kind();
      boolean isVisible = !kind.isRejected() || mustFailReceive(kind);
      if (kind.takesReceive() && isVisible && post.deliveries == 0) {
        lost++;
      }
    }
    long faultCost = simulation.faultCostSince(this, 0);
    require(lost <= 2 * faultCost + arrivedWithoutReceive, "messages lost without a reason", lost);
    if (faultCost == 0) {
      for (SingleWriterRegister register : registers) {
        require(
            arrivedWithoutReceive > 0 || register.isLatest(arena),
            "a WRITE was lost without a reason");
      }
    }
  }

  @Override
  void reconcile() {
    for (SingleWriterRegister register : registers) {
      register.reconcile(arena, peer());
    }
    for (int slot : receives.outstandingSlots()) {
      acceptPartial(slot);
    }
  }

  @Override
  void close() {
    AddressHandle handle = addressHandle;
    if (handle != null) {
      handle.close();
    }
    super.close();
  }
}

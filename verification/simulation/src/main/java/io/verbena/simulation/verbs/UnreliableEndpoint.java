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
 * An end of an unreliable connection, or of one for datagrams. What it sends is done when it is
 * sent; what it receives is whole and somebody's message, once for each time that the wire brings
 * the message's last packet.
 */
final class UnreliableEndpoint extends SimulatedEndpoint {
  private static final int PSNS = 1 << 24;

  /** How often the wire repeated a packet to this end, by its PSN. */
  private final Map<Integer, Integer> repeats = new HashMap<>();

  private final boolean datagrams;
  private @Nullable AddressHandle way;
  private @Nullable Gid to;
  private int nextPsn;

  /** The PSN of the packet that came last. */
  private int arrived = -1;

  /** Packets that came while there was no receive. */
  private int hungry;

  private int lastTaken = -1;

  UnreliableEndpoint(VerbsSimulation world, Arena arena, int index, ConnectionConfig plan, PostedReceives receives) {
    super(world, arena, index, plan, 0, receives);
    datagrams = plan.type() == QueuePairType.UD;
    nextPsn = plan.psn(side);
  }

  @Override
  void connectTo(Gid gid) {
    to = gid;
    if (datagrams) {
      way = domain().createAddressHandle(AddressVector.to(gid));
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
                  .pathMtu(plan.mtu())
                  .destinationQueuePair(peer().pair().number())
                  .receivePsn(plan.psn(1 - side)));
    }
    pair().modify(to(QueuePairState.RTS).sendPsn(plan.psn(side)));
  }

  @Override
  UnreliableEndpoint peer() {
    return (UnreliableEndpoint) super.peer();
  }

  private int queueKey() {
    return index + 1;
  }

  // ---- what the program does

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
    AddressHandle handle = way;
    if (handle != null) {
      int key = to.queueKey() + (operation.kind() == OperationKind.WRONG_QUEUE_KEY ? 1 : 0);
      request.to(handle, to.pair().number(), key);
    }
    payload(operation);
    post.lastPsn = (nextPsn + plan.packets(operation.length()) - 1) % PSNS;
    nextPsn = (post.lastPsn + 1) % PSNS;
  }

  // ---- what comes of it

  /** The wire repeats a packet to this end. */
  void isRepeated(int psn) {
    repeats.merge(psn, 1, Integer::sum);
  }

  /** The wire brings a packet to this end, maybe a damaged one. */
  void arrives(int psn) {
    arrived = psn;
    if (receives.mayBeTaken()) {
      hungry++;
    }
  }

  @Override
  void received(WorkCompletion completion, int slot) {
    requireOwn(completion);
    if (completion.status() == CompletionStatus.WR_FLUSH_ERR) {
      requireDead();
      requireFirstFlush();
      takePartly(slot);
      return;
    }
    UnreliableEndpoint from = peer();
    PostedRequest message = from.messageUpTo(arrived);
    require(message != null, "message that nobody sent, or not whole");
    OperationKind kind = message.operation.kind();
    require(message.deliveries++ <= repeats.getOrDefault(arrived, 0), "message again", message);
    require(
        message.message > lastTaken || from.isStruckOnTheWay(), "message out of order", message);
    lastTaken = message.message;
    if (!completion.isSuccess()) {
      boolean tooLarge = completion.status() == CompletionStatus.LOC_LEN_ERR;
      require(tooLarge && isToFail(kind), "receive fails", completion);
      takePartly(slot);
      return;
    }
    require(!kind.isRefused(), "message that is to be dropped", message);
    boolean written = kind == OperationKind.WRITE_IMMEDIATE;
    boolean immediate = written || kind == OperationKind.SEND_IMMEDIATE;
    int area = datagrams ? PostedReceives.AREA : 0;
    int length = message.operation.length();
    require(
        completion.opcode()
            == (written ? CompletionOpcode.RECV_RDMA_WITH_IMM : CompletionOpcode.RECV),
        "opcode of a receive");
    require(completion.byteLength() == area + length, "length of a message", message);
    require(completion.hasImmediate() == immediate, "immediate of a message");
    require(
        !immediate || completion.immediate() == message.operation.number(),
        "value of the immediate");
    int at = from.sourceAt(message.operation);
    if (written) {
      require(same(at, register(message.operation).at, length), "bytes of a WRITE", message);
    } else {
      require(same(at, slot + area, length), "bytes of a message", message);
      arena.memory.get(at, arena.expected, slot + area, length);
    }
    if (datagrams) {
      requireWayBack(completion, slot);
    }
    takePartly(slot);
  }

  /** Of a shared queue a receive is gone with the message that it is too small for. */
  private boolean isToFail(OperationKind kind) {
    return kind == OperationKind.TOO_LARGE && receives.isShared();
  }

  private void requireWayBack(WorkCompletion completion, int slot) {
    require(completion.sourceQueuePair() == peer().pair().number(), "source queue pair");
    try (AddressHandle back =
        domain().createAddressHandle(completion, arena.memory.slice(slot, PostedReceives.AREA))) {
      require(back.vector().destination().equals(to), "source of a datagram", back.vector());
    }
    arena.memory.get(slot, arena.expected, slot, PostedReceives.AREA);
  }

  /** The message whose last packet has a PSN. */
  private @Nullable PostedRequest messageUpTo(int psn) {
    for (PostedRequest post : posts) {
      if (post.lastPsn == psn) {
        return post.operation.kind().takesReceive() ? post : null;
      }
    }
    return null;
  }

  /** Takes over what messages that were dropped may have left in a receive, which is used again. */
  private void takePartly(int slot) {
    if (datagrams || arena.isAsExpected(slot, VerbsScenario.MAX_LENGTH)) {
      return;
    }
    for (PostedRequest post : peer().posts) {
      if (post.operation.kind().takesReceive()) {
        takePartly(slot, peer().sourceAt(post.operation), post.operation.length());
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
    requireDead();
    post.state = PostedRequest.State.FAILED;
    sendFailed = true;
  }

  @Override
  boolean isDead() {
    return closed || failedByProgram;
  }

  // ---- the end

  private boolean isStruckOnTheWay() {
    return world.harmSince(this, 0) > 0;
  }

  /** What was lost, the wire lost, or there was no receive for it: each time two at most. */
  void requireExcuses() {
    UnreliableEndpoint from = peer();
    if (isDead() || from.isDead()) {
      return;
    }
    int lost = 0;
    for (PostedRequest post : from.posts) {
      OperationKind kind = post.operation.kind();
      boolean tells = !kind.isRefused() || isToFail(kind);
      if (kind.takesReceive() && tells && post.deliveries == 0) {
        lost++;
      }
    }
    long harm = world.harmSince(this, 0);
    require(lost <= 2 * harm + hungry, "lost without a reason", lost);
    if (harm == 0) {
      for (SingleWriterRegister register : registers) {
        require(hungry > 0 || register.isLatest(arena), "a WRITE is lost without a reason");
      }
    }
  }

  @Override
  void settle() {
    for (SingleWriterRegister register : registers) {
      register.settle(arena, peer());
    }
    for (int slot : receives.unfinished()) {
      takePartly(slot);
    }
  }

  @Override
  void close() {
    AddressHandle handle = way;
    if (handle != null) {
      handle.close();
    }
    super.close();
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

import io.verbena.simulation.scenario.Arena;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Gid;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import org.jspecify.annotations.Nullable;

/**
 * An endpoint of a reliable connection (RC), with the model that each completion is checked
 * against.
 */
class ReliableEndpoint extends SimulatedEndpoint {
  private @Nullable RemoteKeyGrants grants;
  private final AllowedRetries allowedRetries;
  private long cellLatest;
  private long cellConfirmed;
  private int messagesReceived;
  private int executed;
  private boolean rejectedARequest;
  private boolean receiveFailed;

  ReliableEndpoint(
      VerbsSimulation simulation,
      Arena arena,
      int index,
      ConnectionConfig config,
      int reads,
      PostedReceives receives) {
    super(simulation, arena, index, config, reads, receives);
    allowedRetries = new AllowedRetries(config);
  }

  @Override
  void create(ProtectionDomain in, CompletionQueue queue) {
    super.create(in, queue);
    cellLatest = arena.memory.getLong(cell);
    cellConfirmed = cellLatest;
    grants = new RemoteKeyGrants(this, simulation, arena);
  }

  @Override
  void connectTo(Gid to) {
    pair()
        .modify(
            to(QueuePairState.INIT)
                .pkeyIndex(0)
                .port(1)
                .access(EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC)));
    pair()
        .modify(
            to(QueuePairState.RTR)
                .addressVector(AddressVector.to(to))
                .pathMtu(config.mtu())
                .destinationQueuePair(peer().pair().number())
                .receivePsn(config.psn(1 - side))
                .maxDestinationReadAtomic(config.reads())
                .minRnrTimer(config.rnrTimer()));
    pair()
        .modify(
            to(QueuePairState.RTS)
                .timeout(config.timeout())
                .retryCount(config.retryCount())
                .rnrRetry(config.rnrRetry())
                .sendPsn(config.psn(side))
                .maxReadAtomic(config.reads()));
  }

  @Override
  ReliableEndpoint peer() {
    return (ReliableEndpoint) super.peer();
  }

  RemoteKeyGrants grants() {
    RemoteKeyGrants own = grants;
    if (own == null) {
      throw new IllegalStateException("no grants yet");
    }
    return own;
  }

  // ---- operations of the program

  @Override
  boolean mayPost(Operation operation) {
    return grants().mayPost(operation);
  }

  /** Returns whether the operation would change memory that earlier READs must return unchanged. */
  @Override
  boolean needsFence(Operation operation) {
    return switch (operation.kind()) {
      case WRITE, WRITE_IMMEDIATE -> peer().register(operation).needsFence();
      // Earlier READs may be retried with the key that the operation revokes.
      case SEND_WITH_INVALIDATE -> true;
      default -> false;
    };
  }

  @Override
  void fill(PostedRequest post) {
    Operation operation = post.operation;
    ReliableEndpoint to = peer();
    MemoryRegion remoteRegion = to.region();
    SingleWriterRegister register = to.register(operation);
    switch (operation.kind()) {
      case SEND, TOO_LARGE -> request.send();
      case SEND_IMMEDIATE -> request.sendWithImmediate(operation.number());
      case WRITE, WRITE_IMMEDIATE -> {
        long address = selectKey(post, to.address(register.at));
        if (operation.kind() == OperationKind.WRITE) {
          request.write(address, rkey(post, remoteRegion.rkey()));
        } else {
          request.writeWithImmediate(address, rkey(post, remoteRegion.rkey()), operation.number());
        }
        register.write(arena, post, sourceAt(operation));
      }
      case WRONG_KEY -> request.write(to.address(register.at), ~remoteRegion.rkey());
      case REVOKED_KEY -> {
        KeyLifetime unusable = to.grants().invalidKeyFor(operation);
        request.write(
            unusable == null ? to.address(register.at) : unusable.address,
            unusable == null ? ~remoteRegion.rkey() : unusable.value);
      }
      case FOREIGN_WINDOW_KEY -> {
        KeyLifetime others = simulation.foreignWindowKey(to);
        request.write(
            others == null ? to.address(register.at) : others.address,
            others == null ? ~remoteRegion.rkey() : others.value);
      }
      case READ -> {
        long address = selectKey(post, to.address(register.at));
        request.read(address, rkey(post, remoteRegion.rkey()));
        post.expectedBytes = register.read(operation.length());
        addResultBuffers(post);
      }
      case READ_BEYOND_REGION -> {
        request.read(
            remoteRegion.address() + remoteRegion.length() - operation.length() + 1,
            remoteRegion.rkey());
        addResultBuffers(post);
      }
      case READ_BEYOND_WINDOW -> {
        RemoteKeyGrant grant = to.grants().grantFor(operation);
        KeyLifetime key = grant.validType2Key();
        request.read(
            grant.endAddress() - operation.length() + 1,
            key == null ? ~remoteRegion.rkey() : key.value);
        addResultBuffers(post);
      }
      case FETCH_ADD -> {
        SimulatedDevice device = simulation.device(to);
        Counter counter = device.counter(operation.target());
        counter.add(post);
        long address = selectKey(post, device.address(counter));
        request.fetchAndAdd(address, rkey(post, device.counterKey()), Counter.addend(post));
        addResultBuffers(post);
      }
      case REVOKED_TYPE_1_KEY -> {
        SimulatedDevice device = simulation.device(to);
        KeyLifetime unusable = device.type1Grant().revokedKey();
        request.fetchAndAdd(
            device.address(device.counter(operation.target())),
            unusable == null ? ~device.counterKey() : unusable.value,
            Counter.forbidden());
        addResultBuffers(post);
      }
      case MISALIGNED -> {
        request.fetchAndAdd(to.address(to.registers[1].at) + 1, remoteRegion.rkey(), 1);
        addResultBuffers(post);
      }
      case COMPARE_SWAP -> {
        boolean matches = operation.offset() % 4 != 0;
        post.before = to.cellLatest;
        post.after = matches ? scramble(to.cellLatest, operation.number()) : to.cellLatest;
        to.cellLatest = post.after;
        long address = selectKey(post, to.address(to.cell));
        request.compareAndSwap(
            address,
            rkey(post, remoteRegion.rkey()),
            matches ? post.before : ~post.before,
            scramble(post.before, operation.number()));
        addResultBuffers(post);
      }
      case READ_CELL -> {
        SingleWriterRegister beforeCell = to.registers[0];
        long address = selectKey(post, to.address(beforeCell.at));
        request.read(address, rkey(post, remoteRegion.rkey()));
        post.expectedBytes =
            ByteBuffer.allocate(operation.length())
                .order(arena.memory.order())
                .put(beforeCell.read(maxLength()))
                .putLong(to.cellLatest)
                .array();
        addResultBuffers(post);
      }
      case INVALIDATE_UNKNOWN_KEY -> request.sendWithInvalidate(~remoteRegion.rkey());
      case SEND_WITH_INVALIDATE -> {
        KeyLifetime key = to.grants().grantFor(operation).validType2Key();
        if (key == null) {
          request.send();
        } else {
          request.sendWithInvalidate(key.value);
          key.startRevoking();
          post.key = key;
        }
      }
      case GRANT_KEY ->
          post.key = grants().grantFor(operation).bind(request, operation.offset() % 3 == 0);
      case BIND_TYPE_1_WINDOW -> grants().grantFor(operation).bindType1(request);
      case LOCAL_INVALIDATE -> {
        KeyLifetime key = grants().grantFor(operation).key();
        if (key != null) {
          request.localInvalidate(key.value);
          key.startRevoking();
          post.key = key;
        }
      }
      case WRONG_QUEUE_KEY, DEALLOCATE, REREGISTER, DRAIN, FAIL, CLOSE ->
          throw new AssertionError(operation);
    }
    if (!operation.kind().isLocal() && !hasResult(operation.kind())) {
      addPayload(operation);
    }
  }

  /**
   * Selects a key that the peer granted, if the operation uses one. Returns the remote address to
   * use.
   */
  private long selectKey(PostedRequest post, long address) {
    RemoteKeyGrants peerGrants = peer().grants();
    KeyLifetime key = peerGrants.keyFor(post.operation);
    if (key == null) {
      return address;
    }
    key.outstandingUses++;
    post.key = key;
    // A second region over the same memory has addresses of its own.
    return peerGrants.grantFor(post.operation).source == RemoteKeyGrant.Source.REGION
        ? key.address
        : address;
  }

  private static int rkey(PostedRequest post, int regionKey) {
    KeyLifetime key = post.key;
    return key == null ? regionKey : key.value;
  }

  @Override
  void send(PostedRequest post) {
    if (post.operation.kind() == OperationKind.BIND_TYPE_1_WINDOW) {
      RemoteKeyGrant grant = grants().grantFor(post.operation);
      post.previousKey = grant.key();
      pair().bindMemoryWindow(request);
      post.key = grant.type1BindPosted();
    } else {
      pair().postSend(request);
    }
  }

  private static long scramble(long value, int number) {
    return (value ^ number + 1) * 0x9E3779B97F4A7C15L;
  }

  static boolean hasResult(OperationKind kind) {
    return switch (kind) {
      case READ,
          READ_CELL,
          READ_BEYOND_REGION,
          READ_BEYOND_WINDOW,
          FETCH_ADD,
          REVOKED_TYPE_1_KEY,
          MISALIGNED,
          COMPARE_SWAP ->
          true;
      default -> false;
    };
  }

  // ---- completions

  @Override
  void onReceiveCompletion(WorkCompletion completion, int slot) {
    requireOwn(completion);
    if (!completion.isSuccess()) {
      receiveFailed(completion.status(), slot);
      return;
    }
    require(!receiveFailed, "receive succeeded after one that failed");
    ReliableEndpoint from = peer();
    PostedRequest message = from.messageNumber(messagesReceived++);
    require(message != null, "received a message that was not sent");
    OperationKind kind = message.operation.kind();
    require(
        kind != OperationKind.INVALIDATE_UNKNOWN_KEY,
        "received a message that invalidates an unknown key");
    boolean written = kind == OperationKind.WRITE_IMMEDIATE;
    boolean immediate = written || kind == OperationKind.SEND_IMMEDIATE;
    require(kind != OperationKind.TOO_LARGE, "received a message larger than its receive");
    require(
        completion.opcode()
            == (written ? CompletionOpcode.RECV_RDMA_WITH_IMM : CompletionOpcode.RECV),
        "opcode of a receive");
    require(completion.byteLength() == message.operation.length(), "length of a message");
    require(completion.hasImmediate() == immediate, "immediate of a message");
    require(
        !immediate || completion.immediate() == message.operation.number(),
        "value of the immediate");
    requireInvalidated(completion, kind == OperationKind.SEND_WITH_INVALIDATE ? message.key : null);
    if (written) {
      register(message.operation).check(arena, from);
    } else {
      int at = from.sourceAt(message.operation);
      require(same(at, slot, message.operation.length()), "bytes of a message");
      arena.memory.get(at, arena.expected, slot, message.operation.length());
    }
    from.arrived(message);
  }

  /** Called when the peer has received a message. */
  void arrived(PostedRequest message) {}

  private void requireInvalidated(WorkCompletion completion, @Nullable KeyLifetime key) {
    boolean invalidated = (completion.flags() & WorkCompletion.WITH_INV) != 0;
    require(invalidated == (key != null), "presence of an invalidated key");
    if (key != null) {
      require(completion.invalidatedKey() == key.value, "value of the invalidated key");
      key.revoke();
    }
  }

  private void receiveFailed(CompletionStatus status, int slot) {
    requireFirstFlush();
    if (!receiveFailed) {
      receiveFailed = true;
      PostedRequest message = peer().messageNumber(messagesReceived);
      if (message != null) {
        // The part of the message that arrived before the failure may be in the receive.
        acceptPartial(slot, peer().sourceAt(message.operation), message.operation.length());
      }
      if (status != CompletionStatus.WR_FLUSH_ERR) {
        require(message != null && explains(message, status), "receive failed", status);
        return;
      }
    }
    require(status == CompletionStatus.WR_FLUSH_ERR, "receive failed", status);
    requireFailureReason();
  }

  /**
   * Returns whether the receive of a message may fail with this status, having been consumed before
   * the message was rejected.
   */
  private static boolean explains(PostedRequest message, CompletionStatus status) {
    OperationKind kind = message.operation.kind();
    return switch (status) {
      case LOC_LEN_ERR -> kind == OperationKind.TOO_LARGE;
      case REM_INV_REQ_ERR -> kind == OperationKind.INVALIDATE_UNKNOWN_KEY;
      case REM_ACCESS_ERR -> kind == OperationKind.WRITE_IMMEDIATE && message.mayBeRejected();
      default -> false;
    };
  }

  @Override
  void succeed(PostedRequest post) {
    OperationKind kind = post.operation.kind();
    ReliableEndpoint to = peer();
    Operation operation = post.operation;
    post.state = PostedRequest.State.DONE;
    post.doneAt = simulation.now();
    if (post.signaled) {
      allowedRetries.lastProgressAt = simulation.now();
    }
    if (kind.isLocal()) {
      updateOwnKeys(post);
    } else if (isExecutedWhenDone(kind)) {
      executedUpTo(post);
    }
    switch (kind) {
      case READ, READ_CELL -> {
        byte[] expected = post.expectedBytes;
        for (int i = 0; expected != null && i < expected.length; i++) {
          require(arena.memory.get(post.resultAt + i) == expected[i], "byte of a READ", post);
          arena.expected[post.resultAt + i] = expected[i];
        }
      }
      case FETCH_ADD -> {
        long found = arena.memory.getLong(post.resultAt);
        post.state = PostedRequest.State.POSTED;
        simulation.device(to).counter(operation.target()).checkFound(post, found);
        post.state = PostedRequest.State.DONE;
        arena.expectLong(post.resultAt, found);
      }
      case COMPARE_SWAP -> {
        long found = arena.memory.getLong(post.resultAt);
        require(found == post.before, "wrong value returned by a compare-and-swap", post);
        arena.expectLong(post.resultAt, found);
        to.cellConfirmed = post.after;
      }
      default -> {}
    }
  }

  /** Returns whether the success of a request proves that the peer has executed it. */
  boolean isExecutedWhenDone(OperationKind kind) {
    return true;
  }

  /**
   * Called when the peer is known to have executed a request. The peer has then executed all
   * earlier requests, too, except those with a result, which it may still be reading.
   */
  final void executedUpTo(PostedRequest post) {
    while (executed < post.number) {
      PostedRequest next = posts.get(executed++);
      OperationKind kind = next.operation.kind();
      if (!next.executed && !kind.isLocal() && !hasResult(kind)) {
        executed(next);
      }
    }
    if (!post.executed) {
      executed(post);
    }
  }

  private void executed(PostedRequest post) {
    OperationKind kind = post.operation.kind();
    ReliableEndpoint to = peer();
    require(!kind.isRejected(), "executed a request that must be rejected", post);
    if (kind.takesReceive() && kind != OperationKind.INVALIDATE_UNKNOWN_KEY) {
      require(
          post.message < to.messagesReceived || to.closed,
          "executed before the message was received",
          post);
    }
    post.executed = true;
    KeyLifetime key = post.key;
    if (key != null) {
      if (kind.isAccess()) {
        key.outstandingUses--;
      } else if (kind == OperationKind.SEND_WITH_INVALIDATE) {
        key.revoke();
      }
    }
    if (kind == OperationKind.WRITE || kind == OperationKind.WRITE_IMMEDIATE) {
      to.register(post.operation).completed(arena, post, this);
    }
  }

  /** Updates the lifetime of the key that a local request granted or revoked. */
  private void updateOwnKeys(PostedRequest post) {
    KeyLifetime key = post.key;
    switch (post.operation.kind()) {
      case GRANT_KEY, BIND_TYPE_1_WINDOW -> {
        if (key != null) {
          key.activate();
        }
        KeyLifetime before = post.previousKey;
        if (before != null) {
          before.revoke();
        }
      }
      case LOCAL_INVALIDATE -> {
        if (key != null) {
          key.revoke();
        }
      }
      default -> {}
    }
  }

  @Override
  void fail(PostedRequest post, CompletionStatus status) {
    boolean mayBeRefused = post.operation.kind().isAccess() && post.mayBeRejected();
    post.state = PostedRequest.State.FAILED;
    KeyLifetime key = post.key;
    if (key != null && post.operation.kind().isAccess() && !post.executed) {
      key.outstandingUses--;
    }
    acceptPartial(post);
    if (status == CompletionStatus.WR_FLUSH_ERR) {
      requireFailureReason();
      sendFailed = true;
      return;
    }
    require(!sendFailed, "second failure", post);
    sendFailed = true;
    requireReason(post, status, mayBeRefused);
  }

  /** Checks that there is a reason for the failure of the first request that fails. */
  void requireReason(PostedRequest post, CompletionStatus status, boolean mayBeRefused) {
    switch (status) {
      case RETRY_EXC_ERR ->
          require(
              peer().mayHaveFailed()
                  || simulation.faultCostSince(
                          this, Math.min(allowedRetries.lastProgressAt, post.postedAt))
                      > config.retryCount(),
              "no reason for RETRY_EXC_ERR",
              post);
      case RNR_RETRY_EXC_ERR ->
          require(
              allowedRetries.allowsRnrFailure(simulation.now()),
              "no reason for RNR_RETRY_EXC_ERR",
              post);
      default -> {
        require(
            status == post.operation.kind().expectedStatus()
                || (mayBeRefused && status == CompletionStatus.REM_ACCESS_ERR),
            status.name(),
            post);
        peer().rejectedARequest = true;
      }
    }
  }

  /** Returns whether the first parts of a failed READ arrive, before the part out of bounds. */
  private boolean arrivesInPart(PostedRequest post) {
    OperationKind kind = post.operation.kind();
    return simulation.readsInParts()
        && (kind == OperationKind.READ_BEYOND_REGION || kind == OperationKind.READ_BEYOND_WINDOW);
  }

  private void acceptPartial(PostedRequest post) {
    if (arrivesInPart(post)) {
      for (int i = post.resultAt; i < post.resultAt + post.operation.length(); i++) {
        arena.expected[i] = arena.memory.get(i);
      }
    }
    byte[] expected = post.expectedBytes;
    if (expected != null) {
      for (int i = 0; i < expected.length; i++) {
        if (arena.memory.get(post.resultAt + i) == expected[i]) {
          arena.expected[post.resultAt + i] = expected[i];
        }
      }
    }
  }

  @Override
  boolean mayHaveFailed() {
    return closed
        || failedByProgram
        || sendFailed
        || receiveFailed
        || rejectedARequest
        || peer().posts.stream().anyMatch(PostedRequest::mayBeRejected);
  }

  // ---- packets

  /** Called when this endpoint sends a NAK for a missing packet. */
  void sendsSequenceErrorNak(int psn) {
    peer().allowedRetries.sequenceErrorNak(psn);
  }

  /** Called when this endpoint sends an RNR NAK. */
  void sendsRnrNak(int psn) {
    simulation.poll();
    require(
        receives.mayHaveBeenExhausted(simulation.now()), "RNR NAK although a receive was posted");
    peer().allowedRetries.rnrNak(psn, simulation.now());
  }

  /** Called when the wire duplicates an RNR NAK to this endpoint. */
  void onDuplicatedRnrNak() {
    allowedRetries.rnrNakDuplicated();
  }

  // ---- checks at the end

  @Override
  void reconcile() {
    ReliableEndpoint writer = peer();
    for (SingleWriterRegister register : registers) {
      register.reconcile(arena, writer);
    }
    long remoteRegion = arena.memory.getLong(cell);
    boolean explained = remoteRegion == cellConfirmed;
    for (PostedRequest post : writer.posts) {
      explained |=
          post.operation.kind() == OperationKind.COMPARE_SWAP
              && post.state != PostedRequest.State.DONE
              && remoteRegion == post.after;
    }
    require(explained, "wrong value left by compare-and-swaps");
    arena.expectLong(cell, remoteRegion);
    if (closed) {
      reconcileClosed();
    }
  }

  /**
   * A closed queue pair has no completions, but its requests and receives may have changed memory.
   */
  private void reconcileClosed() {
    for (PostedRequest post : posts) {
      if (!post.isCompleted() && (post.expectedBytes != null || arrivesInPart(post))) {
        acceptPartial(post);
      } else if (!post.isCompleted() && hasResult(post.operation.kind())) {
        arena.expectLong(post.resultAt, arena.memory.getLong(post.resultAt));
      }
    }
    int[] slots = receives.outstandingSlots();
    for (int i = 0; i < slots.length; i++) {
      for (int number = messagesReceived; ; number++) {
        PostedRequest message = peer().messageNumber(number);
        if (message == null) {
          break;
        }
        acceptPartial(slots[i], peer().sourceAt(message.operation), message.operation.length());
      }
    }
  }

  @Override
  void close() {
    closed = true;
    pair().close();
    grants().close();
    super.close();
  }
}

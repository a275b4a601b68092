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
import java.util.EnumSet;
import org.jspecify.annotations.Nullable;

/** An end of a reliable connection, and the model that each completion is held against. */
final class ReliableEndpoint extends SimulatedEndpoint {
  private @Nullable RemoteKeyGrants doors;
  private final AllowedRetries excuses;
  private long cellLatest;
  private long cellSure;
  private int messagesTaken;
  private boolean refusedByPeer;
  private boolean receiveFailed;

  ReliableEndpoint(VerbsSimulation world, Arena arena, int index, ConnectionConfig plan, int reads, PostedReceives receives) {
    super(world, arena, index, plan, reads, receives);
    excuses = new AllowedRetries(plan);
  }

  @Override
  void create(ProtectionDomain in, CompletionQueue queue) {
    super.create(in, queue);
    cellLatest = arena.memory.getLong(cell);
    cellSure = cellLatest;
    doors = new RemoteKeyGrants(this, world, arena);
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
                .pathMtu(plan.mtu())
                .destinationQueuePair(peer().pair().number())
                .receivePsn(plan.psn(1 - side))
                .maxDestinationReadAtomic(plan.reads())
                .minRnrTimer(plan.rnrTimer()));
    pair()
        .modify(
            to(QueuePairState.RTS)
                .timeout(plan.timeout())
                .retryCount(plan.retryCount())
                .rnrRetry(plan.rnrRetry())
                .sendPsn(plan.psn(side))
                .maxReadAtomic(plan.reads()));
  }

  @Override
  ReliableEndpoint peer() {
    return (ReliableEndpoint) super.peer();
  }

  RemoteKeyGrants doors() {
    RemoteKeyGrants own = doors;
    if (own == null) {
      throw new IllegalStateException("no doors yet");
    }
    return own;
  }

  // ---- what the program does

  @Override
  boolean mayPost(Operation operation) {
    return doors().mayPost(operation);
  }

  /** Whether it writes where earlier READs are still to find what was there before. */
  @Override
  boolean needsFence(Operation operation) {
    return switch (operation.kind()) {
      case WRITE, WRITE_IMMEDIATE -> peer().register(operation).needsFence();
      // READs before it may have to be asked for again, by the key that it ends.
      case GIVE_BACK -> true;
      default -> false;
    };
  }

  @Override
  void fill(PostedRequest post) {
    Operation operation = post.operation;
    ReliableEndpoint to = peer();
    MemoryRegion there = to.region();
    SingleWriterRegister register = to.register(operation);
    switch (operation.kind()) {
      case SEND, TOO_LARGE -> request.send();
      case SEND_IMMEDIATE -> request.sendWithImmediate(operation.number());
      case WRITE, WRITE_IMMEDIATE -> {
        long address = enter(post, to.address(register.at));
        if (operation.kind() == OperationKind.WRITE) {
          request.write(address, key(post, there.rkey()));
        } else {
          request.writeWithImmediate(address, key(post, there.rkey()), operation.number());
        }
        register.write(arena, post, sourceAt(operation));
      }
      case WRONG_KEY -> request.write(to.address(register.at), ~there.rkey());
      case DEAD_KEY -> {
        KeyLifetime dead = to.doors().dead(operation);
        request.write(
            dead == null ? to.address(register.at) : dead.address,
            dead == null ? ~there.rkey() : dead.key);
      }
      case OTHERS_KEY -> {
        KeyLifetime others = world.windowOfOther(to);
        request.write(
            others == null ? to.address(register.at) : others.address,
            others == null ? ~there.rkey() : others.key);
      }
      case READ -> {
        long address = enter(post, to.address(register.at));
        request.read(address, key(post, there.rkey()));
        post.due = register.read(operation.length());
        answer(post);
      }
      case BEYOND -> {
        request.read(there.address() + there.length() - operation.length() + 1, there.rkey());
        answer(post);
      }
      case BEYOND_DOOR -> {
        RemoteKeyGrant door = to.doors().of(operation);
        KeyLifetime life = door.windowLife();
        request.read(door.end() - operation.length() + 1, life == null ? ~there.rkey() : life.key);
        answer(post);
      }
      case FETCH_ADD -> {
        SimulatedDevice device = world.device(to);
        Counter counter = device.counter(operation.target());
        counter.add(post);
        long address = enter(post, device.address(counter));
        request.fetchAndAdd(address, key(post, device.counterKey()), Counter.addend(post));
        answer(post);
      }
      case DEAD_ADD -> {
        SimulatedDevice device = world.device(to);
        KeyLifetime dead = device.hatch().dead();
        request.fetchAndAdd(
            device.address(device.counter(operation.target())),
            dead == null ? ~device.counterKey() : dead.key,
            1);
        answer(post);
      }
      case MISALIGNED -> {
        request.fetchAndAdd(to.address(to.registers[1].at) + 1, there.rkey(), 1);
        answer(post);
      }
      case COMPARE_SWAP -> {
        boolean hit = operation.offset() % 4 != 0;
        post.before = to.cellLatest;
        post.after = hit ? mix(to.cellLatest, operation.number()) : to.cellLatest;
        to.cellLatest = post.after;
        long address = enter(post, to.address(to.cell));
        request.compareAndSwap(
            address,
            key(post, there.rkey()),
            hit ? post.before : ~post.before,
            mix(post.before, operation.number()));
        answer(post);
      }
      case INVALIDATE_NOTHING -> request.sendWithInvalidate(~there.rkey());
      case GIVE_BACK -> {
        KeyLifetime life = to.doors().of(operation).windowLife();
        if (life == null) {
          request.send();
        } else {
          request.sendWithInvalidate(life.key);
          life.end();
          post.life = life;
        }
      }
      case OPEN -> post.life = doors().of(operation).bind(request, operation.offset() % 3 == 0);
      case BIND_ANEW -> doors().of(operation).bindAnew(request);
      case INVALIDATE -> {
        KeyLifetime life = doors().of(operation).life();
        if (life != null) {
          request.localInvalidate(life.key);
          life.end();
          post.life = life;
        }
      }
      case WRONG_QUEUE_KEY, DEALLOCATE, REREGISTER, DRAIN, FAIL, CLOSE ->
          throw new AssertionError(operation);
    }
    if (!operation.kind().isLocal() && !bringsAnswer(operation.kind())) {
      payload(operation);
    }
  }

  /** Takes a key of the peer's own for it, if there is one; answers the address to use. */
  private long enter(PostedRequest post, long address) {
    RemoteKeyGrants theirs = peer().doors();
    KeyLifetime life = theirs.enter(post.operation);
    if (life == null) {
      return address;
    }
    life.uses++;
    post.life = life;
    // Another region over the same memory has addresses of its own.
    return theirs.of(post.operation).sort == RemoteKeyGrant.Sort.REGION ? life.address : address;
  }

  private static int key(PostedRequest post, int otherwise) {
    KeyLifetime life = post.life;
    return life == null ? otherwise : life.key;
  }

  @Override
  void send(PostedRequest post) {
    if (post.operation.kind() == OperationKind.BIND_ANEW) {
      RemoteKeyGrant door = doors().of(post.operation);
      post.lifeBefore = door.life();
      pair().bindMemoryWindow(request);
      post.life = door.boundAnew();
    } else {
      pair().postSend(request);
    }
  }

  private static long mix(long value, int number) {
    return (value ^ number + 1) * 0x9E3779B97F4A7C15L;
  }

  static boolean bringsAnswer(OperationKind kind) {
    return switch (kind) {
      case READ, BEYOND, BEYOND_DOOR, FETCH_ADD, DEAD_ADD, MISALIGNED, COMPARE_SWAP -> true;
      default -> false;
    };
  }

  // ---- what comes of it

  @Override
  void received(WorkCompletion completion, int slot) {
    requireOwn(completion);
    if (!completion.isSuccess()) {
      receiveFailed(completion.status(), slot);
      return;
    }
    require(!receiveFailed, "receive succeeds after one that failed");
    ReliableEndpoint from = peer();
    PostedRequest message = from.message(messagesTaken++);
    require(message != null, "message that nobody sent");
    OperationKind kind = message.operation.kind();
    require(kind != OperationKind.INVALIDATE_NOTHING, "message that invalidates nothing");
    boolean written = kind == OperationKind.WRITE_IMMEDIATE;
    boolean immediate = written || kind == OperationKind.SEND_IMMEDIATE;
    require(kind != OperationKind.TOO_LARGE, "message larger than its receive");
    require(
        completion.opcode()
            == (written ? CompletionOpcode.RECV_RDMA_WITH_IMM : CompletionOpcode.RECV),
        "opcode of a receive");
    require(completion.byteLength() == message.operation.length(), "length of a message");
    require(completion.hasImmediate() == immediate, "immediate of a message");
    require(
        !immediate || completion.immediate() == message.operation.number(),
        "value of the immediate");
    requireInvalidated(completion, kind == OperationKind.GIVE_BACK ? message.life : null);
    if (written) {
      register(message.operation).check(arena, from);
    } else {
      int at = from.sourceAt(message.operation);
      require(same(at, slot, message.operation.length()), "bytes of a message");
      arena.memory.get(at, arena.expected, slot, message.operation.length());
    }
  }

  private void requireInvalidated(WorkCompletion completion, @Nullable KeyLifetime life) {
    boolean told = (completion.flags() & WorkCompletion.WITH_INV) != 0;
    require(told == (life != null), "key of a message");
    if (life != null) {
      require(completion.invalidatedKey() == life.key, "value of the key");
      life.over();
    }
  }

  private void receiveFailed(CompletionStatus status, int slot) {
    requireFirstFlush();
    if (!receiveFailed) {
      receiveFailed = true;
      PostedRequest message = peer().message(messagesTaken);
      if (message != null) {
        // What of it had come before may stand there.
        takePartly(slot, peer().sourceAt(message.operation), message.operation.length());
      }
      if (status != CompletionStatus.WR_FLUSH_ERR) {
        require(message != null && earns(message, status), "receive fails", status);
        return;
      }
    }
    require(status == CompletionStatus.WR_FLUSH_ERR, "receive fails", status);
    requireDead();
  }

  /** Whether a message's receive may fail like this: then it had taken it when it was refused. */
  private static boolean earns(PostedRequest message, CompletionStatus status) {
    OperationKind kind = message.operation.kind();
    return switch (status) {
      case LOC_LEN_ERR -> kind == OperationKind.TOO_LARGE;
      case REM_INV_REQ_ERR -> kind == OperationKind.INVALIDATE_NOTHING;
      case REM_ACCESS_ERR -> kind == OperationKind.WRITE_IMMEDIATE && message.mayBeRefused();
      default -> false;
    };
  }

  @Override
  void succeed(PostedRequest post) {
    OperationKind kind = post.operation.kind();
    require(!kind.isRefused(), "success of what is to be refused", post);
    ReliableEndpoint to = peer();
    Operation operation = post.operation;
    post.state = PostedRequest.State.DONE;
    post.doneAt = world.now();
    if (post.signaled) {
      excuses.progressAt = world.now();
    }
    if (kind.takesReceive() && kind != OperationKind.INVALIDATE_NOTHING) {
      require(post.message < to.messagesTaken || to.closed, "success before the receive", post);
    }
    settleKey(post);
    switch (kind) {
      case WRITE, WRITE_IMMEDIATE -> to.register(operation).done(arena, post, this);
      case READ -> {
        byte[] due = post.due;
        for (int i = 0; due != null && i < due.length; i++) {
          require(arena.memory.get(post.resultAt + i) == due[i], "byte of a READ", post);
          arena.expected[post.resultAt + i] = due[i];
        }
      }
      case FETCH_ADD -> {
        long found = arena.memory.getLong(post.resultAt);
        post.state = PostedRequest.State.POSTED;
        world.device(to).counter(operation.target()).checkFound(post, found);
        post.state = PostedRequest.State.DONE;
        arena.expectLong(post.resultAt, found);
      }
      case COMPARE_SWAP -> {
        long found = arena.memory.getLong(post.resultAt);
        require(found == post.before, "compare-and-swap found something else", post);
        arena.expectLong(post.resultAt, found);
        to.cellSure = post.after;
      }
      default -> {}
    }
  }

  /** What a request that succeeded means to the key that it used, gave or ended. */
  private void settleKey(PostedRequest post) {
    KeyLifetime life = post.life;
    switch (post.operation.kind()) {
      case WRITE, WRITE_IMMEDIATE, READ, FETCH_ADD, COMPARE_SWAP -> {
        if (life != null) {
          life.uses--;
        }
      }
      case OPEN, BIND_ANEW -> {
        if (life != null) {
          life.begin();
        }
        KeyLifetime before = post.lifeBefore;
        if (before != null) {
          before.over();
        }
      }
      case INVALIDATE, GIVE_BACK -> {
        if (life != null) {
          life.over();
        }
      }
      default -> {}
    }
  }

  @Override
  void fail(PostedRequest post, CompletionStatus status) {
    boolean mayBeRefused = post.operation.kind().isAccess() && post.mayBeRefused();
    post.state = PostedRequest.State.FAILED;
    KeyLifetime life = post.life;
    if (life != null && post.operation.kind().isAccess()) {
      life.uses--;
    }
    takePartly(post);
    if (status == CompletionStatus.WR_FLUSH_ERR) {
      requireDead();
      sendFailed = true;
      return;
    }
    require(!sendFailed, "second failure", post);
    sendFailed = true;
    switch (status) {
      case RETRY_EXC_ERR ->
          require(
              peer().isDead()
                  || world.harmSince(this, Math.min(excuses.progressAt, post.postedAt))
                      > plan.retryCount(),
              "no reason for RETRY_EXC_ERR",
              post);
      case RNR_RETRY_EXC_ERR ->
          require(excuses.excuseRnrFailure(world.now()), "no reason for RNR_RETRY_EXC_ERR", post);
      default -> {
        require(
            status == post.operation.kind().due()
                || (mayBeRefused && status == CompletionStatus.REM_ACCESS_ERR),
            status.name(),
            post);
        peer().refusedByPeer = true;
      }
    }
  }

  /** Parts of a READ before the one that reaches beyond are in their right. */
  private boolean comesUntilRefused(PostedRequest post) {
    OperationKind kind = post.operation.kind();
    return world.readsInParts() && (kind == OperationKind.BEYOND || kind == OperationKind.BEYOND_DOOR);
  }

  private void takePartly(PostedRequest post) {
    if (comesUntilRefused(post)) {
      for (int i = post.resultAt; i < post.resultAt + post.operation.length(); i++) {
        arena.expected[i] = arena.memory.get(i);
      }
    }
    byte[] due = post.due;
    if (due != null) {
      for (int i = 0; i < due.length; i++) {
        if (arena.memory.get(post.resultAt + i) == due[i]) {
          arena.expected[post.resultAt + i] = due[i];
        }
      }
    }
  }

  @Override
  boolean isDead() {
    return closed
        || failedByProgram
        || sendFailed
        || receiveFailed
        || refusedByPeer
        || peer().posts.stream().anyMatch(PostedRequest::mayBeRefused);
  }

  // ---- what is on the wire

  /** This end tells its peer that a packet is missing. */
  void saysMissing(int psn) {
    peer().excuses.missing(psn);
  }

  /** This end tells its peer that it has no receive. */
  void saysNotReady(int psn) {
    world.poll();
    require(receives.mayBeEmpty(world.now()), "RNR NAK with a receive posted");
    peer().excuses.notReady(psn, world.now());
  }

  /** The wire repeats an RNR NAK to this end. */
  void isToldTwice() {
    excuses.toldTwice();
  }

  // ---- the end

  @Override
  void settle() {
    ReliableEndpoint writer = peer();
    for (SingleWriterRegister register : registers) {
      register.settle(arena, writer);
    }
    long there = arena.memory.getLong(cell);
    boolean known = there == cellSure;
    for (PostedRequest post : writer.posts) {
      known |=
          post.operation.kind() == OperationKind.COMPARE_SWAP
              && post.state != PostedRequest.State.DONE
              && there == post.after;
    }
    require(known, "a compare-and-swap left something else");
    arena.expectLong(cell, there);
    if (closed) {
      settleClosed();
    }
  }

  /** A queue pair that was closed completes nothing; what it has done stands in memory. */
  private void settleClosed() {
    for (PostedRequest post : posts) {
      if (!post.isDone() && (post.due != null || comesUntilRefused(post))) {
        takePartly(post);
      } else if (!post.isDone() && bringsAnswer(post.operation.kind())) {
        arena.expectLong(post.resultAt, arena.memory.getLong(post.resultAt));
      }
    }
    int[] slots = receives.unfinished();
    for (int i = 0; i < slots.length; i++) {
      for (int taken = messagesTaken; ; taken++) {
        PostedRequest message = peer().message(taken);
        if (message == null) {
          break;
        }
        takePartly(slots[i], peer().sourceAt(message.operation), message.operation.length());
      }
    }
  }

  @Override
  void close() {
    closed = true;
    pair().close();
    doors().close();
    super.close();
  }
}

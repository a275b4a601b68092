// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.Violation;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Gid;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.WorkCompletion;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One endpoint of a connection: its queue pair, its memory, and the part of the model that all
 * transports share, namely that requests complete once and in order.
 */
abstract class SimulatedEndpoint {
  private static final int MAX_INLINE = 64;
  private static final int ID_SHIFT = 32;
  private static final Set<Access> RIGHTS =
      Set.copyOf(
          EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE, Access.MW_BIND));
  private static final Set<Access> RIGHTS_WITH_ATOMICS =
      Set.copyOf(
          EnumSet.of(
              Access.LOCAL_WRITE,
              Access.REMOTE_READ,
              Access.REMOTE_WRITE,
              Access.REMOTE_ATOMIC,
              Access.MW_BIND));

  final int index;
  final int side;
  final ConnectionConfig config;
  final VerbsSimulation simulation;
  final Arena arena;
  final PostedReceives receives;

  // Memory, as offsets in the arena.
  final SingleWriterRegister[] registers = new SingleWriterRegister[VerbsScenario.REGISTERS];
  final int cell;
  private final int source;
  private int results;
  private final int resultsEnd;
  private final int memoryEnd;

  private @Nullable ProtectionDomain domain;
  private @Nullable MemoryRegion region;
  private @Nullable QueuePair pair;
  private @Nullable SimulatedEndpoint peer;

  // The send queue.
  final List<PostedRequest> posts = new ArrayList<>();
  final SendWorkRequest request = new SendWorkRequest(VerbsScenario.MAX_SEGMENTS);
  private final ArrayDeque<Operation> waiting = new ArrayDeque<>();
  private int completed;
  private int freed;
  private int unsignaled;
  private int messages;

  private @Nullable SendQueueDrain drain;
  private boolean flushed;

  boolean closed;
  boolean failedByProgram;
  boolean sendFailed;

  /**
   * Allocates the memory of the endpoint.
   *
   * @param reads the total length of the results of its READs and atomics
   */
  SimulatedEndpoint(
      VerbsSimulation simulation,
      Arena arena,
      int index,
      ConnectionConfig config,
      int reads,
      PostedReceives receives) {
    this.simulation = simulation;
    this.arena = arena;
    this.index = index;
    this.config = config;
    this.receives = receives;
    side = index & 1;
    int length = maxLength();
    // The source of payloads, which begin at any offset up to that length.
    source = arena.allocate(2 * length + 64);
    // The cell follows a register, so that one window can cover both.
    int first = arena.allocate(length + Long.BYTES);
    cell = first + length;
    for (int i = 0; i < registers.length; i++) {
      registers[i] = new SingleWriterRegister(i == 0 ? first : arena.allocate(length), length);
    }
    results = arena.allocate(reads);
    resultsEnd = results + reads;
    memoryEnd = arena.allocate(0);
  }

  /** Registers the memory, after the arena was filled, and creates the queue pair. */
  void create(ProtectionDomain in, CompletionQueue queue) {
    for (SingleWriterRegister register : registers) {
      register.initialize(arena);
    }
    domain = in;
    region =
        in.register(
            arena.memory.slice(source, memoryEnd - source),
            simulation.device(this).hasAtomics() ? RIGHTS_WITH_ATOMICS : RIGHTS);
    pair =
        in.createQueuePair(
            new QueuePairOptions(
                config.type(),
                queue,
                queue,
                receives.attach(),
                config.sends(),
                receives.capacity(),
                VerbsScenario.MAX_SEGMENTS,
                PostedReceives.segments(),
                MAX_INLINE,
                config.signalAll()));
  }

  void connect(SimulatedEndpoint other, Gid to) {
    peer = other;
    connectTo(to);
  }

  /** Moves the queue pair to RTS. */
  abstract void connectTo(Gid to);

  static QueuePairAttributes to(QueuePairState state) {
    return new QueuePairAttributes().state(state);
  }

  QueuePair pair() {
    QueuePair own = pair;
    if (own == null) {
      throw new IllegalStateException("no queue pair yet");
    }
    return own;
  }

  SimulatedEndpoint peer() {
    SimulatedEndpoint other = peer;
    if (other == null) {
      throw new IllegalStateException("not connected yet");
    }
    return other;
  }

  ProtectionDomain domain() {
    ProtectionDomain own = domain;
    if (own == null) {
      throw new IllegalStateException("no domain yet");
    }
    return own;
  }

  MemoryRegion region() {
    MemoryRegion own = region;
    if (own == null) {
      throw new IllegalStateException("no memory yet");
    }
    return own;
  }

  final boolean isClosed() {
    return closed;
  }

  /** Returns the bytes of the largest message that fits into a receive. */
  final int maxLength() {
    return simulation.maxLength();
  }

  /** Returns whether the connection is being established. */
  boolean isConnecting() {
    return false;
  }

  /** Returns whether requests can be posted. */
  boolean isConnected() {
    return true;
  }

  final long address(int at) {
    return region().address() + (at - source);
  }

  final SingleWriterRegister register(Operation operation) {
    return registers[operation.target() % VerbsScenario.REGISTERS];
  }

  /** Returns the offset in the arena of the payload of an operation. */
  final int sourceAt(Operation operation) {
    return source + operation.offset();
  }

  // ---- operations of the program

  /** Executes an operation of the program. */
  final void execute(Operation operation) {
    if (closed || !isConnected()) {
      return;
    }
    switch (operation.kind()) {
      case FAIL -> {
        failedByProgram = true;
        pair().modify(to(QueuePairState.ERR));
      }
      case CLOSE -> {
        closed = true;
        pair().close();
      }
      case DRAIN -> drain(operation);
      default -> {
        waiting.add(operation);
        postWaiting();
      }
    }
  }

  // ---- draining

  private void drain(Operation operation) {
    if (drain != null || pair().state() != QueuePairState.RTS) {
      return;
    }
    // The pause is many times the latency of a packet, and often longer than a timeout.
    SendQueueDrain begun =
        new SendQueueDrain(posts.size(), operation.signaled(), (long) operation.offset() << 7);
    drain = begun;
    simulation.trace("drain", this, operation);
    pair().modify(to(QueuePairState.SQD).drainedNotify(begun.withEvent));
    if (begun.withEvent) {
      simulation.changeDraining(1);
    } else {
      simulation.later(begun.pause, () -> resume(begun));
    }
  }

  /** Called when the device raises SQ_DRAINED for the queue pair. */
  final void onDrained() {
    SendQueueDrain now = drain;
    require(now != null && now.withEvent && !now.eventRaised, "unexpected SQ_DRAINED");
    now.eventRaised = true;
    simulation.changeDraining(-1);
    simulation.trace("drained", this, now);
    simulation.later(now.pause, () -> resume(now));
  }

  /** Resumes the send queue. Without the event, the program retries until the queue drained. */
  private void resume(SendQueueDrain now) {
    simulation.poll();
    if (closed || pair().state() != QueuePairState.SQD) {
      drain = null;
      return;
    }
    try {
      pair().modify(to(QueuePairState.RTS));
    } catch (VerbsException e) {
      require(
          e.error() == VerbsError.INVALID && !now.eventRaised,
          "could not resume the send queue",
          e);
      require(
          pair().state() == QueuePairState.SQD,
          "refused to resume the send queue, but changed the state",
          e);
      simulation.later(now.pause + SendQueueDrain.MIN_PAUSE, () -> resume(now));
      return;
    }
    simulation.trace("resumed", this, now);
    drain = null;
  }

  /** Called when the queue pair sends a packet of a request. */
  final void onRequestSent() {
    SendQueueDrain now = drain;
    require(now == null || !now.eventRaised, "sent a request packet after SQ_DRAINED");
  }

  // ---- posting

  /** Posts waiting operations while the send queue has room. */
  final void postWaiting() {
    while (!closed && !waiting.isEmpty() && posts.size() - freed < config.sends()) {
      Operation next = waiting.remove();
      if (mayPost(next)) {
        post(next);
      }
    }
  }

  /**
   * Returns whether to post a work request for an operation. Executes operations that need none.
   */
  abstract boolean mayPost(Operation operation);

  final void postReceive() {
    receives.post(this, simulation.now());
  }

  private void post(Operation operation) {
    boolean signaled =
        operation.signaled()
            || config.signalAll()
            || operation.kind().isLocal()
            || unsignaled + 1 >= (config.sends() + 1) / 2;
    unsignaled = signaled ? 0 : unsignaled + 1;
    PostedRequest post = new PostedRequest(posts.size(), operation, signaled, simulation.now());
    request.id((long) index << ID_SHIFT | posts.size());
    boolean fence = operation.fence() || needsFence(operation);
    if (fence) {
      for (SingleWriterRegister register : peer().registers) {
        register.fenced();
      }
    }
    if (operation.kind().takesReceive()) {
      post.message = messages++;
    }
    fill(post);
    if (fence) {
      request.fence();
    }
    if (signaled && !config.signalAll()) {
      request.signaled();
    }
    posts.add(post);
    simulation.trace("post", this, post);
    send(post);
  }

  abstract boolean needsFence(Operation operation);

  /** Fills the work request and updates the model. */
  abstract void fill(PostedRequest post);

  /** Posts the work request. */
  void send(PostedRequest post) {
    pair().postSend(request);
  }

  final void addPayload(Operation operation) {
    int at = sourceAt(operation);
    if (operation.inline() && operation.length() <= MAX_INLINE) {
      request.inline(arena.memory.slice(at, operation.length()));
    } else {
      addSegments(at, operation);
    }
  }

  final void addResultBuffers(PostedRequest post) {
    int length = post.operation.length();
    post.resultAt = results;
    results += length;
    if (results > resultsEnd) {
      throw new IllegalStateException("results exceed the memory allocated for them");
    }
    addSegments(post.resultAt, post.operation);
  }

  private void addSegments(int at, Operation operation) {
    request.buffers().clear();
    int left = operation.length();
    int from = at;
    for (int segments = operation.segments(); segments > 0; segments--) {
      int length = left / segments;
      request.buffers().add(address(from), length, region().lkey());
      from += length;
      left -= length;
    }
  }

  // ---- completions

  static int indexOf(WorkCompletion completion) {
    return (int) (completion.workRequestId() >>> ID_SHIFT);
  }

  /**
   * Called when a receive of this endpoint has completed.
   *
   * @param slot the offset of the receive in the arena
   */
  abstract void onReceiveCompletion(WorkCompletion completion, int slot);

  /**
   * Called when a request of this endpoint has completed, after all receive completions of the same
   * moment.
   */
  final void onSendCompletion(WorkCompletion completion) {
    requireOwn(completion);
    int number = (int) completion.workRequestId();
    require(number >= completed && number < posts.size(), "request completed out of order");
    while (completed < number) {
      PostedRequest before = posts.get(completed++);
      require(!before.signaled, "no completion", before);
      succeed(before);
    }
    PostedRequest post = posts.get(completed++);
    freed = completed;
    simulation.trace(completion.status().toString(), this, post);
    if (completion.isSuccess()) {
      SendQueueDrain now = drain;
      require(
          now == null || now.mayComplete(number),
          "completed while the send queue was drained",
          post);
      require(post.signaled, "completion of an unsignaled request", post);
      require(!sendFailed, "request succeeded after one that failed", post);
      require(completion.opcode() == post.operation.kind().opcode(), "opcode", completion);
      succeed(post);
    } else {
      fail(post, completion.status());
    }
  }

  abstract void succeed(PostedRequest post);

  abstract void fail(PostedRequest post, CompletionStatus status);

  final void requireOwn(WorkCompletion completion) {
    require(completion.queuePairNumber() == pair().number(), "completion of another queue pair");
    require(!closed, "completion after close");
  }

  /**
   * Checks that a queue pair with a shared receive queue flushes at most one receive: the one that
   * it had already taken.
   */
  final void requireFirstFlush() {
    require(
        !flushed || !receives.isShared(),
        "flushed a receive of a shared queue that it had not taken");
    flushed = true;
  }

  /** Returns whether the queue pair may be in ERR or closed. */
  abstract boolean mayHaveFailed();

  final void requireFailureReason() {
    require(mayHaveFailed(), "flushed without a reason");
    require(pair().state() == QueuePairState.ERR, "flushed", pair().state());
  }

  /** Returns the message with this number, or null if it was not posted yet. */
  final @Nullable PostedRequest messageNumber(int number) {
    for (PostedRequest post : posts) {
      if (post.operation.kind().takesReceive() && post.message == number) {
        return post;
      }
    }
    return null;
  }

  // ---- checks at the end

  /** Checks that every posted request has completed. Called when no event is pending. */
  void requireIdle() {
    if (!closed) {
      require(waiting.isEmpty(), "requests still wait for room in the send queue");
      require(
          completed == posts.size(),
          "never completed",
          completed < posts.size() ? posts.get(completed) : "nothing");
    }
  }

  final void moveToError() {
    if (!closed) {
      failedByProgram = true;
      pair().modify(to(QueuePairState.ERR));
    }
  }

  final void requireFlushed() {
    if (!closed && !receives.isShared()) {
      require(receives.outstanding() == 0, "receives left after a flush");
    }
  }

  /** Checks the effects of requests with an unknown outcome and adopts them as expected. */
  abstract void reconcile();

  /** Adopts those bytes of a receive as expected that are bytes of a message. */
  final void acceptPartial(int slot, int from, int length) {
    for (int i = 0; i < Math.min(length, maxLength()); i++) {
      byte value = arena.memory.get(slot + i);
      if (value == arena.memory.get(from + i)) {
        arena.expected[slot + i] = value;
      }
    }
  }

  void close() {
    closed = true;
    pair().close();
    region().close();
  }

  final boolean same(int at, int other, int length) {
    return arena.memory.slice(at, length).equals(arena.memory.slice(other, length));
  }

  final void require(boolean condition, String message) {
    require(condition, message, "");
  }

  final void require(boolean condition, String message, Object subject) {
    if (!condition) {
      throw new Violation(
          "at " + simulation.now() + " ns, " + this + ": " + message + " " + subject);
    }
  }

  @Override
  public final String toString() {
    return "end " + index;
  }
}

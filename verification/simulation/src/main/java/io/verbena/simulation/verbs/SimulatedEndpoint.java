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
 * One end of a link: its queue pair, its memory, and what of the model all transports have in
 * common: requests complete once and in order.
 */
abstract class SimulatedEndpoint {
  /** Bytes that payload is taken from. */
  private static final int SOURCE = 2 * VerbsScenario.MAX_LENGTH + 64;

  private static final int MAX_INLINE = 64;
  private static final int ID_SHIFT = 32;
  private static final Set<Access> ALL =
      Set.copyOf(
          EnumSet.of(
              Access.LOCAL_WRITE,
              Access.REMOTE_READ,
              Access.REMOTE_WRITE,
              Access.REMOTE_ATOMIC,
              Access.MW_BIND));

  final int index;
  final int side;
  final ConnectionConfig plan;
  final VerbsSimulation world;
  final Arena arena;
  final PostedReceives receives;

  // Memory, as places in the arena.
  final SingleWriterRegister[] registers = new SingleWriterRegister[VerbsScenario.REGISTERS];
  final int cell;
  private final int source;
  private int results;
  private final int resultsEnd;
  private final int end;

  private @Nullable ProtectionDomain domain;
  private @Nullable MemoryRegion region;
  private @Nullable QueuePair pair;
  private @Nullable SimulatedEndpoint peer;

  // The send queue.
  final List<PostedRequest> posts = new ArrayList<>();
  final SendWorkRequest request = new SendWorkRequest(VerbsScenario.MAX_PIECES);
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
   * Takes the memory that it needs.
   *
   * @param reads bytes of answers that its READs and atomics bring
   */
  SimulatedEndpoint(VerbsSimulation world, Arena arena, int index, ConnectionConfig plan, int reads, PostedReceives receives) {
    this.world = world;
    this.arena = arena;
    this.index = index;
    this.plan = plan;
    this.receives = receives;
    side = index & 1;
    source = arena.take(SOURCE);
    // The cell is behind a register, so that one window leads to both.
    int first = arena.take(VerbsScenario.MAX_LENGTH + Long.BYTES);
    cell = first + VerbsScenario.MAX_LENGTH;
    for (int i = 0; i < registers.length; i++) {
      registers[i] = new SingleWriterRegister(i == 0 ? first : arena.take(VerbsScenario.MAX_LENGTH));
    }
    results = arena.take(reads);
    resultsEnd = results + reads;
    end = arena.take(0);
  }

  /** Registers its memory, which is filled by now, and creates its queue pair. */
  void create(ProtectionDomain in, CompletionQueue queue) {
    for (SingleWriterRegister register : registers) {
      register.begin(arena);
    }
    domain = in;
    region = in.register(arena.memory.slice(source, end - source), ALL);
    pair =
        in.createQueuePair(
            new QueuePairOptions(
                plan.type(),
                queue,
                queue,
                receives.use(),
                plan.sends(),
                receives.capacity(),
                VerbsScenario.MAX_PIECES,
                PostedReceives.pieces(),
                MAX_INLINE,
                plan.signalAll()));
  }

  void connect(SimulatedEndpoint other, Gid to) {
    peer = other;
    connectTo(to);
  }

  /** Takes its queue pair to RTS. */
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

  final long address(int at) {
    return region().address() + (at - source);
  }

  final SingleWriterRegister register(Operation operation) {
    return registers[operation.target() % VerbsScenario.REGISTERS];
  }

  /** Where the payload of one of its operations stands in the arena. */
  final int sourceAt(Operation operation) {
    return source + operation.offset();
  }

  // ---- what the program does

  /** The program comes to an operation. */
  final void come(Operation operation) {
    if (closed) {
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
        pump();
      }
    }
  }

  // ---- draining

  private void drain(Operation operation) {
    if (drain != null || pair().state() != QueuePairState.RTS) {
      return;
    }
    // By a multiple of what packets take, and often longer than a timeout.
    SendQueueDrain begun = new SendQueueDrain(posts.size(), operation.signaled(), (long) operation.offset() << 7);
    drain = begun;
    world.trace("drain", this, operation);
    pair().modify(to(QueuePairState.SQD).drainedNotify(begun.isTold));
    if (begun.isTold) {
      world.draining(1);
    } else {
      world.later(begun.pause, () -> goOn(begun));
    }
  }

  /** The device tells that its send queue is drained. */
  final void drained() {
    SendQueueDrain now = drain;
    require(now != null && now.isTold && !now.isOver, "told once more that it is drained");
    now.isOver = true;
    world.draining(-1);
    world.trace("drained", this, now);
    world.later(now.pause, () -> goOn(now));
  }

  /** The program lets it go on; who is not told that it has drained finds out by trying. */
  private void goOn(SendQueueDrain now) {
    world.poll();
    if (closed || pair().state() != QueuePairState.SQD) {
      drain = null;
      return;
    }
    try {
      pair().modify(to(QueuePairState.RTS));
    } catch (VerbsException e) {
      require(e.error() == VerbsError.INVALID && !now.isOver, "does not go on", e);
      require(pair().state() == QueuePairState.SQD, "goes on and fails", e);
      world.later(now.pause + SendQueueDrain.LEAST_PAUSE, () -> goOn(now));
      return;
    }
    world.trace("goes on", this, now);
    drain = null;
  }

  /** It sends a packet of a request. */
  final void sends() {
    SendQueueDrain now = drain;
    require(now == null || !now.isOver, "sends when it is drained");
  }

  // ---- posting

  /** Posts what waits for room in the send queue. */
  final void pump() {
    while (!closed && !waiting.isEmpty() && posts.size() - freed < plan.sends()) {
      Operation next = waiting.remove();
      if (mayPost(next)) {
        post(next);
      }
    }
  }

  /** Whether there is something to post, or it was done at once, or makes no sense now. */
  abstract boolean mayPost(Operation operation);

  final void postReceive() {
    receives.post(this, world.now());
  }

  private void post(Operation operation) {
    boolean signaled =
        operation.signaled()
            || plan.signalAll()
            || operation.kind().isLocal()
            || unsignaled + 1 >= (plan.sends() + 1) / 2;
    unsignaled = signaled ? 0 : unsignaled + 1;
    PostedRequest post = new PostedRequest(operation, signaled, world.now());
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
    if (signaled && !plan.signalAll()) {
      request.signaled();
    }
    posts.add(post);
    world.trace("post", this, post);
    send(post);
  }

  abstract boolean needsFence(Operation operation);

  /** Fills the request and the model. */
  abstract void fill(PostedRequest post);

  /** Hands the request over. */
  void send(PostedRequest post) {
    pair().postSend(request);
  }

  final void payload(Operation operation) {
    int at = sourceAt(operation);
    if (operation.inline() && operation.length() <= MAX_INLINE) {
      request.inline(arena.memory.slice(at, operation.length()));
    } else {
      spread(at, operation);
    }
  }

  final void answer(PostedRequest post) {
    int length = post.operation.length();
    post.resultAt = results;
    results += length;
    if (results > resultsEnd) {
      throw new IllegalStateException("answers take more than was counted");
    }
    spread(post.resultAt, post.operation);
  }

  private void spread(int at, Operation operation) {
    request.buffers().clear();
    int left = operation.length();
    int from = at;
    for (int pieces = operation.pieces(); pieces > 0; pieces--) {
      int length = left / pieces;
      request.buffers().add(address(from), length, region().lkey());
      from += length;
      left -= length;
    }
  }

  // ---- what comes of it

  static int indexOf(WorkCompletion completion) {
    return (int) (completion.workRequestId() >>> ID_SHIFT);
  }

  /**
   * A receive of this end has completed.
   *
   * @param slot where it stands in the arena
   */
  abstract void received(WorkCompletion completion, int slot);

  /** A request of this end has completed; receives that completed before are known. */
  final void sent(WorkCompletion completion) {
    requireOwn(completion);
    int number = (int) completion.workRequestId();
    require(number >= completed && number < posts.size(), "request completes out of order");
    while (completed < number) {
      PostedRequest before = posts.get(completed++);
      require(!before.signaled, "no completion", before);
      succeed(before);
    }
    PostedRequest post = posts.get(completed++);
    freed = completed;
    world.trace(completion.status().toString(), this, post);
    if (completion.isSuccess()) {
      SendQueueDrain now = drain;
      require(now == null || now.lets(number), "done while its queue drains", post);
      require(post.signaled, "completion of an unsignaled request", post);
      require(!sendFailed, "request succeeds after one that failed", post);
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

  /** It keeps its hands off what others share: only the receive that it had taken is flushed. */
  final void requireFirstFlush() {
    require(!flushed || !receives.isShared(), "flushes a receive that it has not taken");
    flushed = true;
  }

  /** Whether it may be in ERR, or gone. */
  abstract boolean isDead();

  final void requireDead() {
    require(isDead(), "flushed without a reason");
    require(pair().state() == QueuePairState.ERR, "flushed", pair().state());
  }

  /** The message of this end with a number, once it is posted. */
  final @Nullable PostedRequest message(int number) {
    for (PostedRequest post : posts) {
      if (post.operation.kind().takesReceive() && post.message == number) {
        return post;
      }
    }
    return null;
  }

  // ---- the end

  /** Nothing will happen any more by itself: whatever was posted must be done. */
  final void requireIdle() {
    if (!closed) {
      require(waiting.isEmpty(), "requests wait for room for ever");
      require(
          completed == posts.size(),
          "never completed",
          completed < posts.size() ? posts.get(completed) : "nothing");
    }
  }

  final void stop() {
    if (!closed) {
      failedByProgram = true;
      pair().modify(to(QueuePairState.ERR));
    }
  }

  final void requireFlushed() {
    if (!closed && !receives.isShared()) {
      require(receives.left() == 0, "receives left after a flush");
    }
  }

  /** Takes over what is not certain to have happened, once it is checked. */
  abstract void settle();

  /** Takes over those bytes of a slot that are a message's. */
  final void takePartly(int slot, int from, int length) {
    for (int i = 0; i < Math.min(length, VerbsScenario.MAX_LENGTH); i++) {
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

  final void require(boolean held, String otherwise) {
    require(held, otherwise, "");
  }

  final void require(boolean held, String otherwise, Object about) {
    if (!held) {
      throw new Violation("at " + world.now() + " ns, " + this + ": " + otherwise + " " + about);
    }
  }

  @Override
  public final String toString() {
    return "end " + index;
  }
}

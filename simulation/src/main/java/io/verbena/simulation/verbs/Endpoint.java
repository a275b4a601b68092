package io.verbena.simulation.verbs;

import io.verbena.emulated.roce.RnrTimer;
import io.verbena.simulation.run.Arena;
import io.verbena.simulation.run.Violation;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Gid;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One end of a connection: its queue pair, its memory, and the model of both, against which each
 * completion is held as it comes.
 */
final class Endpoint {
  /** Bytes that payload is taken from. */
  private static final int SOURCE = 2 * Plan.MAX_LENGTH + 64;

  private static final int MAX_INLINE = 64;
  private static final long RECEIVE = 1L << 62;
  private static final int ID_SHIFT = 32;
  private static final Set<Access> ALL =
      Set.copyOf(
          EnumSet.of(
              Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC));

  final int index;
  final int side;
  final LinkPlan plan;
  private final World world;
  private final Arena arena;

  // Memory, as places in the arena.
  private final int base;
  private final int source;
  private final Register[] registers = new Register[Plan.REGISTERS];
  private final int cell;
  private int results;
  private final int resultsEnd;
  private final int[] slots;
  private final int end;
  private long cellLatest;
  private long cellSure;

  private @Nullable MemoryRegion region;
  private @Nullable QueuePair pair;
  private @Nullable Endpoint peer;

  // The send queue.
  private final ArrayDeque<Operation> waiting = new ArrayDeque<>();
  private final List<Post> posts = new ArrayList<>();
  private int completed;
  private int freed;
  private int unsignaled;
  private int messages;

  // The receive queue.
  private int receivesPosted;
  private int receivesDone;
  private int messagesTaken;
  private long lastReceivePost = -1;

  private boolean closed;
  private boolean failedByProgram;
  private boolean refusedByPeer;
  private boolean sendFailed;
  private boolean receiveFailed;
  private long progressAt;
  private int missing = -1;
  private int rnrPsn = -1;
  private int rnrCount;
  private long rnrSince;

  private final SendWorkRequest request = new SendWorkRequest(Plan.MAX_PIECES);
  private final ReceiveWorkRequest receive = new ReceiveWorkRequest(2);

  /**
   * Takes the memory that it needs.
   *
   * @param reads bytes of answers that its READs and atomics bring
   * @param receives how many receives it posts
   */
  Endpoint(World world, Arena arena, int index, int side, LinkPlan plan, int reads, int receives) {
    this.world = world;
    this.arena = arena;
    this.index = index;
    this.side = side;
    this.plan = plan;
    base = arena.take(SOURCE);
    source = base;
    for (int i = 0; i < registers.length; i++) {
      registers[i] = new Register(arena.take(Plan.MAX_LENGTH));
    }
    cell = arena.take(Long.BYTES);
    results = arena.take(reads);
    resultsEnd = results + reads;
    slots = new int[receives];
    for (int i = 0; i < receives; i++) {
      slots[i] = arena.take(Plan.MAX_LENGTH);
    }
    end = arena.take(0);
  }

  /** Registers its memory, which is filled by now, and creates its queue pair. */
  void create(ProtectionDomain domain, CompletionQueue queue) {
    for (Register register : registers) {
      register.begin(arena);
    }
    cellLatest = arena.memory.getLong(cell);
    cellSure = cellLatest;
    region = domain.register(arena.memory.slice(base, end - base), ALL);
    QueuePairOptions options =
        new QueuePairOptions(
            QueuePairType.RC,
            queue,
            queue,
            null,
            plan.sends(),
            Math.max(1, slots.length),
            Plan.MAX_PIECES,
            2,
            MAX_INLINE,
            plan.signalAll());
    pair = domain.createQueuePair(options);
  }

  void connect(Endpoint other, Gid to) {
    peer = other;
    QueuePair own = pair();
    own.modify(
        new QueuePairAttributes()
            .state(QueuePairState.INIT)
            .pkeyIndex(0)
            .port(1)
            .access(EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC)));
    own.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTR)
            .addressVector(AddressVector.to(to))
            .pathMtu(plan.mtu())
            .destinationQueuePair(other.pair().number())
            .receivePsn(plan.psn(1 - side))
            .maxDestinationReadAtomic(plan.reads())
            .minRnrTimer(plan.rnrTimer()));
    own.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTS)
            .timeout(plan.timeout())
            .retryCount(plan.retryCount())
            .rnrRetry(plan.rnrRetry())
            .sendPsn(plan.psn(side))
            .maxReadAtomic(plan.reads()));
  }

  QueuePair pair() {
    QueuePair own = pair;
    if (own == null) {
      throw new IllegalStateException("no queue pair yet");
    }
    return own;
  }

  Endpoint peer() {
    Endpoint other = peer;
    if (other == null) {
      throw new IllegalStateException("not connected yet");
    }
    return other;
  }

  private MemoryRegion region() {
    MemoryRegion own = region;
    if (own == null) {
      throw new IllegalStateException("no memory yet");
    }
    return own;
  }

  private long address(int at) {
    return region().address() + (at - base);
  }

  /** Where the payload of one of its operations stands in the arena. */
  int sourceAt(Operation operation) {
    return source + operation.offset();
  }

  // ---- what the program does

  /** The program comes to an operation. */
  void come(Operation operation) {
    if (closed) {
      return;
    }
    switch (operation.kind()) {
      case FAIL -> {
        failedByProgram = true;
        pair().modify(new QueuePairAttributes().state(QueuePairState.ERR));
      }
      case CLOSE -> {
        closed = true;
        pair().close();
      }
      default -> {
        waiting.add(operation);
        pump();
      }
    }
  }

  /** Posts what waits for room in the send queue. */
  void pump() {
    while (!closed && !waiting.isEmpty() && posts.size() - freed < plan.sends()) {
      post(waiting.poll());
    }
  }

  void postReceive() {
    if (closed) {
      return;
    }
    int slot = slots[receivesPosted];
    int first = Plan.MAX_LENGTH / 3;
    receive.id(RECEIVE | (long) index << ID_SHIFT | receivesPosted).buffers().clear();
    receive.buffers().add(address(slot), first, region().lkey());
    receive.buffers().add(address(slot + first), Plan.MAX_LENGTH - first, region().lkey());
    receivesPosted++;
    lastReceivePost = world.now();
    pair().postReceive(receive);
  }

  private void post(Operation operation) {
    boolean signaled =
        operation.signaled() || plan.signalAll() || unsignaled + 1 >= (plan.sends() + 1) / 2;
    unsignaled = signaled ? 0 : unsignaled + 1;
    Post post = new Post(operation, signaled, world.now());
    request.id((long) index << ID_SHIFT | posts.size());
    boolean fence = operation.fence() || needsFence(operation);
    if (fence) {
      for (Register register : peer().registers) {
        register.fenced();
      }
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
    pair().postSend(request);
  }

  /** Whether it writes where earlier READs are still to find what was there before. */
  private boolean needsFence(Operation operation) {
    return switch (operation.kind()) {
      case WRITE, WRITE_IMMEDIATE ->
          peer().registers[operation.target() % Plan.REGISTERS].needsFence();
      default -> false;
    };
  }

  /** Fills the request and the model. */
  private void fill(Post post) {
    Operation operation = post.operation;
    Endpoint to = peer();
    MemoryRegion there = to.region();
    Register register = to.registers[operation.target() % Plan.REGISTERS];
    if (operation.kind().takesReceive()) {
      post.message = messages++;
    }
    switch (operation.kind()) {
      case SEND, TOO_LARGE -> request.send();
      case SEND_IMMEDIATE -> request.sendWithImmediate(operation.number());
      case WRITE, WRITE_IMMEDIATE -> {
        if (operation.kind() == Kind.WRITE) {
          request.write(to.address(register.at), there.rkey());
        } else {
          request.writeWithImmediate(to.address(register.at), there.rkey(), operation.number());
        }
        register.write(arena, post, sourceAt(operation));
      }
      case WRONG_KEY -> request.write(to.address(register.at), ~there.rkey());
      case READ -> {
        request.read(to.address(register.at), there.rkey());
        post.due = register.read(operation.length());
        answer(post);
      }
      case BEYOND -> {
        request.read(there.address() + there.length() - operation.length() + 1, there.rkey());
        answer(post);
      }
      case FETCH_ADD -> {
        Counter counter = world.counter(to, operation);
        counter.add(post);
        request.fetchAndAdd(
            world.counterAddress(to, counter), world.counterKey(to), Counter.addend(post));
        answer(post);
      }
      case MISALIGNED -> {
        request.fetchAndAdd(to.address(to.cell) + 1, there.rkey(), 1);
        answer(post);
      }
      case COMPARE_SWAP -> {
        boolean hit = operation.offset() % 4 != 0;
        post.before = to.cellLatest;
        post.after = hit ? mix(to.cellLatest, operation.number()) : to.cellLatest;
        to.cellLatest = post.after;
        request.compareAndSwap(
            to.address(to.cell),
            there.rkey(),
            hit ? post.before : ~post.before,
            mix(post.before, operation.number()));
        answer(post);
      }
      case FAIL, CLOSE -> throw new AssertionError(operation);
    }
    if (!bringsAnswer(operation.kind())) {
      payload(operation);
    }
  }

  private static long mix(long value, int number) {
    return (value ^ number + 1) * 0x9E3779B97F4A7C15L;
  }

  static boolean bringsAnswer(Kind kind) {
    return switch (kind) {
      case READ, BEYOND, FETCH_ADD, MISALIGNED, COMPARE_SWAP -> true;
      default -> false;
    };
  }

  private void payload(Operation operation) {
    int at = sourceAt(operation);
    if (operation.inline() && operation.length() <= MAX_INLINE) {
      request.inline(arena.memory.slice(at, operation.length()));
    } else {
      spread(at, operation);
    }
  }

  private void answer(Post post) {
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

  static int indexOf(long id) {
    return (int) ((id & ~RECEIVE) >>> ID_SHIFT);
  }

  static boolean isReceive(long id) {
    return (id & RECEIVE) != 0;
  }

  /** A receive of this end has completed. */
  void received(WorkCompletion completion) {
    require(completion.queuePairNumber() == pair().number(), "completion of another queue pair");
    require(!closed, "completion after close");
    require(
        (int) completion.workRequestId() == receivesDone && receivesDone < receivesPosted,
        "receive out of order");
    int slot = slots[receivesDone++];
    if (!completion.isSuccess()) {
      receiveFailed(completion.status(), slot);
      return;
    }
    require(!receiveFailed, "receive succeeds after one that failed");
    Endpoint from = peer();
    Post message = from.message(messagesTaken++);
    require(message != null, "message that nobody sent");
    require(message.state != Post.State.FAILED || !message.operation.kind().isRefused(), "message");
    boolean written = message.operation.kind() == Kind.WRITE_IMMEDIATE;
    boolean immediate = written || message.operation.kind() == Kind.SEND_IMMEDIATE;
    require(message.operation.kind() != Kind.TOO_LARGE, "message larger than its receive");
    require(
        completion.opcode()
            == (written ? CompletionOpcode.RECV_RDMA_WITH_IMM : CompletionOpcode.RECV),
        "opcode of a receive");
    require(completion.byteLength() == message.operation.length(), "length of a message");
    require(completion.hasImmediate() == immediate, "immediate of a message");
    require(
        !immediate || completion.immediate() == message.operation.number(),
        "value of the immediate");
    if (written) {
      Register register = registers[message.operation.target() % Plan.REGISTERS];
      register.check(arena, from);
    } else {
      int at = from.sourceAt(message.operation);
      require(same(at, slot, message.operation.length()), "bytes of a message");
      arena.memory.get(at, arena.expected, slot, message.operation.length());
    }
  }

  private void receiveFailed(CompletionStatus status, int slot) {
    if (!receiveFailed) {
      receiveFailed = true;
      Post message = peer().message(messagesTaken);
      if (message != null) {
        // What of it had come before may stand there.
        takePartly(slot, peer().sourceAt(message.operation), message.operation.length());
      }
      if (status == CompletionStatus.LOC_LEN_ERR) {
        require(
            message != null && message.operation.kind() == Kind.TOO_LARGE, "receive fails", status);
        return;
      }
    }
    require(status == CompletionStatus.WR_FLUSH_ERR, "receive fails", status);
    requireDead();
  }

  /** The message of this end with a number, once it is posted. */
  private @Nullable Post message(int number) {
    for (Post post : posts) {
      if (post.operation.kind().takesReceive() && post.message == number) {
        return post;
      }
    }
    return null;
  }

  /** A request of this end has completed; receives that completed before are known. */
  void sent(WorkCompletion completion) {
    require(completion.queuePairNumber() == pair().number(), "completion of another queue pair");
    require(!closed, "completion after close");
    int number = (int) completion.workRequestId();
    require(number >= completed && number < posts.size(), "request completes out of order");
    while (completed < number) {
      Post before = posts.get(completed++);
      require(!before.signaled, "no completion", before);
      succeed(before);
    }
    Post post = posts.get(completed++);
    freed = completed;
    world.trace(completion.status().toString(), this, post);
    if (completion.isSuccess()) {
      require(post.signaled, "completion of an unsignaled request", post);
      require(!sendFailed, "request succeeds after one that failed", post);
      progressAt = world.now();
      succeed(post);
    } else {
      fail(post, completion.status());
    }
  }

  private void succeed(Post post) {
    require(!post.operation.kind().isRefused(), "success of what is to be refused", post);
    Endpoint to = peer();
    Operation operation = post.operation;
    post.state = Post.State.DONE;
    post.doneAt = world.now();
    if (operation.kind().takesReceive()) {
      require(post.message < to.messagesTaken || to.closed, "success before the receive", post);
    }
    switch (operation.kind()) {
      case WRITE, WRITE_IMMEDIATE ->
          to.registers[operation.target() % Plan.REGISTERS].done(arena, post, this);
      case READ -> {
        byte[] due = post.due;
        for (int i = 0; due != null && i < due.length; i++) {
          require(arena.memory.get(post.resultAt + i) == due[i], "byte of a READ", post);
          arena.expected[post.resultAt + i] = due[i];
        }
      }
      case FETCH_ADD -> {
        long found = arena.memory.getLong(post.resultAt);
        post.state = Post.State.POSTED;
        world.counter(to, operation).checkFound(post, found);
        post.state = Post.State.DONE;
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

  private void fail(Post post, CompletionStatus status) {
    post.state = Post.State.FAILED;
    byte[] due = post.due;
    if (due != null) {
      for (int i = 0; i < due.length; i++) {
        if (arena.memory.get(post.resultAt + i) == due[i]) {
          arena.expected[post.resultAt + i] = due[i];
        }
      }
    }
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
                  || world.harmSince(this, Math.min(progressAt, post.postedAt)) > plan.retryCount(),
              "no reason for RETRY_EXC_ERR",
              post);
      case RNR_RETRY_EXC_ERR -> {
        int retries = plan.rnrRetry();
        require(
            retries < 7
                && rnrCount > retries
                && world.now() - rnrSince >= retries * RnrTimer.nanos(plan.rnrTimer()),
            "no reason for RNR_RETRY_EXC_ERR",
            post);
      }
      default -> {
        require(status == post.operation.kind().due(), status.name(), post);
        peer().refusedByPeer = true;
      }
    }
  }

  /** Whether it may be in ERR, or gone. */
  private boolean isDead() {
    return closed
        || failedByProgram
        || sendFailed
        || receiveFailed
        || refusedByPeer
        || peer().hasPostedWhatIsRefused();
  }

  private boolean hasPostedWhatIsRefused() {
    for (Post post : posts) {
      if (post.operation.kind().isRefused()) {
        return true;
      }
    }
    return false;
  }

  private void requireDead() {
    require(isDead(), "flushed without a reason");
    require(pair().state() == QueuePairState.ERR, "flushed", pair().state());
  }

  // ---- what is on the wire

  /** This end tells its peer that a packet is missing: once, until it has come. */
  void saysMissing(int psn) {
    require(psn != missing, "NAK repeated");
    missing = psn;
  }

  /** This end tells its peer that it has no receive. */
  void saysNotReady(int psn) {
    missing = -1;
    world.poll();
    require(
        receivesPosted == receivesDone || lastReceivePost == world.now(),
        "RNR NAK with a receive posted");
    Endpoint asking = peer();
    if (asking.rnrPsn != psn) {
      asking.rnrPsn = psn;
      // The answer that told of the message before may be lost: then nothing is forgiven yet.
      if (asking.rnrCount == 0 || asking.progressAt >= asking.rnrSince) {
        asking.rnrCount = 0;
        asking.rnrSince = world.now();
      }
    }
    asking.rnrCount++;
  }

  /** The wire repeats an RNR NAK to this end, which costs another retry. */
  void isToldTwice() {
    rnrCount++;
  }

  // ---- the end

  /** Nothing will happen any more by itself: whatever was posted must be done. */
  void requireIdle() {
    if (!closed) {
      require(waiting.isEmpty(), "requests wait for room for ever");
      require(
          completed == posts.size(),
          "never completed",
          completed < posts.size() ? posts.get(completed) : "nothing");
    }
  }

  void stop() {
    if (!closed) {
      failedByProgram = true;
      pair().modify(new QueuePairAttributes().state(QueuePairState.ERR));
    }
  }

  void requireFlushed() {
    if (!closed) {
      require(receivesDone == receivesPosted, "receives left after a flush");
    }
  }

  /** Takes over what is not certain to have happened, once it is checked. */
  void settle() {
    Endpoint writer = peer();
    for (Register register : registers) {
      register.settle(arena, writer);
    }
    long there = arena.memory.getLong(cell);
    boolean known = there == cellSure;
    for (Post post : writer.posts) {
      known |=
          post.operation.kind() == Kind.COMPARE_SWAP
              && post.state != Post.State.DONE
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
    for (Post post : posts) {
      byte[] due = post.due;
      if (!post.isDone() && due != null) {
        for (int i = 0; i < due.length; i++) {
          if (arena.memory.get(post.resultAt + i) == due[i]) {
            arena.expected[post.resultAt + i] = due[i];
          }
        }
      } else if (!post.isDone() && bringsAnswer(post.operation.kind())) {
        arena.expectLong(post.resultAt, arena.memory.getLong(post.resultAt));
      }
    }
    int taken = messagesTaken;
    for (int i = receivesDone; i < receivesPosted; i++) {
      Post message = peer().message(taken++);
      if (message != null) {
        takePartly(slots[i], peer().sourceAt(message.operation), message.operation.length());
      }
    }
  }

  private void takePartly(int slot, int from, int length) {
    for (int i = 0; i < Math.min(length, Plan.MAX_LENGTH); i++) {
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

  private boolean same(int at, int other, int length) {
    for (int i = 0; i < length; i++) {
      if (arena.memory.get(at + i) != arena.memory.get(other + i)) {
        return false;
      }
    }
    return true;
  }

  private void require(boolean held, String otherwise) {
    require(held, otherwise, "");
  }

  private void require(boolean held, String otherwise, Object about) {
    if (!held) {
      throw new Violation("at " + world.now() + " ns, " + this + ": " + otherwise + " " + about);
    }
  }

  @Override
  public String toString() {
    return "end " + index;
  }
}

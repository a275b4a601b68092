// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A program of random steps on one connection, checked against a model. In the model, requests
 * execute one after the other, each as soon as there is a receive for it, and a send queue slot
 * becomes free when a completion that covers it is polled. All requests are fenced, so each READ
 * has exactly one correct result.
 */
final class RandomProgram {
  /** The number of bytes of remote memory that a program uses. */
  static final int BYTES = 2048;

  private static final int COUNTERS = 8;
  private static final int MOST = 200;

  private static final int PSN_MASK = 0xff_ffff;

  private final EndpointPair pair;
  private final Random random;
  private final TestMemory remote;
  private final TestMemory shared;
  private final TestMemory source;
  private final TestMemory results;
  private final TestMemory inbox;
  private final ByteBuffer model = ByteBuffer.allocate(BYTES).order(ByteOrder.nativeOrder());
  private final int maxSend;
  private final int maxReceive;
  private final boolean atomics;
  private final boolean immediates;

  private final List<Step> steps = new ArrayList<>();
  private final ArrayDeque<Step> arrived = new ArrayDeque<>();
  private int done;
  private int freed;
  private int receivesPosted;
  private int receivesTaken;
  private int receivesFreed;
  private int added;
  private boolean waitsForReceives;

  private enum Kind {
    SEND(CompletionOpcode.SEND),
    WRITE(CompletionOpcode.RDMA_WRITE),
    WRITE_WITH_IMMEDIATE(CompletionOpcode.RDMA_WRITE),
    READ(CompletionOpcode.RDMA_READ),
    ADD(CompletionOpcode.FETCH_ADD),
    SWAP(CompletionOpcode.COMP_SWAP),
    ADD_SHARED(CompletionOpcode.FETCH_ADD);

    private final CompletionOpcode opcode;

    Kind(CompletionOpcode opcode) {
      this.opcode = opcode;
    }

    private boolean takesReceive() {
      return this == SEND || this == WRITE_WITH_IMMEDIATE;
    }

    private boolean isAtomic() {
      return this == ADD || this == SWAP || this == ADD_SHARED;
    }
  }

  /** A request and, once the model has executed it, its expected result. */
  private static final class Step {
    private final Kind kind;
    private final int position;
    private final boolean signaled;
    private final int from;
    private final int to;
    private final int length;
    private final long operand;
    private final long expected;
    private byte[] answer = {};

    private Step(
        Kind kind,
        int position,
        boolean signaled,
        int from,
        int to,
        int length,
        long operand,
        long expected) {
      this.kind = kind;
      this.position = position;
      this.signaled = signaled;
      this.from = from;
      this.to = to;
      this.length = length;
      this.operand = operand;
      this.expected = expected;
    }
  }

  /**
   * Prepares a program.
   *
   * @param pair two connected endpoints; the client executes the program
   * @param remote {@link #BYTES} bytes of the server that only this program uses
   * @param shared 8 bytes of the server to which other programs add too
   */
  RandomProgram(TckContext tck, EndpointPair pair, TestMemory remote, TestMemory shared) {
    this.pair = pair;
    this.random = new Random();
    this.remote = remote;
    this.shared = shared;
    source = pair.client().memory(BYTES).fill(7);
    maxSend = pair.client().queuePair().capabilities().maxSend();
    maxReceive = pair.server().queuePair().capabilities().maxReceive();
    results = pair.client().open((maxSend + 1) * MOST);
    inbox = pair.server().open((maxReceive + 1) * MOST);
    waitsForReceives = tck.supports(Capability.REQUEST_STATUS);
    atomics = tck.supports(Capability.ATOMICS);
    immediates = tck.supports(Capability.IMMEDIATE_DATA);
  }

  /** Restricts the program to messages for which a receive is posted. */
  RandomProgram withoutWaits() {
    waitsForReceives = false;
    return this;
  }

  /** Returns the number of times that the program added 1 to the shared memory. */
  int added() {
    return added;
  }

  /** Runs the program of a seed until all its requests have completed. */
  void run(long seed, int length) {
    random.setSeed(seed);
    try {
      for (int i = 0; i < length; i++) {
        step();
      }
      finish();
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError(
          "seed %d, after %d requests: %s%s"
              .formatted(seed, steps.size(), e.getMessage(), requester()),
          e);
    }
  }

  /** Returns a message if the requester's PSN is behind the responder's, else an empty string. */
  private String requester() {
    QueuePair client = pair.client().queuePair();
    QueuePair server = pair.server().queuePair();
    try {
      int ahead = server.query().receivePsn() - client.query().sendPsn() & PSN_MASK;
      boolean behind = client.state() == QueuePairState.RTS && ahead > 0 && ahead <= maxSend;
      return behind ? ": " + Deviation.REQUESTER_BEHIND : "";
    } catch (VerbsException e) {
      return ", and the queue pairs cannot be queried: " + e.getMessage();
    }
  }

  private void step() {
    switch (random.nextInt(8)) {
      case 0, 1, 2, 3 -> postSend();
      case 4, 5 -> postReceive();
      case 6 -> pollSent();
      default -> pollReceived();
    }
  }

  private void finish() {
    while (done < steps.size()) {
      if (receivesPosted - receivesFreed == maxReceive) {
        pollReceived();
      } else {
        postReceive();
      }
    }
    while (!arrived.isEmpty()) {
      pollReceived();
    }
    if (steps.size() > freed && !steps.get(steps.size() - 1).signaled) {
      while (steps.size() - freed == maxSend) {
        pollSent();
      }
      post(write(true, 0));
    }
    while (freed < steps.size()) {
      pollSent();
    }
    pair.client().sent().expectNothing();
    pair.server().received().expectNothing();
    remote.awaitHolds(model);
    for (int i = 0; i < BYTES; i++) {
      assertThat(remote.getByte(i)).as("byte %d of the peer's memory", i).isEqualTo(model.get(i));
    }
  }

  private void postSend() {
    boolean lastSlot = steps.size() - freed >= maxSend - 1;
    boolean signaled = lastSlot || random.nextInt(3) == 0;
    Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
    if ((kind.isAtomic() && !atomics) || (kind == Kind.WRITE_WITH_IMMEDIATE && !immediates)) {
      kind = Kind.SEND;
    }
    if (kind.takesReceive() && !waitsForReceives && receivesTaken == receivesPosted) {
      kind = Kind.WRITE;
    }
    int length = kind.isAtomic() ? Long.BYTES : random.nextInt(MOST);
    int first = COUNTERS * Long.BYTES;
    int to =
        kind.isAtomic()
            ? random.nextInt(COUNTERS) * Long.BYTES
            : first + random.nextInt(BYTES - first - MOST);
    boolean matches = random.nextBoolean();
    post(
        new Step(
            kind,
            steps.size(),
            signaled,
            random.nextInt(BYTES - MOST),
            to,
            length,
            kind == Kind.ADD_SHARED ? 1 : random.nextInt(),
            matches ? model.getLong(to - to % Long.BYTES) : random.nextInt()));
  }

  private Step write(boolean signaled, int length) {
    return new Step(Kind.WRITE, steps.size(), signaled, 0, COUNTERS * Long.BYTES, length, 0, 0);
  }

  private void post(Step step) {
    if (steps.size() - freed == maxSend) {
      Failures.expectBadPost(
          VerbsError.NO_MEMORY, step.position, () -> pair.client().post(request(step)));
      return;
    }
    pair.client().post(request(step));
    steps.add(step);
    advance();
  }

  private SendWorkRequest request(Step step) {
    TestMemory from = source.part(step.from, step.length);
    TestMemory result = result(step);
    TestMemory target = remote.part(step.to, step.length);
    SendWorkRequest request =
        switch (step.kind) {
          case SEND -> Requests.send(step.position, from);
          case WRITE -> Requests.write(step.position, target, from);
          case WRITE_WITH_IMMEDIATE ->
              Requests.writeWithImmediate(step.position, (int) step.operand, target, from);
          case READ -> Requests.read(step.position, target, result);
          case ADD -> Requests.fetchAndAdd(step.position, target, step.operand, result);
          case SWAP ->
              Requests.compareAndSwap(step.position, target, step.expected, step.operand, result);
          case ADD_SHARED -> Requests.fetchAndAdd(step.position, shared, step.operand, result);
        };
    return step.signaled ? request.fence().signaled() : request.fence();
  }

  private TestMemory result(Step step) {
    return results.part(step.position % (maxSend + 1) * MOST, step.length);
  }

  private void postReceive() {
    int id = receivesPosted;
    if (receivesPosted - receivesFreed == maxReceive) {
      Failures.expectBadPost(
          VerbsError.NO_MEMORY, id, () -> pair.server().post(Requests.receive(id, place(id))));
      return;
    }
    pair.server().post(Requests.receive(id, place(id)));
    receivesPosted++;
    advance();
  }

  private TestMemory place(int receive) {
    return inbox.part(receive % (maxReceive + 1) * MOST, MOST);
  }

  /** Lets the model execute all requests that can execute now. */
  private void advance() {
    while (done < steps.size()) {
      Step step = steps.get(done);
      if (step.kind.takesReceive()) {
        if (receivesTaken == receivesPosted) {
          return;
        }
        receivesTaken++;
        arrived.add(step);
      }
      apply(step);
      done++;
    }
  }

  private void apply(Step step) {
    switch (step.kind) {
      case WRITE, WRITE_WITH_IMMEDIATE -> {
        for (int i = 0; i < step.length; i++) {
          model.put(step.to + i, source.getByte(step.from + i));
        }
      }
      case READ -> {
        step.answer = new byte[step.length];
        model.get(step.to, step.answer);
      }
      case ADD -> {
        remember(step);
        model.putLong(step.to, model.getLong(step.to) + step.operand);
      }
      case SWAP -> {
        remember(step);
        if (model.getLong(step.to) == step.expected) {
          model.putLong(step.to, step.operand);
        }
      }
      case ADD_SHARED -> added++;
      case SEND -> {}
    }
  }

  private void remember(Step step) {
    step.answer = new byte[Long.BYTES];
    model.get(step.to, step.answer);
  }

  private void pollSent() {
    int next = freed;
    while (next < done && !steps.get(next).signaled) {
      next++;
    }
    if (next == done) {
      pair.client().sent().expectNothing();
      return;
    }
    pair.client().sent().expectSuccess(next, steps.get(next).kind.opcode);
    for (; freed <= next; freed++) {
      Step step = steps.get(freed);
      TestMemory result = result(step);
      for (int i = 0; i < step.answer.length; i++) {
        assertThat(result.getByte(i))
            .as("byte %d of the result of %s %d", i, step.kind, step.position)
            .isEqualTo(step.answer[i]);
      }
    }
  }

  private void pollReceived() {
    Step step = arrived.poll();
    if (step == null) {
      pair.server().received().expectNothing();
      return;
    }
    int id = receivesFreed++;
    boolean sent = step.kind == Kind.SEND;
    WorkCompletion completion =
        pair.server()
            .received()
            .expectSuccess(id, sent ? CompletionOpcode.RECV : CompletionOpcode.RECV_RDMA_WITH_IMM);
    assertThat(completion.byteLength()).as("length of %s", completion).isEqualTo(step.length);
    if (!sent) {
      assertThat(completion.immediate()).as("of %s", completion).isEqualTo((int) step.operand);
      return;
    }
    TestMemory place = place(id);
    for (int i = 0; i < step.length; i++) {
      assertThat(place.getByte(i))
          .as("byte %d of message %d", i, id)
          .isEqualTo(source.getByte(step.from + i));
    }
  }
}

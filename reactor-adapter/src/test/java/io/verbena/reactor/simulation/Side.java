package io.verbena.reactor.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.verbena.OperationLimitException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.RdmaMemory;
import io.verbena.RdmaOptions;
import io.verbena.RemoteMemory;
import io.verbena.core.loop.Conductor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** One end of the connection of a run, and what it does with it when it has its turn. */
final class Side implements Conductor.Turns {
  private static final int SHARED = 4096;
  private static final int COUNTER = 0;
  private static final int BYTES = 64;

  private final Run run;
  private final SplittableRandom random;
  private final RdmaConnection connection;
  private final RdmaOptions options;
  private final RdmaMemory.Region region;
  private final ByteBuffer shared =
      ByteBuffer.allocateDirect(SHARED).order(ByteOrder.nativeOrder());

  private final List<Sending> sends = new ArrayList<>();
  private final List<Once<?>> operations = new ArrayList<>();
  private final Deque<ByteBuf> kept = new ArrayDeque<>();
  private @Nullable Receiving receiving;
  private @Nullable Side peer;
  private @Nullable Once<Void> closing;
  private @Nullable Once<?> writing;
  private final Once<Void> closed;
  private final int mostSends;
  private int actions;
  private long asked;
  private long added;
  private boolean addedForSure = true;
  private boolean cancelledAny;
  private boolean failedAny;

  Side(Run run, SplittableRandom random, RdmaConnection connection, RdmaOptions options) {
    this.run = run;
    this.random = random;
    this.connection = connection;
    this.options = options;
    mostSends = 1 + random.nextInt(2);
    actions = 20 + random.nextInt(180);
    region = connection.memory().register(shared, EnumSet.allOf(RemoteMemory.Right.class));
    closed = new Once<>("onClose", this, nothing -> {});
    connection.onClose().subscribe(closed);
  }

  void meet(Side other) {
    peer = other;
  }

  // ---- for its sends and subscribers

  boolean chance(int oneIn) {
    return random.nextInt(oneIn) == 0;
  }

  int upTo(int most) {
    return random.nextInt(most + 1);
  }

  int messageLength() {
    int most = chance(3) ? 6 * options.eagerSize() : options.eagerSize() + 8;
    return Message.LEAST_LENGTH + random.nextInt(most);
  }

  ByteBuf allocate(int length) {
    return connection.memory().allocator().directBuffer(length);
  }

  /** Of two ends, the one that sends asks for no more than the other has granted. */
  void checkCredits() {
    run.claim(this::claimCredits);
  }

  private void claimCredits() {
    if (cancelledAny || peer == null || peer.cancelledAny) {
      return;
    }
    long outstanding = 0;
    for (Sending send : sends) {
      outstanding += send.demand() + send.undelivered();
    }
    // Where one holds all credits unused, another is asked for messages that take their place.
    long most = (long) mostSends * options.window() + mostSends - 1;
    assertThat(outstanding).as("messages asked for").isLessThanOrEqualTo(most);
  }

  void received(ByteBuf message) {
    run.claim(() -> take(message));
  }

  private void take(ByteBuf message) {
    Side from = peer();
    assertThat(message.readableBytes()).isGreaterThanOrEqualTo(Message.LEAST_LENGTH);
    int send = Message.send(message);
    assertThat(send).as("the number of a send").isBetween(0, from.sends.size() - 1);
    from.sends.get(send).deliver(message);
    if (chance(4)) {
      kept.add(message);
    } else {
      message.release();
    }
  }

  void justify(String operation, Throwable error) {
    failedAny |= !(error instanceof OperationLimitException);
    claim(
        () -> {
          boolean explained = run.isDisturbed() || error instanceof OperationLimitException;
          if (!(error instanceof RdmaException) || !explained) {
            throw new AssertionError(operation + ": nothing explains its failure", error);
          }
        });
  }

  void justifyEnd() {
    claim(() -> assertThat(run.isDisturbed() || run.isEnding()).as("why all ends").isTrue());
  }

  /** See {@link Run#claim}. */
  void claim(Runnable claim) {
    run.claim(claim);
  }

  private Side peer() {
    if (peer == null) {
      throw new AssertionError("alone");
    }
    return peer;
  }

  // ---- turns

  @Override
  public boolean isOver() {
    return closed.isOver() && actions == 0;
  }

  boolean isDone() {
    return actions == 0;
  }

  @Override
  public boolean turn() {
    boolean worked = false;
    if (chance(2)) {
      for (int i = 0; i < sends.size(); i++) {
        worked |= sends.get(i).emit();
      }
    }
    while (kept.size() > 4 || (actions == 0 && !kept.isEmpty())) {
      kept.remove().release();
    }
    if (actions == 0) {
      return drainReceives() || worked;
    }
    actions--;
    act();
    return true;
  }

  private boolean drainReceives() {
    Receiving subscriber = receiving;
    if (subscriber == null || (subscriber.isOver() && !closed.isOver())) {
      subscribe();
      return true;
    }
    if (!subscriber.isOver() && subscriber.isStarving()) {
      subscriber.ask(64);
      return true;
    }
    return false;
  }

  private void act() {
    switch (random.nextInt(12)) {
      case 0, 1 -> send();
      case 2, 3, 4 -> receive();
      case 5 -> cancelReceive();
      case 6 -> cancelSend();
      case 7 -> write();
      case 8 -> read();
      case 9 -> add();
      case 10 -> cancelOperation();
      default -> run.maybeDisturb(this);
    }
  }

  private void send() {
    long active = sends.stream().filter(send -> !send.isOver()).count();
    if (active < mostSends && closing == null) {
      Sending send = new Sending(this, sends.size(), 1 + random.nextInt(30));
      sends.add(send);
      connection.send(send).subscribe(send);
    }
  }

  private void receive() {
    if (receiving == null || receiving.isOver()) {
      subscribe();
    } else {
      receiving.ask(1 + random.nextInt(6));
    }
  }

  private void subscribe() {
    Receiving subscriber = new Receiving(this);
    receiving = subscriber;
    connection.receive().subscribe(subscriber);
  }

  private void cancelReceive() {
    if (receiving != null && !receiving.isOver() && chance(3)) {
      receiving.giveUp();
    }
  }

  private void cancelSend() {
    for (Sending send : sends) {
      if (!send.isOver() && chance(4)) {
        cancelledAny = true;
        send.giveUp();
        return;
      }
    }
  }

  private void write() {
    if (writing != null && !writing.isOver()) {
      return;
    }
    int length = random.nextInt(512);
    int offset = BYTES + random.nextInt(SHARED - BYTES - 512);
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    ByteBuffer target = peer().shared;
    Once<Void> write =
        new Once<>(
            "write",
            this,
            nothing -> {
              byte[] there = new byte[length];
              target.get(offset, there);
              assertThat(there).as("what was written").isEqualTo(bytes);
            });
    writing = write;
    start(
        connection.write(allocate(Math.max(1, length)).writeBytes(bytes), token(offset, length)),
        write);
  }

  private void read() {
    if (writing != null && !writing.isOver()) {
      return;
    }
    int length = 1 + random.nextInt(512);
    int offset = BYTES + random.nextInt(SHARED - BYTES - 512);
    byte[] expected = new byte[length];
    peer().shared.get(offset, expected);
    Once<?> before = writing;
    Once<ByteBuf> read =
        new Once<>(
            "read",
            this,
            value -> {
              assertThat(value).isNotNull();
              byte[] bytes = new byte[value.readableBytes()];
              value.readBytes(bytes).release();
              if (writing == before) {
                assertThat(bytes).as("what was read").isEqualTo(expected);
              }
            });
    start(connection.read(token(offset, length)), read);
  }

  private void add() {
    long addend = random.nextLong(1, 101);
    asked += addend;
    Once<Long> add =
        new Once<>(
            "fetch and add",
            this,
            before -> {
              assertThat(before).as("the sum before").isNotNull().isBetween(0L, asked - addend);
              added += addend;
            });
    start(connection.fetchAndAdd(token(COUNTER, Long.BYTES), addend), add);
  }

  private RemoteMemory token(int offset, int length) {
    return peer().region.token().slice(offset, length);
  }

  private <T> void start(Mono<T> mono, Once<T> operation) {
    operations.removeIf(Once::isOver);
    operations.add(operation);
    mono.subscribe(operation);
  }

  private void cancelOperation() {
    for (Once<?> operation : operations) {
      if (!operation.isOver() && chance(3)) {
        // Whether the HCA did it nobody knows.
        addedForSure = false;
        if (operation == writing) {
          // Its bytes may come yet.
          return;
        }
        operation.giveUp();
        return;
      }
    }
  }

  /** Stops at once. */
  void dispose() {
    connection.dispose();
  }

  // ---- end

  void close() {
    if (closing == null) {
      closing = new Once<>("close", this, nothing -> {});
      connection.close().subscribe(closing);
    }
  }

  boolean isClosed() {
    return closed.isOver()
        && closing != null
        && closing.isOver()
        && sends.stream().allMatch(Sending::isOver)
        && operations.stream().allMatch(Once::isOver)
        && (receiving == null || receiving.isOver());
  }

  boolean isQuiet() {
    return sends.stream().allMatch(Sending::isOver) && operations.stream().allMatch(Once::isOver);
  }

  String describe() {
    return "closed "
        + closed.isOver()
        + ", close "
        + (closing != null && closing.isOver())
        + ", sends over "
        + sends.stream().map(Sending::isOver).toList()
        + ", operations over "
        + operations.stream().map(Once::isOver).toList()
        + ", receive over "
        + (receiving == null || receiving.isOver());
  }

  void checkAtEnd(boolean disturbed) {
    while (!kept.isEmpty()) {
      kept.remove().release();
    }
    for (Sending send : sends) {
      send.checkAtEnd(disturbed);
    }
    if (!disturbed && addedForSure && !failedAny) {
      assertThat(peer().shared.getLong(COUNTER)).as("the sum at the end").isEqualTo(added);
    }
    region.close();
  }

  /** When the transports are disposed. */
  void checkReleased() {
    for (Sending send : sends) {
      send.checkReleased();
    }
  }
}

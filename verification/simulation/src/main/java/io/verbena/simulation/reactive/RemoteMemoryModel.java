package io.verbena.simulation.reactive;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaConnection;
import io.verbena.RdmaConnection.Immediate;
import io.verbena.RemoteMemory;
import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.Violation;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * What one end does in the memory of the other, which it alone does anything in, and what must
 * stand there.
 *
 * <pre>
 *    0  counters: each addition adds 1 to two bits of its own
 *   56  the cell of compare-and-swap
 *   64  bytes that are written and read
 * </pre>
 */
final class RemoteMemoryModel {
  /** How much memory that is. */
  static final int LENGTH = 4096;

  private static final int COUNTERS = 7;
  private static final int DIGIT_BITS = 2;
  private static final int DIGITS = Long.SIZE / DIGIT_BITS;
  private static final int DIGIT = (1 << DIGIT_BITS) - 1;
  private static final int CELL = COUNTERS * Long.BYTES;
  private static final int BYTES = CELL + Long.BYTES;
  private static final int MOST_BYTES = 512;

  private final ConnectionEnd side;
  private final RdmaConnection connection;
  private final RemoteMemory token;
  private final Arena arena;
  private final int base;
  private final List<OperationSubscriber<?>> running = new ArrayList<>();

  private @Nullable OperationSubscriber<Void> writing;
  private int writes;
  private int unsureAt;
  private byte @Nullable [] unsure;
  private final List<Integer> told = new ArrayList<>();
  private int heard;

  private int adds;
  private final BitSet added = new BitSet();

  private long cell;
  private @Nullable OperationSubscriber<Long> swapping;
  private @Nullable Long unsureCell;

  /**
   * What can be done from now on.
   *
   * @param token of the other end's memory
   * @param base where that stands in the arena
   */
  RemoteMemoryModel(ConnectionEnd side, RdmaConnection connection, RemoteMemory token, Arena arena, int base) {
    this.side = side;
    this.connection = connection;
    this.token = token;
    this.arena = arena;
    this.base = base;
    for (int i = 0; i < COUNTERS; i++) {
      arena.memory.putLong(base + i * Long.BYTES, 0);
      arena.expectLong(base + i * Long.BYTES, 0);
    }
    cell = arena.memory.getLong(base + CELL);
  }

  // ---- operations

  void write(SplittableRandom random) {
    if (isWriting() || unsure != null) {
      return;
    }
    byte[] bytes = new byte[random.nextInt(MOST_BYTES)];
    random.nextBytes(bytes);
    int at = place(random);
    boolean tells = random.nextInt(3) == 0;
    unsureAt = at;
    unsure = bytes;
    writes++;
    OperationSubscriber<Void> write =
        new OperationSubscriber<>(
            "write",
            side,
            nothing -> written(at, bytes),
            mayBeDone -> {
              if (!mayBeDone) {
                unsure = null;
                if (tells) {
                  told.remove(told.size() - 1);
                }
              }
            });
    writing = write;
    ByteBuf data = side.allocate(Math.max(1, bytes.length)).writeBytes(bytes);
    RemoteMemory to = token.slice(at, bytes.length);
    if (tells) {
      told.add(bytes.length);
      start(connection.writeWithImmediate(data, to, told.size() - 1), write);
    } else {
      start(connection.write(data, to), write);
    }
  }

  private boolean isWriting() {
    return writing != null && !writing.isOver();
  }

  private void written(int at, byte[] bytes) {
    System.arraycopy(bytes, 0, arena.expected, base + at, bytes.length);
    unsure = null;
    Violation.require(
        arena.isAsExpected(base + at, bytes.length), "a write is done, and not at", at);
  }

  /** The other end is told of a write. */
  void heard(Immediate notice) {
    Violation.require(
        notice.value() == heard && heard < told.size() && notice.length() == told.get(heard),
        "not the next of the writes that were told:",
        notice);
    heard++;
  }

  void read(SplittableRandom random) {
    if (isWriting() || unsure != null) {
      return;
    }
    int length = 1 + random.nextInt(MOST_BYTES - 1);
    int at = place(random);
    RemoteMemory from = token.slice(at, length);
    byte[] due = new byte[length];
    System.arraycopy(arena.expected, base + at, due, 0, length);
    int before = writes;
    switch (random.nextInt(3)) {
      case 0 ->
          start(
              connection.read(from),
              new OperationSubscriber<ByteBuf>(
                  "read", side, value -> brought(due, before, value), mayBeDone -> {}));
      case 1 -> {
        ByteBuf into = side.allocate(length);
        start(
            connection.read(from, into),
            new OperationSubscriber<Void>(
                "read into",
                side,
                nothing -> brought(due, before, into),
                mayBeDone -> into.release()));
      }
      default -> {
        ByteBuffer all = ByteBuffer.allocate(length);
        Mono<Void> pieces =
            connection
                .readPieces(from, 1 + random.nextInt(length))
                .doOnNext(
                    piece -> {
                      all.limit(all.position() + piece.readableBytes());
                      piece.readBytes(all).release();
                    })
                .then();
        start(
            pieces,
            new OperationSubscriber<Void>(
                    "read pieces",
                    side,
                    nothing -> brought(due, before, all.array()),
                    mayBeDone -> {})
                .inParts());
      }
    }
  }

  private void brought(byte[] due, int writesBefore, @Nullable ByteBuf value) {
    if (value == null) {
      throw new Violation("a read without a value");
    }
    byte[] bytes = new byte[value.readableBytes()];
    value.readBytes(bytes).release();
    brought(due, writesBefore, bytes);
  }

  /** What a write wrote that was begun after it, a read may find or not. */
  private void brought(byte[] due, int writesBefore, byte[] bytes) {
    Violation.require(bytes.length == due.length, "a read brings so many bytes:", bytes.length);
    Violation.require(
        writes != writesBefore || Arrays.equals(bytes, due), "a read brings others", "");
  }

  void add(SplittableRandom random) {
    if (adds == COUNTERS * DIGITS) {
      return;
    }
    int number = adds++;
    int at = number / DIGITS * Long.BYTES;
    BitSet doneBefore = (BitSet) added.clone();
    OperationSubscriber<Long> add =
        new OperationSubscriber<>(
            "add " + number,
            side,
            found -> {
              if (found == null) {
                throw new Violation("an addition without a value");
              }
              for (int i = number - number % DIGITS;
                  i < adds && i / DIGITS == number / DIGITS;
                  i++) {
                int times = digit(found, i);
                Violation.require(
                    times <= (i < number ? 1 : 0) && (!doneBefore.get(i) || times == 1),
                    "add " + number + " finds so many of add " + i + ":",
                    times);
              }
              added.set(number);
            },
            mayBeDone -> {});
    long addend = 1L << ((number % DIGITS) * DIGIT_BITS);
    start(connection.fetchAndAdd(token.slice(at, Long.BYTES), addend), add);
  }

  private static int digit(long value, int number) {
    return (int) (value >>> ((number % DIGITS) * DIGIT_BITS)) & DIGIT;
  }

  void swap(SplittableRandom random) {
    if ((swapping != null && !swapping.isOver()) || unsureCell != null) {
      return;
    }
    boolean hits = random.nextInt(4) > 0;
    long next = random.nextLong();
    OperationSubscriber<Long> swap =
        new OperationSubscriber<>(
            "swap",
            side,
            found -> {
              Violation.require(found != null && found == cell, "a swap finds", found + "");
              cell = hits ? next : cell;
            },
            mayBeDone -> {
              if (mayBeDone && hits) {
                unsureCell = next;
              }
            });
    swapping = swap;
    long expected = hits ? cell : ~cell;
    start(connection.compareAndSwap(token.slice(CELL, Long.BYTES), expected, next), swap);
  }

  private static int place(SplittableRandom random) {
    return BYTES + random.nextInt(LENGTH - BYTES - MOST_BYTES);
  }

  private <T> void start(Mono<T> mono, OperationSubscriber<T> operation) {
    running.removeIf(OperationSubscriber::isOver);
    running.add(operation);
    mono.subscribe(operation);
  }

  void cancelOne(SplittableRandom random) {
    for (OperationSubscriber<?> operation : running) {
      // The bytes of a write may come yet; what else it was, nobody looks at then.
      if (!operation.isOver() && operation != writing && random.nextInt(3) == 0) {
        operation.giveUp();
        return;
      }
    }
  }

  boolean isOver() {
    return running.stream().allMatch(OperationSubscriber::isOver);
  }

  // ---- the end

  /** Every write that was to be told of was; the last one, if it failed, perhaps. */
  void requireHeard() {
    int least = unsure == null ? told.size() : told.size() - 1;
    Violation.require(heard >= least, "writes of which the peer has heard nothing:", told);
  }

  /** Takes over what may have happened or not, once it is checked. */
  void settle() {
    for (int i = 0; i < COUNTERS; i++) {
      long sum = arena.memory.getLong(base + i * Long.BYTES);
      for (int digit = 0; digit < DIGITS; digit++) {
        int number = i * DIGITS + digit;
        int times = digit(sum, number);
        boolean right =
            number >= adds ? times == 0 : times == 1 || (times == 0 && !added.get(number));
        Violation.require(right, "add " + number + " was executed so often:", times);
      }
      arena.expectLong(base + i * Long.BYTES, sum);
    }
    long there = arena.memory.getLong(base + CELL);
    Violation.require(
        there == cell || (unsureCell != null && there == unsureCell), "a swap left", there);
    arena.expectLong(base + CELL, there);
    byte[] bytes = unsure;
    for (int i = 0; bytes != null && i < bytes.length; i++) {
      if (arena.memory.get(base + unsureAt + i) == bytes[i]) {
        arena.expected[base + unsureAt + i] = bytes[i];
      }
    }
  }

  @Override
  public String toString() {
    return running.toString();
  }
}

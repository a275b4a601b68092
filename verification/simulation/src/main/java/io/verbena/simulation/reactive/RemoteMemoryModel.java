// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaConnection;
import io.verbena.RdmaConnection.Immediate;
import io.verbena.RemoteMemory;
import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.CounterDigits;
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
 * The one-sided operations of one end in the memory of the other, and the contents that they must
 * leave there. No other end accesses this memory.
 *
 * <pre>
 *    0  counters: each fetch-and-add increments two bits of its own
 *   56  cell of compare-and-swap
 *   64  bytes of WRITEs and READs
 * </pre>
 */
final class RemoteMemoryModel {
  /** The length of the memory in bytes. */
  static final int LENGTH = 4096;

  private static final int COUNTERS = 7;
  private static final int DIGITS = CounterDigits.COUNT;
  private static final int CELL = COUNTERS * Long.BYTES;
  private static final int BYTES = CELL + Long.BYTES;
  private static final int MAX_BYTES = 512;

  private final ConnectionEnd end;
  private final RdmaConnection connection;
  private final RemoteMemory token;
  private final Arena arena;
  private final int base;
  private final List<OperationSubscriber<?>> operations = new ArrayList<>();

  private @Nullable OperationSubscriber<Void> writing;
  private int writes;
  private int uncertainOffset;
  private byte @Nullable [] uncertainBytes;
  private final List<Integer> immediateLengths = new ArrayList<>();
  private int immediatesReceived;

  private int adds;
  private final BitSet completedAdds = new BitSet();

  private long cell;
  private @Nullable OperationSubscriber<Long> swapping;
  private @Nullable Long uncertainCell;

  /**
   * Creates the model and initializes the expected contents.
   *
   * @param token of the memory of the other end
   * @param base the offset of that memory in the arena
   */
  RemoteMemoryModel(
      ConnectionEnd end, RdmaConnection connection, RemoteMemory token, Arena arena, int base) {
    this.end = end;
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

  void write(SplittableRandom random, int maxLength) {
    if (isWriting() || uncertainBytes != null) {
      return;
    }
    byte[] bytes = new byte[Math.min(maxLength, random.nextInt(MAX_BYTES))];
    random.nextBytes(bytes);
    int at = randomOffset(random);
    boolean withImmediate = random.nextInt(3) == 0;
    uncertainOffset = at;
    uncertainBytes = bytes;
    writes++;
    OperationSubscriber<Void> write =
        new OperationSubscriber<>(
            "write",
            end,
            nothing -> written(at, bytes),
            mayBeExecuted -> {
              if (!mayBeExecuted) {
                uncertainBytes = null;
                if (withImmediate) {
                  immediateLengths.remove(immediateLengths.size() - 1);
                }
              }
            });
    writing = write;
    ByteBuf data = end.allocate(Math.max(1, bytes.length)).writeBytes(bytes);
    RemoteMemory to = token.slice(at, bytes.length);
    if (withImmediate) {
      immediateLengths.add(bytes.length);
      start(connection.writeWithImmediate(data, to, immediateLengths.size() - 1), write);
    } else {
      start(connection.write(data, to), write);
    }
  }

  private boolean isWriting() {
    return writing != null && !writing.isEnded();
  }

  private void written(int at, byte[] bytes) {
    System.arraycopy(bytes, 0, arena.expected, base + at, bytes.length);
    uncertainBytes = null;
    Violation.require(
        arena.isAsExpected(base + at, bytes.length),
        "a completed WRITE has not changed the bytes at",
        at);
  }

  /** Called when the other end receives the immediate of a WRITE. */
  void onImmediate(Immediate immediate) {
    Violation.require(
        immediate.value() == immediatesReceived
            && immediatesReceived < immediateLengths.size()
            && immediate.length() == immediateLengths.get(immediatesReceived),
        "not the immediate of the next WRITE:",
        immediate);
    immediatesReceived++;
  }

  void read(SplittableRandom random, int maxLength) {
    if (isWriting() || uncertainBytes != null) {
      return;
    }
    int length = Math.min(maxLength, 1 + random.nextInt(MAX_BYTES - 1));
    int at = randomOffset(random);
    RemoteMemory from = token.slice(at, length);
    byte[] expected = new byte[length];
    System.arraycopy(arena.expected, base + at, expected, 0, length);
    int before = writes;
    switch (random.nextInt(3)) {
      case 0 ->
          start(
              connection.read(from),
              new OperationSubscriber<ByteBuf>(
                  "read", end, value -> verifyRead(expected, before, value), mayBeExecuted -> {}));
      case 1 -> {
        ByteBuf into = end.allocate(length);
        if (!into.isDirect()) {
          into.release();
          return;
        }
        start(
            connection.read(from, into),
            new OperationSubscriber<Void>(
                "read into",
                end,
                nothing -> verifyRead(expected, before, into),
                mayBeExecuted -> into.release()));
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
                    end,
                    nothing -> verifyRead(expected, before, all.array()),
                    mayBeExecuted -> {})
                .inParts());
      }
    }
  }

  private void verifyRead(byte[] expected, int writesBefore, @Nullable ByteBuf value) {
    if (value == null) {
      throw new Violation("a READ completed without a value");
    }
    byte[] bytes = new byte[value.readableBytes()];
    value.readBytes(bytes).release();
    verifyRead(expected, writesBefore, bytes);
  }

  /** Verifies a READ, which may or may not return the bytes of a WRITE that started after it. */
  private void verifyRead(byte[] expected, int writesBefore, byte[] bytes) {
    Violation.require(bytes.length == expected.length, "wrong length of a READ:", bytes.length);
    Violation.require(
        writes != writesBefore || Arrays.equals(bytes, expected), "wrong bytes of a READ", "");
  }

  void fetchAndAdd(SplittableRandom random) {
    if (adds == COUNTERS * DIGITS) {
      return;
    }
    int number = adds++;
    int at = number / DIGITS * Long.BYTES;
    BitSet doneBefore = (BitSet) completedAdds.clone();
    OperationSubscriber<Long> add =
        new OperationSubscriber<>(
            "add " + number,
            end,
            found -> {
              if (found == null) {
                throw new Violation("a fetch-and-add completed without a value");
              }
              for (int i = number - number % DIGITS;
                  i < adds && i / DIGITS == number / DIGITS;
                  i++) {
                int times = executions(found, i);
                if (times > (i < number ? 1 : 0) || (doneBefore.get(i) && times != 1)) {
                  throw new Violation("add " + number + " found " + times + " times add " + i);
                }
              }
              completedAdds.set(number);
            },
            mayBeExecuted -> {});
    long addend = CounterDigits.addend(number % DIGITS);
    start(connection.fetchAndAdd(token.slice(at, Long.BYTES), addend), add);
  }

  /** Returns how often the fetch-and-add with this number has incremented a counter. */
  private static int executions(long counter, int number) {
    return CounterDigits.get(counter, number % DIGITS);
  }

  void compareAndSwap(SplittableRandom random) {
    if ((swapping != null && !swapping.isEnded()) || uncertainCell != null) {
      return;
    }
    boolean matches = random.nextInt(4) > 0;
    long next = random.nextLong();
    OperationSubscriber<Long> swap =
        new OperationSubscriber<>(
            "swap",
            end,
            found -> {
              Violation.require(
                  found != null && found == cell, "a compare-and-swap found", found + "");
              cell = matches ? next : cell;
            },
            mayBeExecuted -> {
              if (mayBeExecuted && matches) {
                uncertainCell = next;
              }
            });
    swapping = swap;
    long expected = matches ? cell : ~cell;
    start(connection.compareAndSwap(token.slice(CELL, Long.BYTES), expected, next), swap);
  }

  private static int randomOffset(SplittableRandom random) {
    return BYTES + random.nextInt(LENGTH - BYTES - MAX_BYTES);
  }

  private <T> void start(Mono<T> mono, OperationSubscriber<T> operation) {
    operations.removeIf(OperationSubscriber::isEnded);
    operations.add(operation);
    mono.subscribe(operation);
  }

  void cancelOperation() {
    for (OperationSubscriber<?> operation : operations) {
      // WRITEs are not cancelled: their bytes might still arrive and would have to be tracked. The
      // results of all other cancelled operations are ignored.
      if (!operation.isEnded() && operation != writing) {
        operation.cancelOperation();
        return;
      }
    }
  }

  boolean isIdle() {
    for (int i = 0; i < operations.size(); i++) {
      if (!operations.get(i).isEnded()) {
        return false;
      }
    }
    return true;
  }

  // ---- the end

  /**
   * Checks that the peer received the immediate of every WRITE, except perhaps of the last WRITE if
   * it failed.
   */
  void requireAllImmediates() {
    int least = uncertainBytes == null ? immediateLengths.size() : immediateLengths.size() - 1;
    Violation.require(
        immediatesReceived >= least,
        "immediates that the peer has not received, of WRITEs of lengths",
        immediateLengths);
  }

  /** Checks the effects of operations with an unknown outcome and adopts them as expected. */
  void reconcile() {
    for (int i = 0; i < COUNTERS; i++) {
      long sum = arena.memory.getLong(base + i * Long.BYTES);
      for (int digit = 0; digit < DIGITS; digit++) {
        int number = i * DIGITS + digit;
        int times = executions(sum, number);
        boolean right =
            number >= adds ? times == 0 : times == 1 || (times == 0 && !completedAdds.get(number));
        if (!right) {
          throw new Violation("add " + number + " was executed this often: " + times);
        }
      }
      arena.expectLong(base + i * Long.BYTES, sum);
    }
    long actual = arena.memory.getLong(base + CELL);
    Violation.require(
        actual == cell || (uncertainCell != null && actual == uncertainCell),
        "a compare-and-swap left",
        actual);
    arena.expectLong(base + CELL, actual);
    byte[] bytes = uncertainBytes;
    for (int i = 0; bytes != null && i < bytes.length; i++) {
      if (arena.memory.get(base + uncertainOffset + i) == bytes[i]) {
        arena.expected[base + uncertainOffset + i] = bytes[i];
      }
    }
  }

  @Override
  public String toString() {
    return operations.toString();
  }
}

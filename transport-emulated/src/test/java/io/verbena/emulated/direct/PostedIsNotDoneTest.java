// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.cm.local.LocalConnectionManagers;
import io.verbena.emulated.hca.DeviceLimits;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.EmulatedProtectionDomain;
import io.verbena.emulated.hca.Ownership;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Small programs that rely on guarantees that verbs do not give. Each fails with most seeds, and
 * its corrected version with none.
 */
class PostedIsNotDoneTest {
  private static final int SEEDS = 12;
  private static final int ROUNDS = 100;

  /** Rounds of a wrong program; on a busy machine it may run between two turns of the HCA. */
  private static final int MOST_ROUNDS = 100 * ROUNDS;

  private static final int LENGTH = 1 << 13;
  private static final Set<Access> ALL =
      EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE);
  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  /** Returns whether a program saw the expected value in a round. */
  private interface Program {
    boolean isRight(Ends ends, long round);
  }

  private static int seedsThatShow(Program program, int rounds) {
    int wrong = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
      try (Ends ends = new Ends(seed)) {
        boolean right = true;
        for (long round = 1; round <= rounds && right; round++) {
          right = program.isRight(ends, round);
        }
        wrong += right ? 0 : 1;
      }
    }
    return wrong;
  }

  private static void failsWithMostSeeds(Program program) {
    assertThat(seedsThatShow(program, MOST_ROUNDS))
        .as("seeds of %d", SEEDS)
        .isGreaterThan(SEEDS * 3 / 4);
  }

  private static void isRightWithEverySeed(Program program) {
    assertThat(seedsThatShow(program, ROUNDS)).as("seeds of %d", SEEDS).isZero();
  }

  @Test
  void readingTheTargetRightAfterThePostFails() {
    failsWithMostSeeds(
        (ends, round) -> {
          ends.source.putLong(0, round);
          ends.sender.postSend(ends.write(8).signaled());
          boolean there = ends.target.getLong(0) == round;
          ends.awaitSent();
          return there;
        });
  }

  @Test
  void readingTheTargetAfterTheCompletionIsRight() {
    isRightWithEverySeed(
        (ends, round) -> {
          ends.source.putLong(LENGTH - 8, round);
          ends.sender.postSend(ends.write(LENGTH).signaled());
          ends.awaitSent();
          return ends.target.getLong(LENGTH - 8) == round;
        });
  }

  @Test
  void changingTheBufferAfterThePostShows() {
    failsWithMostSeeds(
        (ends, round) -> {
          ends.source.putLong(0, round);
          ends.sender.postSend(ends.write(8).signaled());
          ends.source.putLong(0, -round);
          ends.awaitSent();
          return ends.target.getLong(0) == round;
        });
  }

  @Test
  void changingInlineDataAfterThePostDoesNotShow() {
    ByteBuffer data = ByteBuffer.allocate(8).order(ByteOrder.nativeOrder());
    isRightWithEverySeed(
        (ends, round) -> {
          data.putLong(0, round);
          ends.sender.postSend(
              ends.request
                  .write(ends.targetRegion.address(), ends.targetRegion.rkey())
                  .inline(data)
                  .signaled());
          data.putLong(0, -round);
          ends.awaitSent();
          return ends.target.getLong(0) == round;
        });
  }

  @Test
  void trustingTheRestOfAMessageWhoseLastBytesAreThereFails() {
    failsWithMostSeeds(
        (ends, round) -> {
          ends.source.putLong(0, round);
          ends.source.putLong(LENGTH / 2, round);
          ends.source.putLong(LENGTH - 8, round);
          ends.sender.postSend(ends.write(LENGTH).signaled());
          long deadline = Ends.deadline();
          while ((long) LONG.getAcquire(ends.target, LENGTH - 8) != round) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            Thread.onSpinWait();
          }
          boolean whole =
              (long) LONG.getAcquire(ends.target, 0) == round
                  && (long) LONG.getAcquire(ends.target, LENGTH / 2) == round;
          ends.awaitSent();
          return whole;
        });
  }

  @Test
  void expectingTheReceiveOnceTheSendIsCompletedFails() {
    failsWithMostSeeds(
        (ends, round) -> {
          ends.receive();
          ends.sender.postSend(ends.send(8).signaled());
          ends.awaitSent();
          boolean there = ends.received.poll(ends.completions) == 1;
          if (!there) {
            ends.awaitReceived();
          }
          return there;
        });
  }

  @Test
  void expectingTheSendOnceItsMessageIsReceivedFails() {
    failsWithMostSeeds(
        (ends, round) -> {
          ends.receive();
          ends.sender.postSend(ends.send(8).signaled());
          ends.awaitReceived();
          boolean there = ends.sent.poll(ends.completions) == 1;
          if (!there) {
            ends.awaitSent();
          }
          return there;
        });
  }

  @Test
  void aReadThatIsPassedByALaterWriteSeesIt() {
    failsWithMostSeeds((ends, round) -> readsWhatWasThereBefore(ends, round, false));
  }

  @Test
  void aFencedWritePassesNoRead() {
    isRightWithEverySeed((ends, round) -> readsWhatWasThereBefore(ends, round, true));
  }

  private static boolean readsWhatWasThereBefore(Ends ends, long round, boolean fenced) {
    ends.target.putLong(0, -round);
    ends.source.putLong(0, round);
    ends.sender.postSend(ends.read(8));
    SendWorkRequest write = ends.write(8).signaled();
    ends.sender.postSend(fenced ? write.fence() : write);
    ends.awaitSent();
    return ends.source.getLong(LENGTH) == -round;
  }

  @Test
  void expectingOneQueueToWaitForAnotherFails() {
    failsWithMostSeeds(
        (ends, round) -> {
          ends.target.putLong(0, -round);
          ends.source.putLong(0, round);
          ends.sender.postSend(ends.write(8).signaled());
          // The other queue pair reads in the opposite direction; both ends have the same memory.
          ends.receiver.postSend(ends.read(8).signaled());
          ends.awaitSent();
          ends.awaitSent();
          return ends.source.getLong(LENGTH) == round;
        });
  }

  /** Two connected queue pairs with the memory that they send from and access remotely. */
  private static final class Ends implements AutoCloseable {
    final EmulatedDevice device;
    final EmulatedProtectionDomain domain;
    final CompletionQueue sent;
    final CompletionQueue received;
    final QueuePair sender;
    final QueuePair receiver;
    final ByteBuffer source = ByteBuffer.allocateDirect(2 * LENGTH).order(ByteOrder.nativeOrder());
    final ByteBuffer target = ByteBuffer.allocateDirect(LENGTH).order(ByteOrder.nativeOrder());
    final MemoryRegion sourceRegion;
    final MemoryRegion targetRegion;
    final SendWorkRequest request = new SendWorkRequest();
    final WorkCompletion[] completions = WorkCompletion.array(1);

    Ends(long seed) {
      device =
          EmulatedDevice.open(
              new DeferredFabric(seed), DeviceLimits.FULL, new LocalConnectionManagers());
      domain = device.allocateProtectionDomain();
      sent = device.createCompletionQueue(64, null);
      received = device.createCompletionQueue(64, null);
      QueuePairOptions options =
          new QueuePairOptions(QueuePairType.RC, sent, received, null, 16, 16, 1, 1, 16, false);
      sender = domain.createQueuePair(options);
      receiver = domain.createQueuePair(options);
      sourceRegion = domain.register(source, ALL);
      targetRegion = domain.register(target, ALL);
      Loopback.connect(device, sender, receiver);
      Loopback.connect(device, receiver, sender);
    }

    SendWorkRequest write(int length) {
      return request
          .write(targetRegion.address(), targetRegion.rkey())
          .buffer(sourceRegion.address(), length, sourceRegion.lkey());
    }

    /** Reads the target into the second half of the source's memory. */
    SendWorkRequest read(int length) {
      return request
          .read(targetRegion.address(), targetRegion.rkey())
          .buffer(sourceRegion.address() + LENGTH, length, sourceRegion.lkey());
    }

    SendWorkRequest send(int length) {
      return request.send().buffer(sourceRegion.address(), length, sourceRegion.lkey());
    }

    void receive() {
      receiver.postReceive(
          new ReceiveWorkRequest().buffer(targetRegion.address(), LENGTH, targetRegion.lkey()));
    }

    void awaitSent() {
      await(sent);
    }

    void awaitReceived() {
      await(received);
    }

    private void await(CompletionQueue queue) {
      long deadline = deadline();
      for (int spins = 0; queue.poll(completions) == 0; spins++) {
        assertThat(System.nanoTime()).isLessThan(deadline);
        Ownership.pause(spins);
      }
      assertThat(completions[0].isSuccess()).as("%s", completions[0]).isTrue();
    }

    static long deadline() {
      return System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    }

    @Override
    public void close() {
      sender.close();
      receiver.close();
      sourceRegion.close();
      targetRegion.close();
      sent.close();
      received.close();
      domain.close();
      device.close();
    }
  }
}

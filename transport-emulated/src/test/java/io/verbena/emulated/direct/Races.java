// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.cm.local.LocalConnectionManagers;
import io.verbena.emulated.hca.DeviceLimits;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.EmulatedProtectionDomain;
import io.verbena.emulated.hca.Fabric;
import io.verbena.emulated.hca.Ownership;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Races between the owner of a send queue and other threads that wait for it or overlap with it.
 */
abstract class Races {
  private static final Set<Access> ALL =
      EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE);

  private final EmulatedDevice device;
  private final EmulatedProtectionDomain domain;
  private final CompletionQueue sendCompletions;
  private final CompletionQueue receiveCompletions;
  private final ByteBuffer source = ByteBuffer.allocateDirect(1 << 16);
  private final MemoryRegion sourceRegion;
  private final WorkCompletion[] completions = WorkCompletion.array(16);
  private QueuePair sender;
  private QueuePair receiver;

  Races(Fabric fabric) {
    device = EmulatedDevice.open(fabric, DeviceLimits.FULL, new LocalConnectionManagers());
    domain = device.allocateProtectionDomain();
    sendCompletions = device.createCompletionQueue(4096, null);
    receiveCompletions = device.createCompletionQueue(4096, null);
    sourceRegion = domain.register(source, ALL);
  }

  /** Returns the rounds of a race, given the rounds for requests that execute when posted. */
  int rounds(int full) {
    return full;
  }

  /** Returns how many writes may be only partly done. */
  int mostTorn() {
    return 0;
  }

  @BeforeEach
  void connect() {
    QueuePairOptions options =
        QueuePairOptions.reliable(sendCompletions, receiveCompletions, 64, 64);
    sender = domain.createQueuePair(options);
    receiver = domain.createQueuePair(options);
    Loopback.connect(device, sender, receiver);
    Loopback.connect(device, receiver, sender);
  }

  @AfterEach
  void close() {
    sender.close();
    receiver.close();
    sourceRegion.close();
    sendCompletions.close();
    receiveCompletions.close();
    domain.close();
    device.close();
  }

  @Test
  void aClosedRegionIsNeverWrittenAgain() throws Exception {
    for (int round = 0; round < rounds(200); round++) {
      if (round > 0) {
        connectAnew();
      }
      ByteBuffer target = ByteBuffer.allocateDirect(1 << 16);
      MemoryRegion targetRegion = domain.register(target, ALL);
      AtomicBoolean started = new AtomicBoolean();
      AtomicReference<CompletionStatus> end = new AtomicReference<>();
      Thread writer = new Thread(() -> end.set(writeUntilItFails(targetRegion, started)));
      writer.start();
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      while (!started.get()) {
        assertThat(System.nanoTime()).isLessThan(deadline);
        Thread.onSpinWait();
      }

      targetRegion.close();
      long first = target.getLong(0);
      long last = target.getLong(target.capacity() - 8);
      writer.join(30_000);

      assertThat(end.get()).isEqualTo(CompletionStatus.REM_ACCESS_ERR);
      assertThat(target.getLong(0)).isEqualTo(first);
      assertThat(target.getLong(target.capacity() - 8)).isEqualTo(last);
      assertThat(Math.abs(first - last))
          .as("writes of which a part is left out")
          .isLessThanOrEqualTo(mostTorn());
    }
  }

  @Test
  void whoSeesAnErrorMayConnectAnewAtOnce() {
    ByteBuffer target = ByteBuffer.allocateDirect(64);
    try (MemoryRegion targetRegion = domain.register(target, ALL)) {
      SendWorkRequest request = new SendWorkRequest();
      for (int round = 0; round < rounds(20_000); round++) {
        sender.postSend(
            request
                .write(targetRegion.address(), targetRegion.rkey() + 1)
                .signaled()
                .buffer(sourceRegion.address(), 64, sourceRegion.lkey()));
        assertThat(next()).as("with a wrong key").isEqualTo(CompletionStatus.REM_ACCESS_ERR);
        assertThat(receiver.state()).isEqualTo(QueuePairState.ERR);
        assertThat(sender.state()).isEqualTo(QueuePairState.ERR);

        connectAnew();
        sender.postSend(
            request
                .write(targetRegion.address(), targetRegion.rkey())
                .signaled()
                .buffer(sourceRegion.address(), 64, sourceRegion.lkey()));
        assertThat(next()).as("in the next life").isEqualTo(CompletionStatus.SUCCESS);
      }
    }
  }

  private CompletionStatus next() {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    for (int spins = 0; sendCompletions.poll(completions) == 0; spins++) {
      assertThat(System.nanoTime()).isLessThan(deadline);
      Ownership.pause(spins);
    }
    return completions[0].status();
  }

  private void connectAnew() {
    sender.modify(new QueuePairAttributes().state(QueuePairState.RESET));
    receiver.modify(new QueuePairAttributes().state(QueuePairState.RESET));
    Loopback.connect(device, sender, receiver);
    Loopback.connect(device, receiver, sender);
  }

  private CompletionStatus writeUntilItFails(MemoryRegion target, AtomicBoolean started) {
    SendWorkRequest request = new SendWorkRequest();
    long address = target.address();
    int key = target.rkey();
    for (long i = 1; ; i++) {
      source.putLong(0, i);
      source.putLong(source.capacity() - 8, i);
      sender.postSend(
          request
              .id(i)
              .write(address, key)
              .signaled()
              .buffer(sourceRegion.address(), source.capacity(), sourceRegion.lkey()));
      while (sendCompletions.poll(completions) == 0) {
        Thread.onSpinWait();
      }
      started.set(true);
      if (!completions[0].isSuccess()) {
        return completions[0].status();
      }
    }
  }

  @Test
  void aSendThatRacesWithTheReceiveItNeedsIsNeverForgotten() throws Exception {
    int rounds = rounds(100_000);
    // Limits the time, because on a busy machine each message waits for a CPU.
    long enough = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    AtomicInteger messages = new AtomicInteger(rounds);
    AtomicBoolean failed = new AtomicBoolean();
    Thread receiving =
        new Thread(
            () -> {
              ReceiveWorkRequest request = new ReceiveWorkRequest();
              WorkCompletion[] received = WorkCompletion.array(1);
              for (int i = 0; i < messages.get() && !failed.get(); i++) {
                long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
                receiver.postReceive(
                    request.id(i).buffer(sourceRegion.address(), 64, sourceRegion.lkey()));
                for (int spins = 0; receiveCompletions.poll(received) == 0; spins++) {
                  if (i >= messages.get()) {
                    return;
                  }
                  if (System.nanoTime() > deadline) {
                    failed.set(true);
                    return;
                  }
                  Ownership.pause(spins);
                }
                if (received[0].workRequestId() != i || !received[0].isSuccess()) {
                  failed.set(true);
                }
              }
            });
    receiving.start();
    SendWorkRequest request = new SendWorkRequest();
    int sent = 0;
    for (; sent < rounds && System.nanoTime() < enough; sent++) {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      sender.postSend(
          request
              .id(sent)
              .send()
              .signaled()
              .buffer(sourceRegion.address() + 1024, 64, sourceRegion.lkey()));
      for (int spins = 0; sendCompletions.poll(completions) == 0; spins++) {
        assertThat(System.nanoTime()).as("send %d of %d", sent, rounds).isLessThan(deadline);
        Ownership.pause(spins);
      }
      assertThat(completions[0].isSuccess()).isTrue();
    }
    messages.set(sent);
    receiving.join(30_000);
    assertThat(failed).isFalse();
  }

  @Test
  void failingBothEndsAtOnceFlushesEverythingOnce() throws Exception {
    for (int round = 0; round < rounds(300); round++) {
      if (round > 0) {
        connectAnew();
      }
      ReceiveWorkRequest receive = new ReceiveWorkRequest();
      for (int i = 0; i < 32; i++) {
        receiver.postReceive(receive.id(i).buffer(sourceRegion.address(), 64, sourceRegion.lkey()));
      }
      Thread breaking =
          new Thread(() -> receiver.modify(new QueuePairAttributes().state(QueuePairState.ERR)));
      breaking.start();
      SendWorkRequest send = new SendWorkRequest();
      for (int i = 0; i < 32; i++) {
        sender.postSend(
            send.id(i)
                .send()
                .signaled()
                .buffer(sourceRegion.address() + 64, 64, sourceRegion.lkey()));
      }
      breaking.join(30_000);
      sender.modify(new QueuePairAttributes().state(QueuePairState.ERR));

      int received = drain(receiveCompletions, 32);
      int sent = drain(sendCompletions, 32);
      assertThat(received).as("what was sent arrived, the rest was flushed").isEqualTo(sent);
    }
  }

  @Test
  void aReadBeforeABadSendIsAnswered() {
    ReceiveWorkRequest receive = new ReceiveWorkRequest();
    SendWorkRequest read = new SendWorkRequest();
    SendWorkRequest send = new SendWorkRequest();
    long address = sourceRegion.address();
    int key = sourceRegion.lkey();
    for (int round = 0; round < rounds(3_000); round++) {
      if (round > 0) {
        connectAnew();
      }
      receiver.postReceive(receive.buffer(address, 4, key));
      send.id(2).send().signaled().buffer(address, 8, key);
      read.id(1)
          .read(address + 1024, sourceRegion.rkey())
          .signaled()
          .buffer(address + 2048, 1024, key)
          .next(send);

      sender.postSend(read);

      expectSent(1, CompletionStatus.SUCCESS);
      expectSent(2, CompletionStatus.REM_INV_REQ_ERR);
    }
  }

  @Test
  void aSendBehindARefusedReadIsFlushed() {
    ReceiveWorkRequest receive = new ReceiveWorkRequest();
    SendWorkRequest read = new SendWorkRequest();
    SendWorkRequest send = new SendWorkRequest();
    long address = sourceRegion.address();
    int key = sourceRegion.lkey();
    for (int round = 0; round < rounds(3_000); round++) {
      if (round > 0) {
        connectAnew();
      }
      receiver.postReceive(receive.buffer(address, 4, key));
      // In every other round, the request behind the READ is bad, too.
      send.id(2).send().signaled().buffer(address, 4 + round % 2, key);
      read.id(1)
          .read(address + 1024, sourceRegion.rkey() + 1)
          .signaled()
          .buffer(address + 2048, 1024, key)
          .next(send);

      sender.postSend(read);

      expectSent(1, CompletionStatus.REM_ACCESS_ERR);
      expectSent(2, CompletionStatus.WR_FLUSH_ERR);
      expect(receiveCompletions, 0, CompletionStatus.WR_FLUSH_ERR);
    }
  }

  private void expectSent(long id, CompletionStatus status) {
    expect(sendCompletions, id, status);
  }

  private static void expect(CompletionQueue queue, long id, CompletionStatus status) {
    WorkCompletion[] one = WorkCompletion.array(1);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    for (int spins = 0; queue.poll(one) == 0; spins++) {
      assertThat(System.nanoTime()).as("completion of %d", id).isLessThan(deadline);
      Ownership.pause(spins);
    }
    assertThat(one[0].workRequestId()).isEqualTo(id);
    assertThat(one[0].status()).as("of %d", id).isEqualTo(status);
  }

  /** Takes exactly {@code count} completions with successive ids; returns how many succeeded. */
  private int drain(CompletionQueue queue, int count) {
    int good = 0;
    int next = 0;
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (next < count) {
      int polled = queue.poll(completions);
      assertThat(System.nanoTime()).isLessThan(deadline);
      for (int i = 0; i < polled; i++) {
        assertThat(completions[i].workRequestId()).isEqualTo(next++);
        if (completions[i].isSuccess()) {
          good++;
        } else {
          assertThat(completions[i].status()).isEqualTo(CompletionStatus.WR_FLUSH_ERR);
        }
      }
    }
    assertThat(queue.poll(completions)).isZero();
    return good;
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Device;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsProviders;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.EnumSet;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A device that connects to itself: queue pairs whose states are set directly, and memory. */
final class Loopback {
  static final int QUEUE_KEY = 0x1234_5678;

  private static final int PSN = 0x10_0000;
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  /** Between two polls: the device needs the CPU, of which a guest has one. */
  private static final long PAUSE_NANOS = 50_000;

  final Device device;
  final ProtectionDomain domain;
  final CompletionQueue sent;
  final CompletionQueue received;
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();

  Loopback() {
    URI here = URI.create("disni://" + System.getenv("VERBENA_NODE1"));
    device = own(VerbsProviders.find(here).open(here));
    domain = own(device.allocateProtectionDomain());
    sent = own(device.createCompletionQueue(64, null));
    received = own(device.createCompletionQueue(64, null));
  }

  /** Registers an object to be closed before all earlier ones. */
  <T extends AutoCloseable> T own(T object) {
    opened.push(object);
    return object;
  }

  /** Registered memory, filled with 0 or another byte. */
  record Memory(ByteBuffer bytes, MemoryRegion region) {
    Memory fill(int value) {
      for (int i = 0; i < bytes.capacity(); i++) {
        bytes.put(i, (byte) value);
      }
      return this;
    }

    byte[] copy(int from, int length) {
      byte[] copy = new byte[length];
      bytes.get(from, copy);
      return copy;
    }
  }

  Memory memory(int length, Access... access) {
    ByteBuffer bytes = ByteBuffer.allocateDirect(length).order(ByteOrder.nativeOrder());
    EnumSet<Access> rights = EnumSet.noneOf(Access.class);
    rights.addAll(Arrays.asList(access));
    return new Memory(bytes, own(domain.register(bytes, rights)));
  }

  /** Returns a queue pair in state RESET. */
  QueuePair pair(QueuePairType type, @Nullable SharedReceiveQueue shared) {
    QueuePairOptions options =
        QueuePairOptions.reliable(sent, received, 16, shared == null ? 16 : 0).withType(type);
    return own(
        domain.createQueuePair(shared == null ? options : options.withSharedReceiveQueue(shared)));
  }

  /** Moves a queue pair to state RTS, connected to {@code peer}. */
  void connect(QueuePair pair, QueuePair peer) {
    boolean reliable = pair.type() == QueuePairType.RC;
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.INIT)
            .pkeyIndex(0)
            .port(1)
            .access(EnumSet.of(Access.REMOTE_WRITE, Access.REMOTE_READ)));
    QueuePairAttributes receive =
        new QueuePairAttributes()
            .state(QueuePairState.RTR)
            .addressVector(self())
            .pathMtu(device.port().activeMtu())
            .destinationQueuePair(peer.number())
            .receivePsn(PSN);
    pair.modify(reliable ? receive.maxDestinationReadAtomic(1).minRnrTimer(1) : receive);
    QueuePairAttributes send = new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(PSN);
    pair.modify(reliable ? send.timeout(14).retryCount(7).rnrRetry(7).maxReadAtomic(1) : send);
  }

  /** Moves a UD queue pair to state RTS. */
  void open(QueuePair pair) {
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.INIT)
            .pkeyIndex(0)
            .port(1)
            .queueKey(QUEUE_KEY));
    pair.modify(new QueuePairAttributes().state(QueuePairState.RTR));
    pair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(PSN));
  }

  /** Returns the address vector of this device's own port. */
  AddressVector self() {
    return AddressVector.to(device.port().gids().get(0));
  }

  /** Waits for the next completion. */
  static WorkCompletion next(CompletionQueue queue) {
    WorkCompletion[] one = WorkCompletion.array(1);
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (queue.poll(one) == 0) {
      assertThat(System.nanoTime() - deadline).as("nanoseconds beyond the deadline").isNegative();
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    return one[0];
  }

  /** Waits for the next completion, which must be a success. */
  static WorkCompletion success(CompletionQueue queue) {
    WorkCompletion completion = next(queue);
    assertThat(completion.status()).as("%s", completion).isEqualTo(CompletionStatus.SUCCESS);
    return completion;
  }

  /** Waits for the next asynchronous event. */
  @Nullable AsyncEvent event() throws InterruptedException {
    return device.awaitAsyncEvent(PATIENCE.toNanos());
  }

  void close() throws Exception {
    while (!opened.isEmpty()) {
      opened.pop().close();
    }
  }
}

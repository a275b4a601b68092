// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * READs over shared memory, which need packets only for the first two of a key. Revoking the
 * owner's access stops the READs without packets, too.
 */
class ShmReadsTest {
  private static final int LENGTH = 4096;
  private static final URI HERE = URI.create("shm://reads-" + ProcessHandle.current().pid());
  private static final URI THERE = URI.create(HERE + "-there");

  private final Caller owner = new Caller(THERE);
  private final Caller reader = new Caller(HERE);
  private final ConnectionListener listener = owner.manager.listen(THERE, 2);
  private final QueuePair ownersPair;
  private final QueuePair pair;

  ShmReadsTest() throws InterruptedException {
    ConnectionIdentifier from = reader.manager.resolve(listener.address(), Caller.LIMIT.toNanos());
    reader.expect(ConnectionEvent.Type.ADDR_RESOLVED);
    pair = reader.queuePair(from);
    from.connect(ConnectionParameters.defaults(), Caller.LIMIT.toNanos());
    ConnectionIdentifier to = owner.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
    ownersPair = owner.queuePair(to);
    to.accept(ConnectionParameters.defaults());
    reader.expect(ConnectionEvent.Type.ESTABLISHED);
    owner.expect(ConnectionEvent.Type.ESTABLISHED);
  }

  @BeforeEach
  void readSomeTimes() {
    assertThat(read(owner.region)).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(read(owner.region)).isEqualTo(CompletionStatus.SUCCESS);
    owner.bytes.put(0, new byte[LENGTH]).put(LENGTH - 1, (byte) 42);
    assertThat(read(owner.region)).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(reader.bytes.get(LENGTH - 1)).isEqualTo((byte) 42);
  }

  @AfterEach
  void close() {
    listener.close();
    reader.close();
    owner.close();
  }

  private CompletionStatus read(MemoryRegion region) {
    pair.postSend(readRequest(region));
    return reader.next().status();
  }

  private SendWorkRequest readRequest(MemoryRegion region) {
    return new SendWorkRequest(1)
        .id(5)
        .read(region.address(), region.rkey())
        .signaled()
        .buffer(reader.region.address(), LENGTH, reader.region.lkey());
  }

  private MemoryRegion register() {
    ByteBuffer memory = owner.device.allocateMemory(LENGTH);
    return owner.domain().register(memory, EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ));
  }

  @Test
  void aClosedRegionIsNotReadAnyMore() {
    MemoryRegion region = register();
    for (int i = 0; i < 3; i++) {
      assertThat(read(region)).isEqualTo(CompletionStatus.SUCCESS);
    }

    region.close();

    assertThat(read(region)).isEqualTo(CompletionStatus.REM_ACCESS_ERR);
  }

  @Test
  void aQueuePairThatTakesItsRightsBackIsNotReadThrough() {
    ownersPair.modify(new QueuePairAttributes().access(Set.of(Access.REMOTE_WRITE)));

    assertThat(read(owner.region)).isEqualTo(CompletionStatus.REM_INV_REQ_ERR);
  }

  @Test
  void aQueuePairThatHasStoppedIsNotReadThrough() {
    ownersPair.modify(new QueuePairAttributes().state(QueuePairState.ERR));

    assertThat(read(owner.region)).isNotEqualTo(CompletionStatus.SUCCESS);
  }

  @Test
  void aClosedQueuePairIsNotReadThrough() {
    ownersPair.close();

    assertThat(read(owner.region)).isNotEqualTo(CompletionStatus.SUCCESS);
  }

  @Test
  void memoryThatThePeerCannotMapIsReadByPackets() {
    try (MemoryRegion region =
        owner
            .domain()
            .register(
                ByteBuffer.allocateDirect(LENGTH),
                Set.of(Access.LOCAL_WRITE, Access.REMOTE_READ))) {
      for (int i = 0; i < 3; i++) {
        assertThat(read(region)).isEqualTo(CompletionStatus.SUCCESS);
      }
    }
  }

  @Test
  void eachOfManyRegionsIsReadWhateverPlacesTheyShare() {
    MemoryRegion[] regions = new MemoryRegion[300];
    for (int i = 0; i < regions.length; i++) {
      ByteBuffer memory = owner.device.allocateMemory(LENGTH);
      memory.putInt(0, i);
      regions[i] = owner.domain().register(memory, Set.of(Access.LOCAL_WRITE, Access.REMOTE_READ));
    }
    for (int round = 0; round < 4; round++) {
      for (int i = 0; i < regions.length; i++) {
        assertThat(read(regions[i])).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(reader.bytes.getInt(0)).isEqualTo(i);
      }
    }
    for (MemoryRegion each : regions) {
      each.close();
    }
  }

  @Test
  void packetsAreTakenWhileAThreadDoesNothingButRead() {
    pair.postReceive(new ReceiveWorkRequest(1).id(6));
    ownersPair.postSend(new SendWorkRequest(1).id(7).signaled());

    long deadline = System.nanoTime() + Caller.LIMIT.toNanos();
    WorkCompletion sent = null;
    int received = 0;
    while (sent == null || received == 0) {
      assertThat(System.nanoTime()).as("an answer in time").isLessThan(deadline);
      pair.postSend(readRequest(owner.region));
      for (long id = 0; id != 5; ) {
        WorkCompletion completion = reader.next();
        assertThat(completion.status()).isEqualTo(CompletionStatus.SUCCESS);
        id = completion.workRequestId();
        received += id == 6 ? 1 : 0;
      }
      sent = sent == null ? owner.poll() : sent;
    }
    assertThat(sent.status()).isEqualTo(CompletionStatus.SUCCESS);
    assertThat(sent.workRequestId()).isEqualTo(7);
    assertThat(received).isEqualTo(1);
  }

  @Test
  void readsOfManyThreadsAreEachDoneOnce() throws Exception {
    int threads = 3;
    int each = 16;
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      for (int round = 0; round < 200; round++) {
        List<Future<?>> posting = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
          posting.add(
              executor.submit(
                  () -> {
                    for (int k = 0; k < each; k++) {
                      pair.postSend(readRequest(owner.region));
                    }
                  }));
        }
        for (int i = 0; i < threads * each; i++) {
          assertThat(reader.next().status()).isEqualTo(CompletionStatus.SUCCESS);
        }
        for (Future<?> one : posting) {
          one.get(Caller.LIMIT.toSeconds(), TimeUnit.SECONDS);
        }
        assertThat(reader.poll()).isNull();
      }
    } finally {
      executor.shutdownNow();
    }
  }
}

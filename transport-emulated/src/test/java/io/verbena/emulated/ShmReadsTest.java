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
import io.verbena.verbs.SendWorkRequest;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * READs over shared memory, of which all but the first two of a key need no packet: what ends the
 * owner's consent ends them, too.
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
    pair.postSend(
        new SendWorkRequest(1)
            .id(5)
            .read(region.address(), region.rkey())
            .signaled()
            .buffer(reader.region.address(), LENGTH, reader.region.lkey()));
    return reader.next().status();
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
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import static io.verbena.core.memory.Memories.numbered;
import static io.verbena.core.memory.Memories.numbers;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.verbena.RdmaMemory;
import io.verbena.RdmaOptions;
import io.verbena.RemoteMemory;
import io.verbena.core.testing.Addresses;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Device;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests how an HCA accesses registered memory. */
class HcaMemoryTest {
  private static final URI ADDRESS = Addresses.of("registered-memory");

  private final Device device = VerbsProviders.find(ADDRESS).open(ADDRESS);
  private final ProtectionDomain domain = device.allocateProtectionDomain();
  private final RegisteredMemory memory = new RegisteredMemory(domain, RdmaOptions.defaults());
  private final LoopbackPair pair = new LoopbackPair(domain);
  private final ByteBuf into = memory.allocator().directBuffer(1000).writeZero(1000);
  private final Location there = new Location();

  @BeforeEach
  void locatesWhereToReadInto() {
    assertThat(memory.locate(into, 0, 1000, there)).isTrue();
  }

  /** Domain and device refuse to close while objects in them are open. */
  @AfterEach
  void closesWithNothingLeftBehind() {
    into.release();
    pair.close();
    memory.close();
    domain.close();
    device.close();
  }

  private CompletionStatus read(long remoteAddress, int rkey, int length) {
    return pair.read(remoteAddress, rkey, there.address(), there.lkey(), length);
  }

  @Test
  void readsExposedBytesIntoASlab() {
    ByteBuf exposed = numbered(memory.allocator().directBuffer(600));
    try (Exposure exposure = memory.expose(exposed, 100, 500)) {
      assertThat(read(exposure.address(), exposure.rkey(), 500))
          .isEqualTo(CompletionStatus.SUCCESS);
    }
    assertThat(ByteBufUtil.getBytes(into, 0, 500)).isEqualTo(numbers(100, 500));
    assertThat(into.getByte(500)).isZero();
    exposed.release();
  }

  @Test
  void readsIntoALeasedBuffer() {
    ByteBuf exposed = numbered(memory.allocator().directBuffer(600));
    ByteBuf foreign = Unpooled.directBuffer(1000).writeZero(1000);
    Lease lease = requireNonNull(memory.lease(foreign, 200, 500));
    try (Exposure exposure = memory.expose(exposed, 100, 500)) {
      CompletionStatus status =
          pair.read(exposure.address(), exposure.rkey(), lease.address(), lease.lkey(), 500);
      assertThat(status).isEqualTo(CompletionStatus.SUCCESS);
    }
    lease.release();
    assertThat(ByteBufUtil.getBytes(foreign, 200, 500)).isEqualTo(numbers(100, 500));
    foreign.release();
    exposed.release();
  }

  @Test
  void readsARegionByItsToken() {
    ByteBuffer buffer = ByteBuffer.allocateDirect(100).put(numbers(0, 100)).flip();
    try (RdmaMemory.Region region = memory.register(buffer, Set.of(RemoteMemory.Right.READ))) {
      RemoteMemory token = region.token().slice(10, 50);
      assertThat(read(token.address(), token.key(), 50)).isEqualTo(CompletionStatus.SUCCESS);
    }
    assertThat(ByteBufUtil.getBytes(into, 0, 50)).isEqualTo(numbers(10, 50));
  }

  @Test
  void peerCannotReadOneByteBeyondTheExposure() {
    ByteBuf exposed = numbered(memory.allocator().directBuffer(600));
    try (Exposure exposure = memory.expose(exposed, 100, 400)) {
      assertThat(read(exposure.address(), exposure.rkey(), 401))
          .isEqualTo(CompletionStatus.REM_ACCESS_ERR);
    }
    exposed.release();
  }

  @Test
  void peerCannotReadOnceTheExposureIsClosed() {
    ByteBuf exposed = numbered(memory.allocator().directBuffer(600));
    Exposure exposure = memory.expose(exposed, 0, 600);
    long address = exposure.address();
    int rkey = exposure.rkey();
    exposure.close();

    assertThat(read(address, rkey, 1)).isEqualTo(CompletionStatus.REM_ACCESS_ERR);
    exposed.release();
  }

  @Test
  void peerCannotReadASlabByItsLocalKey() {
    assertThat(read(there.address(), there.lkey(), 8)).isEqualTo(CompletionStatus.REM_ACCESS_ERR);
  }

  @Test
  void peerCannotReadALeasedBufferByItsLocalKey() {
    ByteBuf foreign = Unpooled.directBuffer(64).writeZero(64);
    Lease lease = requireNonNull(memory.lease(foreign, 0, 64));

    assertThat(read(lease.address(), lease.lkey(), 8)).isEqualTo(CompletionStatus.REM_ACCESS_ERR);
    lease.release();
    foreign.release();
  }

  @Test
  void tokensDieWithTheirRegion() {
    RdmaMemory.Region region =
        memory.register(ByteBuffer.allocateDirect(64), Set.of(RemoteMemory.Right.READ));
    RemoteMemory token = region.token();
    region.close();

    assertThat(read(token.address(), token.key(), 1)).isEqualTo(CompletionStatus.REM_ACCESS_ERR);
  }
}

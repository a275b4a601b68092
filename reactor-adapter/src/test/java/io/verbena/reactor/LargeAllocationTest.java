// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaMemory;
import io.verbena.RemoteMemory.Right;
import io.verbena.core.memory.DirectMemory;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Tests memory for long messages, which is allocated off the loop, here when a test says so. */
@Tag("moves-data")
class LargeAllocationTest {
  private static final int LENGTH = 16 << 20;

  private final LinkedBlockingQueue<Runnable> allocations = new LinkedBlockingQueue<>();

  private RdmaConnection connect(Ends ends, ReactorTransport transport) {
    return transport.connect(ends.address()).block(Ends.LIMIT);
  }

  private ReactorTransport transport(Duration operationTimeout) {
    return new ReactorTransport(
        Ends.options().operationTimeout(operationTimeout).build(),
        null,
        VerbsProviders.load(),
        null,
        allocations::add,
        DirectMemory.jvm());
  }

  private Runnable allocation() throws InterruptedException {
    Runnable next = allocations.poll(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS);
    assertThat(next).as("an allocation").isNotNull();
    return next;
  }

  /** Binds a server that sends one long message to each client; returns its address. */
  private static URI announcing(Ends ends) {
    return ends.serverSide()
        .bind(
            Addresses.of("announcing"),
            c ->
                c.send(Mono.fromSupplier(() -> Ends.message(c, LENGTH, 7)))
                    .onErrorComplete()
                    .then(Mono.never()))
        .map(server -> Addresses.reach(server.address()))
        .block(Ends.LIMIT);
  }

  @Test
  void servesOthersWhileMemoryIsAllocated() throws Exception {
    ReactorTransport transport = transport(Ends.LIMIT);
    try (Ends ends = Ends.create()) {
      RdmaMemory.Region region =
          ends.server().memory().register(ByteBuffer.allocateDirect(8), Set.of(Right.READ));
      RdmaConnection innocent = connect(ends, transport);
      RdmaConnection client = transport.connect(announcing(ends)).block(Ends.LIMIT);
      CompletableFuture<byte[]> received = client.receive().next().map(Ends::take).toFuture();
      Runnable allocation = allocation();
      long registered = innocent.memory().registeredBytes();

      innocent.read(region.token()).doOnNext(ByteBuf::release).block(Ends.LIMIT);
      assertThat(registered).isLessThan(LENGTH);
      assertThat(received).isNotDone();
      allocation.run();

      assertThat(received).succeedsWithin(Ends.LIMIT).isEqualTo(Ends.bytes(LENGTH, 7));
      assertThat(allocations).isEmpty();
      region.close();
      client.dispose();
      innocent.dispose();
    } finally {
      transport.dispose();
    }
  }

  @Test
  void allocatesAtOnceWhatIsFreeAlready() throws Exception {
    ReactorTransport transport = transport(Ends.LIMIT);
    try (Ends ends = Ends.create()) {
      RdmaConnection client = transport.connect(announcing(ends)).block(Ends.LIMIT);
      client.memory().allocator().directBuffer(LENGTH, LENGTH).release();

      assertThat(client.receive().next().map(Ends::take).block(Ends.LIMIT)).hasSize(LENGTH);
      assertThat(allocations).isEmpty();
      client.dispose();
    } finally {
      transport.dispose();
    }
  }

  @Test
  void releasesMemoryThatComesWhenTheConnectionIsGone() throws Exception {
    ReactorTransport transport = transport(Ends.LIMIT);
    try (Ends ends = Ends.create()) {
      RdmaConnection client = transport.connect(announcing(ends)).block(Ends.LIMIT);
      RdmaMemory memory = client.memory();
      Disposable receiving = client.receive().subscribe(ByteBuf::release, e -> {});
      Runnable allocation = allocation();

      receiving.dispose();
      client.dispose();
      client.onClose().block(Ends.LIMIT);
      allocation.run();

      // The memory is free again, so a buffer of the same length needs no new registration.
      long registered = memory.registeredBytes();
      assertThat(registered).isGreaterThanOrEqualTo(LENGTH);
      RdmaConnection other = connect(ends, transport);
      other.send(Mono.empty()).block(Ends.LIMIT);
      memory.allocator().directBuffer(LENGTH, LENGTH).release();
      assertThat(memory.registeredBytes()).isEqualTo(registered);
      other.dispose();
    } finally {
      transport.dispose();
    }
  }

  @Test
  void closesGracefullyThoughNobodyWantsTheMemoryAnyMore() throws Exception {
    ReactorTransport transport = transport(Ends.LIMIT);
    try (Ends ends = Ends.create()) {
      RdmaConnection client = transport.connect(announcing(ends)).block(Ends.LIMIT);
      Disposable receiving = client.receive().subscribe(ByteBuf::release, e -> {});
      Runnable allocation = allocation();
      receiving.dispose();

      CompletableFuture<Void> close = client.close().toFuture();
      allocation.run();

      assertThat(close).succeedsWithin(Ends.LIMIT);
    } finally {
      transport.dispose();
    }
  }

  @Test
  void keepsForTheNextSubscriberWhatACancelledOneWaitedFor() throws Exception {
    ReactorTransport transport = transport(Ends.SHORT);
    try (Ends ends = Ends.create()) {
      URI announcing = announcing(ends);
      RdmaConnection client = transport.connect(announcing).block(Ends.LIMIT);
      RdmaConnection other = transport.connect(announcing).block(Ends.LIMIT);
      Disposable receiving = client.receive().subscribe(ByteBuf::release, e -> {});
      Runnable allocation = allocation();
      receiving.dispose();
      allocation.run();

      // Both share a loop, and this wait begins later: once it has timed out, the first would have,
      // too.
      CompletableFuture<ByteBuf> neverAllocated = other.receive().next().toFuture();
      assertThat(neverAllocated).failsWithin(Ends.LIMIT);

      assertThat(client.isDisposed()).isFalse();
      assertThat(client.receive().next().map(Ends::take).block(Ends.LIMIT)).hasSize(LENGTH);
      client.dispose();
    } finally {
      transport.dispose();
    }
  }

  @Test
  void givesUpWithinTheTimeoutWhatIsNeverAllocated() throws Exception {
    ReactorTransport transport = transport(Duration.ofMillis(100));
    try (Ends ends = Ends.create()) {
      RdmaConnection client = transport.connect(announcing(ends)).block(Ends.LIMIT);
      CompletableFuture<ByteBuf> received = client.receive().next().toFuture();
      Runnable allocation = allocation();

      assertThat(received)
          .failsWithin(Ends.LIMIT)
          .withThrowableThat()
          .havingRootCause()
          .isInstanceOf(MemoryLimitException.class)
          .withMessageContaining("was not allocated and registered within PT0.1S");
      allocation.run();
    } finally {
      transport.dispose();
    }
  }
}

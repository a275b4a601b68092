// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.misuse;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.verbena.RdmaMemory;
import io.verbena.RdmaOptions;
import io.verbena.RemoteMemory;
import io.verbena.RemoteMemory.Right;
import io.verbena.core.testing.Addresses;
import io.verbena.meters.Backlog;
import io.verbena.meters.HcaMeter;
import io.verbena.meters.MeteredHca;
import io.verbena.meters.Meters;
import io.verbena.reactor.testing.Ends;
import io.verbena.verbs.Device;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Two transports of one loop each, with memory for peers, and an innocent connection that echoes.
 * Their timeouts are longer than the tests wait, so that the tests notice an operation that hangs.
 */
final class Room implements AutoCloseable {
  private static final int LENGTH = 4096;
  private static final Duration NEVER = Addresses.within(Duration.ofMinutes(2));
  private static final long PAUSE = TimeUnit.MICROSECONDS.toNanos(50);

  private final DeviceWatch devices = new DeviceWatch();
  private final LinkedBlockingQueue<Integer> echoes = new LinkedBlockingQueue<>();
  private final RdmaMemory.Region serverRegion;
  private final RdmaMemory.Region clientRegion;
  private final Ends.Pair innocent;
  private int asked;

  final Ends ends;
  final RemoteMemory serverMemory;
  final RemoteMemory clientMemory;

  /** A token that is no longer valid. */
  final RemoteMemory deadMemory;

  Room() {
    ends = Ends.create(options());
    innocent = ends.connect();
    serverRegion = register(innocent.server().memory());
    clientRegion = register(innocent.client().memory());
    serverMemory = serverRegion.token();
    clientMemory = clientRegion.token();
    RdmaMemory.Region dead = register(innocent.server().memory());
    deadMemory = dead.token();
    dead.close();
    innocent.server().send(innocent.server().receive()).onErrorComplete().subscribe();
    innocent
        .client()
        .receive()
        .onErrorComplete()
        .subscribe(
            message -> {
              echoes.add(message.readInt());
              message.release();
            });
  }

  private RdmaOptions.Builder options() {
    return Ends.options()
        .connectTimeout(NEVER)
        .operationTimeout(NEVER)
        .closeTimeout(NEVER)
        .meters(devices);
  }

  private static RdmaMemory.Region register(RdmaMemory memory) {
    return memory.register(ByteBuffer.allocateDirect(LENGTH), EnumSet.allOf(Right.class));
  }

  /** Asserts that the innocent connection works. */
  void echo() throws InterruptedException {
    int number = ++asked;
    Mono<ByteBuf> message =
        Mono.fromSupplier(() -> Unpooled.buffer(Integer.BYTES).writeInt(number));
    innocent.client().send(message).onErrorComplete().subscribe();
    Integer echo = echoes.poll(Ends.LIMIT.toNanos(), TimeUnit.NANOSECONDS);
    assertThat(echo).as("the echo of the innocent").isEqualTo(number);
  }

  /** Runs an action on the client's loop, in a callback of the innocent connection, and waits. */
  void onLoop(Runnable action) {
    CompletableFuture<Void> done =
        innocent.client().send(Flux.empty()).doOnTerminate(action).toFuture();
    assertThat(done).succeedsWithin(Ends.LIMIT);
  }

  /** Asserts that only the innocent connection is left. */
  void assertIsEmpty() {
    await("the end of the connections", () -> ends.server().connectionCount() == 1);
  }

  static void await(Object what, BooleanSupplier condition) {
    long deadline = System.nanoTime() + Ends.LIMIT.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("within " + Ends.LIMIT + " not: " + what);
      }
      LockSupport.parkNanos(PAUSE);
    }
  }

  /** Closes everything; fails if an object of the devices is still open. */
  @Override
  public void close() {
    serverRegion.close();
    clientRegion.close();
    ends.close();
    devices.assertAreClosed();
  }

  /** Records the devices that the transports use. */
  private static final class DeviceWatch implements Meters {
    private final Queue<Device> devices = new ConcurrentLinkedQueue<>();

    @Override
    public HcaMeter hca(MeteredHca hca) {
      devices.add(hca.device());
      return HcaMeter.OFF;
    }

    @Override
    public Watch watch(String adapter, String provider, Backlog backlog) {
      return () -> {};
    }

    void assertAreClosed() {
      assertThat(devices).isNotEmpty();
      devices.forEach(DeviceWatch::awaitEnd);
    }

    private static void awaitEnd(Device device) {
      long deadline = System.nanoTime() + Ends.LIMIT.toNanos();
      long left = Ends.LIMIT.toNanos();
      try {
        // Null means that the device is closed, or that the time is over.
        while (left > 0 && device.awaitAsyncEvent(left) != null) {
          left = deadline - System.nanoTime();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      assertThat(deadline - System.nanoTime())
          .as(() -> "time until a device closed, while the threads did" + stacks())
          .isPositive();
    }

    private static String stacks() {
      StringBuilder stacks = new StringBuilder();
      Thread.getAllStackTraces()
          .forEach(
              (thread, frames) -> {
                stacks.append('\n').append(thread);
                for (StackTraceElement frame : frames) {
                  stacks.append("\n  ").append(frame);
                }
              });
      return stacks.toString();
    }
  }
}

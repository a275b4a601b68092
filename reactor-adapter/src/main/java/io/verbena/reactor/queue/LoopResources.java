// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.queue;

import io.netty.buffer.ByteBuf;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaException;
import io.verbena.RdmaOptions;
import io.verbena.core.loop.CloseSteps;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.memory.Location;
import io.verbena.core.memory.RegisteredMemory;
import io.verbena.core.receive.ReceiveFrames;
import io.verbena.core.receive.ReceivePool;
import io.verbena.core.receive.ReceiveQueues;
import io.verbena.meters.HcaMeter;
import io.verbena.reactor.wire.FrameLayout;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsException;
import java.time.Duration;
import java.util.concurrent.Executor;

/**
 * The resources that connections of one loop share: the loop, registered memory, the meter, and a
 * work request to fill. Mutable state is the loop's alone.
 */
public final class LoopResources {
  private final CompletionLoop loop;
  private final RegisteredMemory memory;
  private final HcaMeter meter;
  private final CloseSteps leftOpen;
  private final Executor allocations;
  private final Duration operationTimeout;
  private final ReceiveFrames receiveFrames;
  private final SendWorkRequest send = new SendWorkRequest(2);
  private final Location location = new Location();
  private long exposedBytes;

  /**
   * Creates the resources that connections of {@code loop} share.
   *
   * @param leftOpen collects the objects of the device that cannot be closed
   * @param allocations runs allocations that would take the loop too long
   */
  public LoopResources(
      CompletionLoop loop,
      RegisteredMemory memory,
      RdmaOptions options,
      HcaMeter meter,
      CloseSteps leftOpen,
      Executor allocations) {
    this.loop = loop;
    this.memory = memory;
    this.meter = meter;
    this.leftOpen = leftOpen;
    this.allocations = allocations;
    operationTimeout = options.operationTimeout();
    receiveFrames = new ReceiveFrames(memory, FrameLayout.capacity(options.eagerSize()));
  }

  /** Returns how long an operation may take. */
  public Duration operationTimeout() {
    return operationTimeout;
  }

  /** Returns the loop. */
  public CompletionLoop loop() {
    return loop;
  }

  /** Returns the meter of the device. */
  public HcaMeter meter() {
    return meter;
  }

  /** Counts a failed operation whose subscriber gets the error. */
  public void countFailure(String operation, RdmaException why) {
    meter.failed(operation, why.status(), why);
  }

  /**
   * Closes an object of the device.
   *
   * @param name of the object, for errors
   * @throws VerbsException if it cannot be closed now; closing it is tried again before the device
   *     is closed
   */
  public void close(String name, Runnable close) {
    try {
      close.run();
    } catch (RuntimeException | Error e) {
      leftOpen.add(name, close);
      throw e;
    }
  }

  /**
   * Creates a pool of receives for the loop's connections; parameters as in {@link ReceivePool}.
   */
  public ReceivePool newReceivePool(ProtectionDomain domain, int bound, int first) {
    return new ReceivePool(
        loop.queues(),
        domain,
        receiveFrames,
        bound,
        first,
        loop::now,
        loop.linkedPosts(),
        meter,
        leftOpen);
  }

  /** Creates the receive queues of connections that do not share a pool. */
  public ReceiveQueues newReceiveQueues() {
    return new ReceiveQueues(receiveFrames, loop.linkedPosts());
  }

  /** Returns the registered memory. */
  public RegisteredMemory memory() {
    return memory;
  }

  /** Returns the executor of allocations that would take the loop too long; it may reject them. */
  public Executor allocations() {
    return allocations;
  }

  /** Returns the bytes of messages that wait for peers to READ them. */
  public long exposedBytes() {
    return exposedBytes;
  }

  /** Adds to the bytes of messages that wait for peers to READ them; subtracts if negative. */
  public void exposed(long more) {
    exposedBytes += more;
  }

  /** Returns the work request that the next post fills. */
  public SendWorkRequest send() {
    return send;
  }

  /** Returns the location that the last lookup has found; the next one overwrites it. */
  public Location location() {
    return location;
  }

  /**
   * Returns the location of registered bytes, which the next lookup overwrites.
   *
   * @throws IllegalStateException if they are not of the transport's allocator
   */
  public Location locate(ByteBuf buffer, int index, int length) {
    if (!memory.locate(buffer, index, length, location)) {
      throw new IllegalStateException("not in registered memory: " + buffer);
    }
    return location;
  }

  /** Returns the size of a frame's buffer in bytes. */
  public int frameCapacity() {
    return receiveFrames.capacity();
  }

  /**
   * Allocates the buffer of a frame; the caller releases it.
   *
   * @throws MemoryLimitException at the limit on registered memory
   */
  public ByteBuf newFrame() {
    return receiveFrames.allocate();
  }
}

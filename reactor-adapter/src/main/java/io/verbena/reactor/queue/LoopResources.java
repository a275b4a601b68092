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
 * work request to fill. For the loop's thread alone.
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
   * @param leftOpen gets what of the device cannot be closed
   * @param allocations runs what takes too long for the loop
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

  /** Its loop. */
  public CompletionLoop loop() {
    return loop;
  }

  /** The meter of its device. */
  public HcaMeter meter() {
    return meter;
  }

  /** Counts an operation that failed, and whose subscriber gets the error. */
  public void countFailure(String operation, RdmaException why) {
    meter.failed(operation, why.status(), why);
  }

  /**
   * Closes an object of the device.
   *
   * @param name of the object, for errors
   * @throws VerbsException if it cannot be closed now; it is tried again before the device is
   *     closed
   */
  public void close(String name, Runnable close) {
    try {
      close.run();
    } catch (RuntimeException | Error e) {
      leftOpen.add(name, close);
      throw e;
    }
  }

  /** A pool of receives for its connections, as {@link ReceivePool} takes them. */
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

  /** Returns receive queues for its connections, where each has its own. */
  public ReceiveQueues newReceiveQueues() {
    return new ReceiveQueues(receiveFrames, loop.linkedPosts());
  }

  /** Registered memory. */
  public RegisteredMemory memory() {
    return memory;
  }

  /** Runs what takes too long for the loop; may reject it when it has much to do. */
  public Executor allocations() {
    return allocations;
  }

  /** Returns the bytes of messages that wait for peers to READ them. */
  public long exposedBytes() {
    return exposedBytes;
  }

  /** Notes that so many bytes more wait to be READ; negative once they do no more. */
  public void exposed(long more) {
    exposedBytes += more;
  }

  /** The work request that the next post fills. */
  public SendWorkRequest send() {
    return send;
  }

  /** Returns where the last buffer that was asked for lies. */
  public Location location() {
    return location;
  }

  /** Returns where registered bytes lie; they must be of our allocator. */
  public Location locate(ByteBuf buffer, int index, int length) {
    if (!memory.locate(buffer, index, length, location)) {
      throw new IllegalStateException("not in registered memory: " + buffer);
    }
    return location;
  }

  /** The bytes of a frame's buffer. */
  public int frameCapacity() {
    return receiveFrames.capacity();
  }

  /**
   * Allocates the buffer of a frame.
   *
   * @throws MemoryLimitException at the ceiling
   */
  public ByteBuf newFrame() {
    return receiveFrames.allocate();
  }
}

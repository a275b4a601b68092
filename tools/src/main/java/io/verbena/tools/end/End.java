// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.end;

import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.Device;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsProviders;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One end of a test, for one thread: a device, a domain, a completion queue for each direction and
 * one region of memory. Closing it closes them and all resources added to it, in reverse order.
 */
public final class End implements AutoCloseable {
  private static final int PAGE = 4096;

  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private final Device device;
  private final ProtectionDomain domain;
  private final @Nullable CompletionChannel channel;
  private final CompletionQueue sent;
  private final CompletionQueue received;
  private final ByteBuffer memory;
  private final MemoryRegion region;
  private @Nullable SharedReceiveQueue shared;

  private End(URI address, int bytes, Set<Access> access, int sends, int receives, boolean events) {
    device = keep(VerbsProviders.find(address).open(address));
    try {
      domain = keep(device.allocateProtectionDomain());
      channel = events ? keep(device.createCompletionChannel()) : null;
      sent = keep(device.createCompletionQueue(sends, channel, true));
      received = keep(device.createCompletionQueue(receives, channel, true));
      memory = allocate(device, bytes);
      region = keep(domain.register(memory, access));
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  /**
   * Opens the device of an address.
   *
   * @param bytes size of the memory, which is zeroed and page-aligned
   * @param access rights of the memory
   * @param sends the most unpolled completions of sends
   * @param receives the most unpolled completions of receives
   * @param events whether {@link CompletionWait} sleeps until something completes
   * @throws io.verbena.verbs.VerbsException if the device cannot do that
   */
  public static End open(
      URI address, int bytes, Set<Access> access, int sends, int receives, boolean events) {
    return new End(address, bytes, access, sends, receives, events);
  }

  private static ByteBuffer allocate(Device device, int bytes) {
    int pages = Math.addExact(bytes, PAGE - 1) / PAGE;
    ByteBuffer whole = device.allocateMemory(Math.multiplyExact(pages + 1, PAGE));
    return whole.alignedSlice(PAGE).limit(bytes).slice();
  }

  /** Adds a resource to close with this end. */
  public <T extends AutoCloseable> T keep(T resource) {
    open.push(resource);
    return resource;
  }

  /** The device. */
  public Device device() {
    return device;
  }

  /** The protection domain of all its objects. */
  public ProtectionDomain domain() {
    return domain;
  }

  /** The completion queue of sends. */
  public CompletionQueue sent() {
    return sent;
  }

  /** The completion queue of receives. */
  public CompletionQueue received() {
    return received;
  }

  /**
   * Makes all queue pairs that are created later share a receive queue.
   *
   * @throws io.verbena.verbs.VerbsException if the device cannot do that
   */
  public void shareReceives(int receives) {
    shared = keep(domain.createSharedReceiveQueue(receives, 1));
  }

  /** The receive queue shared by all queue pairs, or null. */
  @Nullable SharedReceiveQueue shared() {
    return shared;
  }

  /** Returns whether {@link #sleep} can be called. */
  boolean hasEvents() {
    return channel != null;
  }

  /** Arms both completion queues; earlier completions may raise no event. */
  void arm() {
    sent.arm(false);
    received.arm(false);
  }

  /** Sleeps until an event comes or the time is over; returns whether an event came. */
  boolean sleep(long nanos) throws InterruptedException {
    CompletionQueue event = Objects.requireNonNull(channel, "channel").await(nanos);
    if (event == null) {
      return false;
    }
    event.acknowledgeEvents(1);
    return true;
  }

  /** The memory. */
  public ByteBuffer memory() {
    return memory;
  }

  /** The memory, registered. */
  public MemoryRegion region() {
    return region;
  }

  /** The address of a byte of the memory. */
  public long address(int offset) {
    return region.address() + offset;
  }

  /**
   * Checks a completion.
   *
   * @throws ToolFailure unless it succeeded
   */
  public static void check(WorkCompletion completion) throws ToolFailure {
    if (!completion.isSuccess()) {
      throw failed(completion);
    }
  }

  private static ToolFailure failed(WorkCompletion completion) {
    return new ToolFailure(
        "Failed status "
            + completion.status()
            + " ("
            + completion.status().code()
            + ") for wr_id "
            + completion.workRequestId(),
        advice(completion));
  }

  private static String advice(WorkCompletion completion) {
    return switch (completion.status()) {
      case RETRY_EXC_ERR -> "check that the other end still runs, and the path to it";
      case RNR_RETRY_EXC_ERR -> "the other end posts too few receives: raise its --rx-depth";
      case LOC_LEN_ERR, REM_INV_REQ_ERR -> "give both ends the same -s";
      case REM_ACCESS_ERR -> "give both ends the same test and the same -s";
      default -> "look at the output of the other end";
    };
  }

  @Override
  public void close() {
    IllegalStateException failure = null;
    while (!open.isEmpty()) {
      try {
        open.pop().close();
      } catch (Exception e) {
        if (failure == null) {
          failure = new IllegalStateException("close failed: " + e.getMessage(), e);
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}

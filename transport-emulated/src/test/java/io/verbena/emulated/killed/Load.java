// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.killed;

import io.verbena.emulated.Caller;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The active end of a connection to an {@link EchoService}. Keeps as many messages, WRITEs, READs
 * and atomics outstanding as fit, until one end is gone. Each request ends once, with an expected
 * status.
 */
final class Load {
  /** Statuses of requests that end with the connection. */
  static final Set<CompletionStatus> ENDS =
      EnumSet.of(CompletionStatus.WR_FLUSH_ERR, CompletionStatus.RETRY_EXC_ERR);

  /** Events of a connection that ends before it is established. */
  private static final Set<ConnectionEvent.Type> NOT_CONNECTED =
      EnumSet.of(
          ConnectionEvent.Type.REJECTED,
          ConnectionEvent.Type.UNREACHABLE,
          ConnectionEvent.Type.CONNECT_ERROR);

  private static final int MOST_ONE_SIDED = 16;
  private static final long ONE_SIDED_BIT = 1L << 62;
  private static final int LONGEST = 64 << 10;
  private static final int ONE_SIDED = 256 << 10;
  private static final int ECHOES = 512 << 10;

  private final Caller caller;
  private final ConnectionIdentifier identifier;
  private final QueuePair pair;
  private final Random random;
  private final long remote;
  private final int key;
  private final Set<Long> posted = new HashSet<>();
  private long next = 1;
  private int echoesDue;
  private int oneSided;
  private boolean failed;
  private boolean disconnected;
  private long toldAt;

  private Load(Caller caller, ConnectionEvent established, Random random) {
    this.caller = caller;
    this.random = random;
    identifier = established.identifier();
    pair = Objects.requireNonNull(identifier.queuePair());
    ByteBuffer lent = established.privateData();
    remote = lent.getLong(lent.position());
    key = lent.getInt(lent.position() + Long.BYTES);
  }

  /** Connects; returns a load, or null if the connection was refused. */
  static @Nullable Load connect(Caller caller, URI to, Random random) throws InterruptedException {
    ConnectionIdentifier active = caller.resolve(to);
    active.connect(
        new ConnectionParameters(ByteBuffer.allocate(0), 4, 4, 7, 7), Caller.LIMIT.toNanos());
    ConnectionEvent event = caller.manager.await(Caller.LIMIT.toNanos());
    if (event == null) {
      throw new AssertionError("neither connected nor told that it is not: " + to);
    }
    if (event.type() == ConnectionEvent.Type.ESTABLISHED) {
      return new Load(caller, event, random);
    }
    if (!NOT_CONNECTED.contains(event.type()) || event.status() == ConnectionEvent.TIMED_OUT) {
      throw new AssertionError("a connection ended before it was one with " + event);
    }
    close(active);
    return null;
  }

  private static void close(ConnectionIdentifier identifier) {
    Objects.requireNonNull(identifier.queuePair()).close();
    identifier.close();
  }

  /** Posts requests and takes completions; returns false once the connection is over. */
  boolean step() throws InterruptedException {
    if (isTold()) {
      return false;
    }
    while (echoesDue < EchoService.RECEIVES / 2) {
      message();
    }
    while (oneSided < MOST_ONE_SIDED) {
      touch();
    }
    take();
    return !isTold();
  }

  /** Posts some receives and requests without polling a completion queue. */
  void postFew() {
    for (int i = 0; i < 4; i++) {
      message();
    }
    touch();
  }

  /** Waits for the end without polling; returns false if it did not come in time. */
  boolean awaitEnd() throws InterruptedException {
    ConnectionEvent event = caller.manager.await(Caller.LIMIT.toNanos());
    if (event != null) {
      take(event);
    }
    return isTold();
  }

  private void message() {
    long address = caller.region.address();
    int lkey = caller.region.lkey();
    int length = random.nextInt(EchoService.SLOT + 1);
    int slot = (int) (next % EchoService.RECEIVES) * EchoService.SLOT;
    pair.postReceive(
        new ReceiveWorkRequest(1)
            .id(id(0))
            .buffer(address + ECHOES + slot, EchoService.SLOT, lkey));
    pair.postSend(new SendWorkRequest(1).id(id(0)).send().signaled().buffer(address, length, lkey));
    echoesDue++;
  }

  private void touch() {
    long from = caller.region.address() + ONE_SIDED;
    int lkey = caller.region.lkey();
    int length = random.nextInt(LONGEST);
    SendWorkRequest request = new SendWorkRequest(1).id(id(ONE_SIDED_BIT));
    switch (random.nextInt(4)) {
      case 0 -> request.write(remote + ONE_SIDED, key).buffer(from, length, lkey);
      case 1 -> request.fetchAndAdd(remote + ONE_SIDED, key, 1).buffer(from, Long.BYTES, lkey);
      default -> request.read(remote + ONE_SIDED, key).buffer(from + LONGEST, length, lkey);
    }
    pair.postSend(request.signaled());
    oneSided++;
  }

  private long id(long kind) {
    long id = next++ | kind;
    posted.add(id);
    return id;
  }

  private void take() throws InterruptedException {
    for (WorkCompletion done = caller.poll(); done != null; done = caller.poll()) {
      if (done.queuePairNumber() != pair.number()) {
        throw new AssertionError("a completion of another connection: " + done);
      }
      if (!posted.remove(done.workRequestId())) {
        throw new AssertionError("not posted, or completed before: " + done);
      }
      if (!done.isSuccess()) {
        if (!ENDS.contains(done.status())) {
          throw new AssertionError("a request ended with " + done);
        }
        failed = true;
        told();
      } else if ((done.workRequestId() & ONE_SIDED_BIT) != 0) {
        oneSided--;
      } else if (done.opcode() == CompletionOpcode.RECV) {
        echoesDue--;
      }
    }
    ConnectionEvent event = caller.manager.await(0);
    if (event != null) {
      take(event);
    }
  }

  private void take(ConnectionEvent event) {
    if (event.type() != ConnectionEvent.Type.DISCONNECTED || disconnected) {
      throw new AssertionError("unexpected: " + event);
    }
    disconnected = true;
    told();
  }

  private void told() {
    if (toldAt == 0) {
      toldAt = System.nanoTime();
    }
  }

  /** Returns whether an event or a completion has reported the end of the connection. */
  private boolean isTold() {
    return failed || disconnected;
  }

  /** Returns when the end was first reported. */
  long toldAt() {
    return toldAt;
  }

  /** Disconnects from this end, as a surviving program does. */
  void disconnect() {
    identifier.disconnect();
  }

  /** Takes the remaining completions, all of which must arrive, and closes. */
  @SuppressWarnings("ThreadPriorityCheck") // Other processes may wait for this CPU.
  void end() throws InterruptedException {
    long deadline = System.nanoTime() + Caller.LIMIT.toNanos();
    while (!disconnected || !posted.isEmpty()) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError(posted + " did not end; disconnected: " + disconnected);
      }
      take();
      Thread.yield();
    }
    close(identifier);
  }
}

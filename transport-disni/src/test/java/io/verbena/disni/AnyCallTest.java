// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Access;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.Device;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A program runs again and again, and each time another one of the calls that it makes of rdma-core
 * fails, or the device goes before it: the first, the second, and so on to the last. It learns of
 * it by an error or an event, waits for nothing for ever, and can close all that it has.
 */
@Tag(FakeRdmaCore.TAG)
@Isolated("the script makes calls of all devices fail")
final class AnyCallTest {
  private static final URI DEVICE = FakeRdmaCore.uri("10.0.20.1:0");
  private static final String NAME = "mlx5_20";
  private static final long NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final int FEWEST_CALLS = 100;
  private static final int MOST_CALLS = 1000;

  /** As opening a device keeps it: an event channel and an identifier. */
  private static final int KEPT = 2;

  @BeforeAll
  static void needsTheFake() {
    FakeRdmaCore.assumeLoaded();
  }

  @AfterEach
  void clear() {
    FakeRdmaCore.script("clear");
  }

  @ParameterizedTest
  @ValueSource(ints = {Errno.EIO, Errno.EAGAIN, Errno.EINVAL})
  void endsAndClosesAllWhicheverCallFails(int errno) throws Exception {
    // What is asked of a device when it is opened for the first time is not asked again.
    FakeRdmaCore.open(DEVICE).close();
    int objects = FakeRdmaCore.objects();
    int connectionObjects = FakeRdmaCore.connectionObjects();

    int calls = 0;
    for (int skip = 0; run("fail any " + errno + " " + skip); skip++) {
      calls++;
      String where = "call " + skip + ", " + FakeRdmaCore.lastFault();
      assertThat(FakeRdmaCore.objects()).as(where).isEqualTo(objects);
      assertThat(FakeRdmaCore.connectionObjects()).as(where).isEqualTo(connectionObjects);
      assertThat(calls).isLessThan(MOST_CALLS);
    }

    assertThat(calls).isGreaterThan(FEWEST_CALLS);
  }

  @ParameterizedTest
  @ValueSource(ints = {Errno.EIO, Errno.ENOMEM})
  void leavesNothingOfADeviceThatCannotBeOpened(int errno) {
    boolean failed = true;
    for (int skip = 0; failed; skip++) {
      replace();
      int objects = FakeRdmaCore.objects();
      int connectionObjects = FakeRdmaCore.connectionObjects();
      FakeRdmaCore.script("fail any " + errno + " " + skip);
      try {
        FakeRdmaCore.open(DEVICE).close();
      } catch (VerbsException e) {
        assertThat(FakeRdmaCore.tells("is-waiting")).as("%s", e).isFalse();
      }
      failed = !FakeRdmaCore.tells("is-waiting");
      FakeRdmaCore.script("clear");

      String call = FakeRdmaCore.lastFault();
      String where = "call " + skip + ", " + call;
      // What the HCA refuses to destroy stays.
      if (!call.startsWith("ibv_de")) {
        assertThat(FakeRdmaCore.objects()).as(where).isEqualTo(objects);
      }
      assertThat(FakeRdmaCore.connectionObjects() - connectionObjects).as(where).isIn(0, KEPT);
      FakeRdmaCore.open(DEVICE).close();
      assertThat(skip).isLessThan(MOST_CALLS);
    }
  }

  @Test
  void endsAndClosesAllWheneverTheDeviceGoes() throws Exception {
    boolean removed = true;
    for (int skip = 0; removed; skip++) {
      int objects = FakeRdmaCore.objects();
      int connectionObjects = FakeRdmaCore.connectionObjects();

      removed = run("at " + skip + " remove " + NAME);

      String where = "call " + skip + ", " + FakeRdmaCore.lastFault();
      FakeRdmaCore.script("unused-contexts-only");
      assertThat(FakeRdmaCore.objects()).as(where).isEqualTo(objects);
      assertThat(FakeRdmaCore.connectionObjects() - connectionObjects).as(where).isIn(0, KEPT);
      if (removed) {
        FakeRdmaCore.script("return " + NAME);
      }
      assertThat(skip).isLessThan(MOST_CALLS);
    }
  }

  /** Another device of this name, which nobody has opened yet. */
  private static void replace() {
    FakeRdmaCore.script("remove " + NAME);
    FakeRdmaCore.script("return " + NAME);
  }

  /**
   * Runs the program with this line of the script.
   *
   * @return whether what the line says has happened
   */
  private static boolean run(String line) throws Exception {
    FakeRdmaCore.script(line);
    Program program = new Program();
    String error = "";
    try {
      program.run();
    } catch (VerbsException | ProgramOver e) {
      error = String.valueOf(e);
    }
    program.close();
    boolean happened = !FakeRdmaCore.tells("is-waiting");
    FakeRdmaCore.script("clear");
    assertThat(error.isEmpty() || happened).as("%s without a fault", error).isTrue();
    return happened;
  }

  /** An event came other than the one that was to come next. */
  private static final class ProgramOver extends Exception {
    private static final long serialVersionUID = 1L;

    ProgramOver(Object event) {
      super(String.valueOf(event));
    }
  }

  /** Uses a device, connected to itself, from opening to closing. */
  private static final class Program {
    private static final ConnectionParameters PARAMETERS =
        new ConnectionParameters(ByteBuffer.allocate(0), 1, 1, 7, 7);

    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    private <T extends AutoCloseable> T own(T object) {
      open.push(object);
      return object;
    }

    void run() throws InterruptedException, ProgramOver {
      Device device = own(FakeRdmaCore.open(DEVICE));
      ProtectionDomain domain = own(device.allocateProtectionDomain());
      CompletionChannel channel = own(device.createCompletionChannel());
      CompletionQueue queue = own(device.createCompletionQueue(16, channel));
      SharedReceiveQueue shared = own(domain.createSharedReceiveQueue(4, 1));
      MemoryRegion memory =
          own(domain.register(ByteBuffer.allocateDirect(64), Set.of(Access.LOCAL_WRITE)));
      ConnectionManager manager = own(device.createConnectionManager());
      ConnectionListener listener = own(manager.listen(DEVICE, 1));
      ConnectionIdentifier active = own(manager.resolve(listener.address(), NANOS));
      expect(manager, ConnectionEvent.Type.ADDR_RESOLVED);
      QueuePair client =
          own(active.createQueuePair(domain, QueuePairOptions.reliable(queue, queue, 4, 4)));
      active.connect(PARAMETERS, NANOS);
      ConnectionIdentifier passive =
          own(expect(manager, ConnectionEvent.Type.CONNECT_REQUEST).identifier());
      QueuePair server =
          own(
              passive.createQueuePair(
                  domain,
                  QueuePairOptions.reliable(queue, queue, 4, 0).withSharedReceiveQueue(shared)));
      queue.arm(false);
      shared.postReceive(new ReceiveWorkRequest().id(1).buffer(memory.address(), 8, memory.lkey()));
      passive.accept(PARAMETERS);
      expect(manager, ConnectionEvent.Type.ESTABLISHED);
      expect(manager, ConnectionEvent.Type.ESTABLISHED);

      client.postReceive(new ReceiveWorkRequest().id(2).buffer(memory.address(), 8, memory.lkey()));
      client.postSend(
          new SendWorkRequest()
              .id(3)
              .send()
              .buffer(memory.address() + 8, 8, memory.lkey())
              .signaled()
              .next(new SendWorkRequest().id(4).write(0, 0).signaled()));
      complete(manager, channel, queue, 3);

      queue.resize(32);
      memory.reregister(null, null, Set.of());
      shared.limit(1);
      assertThat(device.port().gids()).isNotEmpty();
      assertThat(server.query().maxReadAtomic()).isEqualTo(1);
      AsyncEvent failure = device.awaitAsyncEvent(0);
      if (failure != null) {
        throw new ProgramOver(failure);
      }
      active.disconnect();
      expect(manager, ConnectionEvent.Type.DISCONNECTED);
    }

    private static ConnectionEvent expect(ConnectionManager manager, ConnectionEvent.Type type)
        throws InterruptedException, ProgramOver {
      ConnectionEvent event = await(manager, NANOS);
      assertThat(event).as("%s, %s", type, FakeRdmaCore.lastFault()).isNotNull();
      if (event.type() != type) {
        throw new ProgramOver(event);
      }
      return event;
    }

    /** What becomes of a connection is told in an event, and is no error for all the others. */
    private static @Nullable ConnectionEvent await(ConnectionManager manager, long nanos)
        throws InterruptedException {
      try {
        return manager.await(nanos);
      } catch (VerbsException e) {
        assertThat(e.getMessage())
            .as(FakeRdmaCore.lastFault())
            .containsAnyOf("get connection event", "has failed (DEVICE_FATAL)");
        throw e;
      }
    }

    /** A device that is gone completes nothing, and says so to the connection manager alone. */
    private static void complete(
        ConnectionManager manager, CompletionChannel channel, CompletionQueue queue, int count)
        throws InterruptedException, ProgramOver {
      WorkCompletion[] done = WorkCompletion.array(count);
      long start = System.nanoTime();
      for (int left = count; left > 0; ) {
        assertThat(System.nanoTime() - start).as(FakeRdmaCore.lastFault()).isLessThan(NANOS);
        CompletionQueue came = channel.await(TimeUnit.MILLISECONDS.toNanos(1));
        if (came != null) {
          came.acknowledgeEvents(1);
        }
        queue.arm(false);
        int polled = queue.poll(done);
        for (int i = 0; i < polled; i++) {
          assertThat(done[i].isSuccess()).as("%s", done[i]).isTrue();
        }
        left -= polled;
        ConnectionEvent event = await(manager, 0);
        if (event != null) {
          throw new ProgramOver(event);
        }
      }
    }

    /** Closes all, the last first, and what cannot be closed at once a second time. */
    void close() throws Exception {
      for (AutoCloseable each = open.poll(); each != null; each = open.poll()) {
        try {
          each.close();
        } catch (VerbsException e) {
          assertThat(FakeRdmaCore.tells("is-waiting")).as("%s", e).isFalse();
          each.close();
        }
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Access;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.Device;
import io.verbena.verbs.DeviceAttributes;
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
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Runs a program again and again. In each run the next of its calls to rdma-core fails, or the
 * device goes before that call. The program gets an error or an event, never waits for ever, and
 * can close all of its objects.
 */
@Tag("once")
final class AnyCallTest extends ScriptedFaults {
  private static final int FEWEST_CALLS = 50;
  private static final int MOST_CALLS = 1000;

  /** Objects that an opened device keeps: an event channel and an identifier. */
  private static final int KEPT = 2;

  /** Devices under test. */
  private enum Kind {
    /** A ConnectX. */
    ROCE("10.0.20.1", "mlx5_20"),
    /** The kernel moves the state of the queue pair, and there are no shared receive queues. */
    IWARP("10.0.16.1", "irdma1");

    private final URI address;
    private final String device;

    Kind(String host, String device) {
      address = FakeRdmaCore.uri(host + ":0");
      this.device = device;
    }

    Device open() {
      return FakeRdmaCore.open(address);
    }

    void remove() {
      FakeRdmaCore.script("remove " + device);
    }

    /** Adds another device of this name, which nobody has opened yet. */
    void comeBack() {
      FakeRdmaCore.script("return " + device);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "ROCE, 5", // EIO
    "ROCE, 11", // EAGAIN
    "ROCE, 22", // EINVAL
    "IWARP, 5",
    "IWARP, 22"
  })
  void endsAndClosesAllWhicheverCallFails(Kind kind, int errno) throws Exception {
    // The first time that a device is opened makes calls that later ones do not repeat.
    kind.open().close();
    int objects = FakeRdmaCore.objects();
    int connectionObjects = FakeRdmaCore.connectionObjects();

    int calls = 0;
    for (int skip = 0; run(kind, "fail any " + errno + " " + skip); skip++) {
      calls++;
      String where = "call " + skip + ", " + FakeRdmaCore.lastFault();
      assertThat(FakeRdmaCore.objects()).as(where).isEqualTo(objects);
      awaitConnectionObjects(where, Set.of(connectionObjects));
      assertThat(calls).isLessThan(MOST_CALLS);
    }

    assertThat(calls).isGreaterThan(FEWEST_CALLS);
  }

  @ParameterizedTest
  @EnumSource
  void leavesNothingOfADeviceThatCannotBeOpened(Kind kind) {
    boolean failed = true;
    for (int skip = 0; failed; skip++) {
      kind.remove();
      kind.comeBack();
      int objects = FakeRdmaCore.objects();
      int connectionObjects = FakeRdmaCore.connectionObjects();
      FakeRdmaCore.script("fail any " + Errno.EIO + " " + skip);
      try {
        kind.open().close();
      } catch (VerbsException e) {
        assertThat(FakeRdmaCore.tells("is-waiting")).as("%s", e).isFalse();
      }
      failed = !FakeRdmaCore.tells("is-waiting");
      FakeRdmaCore.script("clear");

      String call = FakeRdmaCore.lastFault();
      String where = "call " + skip + ", " + call;
      // An object that the HCA refuses to destroy remains.
      if (!call.startsWith("ibv_de")) {
        assertThat(FakeRdmaCore.objects()).as(where).isEqualTo(objects);
      }
      assertThat(FakeRdmaCore.connectionObjects() - connectionObjects).as(where).isIn(0, KEPT);
      kind.open().close();
      assertThat(skip).isLessThan(MOST_CALLS);
    }
  }

  @ParameterizedTest
  @EnumSource
  void endsAndClosesAllWheneverTheDeviceGoes(Kind kind) throws Exception {
    boolean removed = true;
    for (int skip = 0; removed; skip++) {
      int objects = FakeRdmaCore.objects();
      int connectionObjects = FakeRdmaCore.connectionObjects();

      removed = run(kind, "at " + skip + " remove " + kind.device);

      String where = "call " + skip + ", " + FakeRdmaCore.lastFault();
      FakeRdmaCore.script("unused-contexts-only");
      assertThat(FakeRdmaCore.objects()).as(where).isEqualTo(objects);
      awaitConnectionObjects(where, Set.of(connectionObjects, connectionObjects + KEPT));
      if (removed) {
        kind.comeBack();
      }
      assertThat(skip).isLessThan(MOST_CALLS);
    }
  }

  /** Waits for one of these counts; abandoned iWARP identifiers are destroyed asynchronously. */
  private static void awaitConnectionObjects(String where, Set<Integer> expected) {
    Awaitility.await(where)
        .pollInSameThread()
        .pollDelay(Duration.ZERO)
        .until(FakeRdmaCore::connectionObjects, expected::contains);
  }

  /**
   * Runs the program under one line of the script.
   *
   * @return whether the fault in the line has occurred
   */
  private static boolean run(Kind kind, String line) throws Exception {
    FakeRdmaCore.script(line);
    Program program = new Program();
    String error = "";
    try {
      program.run(kind);
    } catch (VerbsException | ProgramOver e) {
      error = String.valueOf(e);
    }
    program.close();
    boolean happened = !FakeRdmaCore.tells("is-waiting");
    FakeRdmaCore.script("clear");
    assertThat(error.isEmpty() || happened).as("%s without a fault", error).isTrue();
    return happened;
  }

  /** Thrown when an event is not the expected one. */
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

    void run(Kind kind) throws InterruptedException, ProgramOver {
      Device device = own(kind.open());
      DeviceAttributes can = device.attributes();
      ProtectionDomain domain = own(device.allocateProtectionDomain());
      CompletionChannel channel = own(device.createCompletionChannel());
      CompletionQueue queue = own(device.createCompletionQueue(16, channel));
      SharedReceiveQueue shared =
          can.supports(Capability.SHARED_RECEIVE_QUEUE)
              ? own(domain.createSharedReceiveQueue(4, 1))
              : null;
      MemoryRegion memory =
          own(domain.register(ByteBuffer.allocateDirect(64), Set.of(Access.LOCAL_WRITE)));
      ConnectionManager manager = own(device.createConnectionManager());
      ConnectionListener listener = own(manager.listen(kind.address, 1));
      ConnectionIdentifier active = own(manager.resolve(listener.address(), NANOS));
      expect(manager, ConnectionEvent.Type.ADDR_RESOLVED);
      QueuePair client =
          own(active.createQueuePair(domain, QueuePairOptions.reliable(queue, queue, 4, 4)));
      active.connect(PARAMETERS, NANOS);
      ConnectionIdentifier passive =
          own(expect(manager, ConnectionEvent.Type.CONNECT_REQUEST).identifier());
      QueuePairOptions served = QueuePairOptions.reliable(queue, queue, 4, shared == null ? 4 : 0);
      QueuePair server =
          own(
              passive.createQueuePair(
                  domain, shared == null ? served : served.withSharedReceiveQueue(shared)));
      queue.arm(false);
      ReceiveWorkRequest receive =
          new ReceiveWorkRequest().id(1).buffer(memory.address(), 8, memory.lkey());
      if (shared == null) {
        server.postReceive(receive);
      } else {
        shared.postReceive(receive);
        shared.limit(1);
      }
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

      if (can.supports(Capability.COMPLETION_QUEUE_RESIZE)) {
        queue.resize(32);
      }
      if (can.supports(Capability.REREGISTRATION)) {
        memory.reregister(null, null, Set.of());
      }
      assertThat(device.port().gids()).isNotEmpty();
      assertThat(server.query().access()).isNotEmpty();
      AsyncEvent told = device.awaitAsyncEvent(0);
      if (told != null && told.type() != AsyncEvent.Type.SRQ_LIMIT_REACHED) {
        throw new ProgramOver(told);
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

    /**
     * Waits for an event of the connection manager. Only a failure of the manager or of the device
     * is thrown; a connection that fails gets an event instead.
     */
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

    /** Waits for completions; a device that is gone reports this only to the connection manager. */
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

    /** Closes all objects in reverse order; repeats a close whose first attempt fails. */
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

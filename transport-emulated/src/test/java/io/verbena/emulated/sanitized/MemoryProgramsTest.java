// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitized;

import static io.verbena.emulated.sanitizer.Finding.Kind.ACCESS_NEVER_USED;
import static io.verbena.emulated.sanitizer.Finding.Kind.KEY_USED_AFTER_INVALIDATION;
import static io.verbena.emulated.sanitizer.Finding.Kind.MEMORY_CLOSED_WHILE_POSTED;
import static io.verbena.emulated.sanitizer.Finding.Kind.MEMORY_FREED_WHILE_POSTED;
import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.Access.REMOTE_READ;
import static io.verbena.verbs.Access.REMOTE_WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.sanitizer.Finding;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.SendWorkRequest;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** Memory stays registered while posted; its keys die with it; its rights are limited. */
class MemoryProgramsTest extends ProgramTests {

  @Test
  void findsARegionThatIsClosedWhileASendIsOutstanding() {
    run(MemoryProgramsTest::closesWhatItSends);
    assertFound(MEMORY_CLOSED_WHILE_POSTED, "closesWhatItSends");
  }

  private static void closesWhatItSends(End client, End server) {
    server.queuePair.postReceive(server.memory(32, LOCAL_WRITE).receive(1));
    Memory message = client.memory(32);
    client.queuePair.postSend(message.send(2).signaled());
    message.region().close();
    End.take(client.sends);
    End.take(server.receives);
  }

  @Test
  void findsARegionThatIsClosedWhileAReceiveIsPosted() {
    run(MemoryProgramsTest::closesWhatItReceivesInto);
    assertFound(MEMORY_CLOSED_WHILE_POSTED, "closesWhatItReceivesInto");
  }

  private static void closesWhatItReceivesInto(End client, End server) {
    Memory into = server.memory(32, LOCAL_WRITE);
    server.queuePair.postReceive(into.receive(1));
    into.region().close();
  }

  @Test
  void isSilentWhereARegionIsClosedAfterTheCompletions() {
    run(
        (client, server) -> {
          Memory into = server.memory(32, LOCAL_WRITE);
          server.queuePair.postReceive(into.receive(1));
          Memory message = client.memory(32);
          client.queuePair.postSend(message.send(2).signaled());
          End.take(client.sends);
          message.region().close();
          End.take(server.receives);
          into.region().close();
        });
    assertSilent();
  }

  @Test
  @EnabledForJreRange(min = JRE.JAVA_22, disabledReason = "arenas are final from there on")
  void findsMemoryThatIsFreedWhileItIsPosted() {
    run(MemoryProgramsTest::freesWhatItReceivesInto);
    assertFound(MEMORY_FREED_WHILE_POSTED, "freesWhatItReceivesInto");
  }

  private static void freesWhatItReceivesInto(End client, End server) {
    try (Arena arena = new Arena()) {
      ByteBuffer bytes = arena.allocate(32);
      Memory into = new Memory(bytes, server.domain.register(bytes, Set.of(LOCAL_WRITE)));
      server.queuePair.postReceive(into.receive(1));
      client.queuePair.postSend(client.memory(32).send(2).signaled());
      End.take(client.sends);
      arena.free();
      End.take(server.receives);
      into.region().close();
    }
  }

  @Test
  @EnabledForJreRange(min = JRE.JAVA_22, disabledReason = "arenas are final from there on")
  void isSilentWhereMemoryIsFreedAfterItsRegionIsClosed() {
    run(
        (client, server) -> {
          try (Arena arena = new Arena()) {
            ByteBuffer bytes = arena.allocate(32);
            Memory into = new Memory(bytes, server.domain.register(bytes, Set.of(LOCAL_WRITE)));
            server.queuePair.postReceive(into.receive(1));
            client.queuePair.postSend(client.memory(32).send(2).signaled());
            End.take(client.sends);
            End.take(server.receives);
            into.region().close();
          }
        });
    assertSilent();
  }

  /**
   * Calls {@code java.lang.foreign.Arena} by reflection, because the baseline JDK lacks this class.
   */
  private static final class Arena implements AutoCloseable {
    private final AutoCloseable arena;
    private boolean closed;

    Arena() {
      try {
        Class<?> type = Class.forName("java.lang.foreign.Arena");
        arena = (AutoCloseable) type.getMethod("ofShared").invoke(null);
      } catch (ReflectiveOperationException e) {
        throw new LinkageError(e.getMessage(), e);
      }
    }

    ByteBuffer allocate(long bytes) {
      try {
        Class<?> type = Class.forName("java.lang.foreign.Arena");
        Method allocate = type.getMethod("allocate", long.class);
        Object segment = allocate.invoke(arena, bytes);
        return (ByteBuffer)
            Class.forName("java.lang.foreign.MemorySegment")
                .getMethod("asByteBuffer")
                .invoke(segment);
      } catch (InvocationTargetException e) {
        throw new AssertionError(e.getCause());
      } catch (ReflectiveOperationException e) {
        throw new LinkageError(e.getMessage(), e);
      }
    }

    @Override
    public void close() {
      free();
    }

    void free() {
      if (!closed) {
        closed = true;
        try {
          arena.close();
        } catch (Exception e) {
          throw new AssertionError(e);
        }
      }
    }
  }

  @Test
  void findsALocalKeyThatIsUsedAfterItsRegionWasClosed() {
    run(MemoryProgramsTest::sendsFromAClosedRegion);
    List<Finding> found = found();
    assertThat(found)
        .extracting(Finding::kind, finding -> finding.place().getMethodName())
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple(
                KEY_USED_AFTER_INVALIDATION, "sendsFromAClosedRegion"));
    assertThat(found.get(0).related()).isNotNull();
    assertThat(found.get(0).related().trace())
        .anyMatch(frame -> frame.getMethodName().equals("sendsFromAClosedRegion"));
  }

  private static void sendsFromAClosedRegion(End client, End server) {
    server.queuePair.postReceive(server.memory(32, LOCAL_WRITE).receive(1));
    Memory message = client.memory(32);
    message.region().close();
    client.queuePair.postSend(message.send(2).signaled());
    assertThat(End.take(client.sends).isSuccess()).isFalse();
  }

  @Test
  void findsARemoteKeyThatIsUsedAfterItsRegionWasClosed() {
    run(MemoryProgramsTest::writesToAClosedRegion);
    assertFound(KEY_USED_AFTER_INVALIDATION, "writesToAClosedRegion");
  }

  private static void writesToAClosedRegion(End client, End server) {
    Memory target = server.memory(32, LOCAL_WRITE, REMOTE_WRITE);
    SendWorkRequest request = client.memory(32).write(2, target).signaled();
    target.region().close();
    client.queuePair.postSend(request);
    assertThat(End.take(client.sends).isSuccess()).isFalse();
  }

  @Test
  void isSilentWhereKeysAreUsedBeforeTheirRegionsAreClosed() {
    run(
        (client, server) -> {
          Memory target = server.memory(32, LOCAL_WRITE, REMOTE_WRITE);
          Memory message = client.memory(32);
          client.queuePair.postSend(message.write(2, target).signaled());
          assertThat(End.take(client.sends).isSuccess()).isTrue();
          target.region().close();
          message.region().close();
        });
    assertSilent();
  }

  @Test
  void findsRightsThatNobodyUsed() {
    run(MemoryProgramsTest::grantsTooMuch);
    assertFound(ACCESS_NEVER_USED, "grantsTooMuch");
  }

  private static void grantsTooMuch(End client, End server) {
    ByteBuffer bytes = ByteBuffer.allocateDirect(32);
    MemoryRegion region =
        server.domain.register(bytes, Set.of(LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE));
    Memory source = new Memory(bytes, region);
    client.queuePair.postSend(client.memory(32, LOCAL_WRITE).read(2, source).signaled());
    assertThat(End.take(client.sends).isSuccess()).isTrue();
    region.close();
  }

  @Test
  void isSilentWhereAllRightsWereUsed() {
    run(
        (client, server) -> {
          Memory shared = server.memory(32, LOCAL_WRITE, REMOTE_READ, REMOTE_WRITE);
          Memory into = client.memory(32, LOCAL_WRITE);
          client.queuePair.postSend(into.read(2, shared).signaled());
          End.take(client.sends);
          client.queuePair.postSend(into.write(3, shared).signaled());
          End.take(client.sends);
        });
    assertSilent();
  }
}

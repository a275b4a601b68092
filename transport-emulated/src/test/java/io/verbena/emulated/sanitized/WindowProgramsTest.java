// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitized;

import static io.verbena.emulated.sanitizer.Finding.Kind.KEY_USED_AFTER_INVALIDATION;
import static io.verbena.verbs.Access.LOCAL_WRITE;
import static io.verbena.verbs.Access.MW_BIND;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.sanitizer.Finding;
import io.verbena.verbs.Access;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.SendWorkRequest;
import org.junit.jupiter.api.Test;

/** The key of a window dies when it is invalidated or bound again; later uses are findings. */
class WindowProgramsTest extends ProgramTests {

  /** Asserts that {@code user} used a key that died in {@code killer}. */
  private void assertFoundWithDeathIn(String user, String killer) {
    assertThat(found())
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.kind()).isEqualTo(KEY_USED_AFTER_INVALIDATION);
              assertThat(finding.place().getMethodName()).isEqualTo(user);
              Finding.Related death = finding.related();
              assertThat(death).isNotNull();
              assertThat(death.trace()).anyMatch(frame -> frame.getMethodName().equals(killer));
            });
  }

  /** Binds a type 2 window to memory of the server and returns the key. */
  private static int bind(End server, MemoryWindow window, Memory memory) {
    int key = window.rkey() + 1;
    server.queuePair.postSend(memory.bind(1, window, key).signaled());
    assertThat(End.take(server.sends).isSuccess()).isTrue();
    return window.rkey();
  }

  private static boolean writes(End client, Memory remote, int key) {
    client.queuePair.postSend(client.memory(32).write(2, remote, key).signaled());
    return End.take(client.sends).isSuccess();
  }

  private static void invalidate(End server, int key) {
    server.queuePair.postSend(new SendWorkRequest().id(3).localInvalidate(key).signaled());
    assertThat(End.take(server.sends).isSuccess()).isTrue();
  }

  @Test
  void findsAWindowsKeyThatIsUsedAfterItWasInvalidated() {
    run(
        (client, server) -> {
          Memory memory = server.memory(32, LOCAL_WRITE, MW_BIND);
          try (MemoryWindow window = server.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2B)) {
            int key = bind(server, window, memory);
            invalidate(server, key);
            assertThat(writes(client, memory, key)).isFalse();
          }
        });
    assertFoundWithDeathIn("writes", "invalidate");
  }

  @Test
  void isSilentWhereAWindowsKeyIsUsedBeforeItIsInvalidated() {
    run(
        (client, server) -> {
          Memory memory = server.memory(32, LOCAL_WRITE, MW_BIND);
          try (MemoryWindow window = server.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2B)) {
            int key = bind(server, window, memory);
            assertThat(writes(client, memory, key)).isTrue();
            invalidate(server, key);
          }
        });
    assertSilent();
  }

  @Test
  void findsARegionsKeyThatIsUsedAfterItWasInvalidated() {
    run(
        (client, server) -> {
          Memory memory = server.memory(32, LOCAL_WRITE, Access.REMOTE_WRITE);
          assertThat(writes(client, memory, memory.region().rkey())).isTrue();
          invalidate(server, memory.region().rkey());
          assertThat(writes(client, memory, memory.region().rkey())).isFalse();
        });
    assertFoundWithDeathIn("writes", "invalidate");
  }

  @Test
  void findsTheKeyThatAWindowHadBeforeItWasBound() {
    run(
        (client, server) -> {
          Memory memory = server.memory(32, LOCAL_WRITE, MW_BIND);
          try (MemoryWindow window = server.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2B)) {
            int told = window.rkey();
            bind(server, window, memory);
            assertThat(writes(client, memory, told)).isFalse();
          }
        });
    assertFoundWithDeathIn("writes", "bind");
  }

  @Test
  void isSilentWhereAWindowIsBoundAgainAndItsNewKeyIsUsed() {
    run(
        (client, server) -> {
          Memory memory = server.memory(32, LOCAL_WRITE, MW_BIND);
          try (MemoryWindow window = server.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2B)) {
            // One round through all 256 possible keys, and one more.
            for (int i = 0; i < 257; i++) {
              int key = bind(server, window, memory);
              assertThat(writes(client, memory, key)).isTrue();
              invalidate(server, key);
            }
          }
        });
    assertSilent();
  }

  private static void rebind(End server, SendWorkRequest bind) {
    server.queuePair.bindMemoryWindow(bind.signaled());
    assertThat(End.take(server.sends).isSuccess()).isTrue();
  }

  @Test
  void findsTheOldKeyOfAWindowOfType1ThatIsBoundAgain() {
    run(
        (client, server) -> {
          Memory first = server.memory(32, LOCAL_WRITE, MW_BIND);
          Memory second = server.memory(32, LOCAL_WRITE, MW_BIND);
          try (MemoryWindow window = server.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1)) {
            rebind(server, first.bind(1, window, 0));
            int old = window.rkey();
            rebind(server, second.bind(2, window, 0));
            assertThat(writes(client, first, old)).isFalse();
          }
        });
    assertFoundWithDeathIn("writes", "rebind");
  }

  @Test
  void findsTheKeyOfAWindowOfType1ThatIsBoundToNothing() {
    run(
        (client, server) -> {
          Memory memory = server.memory(32, LOCAL_WRITE, MW_BIND);
          try (MemoryWindow window = server.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1)) {
            rebind(server, memory.bind(1, window, 0));
            rebind(server, new SendWorkRequest().id(2).bind(window, memory.region(), 0));
            assertThat(writes(client, memory, window.rkey())).isFalse();
          }
        });
    assertFoundWithDeathIn("writes", "rebind");
  }

  @Test
  void isSilentWhereTheNewKeyOfAWindowOfType1IsUsed() {
    run(
        (client, server) -> {
          Memory first = server.memory(32, LOCAL_WRITE, MW_BIND);
          Memory second = server.memory(32, LOCAL_WRITE, MW_BIND);
          try (MemoryWindow window = server.domain.allocateMemoryWindow(MemoryWindowType.TYPE_1)) {
            rebind(server, first.bind(1, window, 0));
            assertThat(writes(client, first, window.rkey())).isTrue();
            rebind(server, second.bind(2, window, 0));
            assertThat(writes(client, second, window.rkey())).isTrue();
          }
        });
    assertSilent();
  }
}

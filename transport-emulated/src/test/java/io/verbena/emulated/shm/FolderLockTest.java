// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Threads of several processes take the lock of one folder. */
class FolderLockTest {
  private static final Duration LIMIT = Duration.ofSeconds(20);

  /** Each round waits for a round of every other thread. */
  private static final Duration ALL_ROUNDS_LIMIT = Duration.ofSeconds(60);

  private static final int ROUNDS = 200;
  private static final long INSIDE_NANOS = 500_000;

  @TempDir private Path folder;

  /** A thread that holds the lock until the test ends it. */
  private final class Holder implements AutoCloseable {
    private final CompletableFuture<Void> inside = new CompletableFuture<>();
    private final CompletableFuture<Void> leave = new CompletableFuture<>();
    final FutureTask<Boolean> ends = new FutureTask<>(() -> FolderLock.hold(folder, this::stay));
    final Thread thread = new Thread(ends, "holder");

    Holder() {
      thread.start();
    }

    private boolean stay() {
      boolean unused = inside.complete(null);
      return leave.join() == null;
    }

    void awaitInside() throws Exception {
      inside.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    }

    void awaitWaiting() {
      Awaitility.await().atMost(LIMIT).until(() -> thread.getState() == Thread.State.TIMED_WAITING);
    }

    boolean end() throws Exception {
      close();
      return ends.get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
      boolean unused = leave.complete(null);
    }
  }

  @Test
  void oneThreadOfAProcessAtATimeOpensTheFile() throws Exception {
    try (Holder first = new Holder()) {
      first.awaitInside();
      try (Holder second = new Holder()) {
        second.awaitWaiting();

        assertThat(descriptors()).isEqualTo(1);
        assertThat(first.end()).isTrue();
        second.awaitInside();
        assertThat(descriptors()).isEqualTo(1);
        assertThat(second.end()).isTrue();
      }
    }
    assertThat(descriptors()).isZero();
  }

  /** Returns the number of this process's descriptors open on the lock file. */
  private long descriptors() throws IOException {
    Path file = folder.toRealPath().resolve("lock");
    try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
      return all.filter(each -> leadsTo(each, file)).count();
    }
  }

  private static boolean leadsTo(Path descriptor, Path file) {
    try {
      return Files.readSymbolicLink(descriptor).equals(file);
    } catch (IOException e) {
      // The descriptor was closed meanwhile.
      return false;
    }
  }

  @Test
  void whoGivesUpTakesNobodysLockAway() throws Exception {
    try (Holder first = new Holder()) {
      first.awaitInside();
      try (Holder second = new Holder()) {
        second.awaitWaiting();
        second.thread.interrupt();
        assertThatThrownBy(second::end).hasCauseInstanceOf(IOException.class);
      }

      LookingProcess looks = new LookingProcess(folder.resolve("lock"));
      try {
        assertThat(looks.said()).isEqualTo(LookingProcess.LOCKED);
      } finally {
        looks.end();
      }
    }
  }

  @Test
  void anInterruptedThreadWaitsForNoOtherProcess() throws Exception {
    LookingProcess looks = new LookingProcess(Files.createFile(folder.resolve("lock")));
    try (Holder waits = new Holder()) {
      assertThat(looks.said()).isEqualTo(LookingProcess.LOOKS);
      waits.awaitWaiting();

      waits.thread.interrupt();

      assertThatThrownBy(waits::end).hasCauseInstanceOf(InterruptedIOException.class);
    } finally {
      looks.end();
    }
  }

  @Test
  void oneThreadOfAllProcessesIsInsideAtATime() throws Exception {
    Process other =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                OtherJvm.class.getName(),
                folder.toString())
            .redirectError(Redirect.INHERIT)
            .start();
    assertThat(other.inputReader(StandardCharsets.UTF_8).readLine()).isEqualTo("begins");

    beInsideAgainAndAgain(folder);

    assertThat(other.waitFor()).isZero();
  }

  /** Runs the same rounds in another process. */
  static final class OtherJvm {
    private OtherJvm() {}

    /** Runs in that process. */
    public static void main(String[] arguments) throws Exception {
      System.out.println("begins");
      beInsideAgainAndAgain(Path.of(arguments[0]));
    }
  }

  private static void beInsideAgainAndAgain(Path folder) throws Exception {
    List<FutureTask<Boolean>> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      FutureTask<Boolean> thread = new FutureTask<>(() -> beInside(folder, ROUNDS));
      threads.add(thread);
      new Thread(thread).start();
    }
    for (FutureTask<Boolean> each : threads) {
      assertThat(each.get(ALL_ROUNDS_LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    }
  }

  private static boolean beInside(Path folder, int rounds) throws IOException {
    for (int i = 0; i < rounds; i++) {
      boolean unused =
          FolderLock.hold(
              folder,
              () -> {
                Path inside = Files.createFile(folder.resolve("inside"));
                LockSupport.parkNanos(INSIDE_NANOS);
                Files.delete(inside);
                return true;
              });
    }
    return true;
  }
}

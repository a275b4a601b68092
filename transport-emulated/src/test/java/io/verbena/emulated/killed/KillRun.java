// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.killed;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.Caller;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/**
 * Kills processes, a few in parallel, each with its own service name. This process talks to all of
 * them and checks what each leaves behind.
 */
final class KillRun {
  /** Victims at a time; more than a small machine's CPUs, so that kills hit them anywhere. */
  private static final int SIDE_BY_SIDE = 3;

  private static final int SHORT_LIFE_NANOS = 25_000_000;
  private static final int LONGEST_LIFE_NANOS = 300_000_000;
  private static final int LONGEST_TALK_NANOS = 200_000_000;
  private static final int LONGEST_START_NANOS = 400_000_000;
  private static final URI SURVIVOR = URI.create("shm://survivor");

  private final Path folder;
  private final long seed;
  private final int kills;
  private final KillRecord told;
  private final AtomicInteger begun = new AtomicInteger();

  /**
   * Creates a run.
   *
   * @param folder the folder of all processes of this run, and no others
   * @param kills how many processes are killed
   */
  KillRun(Path folder, long seed, int kills) {
    this.folder = folder;
    this.seed = seed;
    this.kills = kills;
    told = new KillRecord(seed);
  }

  private URI address(URI service) {
    return URI.create(service + "?dir=" + folder);
  }

  private URI victim(int which) {
    return address(URI.create("shm://victim-" + which));
  }

  /** Runs all kills and returns the statistics. */
  KillRecord run() throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    try (EchoService service = new EchoService(address(SURVIVOR))) {
      Set<String> sockets = sockets();
      long mappings = mappings();
      List<String> files = files();
      Future<?> serving = threads.submit(serving(service));
      List<Future<?>> slots = new ArrayList<>();
      for (int slot = 0; slot < SIDE_BY_SIDE; slot++) {
        int which = slot;
        slots.add(threads.submit(() -> kill(which)));
      }
      for (Future<?> each : slots) {
        each.get();
      }

      Awaitility.await("the end of all that victims have begun")
          .atMost(Caller.LIMIT)
          .until(() -> serving.isDone() || service.open() == 0);
      assertThat(serving.isDone()).as("the survivor's service has failed").isFalse();
      Awaitility.await("sockets and memory given back")
          .atMost(Caller.LIMIT)
          .untilAsserted(
              () -> {
                // The callers' memory stays mapped until it is garbage-collected.
                System.gc();
                // Sockets of an earlier test may close only now.
                assertThat(sockets).as("sockets").containsAll(sockets());
                assertThat(mappings()).as("mappings").isEqualTo(mappings);
              });
      sweep();
      assertThat(files()).containsExactlyInAnyOrderElementsOf(files);
      service.stop();
      serving.get();
    } catch (ExecutionException e) {
      throw new AssertionError("seed " + seed, e.getCause());
    } finally {
      threads.shutdown();
    }
    return told;
  }

  private static Callable<Void> serving(EchoService service) {
    return () -> {
      service.run();
      return null;
    };
  }

  /** Starts a process that opens an HCA, removes leftover files, and exits normally. */
  private void sweep() throws Exception {
    Process process = start(List.of(Sweeper.class.getName(), victim(0).toString()));
    assertThat(process.waitFor()).isZero();
  }

  /** Opens and closes an HCA. */
  static final class Sweeper {
    private Sweeper() {}

    /** Runs in that process. */
    public static void main(String[] arguments) {
      new Caller(URI.create(arguments[0])).close();
    }
  }

  // ---- one after the other

  private Void kill(int slot) throws Exception {
    Random random = new Random(seed + slot);
    while (begun.getAndIncrement() < kills) {
      boolean early = random.nextInt(5) == 0;
      Process process =
          start(
              List.of(
                  Victim.class.getName(),
                  Long.toString(random.nextLong()),
                  victim(slot).toString(),
                  address(SURVIVOR).toString(),
                  victim((slot + 1) % SIDE_BY_SIDE).toString()));
      if (early) {
        killWhileItStarts(process, random);
      } else {
        killAtWork(process, slot, random);
      }
    }
    return null;
  }

  private static Process start(List<String> arguments) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-XX:-UsePerfData",
                "-Xshare:auto",
                "-Xmx64m",
                "-cp",
                System.getProperty("java.class.path")));
    command.addAll(arguments);
    return new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
  }

  private void killWhileItStarts(Process process, Random random) throws InterruptedException {
    boolean ended = process.waitFor(random.nextInt(LONGEST_START_NANOS), TimeUnit.NANOSECONDS);
    assertThat(ended).as("a victim has ended by itself").isFalse();
    process.destroyForcibly().waitFor();
    told.killed(KillRecord.Moment.STARTING);
  }

  private void killAtWork(Process process, int slot, Random random) throws Exception {
    String ready = process.inputReader(StandardCharsets.UTF_8).readLine();
    assertThat(ready).as("what a victim says first; its error is above").isEqualTo("ready");
    boolean asleep = random.nextBoolean();
    long life = random.nextInt(random.nextBoolean() ? SHORT_LIFE_NANOS : LONGEST_LIFE_NANOS);
    AtomicLong killedAt = new AtomicLong();
    CompletableFuture<Void> killing =
        CompletableFuture.runAsync(
            () -> {
              killedAt.set(System.nanoTime());
              process.destroyForcibly();
            },
            CompletableFuture.delayedExecutor(life, TimeUnit.NANOSECONDS));
    CompletableFuture<Long> endedAt = process.onExit().thenApply(ended -> System.nanoTime());
    KillRecord.Moment moment = KillRecord.Moment.CONNECTING;
    long toldAt = 0;
    try (Caller caller = new Caller(victim(slot))) {
      while (!killing.isDone()) {
        moment = KillRecord.Moment.CONNECTING;
        Load load = Load.connect(caller, victim(slot), random);
        if (load == null) {
          assertThat(killedAt.get()).as("refused by a victim that lives").isNotZero();
          break;
        }
        moment = asleep ? KillRecord.Moment.ASLEEP : KillRecord.Moment.TALKING;
        if (asleep) {
          load.postFew();
          assertThat(load.awaitEnd()).as("told of the end, in time").isTrue();
        } else {
          talk(load, random);
        }
        load.disconnect();
        load.end();
        if (killedAt.get() != 0 && load.toldAt() > killedAt.get()) {
          toldAt = load.toldAt();
        }
      }
      killing.join();
      int code = process.waitFor();
      assertThat(code).as("how a victim ended; its error is above").isEqualTo(128 + 9);
    }
    if (toldAt != 0) {
      told.noticed(moment, toldAt - killedAt.get(), toldAt - endedAt.join());
    }
    told.killed(moment);
  }

  /** Exchanges messages until the victim is gone or a random time has passed. */
  private static void talk(Load load, Random random) throws InterruptedException {
    long end = System.nanoTime() + random.nextInt(LONGEST_TALK_NANOS);
    boolean lives = true;
    while (lives && System.nanoTime() < end) {
      lives = load.step();
    }
  }

  // ---- what is left

  private List<String> files() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }

  private long mappings() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
      return lines.filter(line -> line.contains(folder.toString())).count();
    }
  }

  private static Set<String> sockets() throws IOException {
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      return descriptors
          .map(KillRun::target)
          .filter(target -> target.startsWith("socket:"))
          .collect(Collectors.toSet());
    }
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (NoSuchFileException e) {
      return "";
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}

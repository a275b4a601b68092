// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.verbena.disni.core.Words.KeyWords;
import io.verbena.disni.core.Words.QueuePairWords;
import io.verbena.it.Program;
import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.node.Nodes;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProviders;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the provider's native objects when creating or destroying one of them fails. */
@InSoftRoceGuest(nodes = 1)
class NativeObjectsTest {
  private final DisniDevice device = open();
  private final DisniProtectionDomain domain = device.allocateProtectionDomain();
  private final DisniCompletionQueue queue = device.createCompletionQueue(16, null, false);

  private static DisniDevice open() {
    URI address = URI.create("disni://" + Nodes.node1());
    return (DisniDevice) VerbsProviders.find(address).open(address);
  }

  @AfterEach
  void close() {
    queue.close();
    domain.close();
    device.close();
  }

  /** Creates a queue pair that the provider does not count. */
  private long foreignQueuePair(DisniCompletionQueue of, long sharedReceives) {
    Block words =
        Block.of(QueuePairWords.values())
            .set(QueuePairWords.TYPE, QueuePairType.RC.code())
            .set(QueuePairWords.SEND_CQ, of.pointer())
            .set(QueuePairWords.RECV_CQ, of.pointer())
            .set(QueuePairWords.SRQ, sharedReceives)
            .set(QueuePairWords.MAX_SEND_WR, 1)
            .set(QueuePairWords.MAX_SEND_SGE, 1);
    return Errno.check(
        "create queue pair", device.core().createQueuePair(domain.pointer(), words.address()));
  }

  private static void assertRefused(Runnable close) {
    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(close::run)
        .extracting(VerbsException::error)
        .isEqualTo(VerbsError.BUSY);
  }

  @Test
  void closesACompletionQueueThatTheHcaKeptAtFirst() throws Exception {
    List<String> before = resources("cq");
    DisniCompletionQueue kept = device.createCompletionQueue(4, null, false);
    long foreign = foreignQueuePair(kept, 0);

    assertRefused(kept::close);
    assertRefused(device::close);
    Errno.check("destroy queue pair", device.core().destroyQueuePair(foreign));
    kept.close();
    kept.close();

    assertThat(resources("cq")).hasSizeLessThanOrEqualTo(before.size());
  }

  @Test
  void closesASharedReceiveQueueThatTheHcaKeptAtFirst() {
    DisniSharedReceiveQueue kept = domain.createSharedReceiveQueue(4, 1);
    long foreign = foreignQueuePair(queue, kept.pointer());

    assertRefused(kept::close);
    assertRefused(domain::close);
    Errno.check("destroy queue pair", device.core().destroyQueuePair(foreign));
    kept.close();
    kept.close();
  }

  @Test
  void closesAProtectionDomainThatTheHcaKeptAtFirst() throws Exception {
    List<String> before = resources("pd");
    DisniProtectionDomain kept = device.allocateProtectionDomain();
    Block words = Block.of(KeyWords.values());
    long foreign =
        Errno.check(
            "allocate memory window",
            device.core().allocateWindow(kept.pointer(), 1, words.address()));

    assertRefused(kept::close);
    Errno.check("deallocate memory window", device.core().deallocateWindow(foreign));
    kept.close();
    kept.close();

    assertThat(resources("pd")).hasSizeLessThanOrEqualTo(before.size());
  }

  @Test
  void leavesNoChannelBehindWithoutAFileForItsWakeup() throws Exception {
    // Loads all classes first, as class loading opens files, too.
    device.createCompletionChannel().close();
    device.createConnectionManager().close();
    long before = openFiles();
    ArrayDeque<InputStream> files = new ArrayDeque<>();
    VerbsException channel;
    VerbsException manager;
    try {
      takeAllFilesButOne(files);
      channel = failure(device::createCompletionChannel);
      manager = failure(device::createConnectionManager);
    } finally {
      for (InputStream file : files) {
        file.close();
      }
    }

    assertThat(channel).hasMessageContaining("eventfd: ");
    assertThat(manager).hasMessageContaining("eventfd: ");
    assertThat(openFiles()).isLessThanOrEqualTo(before);
  }

  private static VerbsException failure(Runnable creation) {
    try {
      creation.run();
    } catch (VerbsException e) {
      return e;
    }
    throw new AssertionError("created without a file");
  }

  private static void takeAllFilesButOne(ArrayDeque<InputStream> files) throws IOException {
    try {
      while (true) {
        files.add(new FileInputStream("/dev/null"));
      }
    } catch (FileNotFoundException e) {
      files.remove().close();
    }
  }

  /**
   * Returns the number of the JVM's open files. Those that earlier tests dropped may close at any
   * time.
   */
  private static long openFiles() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
      return files.count();
    }
  }

  /**
   * Returns the resources of the guest. Those that earlier tests left may disappear at any time.
   */
  private static List<String> resources(String kind) throws Exception {
    return Program.run("rdma", "resource", "show", kind).lines().toList();
  }
}

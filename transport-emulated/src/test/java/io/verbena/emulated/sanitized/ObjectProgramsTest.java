// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitized;

import static io.verbena.emulated.sanitizer.Finding.Kind.KEY_USED_AFTER_INVALIDATION;
import static io.verbena.emulated.sanitizer.Finding.Kind.NEVER_CLOSED;
import static io.verbena.emulated.sanitizer.Finding.Kind.SEND_WITHOUT_RECEIVE;
import static io.verbena.verbs.Access.LOCAL_WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.groups.Tuple.tuple;
import static org.awaitility.Awaitility.await;

import io.verbena.emulated.sanitizer.Finding;
import io.verbena.emulated.sanitizer.FindingException;
import io.verbena.emulated.sanitizer.Sanitizer;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.Device;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.PostException;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Objects that a program opens must be closed. */
class ObjectProgramsTest extends ProgramTests {
  private static final URI LISTENER = URI.create("emulated://sanitized-listener?sanitize=true");

  private static Device open(String options) {
    URI address = URI.create("emulated://objects" + options);
    return VerbsProviders.find(address).open(address);
  }

  /** One object of each kind. */
  private static final class Objects {
    final Device device = open("?sanitize=true");
    final ProtectionDomain domain = device.allocateProtectionDomain();
    final CompletionChannel channel = device.createCompletionChannel();
    final CompletionQueue queue = device.createCompletionQueue(8, channel);
    final QueuePair queuePair =
        domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 4, 4));
    final MemoryRegion region = domain.register(ByteBuffer.allocateDirect(8), Set.of(LOCAL_WRITE));
    final ConnectionManager manager = device.createConnectionManager();
    final ConnectionListener listener = manager.listen(LISTENER, 1);

    void close() {
      listener.close();
      manager.close();
      region.close();
      queuePair.close();
      queue.close();
      channel.close();
      domain.close();
      device.close();
    }
  }

  @Test
  void findsEachObjectThatIsOpenWhenItsDeviceIsClosed() {
    Objects objects = new Objects();
    assertThatThrownBy(objects.device::close).isInstanceOf(VerbsException.class);
    assertThat(collector().found())
        .allSatisfy(
            finding -> {
              assertThat(finding.kind()).isEqualTo(NEVER_CLOSED);
              assertThat(finding.place().getClassName()).isEqualTo(Objects.class.getName());
            })
        .extracting(finding -> finding.message().replaceAll("( of| on)? ?[\\d:].*| on .*", ""))
        .containsExactly(
            "protection domain",
            "completion channel",
            "completion queue",
            "queue pair",
            "memory region",
            "connection manager",
            "listener");
    objects.close();
  }

  @Test
  void isSilentWhereEachObjectIsClosedBeforeItsDevice() {
    new Objects().close();
    assertSilent();
  }

  @Test
  void findsAtTheEndWhatIsStillOpen() {
    Device device = leavesADeviceOpen();
    assertFound(NEVER_CLOSED, "open");
    device.close();
  }

  private static Device leavesADeviceOpen() {
    return open("?sanitize=true");
  }

  @Test
  void findsARegionThatTheProgramLost() {
    Device device = open("?sanitize=true");
    ProtectionDomain domain = device.allocateProtectionDomain();
    losesARegion(domain);
    await()
        .atMost(Duration.ofSeconds(20))
        .until(
            () -> {
              System.gc();
              return !collector().found().isEmpty();
            });
    assertThat(collector().found())
        .extracting(Finding::kind, finding -> finding.place().getMethodName())
        .containsExactly(tuple(NEVER_CLOSED, "losesARegion"));
    assertThat(domain.device()).isSameAs(device);
    // Discards the findings about device and domain, which the lost region keeps reachable.
    // Otherwise a later test would find them as garbage.
    List<Finding> unused = found();
  }

  private static void losesARegion(ProtectionDomain domain) {
    assertThat(domain.register(ByteBuffer.allocateDirect(8), Set.of()).lkey()).isNotZero();
  }

  @Test
  void throwsWhatItFindsWhereItIsAskedTo() {
    run(
        (client, server) -> {
          Device device = open("?sanitize=throw");
          ProtectionDomain domain = device.allocateProtectionDomain();
          CompletionQueue queue = device.createCompletionQueue(8, null);
          QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 1, 1));
          assertThatThrownBy(device::close)
              .isInstanceOfSatisfying(
                  FindingException.class,
                  e -> assertThat(e.finding().kind()).isEqualTo(NEVER_CLOSED));
          pair.close();
          queue.close();
          domain.close();
          device.close();
        });
  }

  @Test
  void throwsWhatItFindsWithTheRefusalOfThePost() {
    try (Device device = open("?sanitize=throw");
        ProtectionDomain domain = device.allocateProtectionDomain();
        CompletionQueue queue = device.createCompletionQueue(8, null);
        QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 1, 1))) {
      MemoryRegion closed = domain.register(ByteBuffer.allocateDirect(8), Set.of());
      closed.close();
      SendWorkRequest request =
          new SendWorkRequest().send().buffer(closed.address(), 8, closed.lkey());

      assertThatThrownBy(() -> pair.postSend(request))
          .isInstanceOfSatisfying(
              FindingException.class,
              e -> {
                assertThat(e.finding().kind()).isEqualTo(KEY_USED_AFTER_INVALIDATION);
                assertThat(e.getSuppressed()).hasSize(1).hasOnlyElementsOfType(PostException.class);
              });
    }
    List<Finding> unused = found();
  }

  @Test
  void watchesAnyDevice() {
    Device device = Sanitizer.sanitize(open(""));
    ProtectionDomain domain = device.allocateProtectionDomain();
    assertThatThrownBy(device::close).isInstanceOf(VerbsException.class);
    assertThat(collector().found()).extracting(Finding::kind).containsExactly(NEVER_CLOSED);
    domain.close();
    device.close();
  }

  @Test
  void watchesNothingWhereItIsNotAskedTo() {
    Device device = open("?sanitize=false");
    ProtectionDomain domain = device.allocateProtectionDomain();
    assertThatThrownBy(device::close).isInstanceOf(VerbsException.class);
    domain.close();
    device.close();
    assertThat(device.getClass().getSimpleName()).isEqualTo("EmulatedDevice");
    assertSilent();
  }

  @Test
  void takesNoOtherValue() {
    assertThatThrownBy(() -> open("?sanitize=maybe"))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("sanitize: maybe (expected: false, true or throw)");
  }

  @Test
  void reportsWhatWhereAndWhy() {
    run(
        (client, server) -> {
          client.queuePair.postSend(client.memory(8).send(41).signaled());
          server.queuePair.postReceive(server.memory(8, LOCAL_WRITE).receive(1));
          End.take(client.sends);
          End.take(server.receives);
        });
    Finding finding = found().get(0);
    assertThat(finding.kind()).isEqualTo(SEND_WITHOUT_RECEIVE);
    assertThat(finding.report().lines())
        .first()
        .asString()
        .startsWith("verbena sanitizer: SEND_WITHOUT_RECEIVE: SEND 41 on queue pair ");
    assertThat(finding.report()).contains("at " + ObjectProgramsTest.class.getName());
  }
}

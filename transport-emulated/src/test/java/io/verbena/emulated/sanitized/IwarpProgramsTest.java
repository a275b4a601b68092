// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitized;

import static io.verbena.emulated.sanitizer.Finding.Kind.ACCESS_NEVER_USED;
import static io.verbena.emulated.sanitizer.Finding.Kind.NEVER_CLOSED;
import static io.verbena.emulated.sanitizer.Finding.Kind.SEND_BUFFER_CHANGED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.groups.Tuple.tuple;

import io.verbena.emulated.Caller;
import io.verbena.emulated.IwarpProvider;
import io.verbena.emulated.Loopbacks;
import io.verbena.emulated.sanitizer.Finding;
import io.verbena.emulated.sanitizer.FindingException;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.Device;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the option {@code sanitize} of {@code iwarp://}. */
@Tag("once")
class IwarpProgramsTest extends ProgramTests {
  private static final String ANY = "iwarp://" + Loopbacks.ADDRESS + ":0";
  private static final int LENGTH = 64;

  /** A program that runs while two ends are connected. */
  @FunctionalInterface
  private interface Conversation {
    void run(Connected client, Connected server);
  }

  /** A queue pair with the caller that it belongs to. */
  private record Connected(Caller end, QueuePair pair) {
    void postSend() {
      pair.postSend(
          new SendWorkRequest()
              .send()
              .buffer(end.region.address(), LENGTH, end.region.lkey())
              .signaled());
    }

    void postReceive() {
      pair.postReceive(
          new ReceiveWorkRequest()
              .id(1)
              .buffer(end.region.address(), 2 * LENGTH, end.region.lkey()));
    }

    void change(int at) {
      end.bytes.put(at, (byte) (end.bytes.get(at) + 1));
    }

    void awaitSuccess() {
      assertThat(end.next().isSuccess()).isTrue();
    }
  }

  private static void run(String options, Conversation conversation) throws InterruptedException {
    URI address = URI.create(ANY + options);
    try (Caller client = new Caller(address);
        Caller server = new Caller(address);
        ConnectionListener listener = server.manager.listen(address, 1)) {
      ConnectionIdentifier active =
          client.manager.resolve(listener.address(), Caller.LIMIT.toNanos());
      client.expect(ConnectionEvent.Type.ADDR_RESOLVED);
      QueuePair ofClient = client.queuePair(active);
      active.connect(ConnectionParameters.defaults(), Caller.LIMIT.toNanos());
      ConnectionIdentifier passive =
          server.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
      QueuePair ofServer = server.queuePair(passive);
      passive.accept(ConnectionParameters.defaults());
      client.expect(ConnectionEvent.Type.ESTABLISHED);
      server.expect(ConnectionEvent.Type.ESTABLISHED);
      conversation.run(new Connected(client, ofClient), new Connected(server, ofServer));
    }
  }

  /**
   * Ignores findings about unused access rights, because callers register memory with all rights.
   */
  private List<Finding> foundInTheConversation() {
    return found().stream().filter(finding -> finding.kind() != ACCESS_NEVER_USED).toList();
  }

  private void assertFoundInTheConversation(Finding.Kind kind, String method) {
    assertThat(foundInTheConversation())
        .extracting(Finding::kind, finding -> finding.place().getMethodName())
        .containsExactly(tuple(kind, method));
  }

  @ParameterizedTest
  @ValueSource(strings = {"?sanitize=true", "?sanitize=true&crc=true"})
  void findsASendBufferThatIsChangedTooEarly(String options) throws Exception {
    run(options, IwarpProgramsTest::changesWhatItSends);

    assertFoundInTheConversation(SEND_BUFFER_CHANGED, "postSend");
  }

  private static void changesWhatItSends(Connected client, Connected server) {
    server.postReceive();
    client.postSend();
    client.change(LENGTH - 1);
    client.awaitSuccess();
    server.awaitSuccess();
  }

  @Test
  void isSilentWhereBuffersAreTouchedAfterTheirCompletion() throws Exception {
    run(
        "?sanitize=true",
        (client, server) -> {
          server.postReceive();
          client.postSend();
          client.awaitSuccess();
          server.awaitSuccess();
          client.change(0);
          server.change(0);
        });

    assertThat(foundInTheConversation()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "?sanitize=false"})
  void looksAtNothingUnlessItIsAskedTo(String options) throws Exception {
    run(options, IwarpProgramsTest::changesWhatItSends);

    assertSilent();
  }

  @Test
  void findsADeviceThatIsNotClosed() {
    URI address = URI.create(ANY + "?sanitize=true");
    Device unused = new IwarpProvider().open(address);

    assertFound(NEVER_CLOSED, "findsADeviceThatIsNotClosed");
    unused.close();
  }

  @Test
  void throwsWhereItIsToldTo() {
    Device device = new IwarpProvider().open(URI.create(ANY + "?sanitize=throw"));
    ProtectionDomain domain = device.allocateProtectionDomain();

    assertThatThrownBy(device::close)
        .isInstanceOfSatisfying(
            FindingException.class, e -> assertThat(e.finding().kind()).isEqualTo(NEVER_CLOSED));
    domain.close();
    device.close();
  }

  @Test
  void refusesWhatItDoesNotKnow() {
    URI address = URI.create(ANY + "?sanitize=maybe");

    assertThatThrownBy(() -> new IwarpProvider().open(address))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.INVALID))
        .hasMessageContaining("sanitize: maybe (expected: false, true or throw)");
  }
}

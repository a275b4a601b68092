// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.emulated.Caller;
import io.verbena.emulated.Loopbacks;
import io.verbena.emulated.RoceProvider;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Connections of {@code roce://...?key-file=PATH}: between ends with the key, and no others. */
@Tag("once")
class LockedConnectionTest {
  private static final int LENGTH = 100_000;
  private static final String PLAINTEXT = "this must not be read by anybody on the way. ";

  @TempDir Path folder;
  private String key = "";
  private String other = "";

  @BeforeEach
  void makeKeys() throws IOException {
    key = "key-file=" + file("a key");
    other = "key-file=" + file("another");
  }

  private Path file(String name) throws IOException {
    byte[] bytes = new byte[32];
    new SecureRandom().nextBytes(bytes);
    return Files.write(folder.resolve(name.replace(' ', '+')), bytes);
  }

  private static URI at(int number, String query) {
    String options = query.isEmpty() ? "" : "?" + query.replace("+", "%2B");
    return URI.create("roce://" + Loopbacks.address(number) + ":7000" + options);
  }

  private static ConnectionIdentifier ask(Caller active, URI to) throws Exception {
    ConnectionIdentifier from = active.manager.resolve(to, Caller.LIMIT.toNanos());
    active.expect(ConnectionEvent.Type.ADDR_RESOLVED);
    assertThat(active.queuePair(from).number()).isPositive();
    from.connect(ConnectionParameters.defaults(), Caller.LIMIT.toNanos());
    return from;
  }

  private static void await(Caller end) {
    assertThat(end.next().status()).isEqualTo(CompletionStatus.SUCCESS);
  }

  @Test
  void movesEverythingAndACaptureShowsNoneOfIt() throws Exception {
    Path capture = folder.resolve("capture.pcap");
    try (Caller passive = new Caller(at(50, key + "&pcap=" + capture));
        Caller active = new Caller(at(51, key));
        ConnectionListener listener = passive.manager.listen(at(50, key), 1)) {
      ConnectionIdentifier from = ask(active, listener.address());
      ConnectionIdentifier to = passive.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
      QueuePair receiving = passive.queuePair(to);
      receiving.postReceive(
          new ReceiveWorkRequest(1)
              .buffer(passive.region.address(), LENGTH, passive.region.lkey()));
      to.accept(ConnectionParameters.defaults());
      active.expect(ConnectionEvent.Type.ESTABLISHED);
      QueuePair sending = from.queuePair();
      assertThat(sending).isNotNull();
      byte[] text = PLAINTEXT.getBytes(StandardCharsets.US_ASCII);
      for (int i = 0; i < LENGTH; i++) {
        active.bytes.put(i, text[i % text.length]);
      }

      sending.postSend(of(active, new SendWorkRequest(1).send()));
      await(active);
      await(passive);
      assertThat(passive.bytes.slice(0, LENGTH)).isEqualTo(active.bytes.slice(0, LENGTH));

      long there = passive.region.address() + LENGTH;
      sending.postSend(of(active, new SendWorkRequest(1).write(there, passive.region.rkey())));
      await(active);
      assertThat(passive.bytes.slice(LENGTH, LENGTH)).isEqualTo(active.bytes.slice(0, LENGTH));

      for (int i = 0; i < LENGTH; i++) {
        active.bytes.put(i, (byte) 0);
      }
      sending.postSend(of(active, new SendWorkRequest(1).read(there, passive.region.rkey())));
      await(active);
      assertThat(passive.bytes.slice(LENGTH, LENGTH)).isEqualTo(active.bytes.slice(0, LENGTH));

      from.disconnect();
      passive.expect(ConnectionEvent.Type.ESTABLISHED);
      passive.expect(ConnectionEvent.Type.DISCONNECTED);
    }
    String seen = Files.readString(capture, StandardCharsets.ISO_8859_1);
    assertThat(seen.length()).isGreaterThan(3 * LENGTH);
    assertThat(seen).doesNotContain("must not be read");
  }

  private static SendWorkRequest of(Caller end, SendWorkRequest request) {
    return request.signaled().buffer(end.region.address(), LENGTH, end.region.lkey());
  }

  @Test
  void refusesAnotherKeyAndNoneAtEitherEnd() throws Exception {
    try (Caller passive = new Caller(at(52, ""));
        Caller active = new Caller(at(53, ""));
        ConnectionListener locked = passive.manager.listen(at(52, key), 4);
        ConnectionListener open = passive.manager.listen(atPort(7001), 4)) {
      assertThat(locked.address().getQuery()).isEqualTo(key);
      assertThat(open.address().getQuery()).isNull();
      for (URI to : new URI[] {at(52, other), at(52, ""), atPort(7001, key)}) {
        ask(active, to);
        ConnectionEvent event = active.expect(ConnectionEvent.Type.REJECTED);
        assertThat(event.status()).as("to %s", to).isEqualTo(ConnectionEvent.REJECT_KEY);
        assertThat(event.statusText())
            .isEqualTo("the keys differ, or one end has none (reason 32769)");
      }
      assertThat(passive.manager.await(0)).as("nothing for the program").isNull();
    }
  }

  private static URI atPort(int port) {
    return URI.create("roce://" + Loopbacks.address(52) + ":" + port);
  }

  private static URI atPort(int port, String query) {
    return URI.create(atPort(port) + "?" + query.replace("+", "%2B"));
  }

  @Test
  void whatAcceptsOrRefusesSaysLittleLess() throws Exception {
    ByteBuffer most = ByteBuffer.allocate(160);
    most.put(159, (byte) 7);
    ByteBuffer refusal = ByteBuffer.allocate(132);
    refusal.put(131, (byte) 9);
    try (Caller passive = new Caller(at(54, key));
        Caller active = new Caller(at(55, key));
        ConnectionListener listener = passive.manager.listen(at(54, key), 4)) {
      ask(active, listener.address());
      ConnectionIdentifier to = passive.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
      assertThat(passive.queuePair(to).number()).isPositive();
      assertThatThrownBy(() -> to.accept(with(ByteBuffer.allocate(161))))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("160");
      to.accept(with(most));
      assertThat(active.expect(ConnectionEvent.Type.ESTABLISHED).privateData()).isEqualTo(most);
      passive.expect(ConnectionEvent.Type.ESTABLISHED);

      ask(active, listener.address());
      ConnectionIdentifier refused =
          passive.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
      assertThatThrownBy(() -> refused.reject(ByteBuffer.allocate(133)))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("132");
      refused.reject(refusal);
      ConnectionEvent event = active.expect(ConnectionEvent.Type.REJECTED);
      assertThat(event.status()).isEqualTo(ConnectionEvent.REJECT_CONSUMER_DEFINED);
      assertThat(event.privateData()).isEqualTo(refusal);
      refused.close();
    }
  }

  private static ConnectionParameters with(ByteBuffer data) {
    return new ConnectionParameters(data, 1, 1, 7, 7);
  }

  @Test
  void datagramsHaveNoLock() {
    try (Caller end = new Caller(at(56, key))) {
      assertThatThrownBy(() -> end.manager.listen(PortSpace.UDP, at(56, key), 1))
          .isInstanceOfSatisfying(VerbsException.class, LockedConnectionTest::isNotSupported);
      assertThatThrownBy(
              () -> end.manager.resolve(PortSpace.UDP, at(56, key), Caller.LIMIT.toNanos()))
          .isInstanceOfSatisfying(VerbsException.class, LockedConnectionTest::isNotSupported);
    }
  }

  private static void isNotSupported(VerbsException e) {
    assertThat(e.error()).isEqualTo(VerbsError.NOT_SUPPORTED);
  }

  @Test
  void aMissingKeyIsToldWhereTheDeviceIsOpened() {
    URI address = at(57, "key-file=" + folder.resolve("none"));

    assertThatThrownBy(() -> new RoceProvider().open(address))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.INVALID))
        .hasMessageContaining("none");
  }
}

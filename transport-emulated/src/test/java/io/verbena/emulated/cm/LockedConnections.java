// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.emulated.Caller;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProviders;
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

/** Connections with {@code ?key-file=PATH} succeed only between ends with the same key. */
@Tag("once")
public abstract class LockedConnections {
  private static final int LENGTH = 100_000;
  private static final String PLAINTEXT = "this must not be read by anybody on the way. ";

  @TempDir protected Path folder;
  private String key = "";
  private String other = "";

  /**
   * Returns the address of an HCA that listens at any port.
   *
   * @param number a different number for each end
   */
  protected abstract URI at(int number);

  /** Returns the maximum length of private data in an accepting reply. */
  protected abstract int mostToAccept();

  /** Returns the maximum length of private data in a rejecting reply. */
  protected abstract int mostToReject();

  /** Returns the address option with the key that both ends have. */
  protected final String key() {
    return key;
  }

  /** Returns the address with these options instead of its own. */
  protected static URI with(URI address, String options) {
    String text = address.getScheme() + "://" + address.getAuthority();
    return URI.create(options.isEmpty() ? text : text + "?" + options.replace("+", "%2B"));
  }

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
    try (Caller passive = new Caller(with(at(50), key + "&pcap=" + capture));
        Caller active = new Caller(with(at(51), key));
        ConnectionListener listener = passive.manager.listen(with(at(50), key), 1)) {
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

      for (int i = 0; i < LENGTH; i++) {
        active.bytes.put(i, (byte) 0);
      }
      sending.postSend(of(active, new SendWorkRequest(1).read(there, passive.region.rkey())));
      await(active);
      assertThat(active.bytes.slice(0, LENGTH)).isEqualTo(passive.bytes.slice(0, LENGTH));
      assertThat(passive.bytes.slice(LENGTH, LENGTH)).isEqualTo(passive.bytes.slice(0, LENGTH));

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
    try (Caller passive = new Caller(at(52));
        Caller active = new Caller(at(53));
        ConnectionListener locked = passive.manager.listen(with(at(52), key), 4);
        ConnectionListener open = passive.manager.listen(at(52), 4)) {
      assertThat(locked.address().getQuery()).isEqualTo(key);
      assertThat(open.address().getQuery()).isNull();
      URI[] refusing = {
        with(locked.address(), other), with(locked.address(), ""), with(open.address(), key)
      };
      for (URI to : refusing) {
        ask(active, to);
        ConnectionEvent event = active.expect(ConnectionEvent.Type.REJECTED);
        assertThat(event.status()).as("to %s", to).isEqualTo(ConnectionEvent.REJECT_KEY);
        assertThat(event.statusText())
            .isEqualTo("the keys differ, or one end has none (reason 32769)");
      }
      assertThat(passive.manager.await(0)).as("nothing for the program").isNull();
    }
  }

  @Test
  void whatAcceptsOrRefusesSaysLittleLess() throws Exception {
    ByteBuffer most = ByteBuffer.allocate(mostToAccept());
    most.put(mostToAccept() - 1, (byte) 7);
    ByteBuffer refusal = ByteBuffer.allocate(mostToReject());
    refusal.put(mostToReject() - 1, (byte) 9);
    try (Caller passive = new Caller(with(at(54), key));
        Caller active = new Caller(with(at(55), key));
        ConnectionListener listener = passive.manager.listen(with(at(54), key), 4)) {
      ask(active, listener.address());
      ConnectionIdentifier to = passive.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
      assertThat(passive.queuePair(to).number()).isPositive();
      assertThatThrownBy(() -> to.accept(parameters(ByteBuffer.allocate(mostToAccept() + 1))))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining(Integer.toString(mostToAccept()));
      to.accept(parameters(most));
      assertThat(active.expect(ConnectionEvent.Type.ESTABLISHED).privateData()).isEqualTo(most);
      passive.expect(ConnectionEvent.Type.ESTABLISHED);

      ask(active, listener.address());
      ConnectionIdentifier refused =
          passive.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
      assertThatThrownBy(() -> refused.reject(ByteBuffer.allocate(mostToReject() + 1)))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining(Integer.toString(mostToReject()));
      refused.reject(refusal);
      ConnectionEvent event = active.expect(ConnectionEvent.Type.REJECTED);
      assertThat(event.status()).isEqualTo(ConnectionEvent.REJECT_CONSUMER_DEFINED);
      assertThat(event.privateData()).isEqualTo(refusal);
      refused.close();
    }
  }

  private static ConnectionParameters parameters(ByteBuffer data) {
    return new ConnectionParameters(data, 1, 1, 7, 7);
  }

  @Test
  void aMissingKeyIsToldWhereTheDeviceIsOpened() {
    URI address = with(at(57), "key-file=" + folder.resolve("none"));

    assertThatThrownBy(() -> VerbsProviders.find(address).open(address))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.INVALID))
        .hasMessageContaining("none");
  }
}

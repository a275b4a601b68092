// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.iwarp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.verbena.emulated.Caller;
import io.verbena.emulated.ForeignClient;
import io.verbena.emulated.ForeignFpdus;
import io.verbena.emulated.Loopbacks;
import io.verbena.emulated.crypto.CipherWorkspace;
import io.verbena.emulated.crypto.RecordCipher;
import io.verbena.emulated.crypto.SharedSecret;
import io.verbena.emulated.hca.Secrets;
import io.verbena.emulated.iwarp.frame.MpaFrame;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairState;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Attacks on a locked connection by a man in the middle and by a handwritten peer. */
@Tag("once")
class LockedForeignPeerTest {
  private static final int REPLY_BYTES = 24 + 36;
  private static final byte UNTOUCHED = 0x55;

  private final byte[] secret = new byte[SharedSecret.LEAST];
  private final CipherWorkspace work = CipherWorkspace.ofRecords();
  private final MpaKeyHandshake lock =
      MpaKeyHandshake.active(SharedSecret.of(secret), request(), Secrets.STRONG);
  private ForeignClient client;
  private QueuePair passive;

  @BeforeEach
  void listen(@TempDir Path folder) throws Exception {
    Path file = Files.write(folder.resolve("key"), secret);
    URI address = URI.create("iwarp://" + Loopbacks.ADDRESS + ":0?key-file=" + file);
    client = new ForeignClient(address);
    client.caller.bytes.put(0, UNTOUCHED);
    passive = client.accepted(hex(lock.request().bytes()));
    ByteBuffer reply = ByteBuffer.wrap(HexFormat.of().parseHex(client.read(REPLY_BYTES)));
    assertThat(lock.admits(MpaFrame.parse(MpaFrame.Kind.REPLY, reply))).isTrue();
  }

  @AfterEach
  void close() throws IOException {
    client.close();
  }

  private static MpaFrame request() {
    return new MpaFrame(
        MpaFrame.Kind.REQUEST,
        MpaFrame.ENHANCED_REVISION,
        /* markers= */ false,
        /* crc= */ false,
        /* rejects= */ false,
        MpaFrame.Depths.of(4, 4).readyByWrite(),
        ByteBuffer.allocate(0));
  }

  private static String hex(ByteBuffer of) {
    byte[] bytes = new byte[of.capacity()];
    of.get(0, bytes);
    return HexFormat.of().formatHex(bytes);
  }

  private String write() {
    return ForeignFpdus.write(client.caller.region.rkey(), client.caller.region.address());
  }

  private String sealed(String fpdus) {
    byte[] bytes = HexFormat.of().parseHex(fpdus);
    ByteBuffer record = ByteBuffer.allocate(bytes.length + RecordCipher.OVERHEAD);
    System.arraycopy(bytes, 0, work.in(), 0, bytes.length);
    lock.records().seal(work, bytes.length, record);
    return hex(record);
  }

  private void assertEnded(int written) {
    await().atMost(Caller.LIMIT).until(() -> passive.state() == QueuePairState.ERR);
    assertThat(client.isClosed()).isTrue();
    assertThat(client.caller.bytes.get(0)).isEqualTo((byte) written);
  }

  @Test
  void aSealedWriteIsDone() throws Exception {
    client.write(sealed(write()));

    client.caller.expect(ConnectionEvent.Type.ESTABLISHED);
    assertThat(client.caller.bytes.get(0)).isZero();
  }

  @Test
  void aWriteThatIsNotSealedIsNotDone() throws Exception {
    client.write(write());

    assertEnded(UNTOUCHED);
    client.caller.expect(ConnectionEvent.Type.CONNECT_ERROR);
  }

  @Test
  void aWriteThatIsNotSealedBehindOneThatIsEndsTheConnection() throws Exception {
    client.write(sealed(ForeignFpdus.send()));
    client.caller.expect(ConnectionEvent.Type.ESTABLISHED);

    client.write(write());

    assertEnded(UNTOUCHED);
  }

  @Test
  void aWriteThatIsPlayedAgainIsNotDone() throws Exception {
    String record = sealed(write());
    client.write(record);
    client.caller.expect(ConnectionEvent.Type.ESTABLISHED);
    client.caller.bytes.put(0, UNTOUCHED);

    client.write(record);

    assertEnded(UNTOUCHED);
  }

  /** A recorded request proves that somebody had the key, but not that this client has it. */
  @Test
  void aRecordedRequestPlayedAgainIsNotEstablished() throws Exception {
    String record = sealed(write());
    try (ForeignClient replays = new ForeignClient(locked())) {
      replays.caller.bytes.put(0, UNTOUCHED);
      QueuePair pair = replays.accepted(hex(lock.request().bytes()));
      assertThat(replays.read(REPLY_BYTES)).hasSize(2 * REPLY_BYTES);

      replays.write(record);

      await().atMost(Caller.LIMIT).until(() -> pair.state() == QueuePairState.ERR);
      replays.caller.expect(ConnectionEvent.Type.CONNECT_ERROR);
      assertThat(replays.caller.bytes.get(0)).isEqualTo(UNTOUCHED);
    }
  }

  private URI locked() {
    return URI.create("iwarp://" + Loopbacks.ADDRESS + ":0?" + client.address().getRawQuery());
  }
}

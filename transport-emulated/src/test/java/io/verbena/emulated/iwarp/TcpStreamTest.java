// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import static org.awaitility.Awaitility.await;

import io.verbena.emulated.Caller;
import io.verbena.emulated.Loopbacks;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.iwarp.frame.MpaFrame;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.PortSpace;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How connections of TCP end. */
@Tag("once")
class TcpStreamTest {
  private static final URI ANY = URI.create("iwarp://" + Loopbacks.ADDRESS + ":0");
  private static final ByteBuffer NO_DATA = ByteBuffer.allocate(0).asReadOnlyBuffer();

  /** Nobody polls, and no byte comes: only an alarm that the driver knows of wakes it. */
  @Test
  void isClosedInTimeThoughThePeerThatWasRejectedDoesNotClose() throws Exception {
    try (Caller caller = new Caller(ANY);
        ConnectionListener listener = caller.manager.listen(PortSpace.TCP, ANY, 1);
        Socket peer = new Socket(listener.address().getHost(), listener.address().getPort())) {
      TcpSockets sockets = ((IwarpFabric) ((EmulatedDevice) caller.device).fabric()).sockets();
      peer.getOutputStream().write(request());
      try (ConnectionIdentifier passive =
          caller.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier()) {
        await().atMost(Caller.LIMIT).until(TcpStreamTest::driverSleeps);

        passive.reject(NO_DATA);

        await().atMost(Caller.LIMIT).until(() -> !sockets.hasStreams());
      }
    }
  }

  private static byte[] request() {
    return new MpaFrame(
            MpaFrame.Kind.REQUEST,
            MpaFrame.ENHANCED_REVISION,
            /* markers= */ false,
            /* crc= */ false,
            /* rejects= */ false,
            MpaFrame.Depths.of(4, 4),
            NO_DATA)
        .bytes()
        .array();
  }

  private static boolean driverSleeps() {
    return Thread.getAllStackTraces().values().stream()
        .flatMap(Arrays::stream)
        .anyMatch(
            frame ->
                frame.getClassName().equals(SocketSelector.class.getName())
                    && frame.getMethodName().equals("await"));
  }
}

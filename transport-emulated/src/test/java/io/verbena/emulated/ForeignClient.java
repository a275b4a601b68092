// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;

/** A peer that has connected by TCP and speaks by hand, with the one that it has connected to. */
public final class ForeignClient implements ForeignEnd, AutoCloseable {
  /** The length of the receive that awaits its first message, and where in the region that is. */
  public static final int RECEIVE_BYTES = 64;

  public final Caller caller = new Caller(ForeignPeer.ANY);
  private final ConnectionListener listener;
  private final Socket socket;

  /**
   * Has a caller listen, and connects.
   *
   * @param address where to listen
   */
  public ForeignClient(URI address) throws IOException {
    listener = caller.manager.listen(PortSpace.TCP, address, 1);
    socket = ForeignPeer.connect(listener);
  }

  public ForeignClient() throws IOException {
    this(ForeignPeer.ANY);
  }

  /** The address that the caller listens on. */
  public URI address() {
    return listener.address();
  }

  /** Asks, and is accepted; the reply is still to be read. */
  public QueuePair accepted(String request) throws Exception {
    write(request);
    return accept(caller.expect(ConnectionEvent.Type.CONNECT_REQUEST), ByteBuffer.allocate(0));
  }

  /** Has the caller accept it, with a receive posted and data in the reply. */
  public QueuePair accept(ConnectionEvent request, ByteBuffer data) {
    return accept(request, new ConnectionParameters(data, 4, 4, 7, 7));
  }

  /** Has the caller accept it, with a receive posted. */
  public QueuePair accept(ConnectionEvent request, ConnectionParameters parameters) {
    ConnectionIdentifier passive = request.identifier();
    QueuePair pair = caller.queuePair(passive);
    pair.postReceive(
        new ReceiveWorkRequest(1)
            .id(1)
            .buffer(caller.region.address() + RECEIVE_BYTES, RECEIVE_BYTES, caller.region.lkey()));
    passive.accept(parameters);
    return pair;
  }

  /** Asks without an empty message to follow, is accepted, and has read the reply. */
  public QueuePair established(String request) throws Exception {
    QueuePair pair = accepted(request);
    assertThat(read(24)).startsWith(ForeignPeer.REPLY);
    caller.expect(ConnectionEvent.Type.ESTABLISHED);
    return pair;
  }

  @Override
  public Socket socket() {
    return socket;
  }

  @Override
  public void close() throws IOException {
    socket.close();
    listener.close();
    caller.close();
  }
}

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

/** A peer that connects to a {@link Caller} by TCP and sends the bytes that the test writes. */
public final class ForeignClient implements ForeignEnd, AutoCloseable {
  /** Length of the receive posted for the peer's first message, and its offset in the region. */
  public static final int RECEIVE_BYTES = 64;

  public final Caller caller = new Caller(ForeignPeer.ANY);
  private final ConnectionListener listener;
  private final Socket socket;

  /**
   * Makes a caller listen and connects to it by TCP.
   *
   * @param address the address to listen at
   */
  public ForeignClient(URI address) throws IOException {
    listener = caller.manager.listen(PortSpace.TCP, address, 1);
    socket = ForeignPeer.connect(listener);
  }

  public ForeignClient() throws IOException {
    this(ForeignPeer.ANY);
  }

  /** Returns the address that the caller listens at. */
  public URI address() {
    return listener.address();
  }

  /** Sends a request, which the caller accepts; the reply is still unread. */
  public QueuePair accepted(String request) throws Exception {
    write(request);
    return accept(caller.expect(ConnectionEvent.Type.CONNECT_REQUEST), ByteBuffer.allocate(0));
  }

  /** Accepts on the caller's side, with a receive posted and private data in the reply. */
  public QueuePair accept(ConnectionEvent request, ByteBuffer data) {
    return accept(request, new ConnectionParameters(data, 4, 4, 7, 7));
  }

  /** Accepts on the caller's side, with a receive posted. */
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

  /** Sends a request that announces no empty message, is accepted, and reads the reply. */
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

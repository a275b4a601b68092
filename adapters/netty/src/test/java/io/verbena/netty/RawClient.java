// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.verbena.core.memory.Location;
import io.verbena.core.testing.Addresses;
import io.verbena.netty.wire.Handshake;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/** A client that uses only verbs, and so can send anything. */
final class RawClient implements AutoCloseable {
  private static final int SENDS = 64;
  static final int RECEIVES = 32;
  private static final int LENGTH = 8 << 10;

  /** The offset of the trailers, after the memory of the receives and of all messages. */
  private static final int TRAILER = (RECEIVES + 1) * LENGTH;

  /** One more than the number of posted requests. */
  private static final int TRAILERS = SENDS + 1;

  private final SharedHca hca;
  private final ConnectionManager manager;
  private final CompletionQueue completions;
  private final ByteBuf memory;
  private final Location location = new Location();
  private final WorkCompletion[] completion = WorkCompletion.array(1);
  private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
  private final ArrayDeque<Integer> received = new ArrayDeque<>();

  /** Whether the control word is in the last bytes of a message. */
  private final boolean trails;

  private int sending;
  private int sent;
  private @Nullable ConnectionIdentifier identifier;
  private @Nullable QueuePair pair;

  RawClient() {
    this(Addresses.of("netty"));
  }

  private RawClient(URI address) {
    hca = SharedHca.open(address, Ends.options().build());
    manager = hca.device().createConnectionManager();
    completions = hca.device().createCompletionQueue(256, null);
    memory =
        hca.memory()
            .allocator()
            .directBuffer(TRAILER + TRAILERS * ControlTrailers.LENGTH)
            .setZero(0, TRAILER);
    trails = !hca.device().attributes().supports(Capability.SEND_WITH_IMMEDIATE);
  }

  /** Returns a client that is connected correctly and sends nothing. */
  static RawClient to(Channel server) throws InterruptedException {
    return to(server, Addresses.of("netty"));
  }

  /** Returns such a client on the HCA at an address. */
  static RawClient to(Channel server, URI address) throws InterruptedException {
    return to(server, address, 0);
  }

  /** Returns such a client that claims to have bound a port. */
  static RawClient to(Channel server, int port) throws InterruptedException {
    return to(server, Addresses.of("netty"), port);
  }

  private static RawClient to(Channel server, URI address, int port) throws InterruptedException {
    RawClient client = new RawClient(address);
    client.connect(
        (InetSocketAddress) server.localAddress(),
        new Handshake(port, client.trails, 4096, 16).encode());
    return client;
  }

  /** Ends as a killed process does: without notifying the peer. */
  void vanish() {
    QueuePair gone = pair;
    if (gone != null) {
      pair = null;
      gone.close();
    }
  }

  /** Returns private data that a server accepts. */
  ByteBuffer handshake(int piece, int receives) {
    return new Handshake(1, trails, piece, receives).encode();
  }

  /** Connects with this private data, and returns the resulting event. */
  ConnectionEvent connect(InetSocketAddress server, ByteBuffer data) throws InterruptedException {
    ConnectionIdentifier to = manager.resolve(hca.uri(server), Ends.LIMIT.toNanos());
    identifier = to;
    next();
    QueuePair made =
        to.createQueuePair(
            hca.domain(),
            QueuePairOptions.reliable(completions, completions, SENDS, RECEIVES)
                .withScatterGather(2, 1));
    pair = made;
    hca.memory().locate(memory, 0, memory.capacity(), location);
    for (int i = 0; i < RECEIVES; i++) {
      postReceive(i);
    }
    to.connect(ConnectionParameters.of(data), Ends.LIMIT.toNanos());
    return next();
  }

  private void postReceive(long id) {
    QueuePair to = pair;
    if (to != null) {
      to.postReceive(
          receive.id(id).buffer(location.address() + id * LENGTH, LENGTH, location.lkey()));
    }
  }

  /** Returns whether the server ended the connection within the limit. */
  boolean isDisconnected() throws InterruptedException {
    return next().type() == ConnectionEvent.Type.DISCONNECTED;
  }

  private ConnectionEvent next() throws InterruptedException {
    ConnectionEvent event = manager.await(Ends.LIMIT.toNanos());
    if (event == null) {
      throw new AssertionError("no connection event within " + Ends.LIMIT);
    }
    return event;
  }

  /** Sends {@code length} bytes with this control word. */
  void send(int length, int control) {
    SendWorkRequest request = new SendWorkRequest(2);
    addBytes(trails ? request.send() : request.sendWithImmediate(control), length);
    if (trails) {
      int at = TRAILER + sent % TRAILERS * ControlTrailers.LENGTH;
      memory.setInt(at, control);
      request.buffers().add(location.address() + at, ControlTrailers.LENGTH, location.lkey());
    }
    post(request);
  }

  /** Sends fewer bytes than a control word has, and no immediate data. */
  void sendWithoutSignal() {
    SendWorkRequest request = new SendWorkRequest().send();
    addBytes(request, ControlTrailers.LENGTH - 1);
    post(request);
  }

  private void addBytes(SendWorkRequest to, int length) {
    to.buffer(location.address() + RECEIVES * LENGTH, length, location.lkey());
  }

  /** Waits for a message, and returns its control word. */
  int receive() {
    while (received.isEmpty()) {
      takeCompletion();
    }
    return received.remove();
  }

  private void takeCompletion() {
    long from = System.nanoTime();
    while (completions.poll(completion) == 0) {
      if (System.nanoTime() - from > Ends.LIMIT.toNanos()) {
        throw new AssertionError("no completion within " + Ends.LIMIT);
      }
      Thread.onSpinWait();
    }
    if (!completion[0].isSuccess()) {
      throw new AssertionError(completion[0].toString());
    }
    if (completion[0].opcode().isReceive()) {
      long id = completion[0].workRequestId();
      int end = (int) id * LENGTH + completion[0].byteLength();
      received.add(
          trails ? memory.getInt(end - ControlTrailers.LENGTH) : completion[0].immediate());
      postReceive(id);
    } else {
      sending--;
    }
  }

  private void post(SendWorkRequest request) {
    QueuePair to = pair;
    if (to == null) {
      throw new IllegalStateException("not connected");
    }
    // A slot is free once its completion is polled, which may follow those of many receives.
    while (sending == SENDS) {
      takeCompletion();
    }
    sending++;
    sent++;
    to.postSend(request.signaled());
  }

  @Override
  public void close() {
    QueuePair made = pair;
    if (made != null) {
      made.close();
    }
    ConnectionIdentifier begun = identifier;
    if (begun != null) {
      begun.close();
    }
    manager.close();
    completions.close();
    memory.release();
    hca.release();
  }
}

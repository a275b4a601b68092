// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.testing;

import io.verbena.core.testing.Addresses;
import io.verbena.reactor.wire.Handshake;
import io.verbena.verbs.Access;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.Device;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsProviders;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A peer that uses only verbs, and so can send anything. */
public final class RawPeer implements AutoCloseable {
  private static final AtomicLong NAMES = new AtomicLong();
  private static final int RECEIVES = 64;
  private static final int RECEIVE_LENGTH = 16_384;

  /** Between two polls; the other end needs the CPU, too. */
  private static final long PAUSE_NANOS = 1000;

  private final URI address;
  private final Device device;
  private final ProtectionDomain domain;
  private final CompletionQueue completions;
  private final ConnectionManager manager;
  private final MemoryRegion region;
  private final ByteBuffer memory;
  private final WorkCompletion[] completion = WorkCompletion.array(1);
  private @Nullable ConnectionListener listener;
  private @Nullable ConnectionIdentifier identifier;
  private @Nullable QueuePair pair;

  private RawPeer(URI address) {
    this.address = address;
    device = VerbsProviders.find(address).open(address);
    domain = device.allocateProtectionDomain();
    completions = device.createCompletionQueue(1024, null);
    manager = device.createConnectionManager();
    memory = ByteBuffer.allocateDirect((RECEIVES + 1) * RECEIVE_LENGTH);
    EnumSet<Access> rights =
        EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE);
    if (device.attributes().supports(Capability.ATOMICS)) {
      rights.add(Access.REMOTE_ATOMIC);
    }
    region = domain.register(memory, rights);
  }

  /** Returns a peer that listens at an address of its own. */
  public static RawPeer listening() {
    RawPeer peer = new RawPeer(Addresses.of("raw-" + NAMES.incrementAndGet()));
    peer.listener = peer.manager.listen(peer.address, 16);
    return peer;
  }

  /** Returns a peer that may connect to {@code address}. */
  public static RawPeer to(URI address) {
    return new RawPeer(Addresses.reach(address));
  }

  /** Returns a handshake as a transport sends it. */
  public static Handshake handshake() {
    return new Handshake(Handshake.VERSION, RECEIVES, 8192, RECEIVES, 256, 1 << 30);
  }

  /** Returns the address under which a client reaches this peer. */
  public URI address() {
    return Addresses.reach(address);
  }

  /** Returns the registered memory of this peer; {@link #send} uses the first 16 KiB. */
  public MemoryRegion region() {
    return region;
  }

  /** Accepts the next request, with this private data. */
  public void accept(ByteBuffer data) throws InterruptedException {
    ConnectionEvent request = await(ConnectionEvent.Type.CONNECT_REQUEST);
    prepare(request.identifier());
    request.identifier().accept(ConnectionParameters.of(data));
    await(ConnectionEvent.Type.ESTABLISHED);
  }

  /** Takes the next request and never answers. */
  public void ignore() throws InterruptedException {
    identifier = await(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
  }

  /** Rejects the next request, with this private data. */
  public void reject(ByteBuffer data) throws InterruptedException {
    ConnectionEvent request = await(ConnectionEvent.Type.CONNECT_REQUEST);
    request.identifier().reject(data);
    request.identifier().close();
  }

  /** Connects with this private data, and returns the resulting event. */
  public ConnectionEvent connect(ByteBuffer data) throws InterruptedException {
    ConnectionIdentifier resolved = manager.resolve(address, Ends.LIMIT.toNanos());
    await(ConnectionEvent.Type.ADDR_RESOLVED);
    prepare(resolved);
    resolved.connect(ConnectionParameters.of(data), Ends.LIMIT.toNanos());
    return await(null);
  }

  /** Sends a connect request with this private data, and disappears before the answer. */
  public void connectAndVanish(ByteBuffer data) throws InterruptedException {
    ConnectionIdentifier resolved = manager.resolve(address, Ends.LIMIT.toNanos());
    await(ConnectionEvent.Type.ADDR_RESOLVED);
    prepare(resolved);
    resolved.connect(ConnectionParameters.of(data), Ends.LIMIT.toNanos());
    close();
  }

  private void prepare(ConnectionIdentifier of) {
    identifier = of;
    pair =
        of.createQueuePair(
            domain, QueuePairOptions.reliable(completions, completions, 64, RECEIVES));
    ReceiveWorkRequest receive = new ReceiveWorkRequest();
    for (int i = 1; i <= RECEIVES; i++) {
      pair.postReceive(
          receive
              .id(-i)
              .buffer(region.address() + (long) i * RECEIVE_LENGTH, RECEIVE_LENGTH, region.lkey()));
    }
  }

  private ConnectionEvent await(ConnectionEvent.@Nullable Type type) throws InterruptedException {
    long deadline = System.nanoTime() + Ends.LIMIT.toNanos();
    while (System.nanoTime() < deadline) {
      ConnectionEvent event = manager.await(deadline - System.nanoTime());
      if (event != null && (type == null || event.type() == type)) {
        return event;
      }
    }
    throw new AssertionError("no event within " + Ends.LIMIT);
  }

  /** Sends these bytes as one SEND. */
  public void send(ByteBuffer bytes) {
    int length = bytes.remaining();
    memory.duplicate().put(bytes);
    QueuePair by = pair;
    if (by == null) {
      throw new IllegalStateException("not connected");
    }
    by.postSend(
        new SendWorkRequest()
            .id(1)
            .send()
            .signaled()
            .buffer(region.address(), length, region.lkey()));
  }

  /** Writes 8 bytes to this address with this key, and returns the status. */
  public CompletionStatus write(long remoteAddress, int key) {
    QueuePair by = pair;
    if (by == null) {
      throw new IllegalStateException("not connected");
    }
    by.postSend(
        new SendWorkRequest()
            .id(1)
            .write(remoteAddress, key)
            .signaled()
            .buffer(region.address(), Long.BYTES, region.lkey()));
    return awaitEnd();
  }

  /** Waits until the next of its requests has completed, and returns the status. */
  public CompletionStatus awaitEnd() {
    long deadline = System.nanoTime() + Ends.LIMIT.toNanos();
    while (System.nanoTime() < deadline) {
      if (completions.poll(completion) == 1 && completion[0].workRequestId() == 1) {
        return completion[0].status();
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    throw new AssertionError("not completed within " + Ends.LIMIT);
  }

  /** Waits for the next SEND and returns its bytes, up to {@code length}. */
  public ByteBuffer received(int length) {
    long deadline = System.nanoTime() + Ends.LIMIT.toNanos();
    while (System.nanoTime() < deadline) {
      ByteBuffer bytes = receivedNow();
      if (bytes != null) {
        return bytes.limit(length);
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    throw new AssertionError("nothing came within " + Ends.LIMIT);
  }

  /** Returns the bytes of the next SEND if it has come, else null. */
  public @Nullable ByteBuffer receivedNow() {
    if (completions.poll(completion) == 0 || completion[0].workRequestId() >= 0) {
      return null;
    }
    int at = (int) -completion[0].workRequestId() * RECEIVE_LENGTH;
    return memory.duplicate().position(at).limit(at + completion[0].byteLength()).slice();
  }

  /** Waits until the other end has disconnected. */
  public void awaitDisconnected() throws InterruptedException {
    await(ConnectionEvent.Type.DISCONNECTED);
  }

  /** Disconnects without an end mark. */
  public void disconnect() {
    ConnectionIdentifier by = identifier;
    if (by != null) {
      by.disconnect();
    }
  }

  /** Stops answering without notifying the peer. */
  public void vanish() {
    QueuePair gone = pair;
    if (gone != null) {
      pair = null;
      gone.close();
    }
  }

  @Override
  public void close() {
    vanish();
    if (identifier != null) {
      identifier.close();
    }
    if (listener != null) {
      listener.close();
    }
    manager.close();
    completions.close();
    region.close();
    domain.close();
    device.close();
  }
}

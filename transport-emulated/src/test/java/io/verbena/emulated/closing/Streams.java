// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.closing;

import io.verbena.emulated.Caller;
import io.verbena.emulated.Loopbacks;
import io.verbena.emulated.iwarp.IwarpFabric;
import io.verbena.emulated.iwarp.IwarpQueuePair;
import io.verbena.emulated.iwarp.StreamUser;
import io.verbena.emulated.iwarp.TcpSockets;
import io.verbena.emulated.iwarp.TcpStream;
import io.verbena.emulated.iwarp.frame.MpaFrame;
import io.verbena.emulated.iwarp.stream.StreamTerms;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Connects queue pairs of one iWARP HCA, as its connection manager does. */
final class Streams {
  private Streams() {}

  /**
   * Connects queue pairs in INIT, with atomics and immediate data.
   *
   * @param reads READs and atomics that each end serves at once
   */
  static void connect(
      IwarpFabric fabric, IwarpQueuePair active, IwarpQueuePair passive, int reads) {
    End near = new End();
    End far = new End();
    QueuePairAttributes granted =
        new QueuePairAttributes().maxDestinationReadAtomic(reads).maxReadAtomic(reads);
    InetSocketAddress any = new InetSocketAddress(Loopbacks.ADDRESS, 0);
    try (TcpSockets.Port port = fabric.sockets().listen(any, far)) {
      TcpStream there = begin(fabric, port.address(), frame(MpaFrame.Kind.REQUEST, reads), near);
      TcpStream here = result(far.requested);
      passive.connect(here, terms(reads, StreamTerms.Role.PASSIVE), QueuePairState.RTR, granted);
      fabric.entered(() -> here.answer(frame(MpaFrame.Kind.REPLY, reads)));
      MpaFrame unused = result(near.accepted);
      active.connect(
          there, terms(reads, StreamTerms.Role.ACTIVE_WRITES_FIRST), QueuePairState.RTS, granted);
      boolean unusedToo = result(far.established);
      passive.ready();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static TcpStream begin(
      IwarpFabric fabric, InetSocketAddress to, MpaFrame request, StreamUser user)
      throws IOException {
    fabric.enter();
    try {
      return fabric.sockets().connect(null, to, request, Caller.LIMIT.toNanos(), user);
    } finally {
      fabric.leave();
    }
  }

  private static MpaFrame frame(MpaFrame.Kind kind, int reads) {
    return new MpaFrame(
        kind,
        MpaFrame.ENHANCED_REVISION,
        /* markers= */ false,
        /* crc= */ false,
        /* rejects= */ false,
        /* extensions= */ true,
        MpaFrame.Depths.of(reads, reads).readyByWrite(),
        ByteBuffer.allocate(0));
  }

  private static StreamTerms terms(int reads, StreamTerms.Role role) {
    return new StreamTerms(/* crc= */ false, /* extensions= */ true, reads, reads, role);
  }

  private static <T> T result(CompletableFuture<T> future) {
    return future.orTimeout(Caller.LIMIT.toSeconds(), TimeUnit.SECONDS).join();
  }

  /** Records the events of one end during the handshake. */
  private static final class End implements StreamUser, TcpStream.Asked {
    private final CompletableFuture<TcpStream> requested = new CompletableFuture<>();
    private final CompletableFuture<MpaFrame> accepted = new CompletableFuture<>();
    private final CompletableFuture<Boolean> established = new CompletableFuture<>();

    @Override
    public void requested(TcpStream stream, MpaFrame request) {
      stream.offeredTo(this);
      requested.complete(stream);
    }

    @Override
    public void accepted(MpaFrame reply) {
      accepted.complete(reply);
    }

    @Override
    public void established() {
      established.complete(true);
    }

    @Override
    public void withdrawn(TcpStream stream) {}

    @Override
    public void refused(MpaFrame reply) {}

    @Override
    public void nobodyListens() {}

    @Override
    public void failed(int errno) {}

    @Override
    public void ended() {}
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.verbena.emulated.Caller;
import io.verbena.emulated.ForeignPeer;
import io.verbena.emulated.crypto.CipherWorkspace;
import io.verbena.emulated.crypto.RecordCipher;
import io.verbena.emulated.crypto.SessionKeys;
import io.verbena.emulated.crypto.SharedSecret;
import io.verbena.emulated.engine.Timeline;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.iwarp.frame.FpduHeader;
import io.verbena.emulated.iwarp.frame.FpduLayout;
import io.verbena.emulated.iwarp.frame.MpaFrame;
import io.verbena.emulated.iwarp.frame.RdmapOpcode;
import io.verbena.emulated.iwarp.stream.StreamTerms;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.ScatteringByteChannel;
import java.nio.channels.SelectionKey;
import java.util.EnumSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Data of a locked stream between its socket and its queue pair. Bytes that one turn has read and
 * not processed are processed even if no more bytes arrive, and sealed records are sent before the
 * stream ends.
 */
@Tag("once")
class LockedTurnTest {
  private static final byte[] NOTHING = {};
  private static final SharedSecret KEY = SharedSecret.of(new byte[SharedSecret.LEAST]);

  /** Enough that a turn ends between the first and the last of them. */
  private static final int WRITES = 100;

  private static final int LENGTH = 8000;

  /** Shorter than a record, and needs no padding. */
  private static final int SHORT = 2;

  private final CipherWorkspace work = CipherWorkspace.ofRecords();
  private final MemorySocket socket = new MemorySocket();
  private final ByteBuffer coming =
      ByteBuffer.allocate(MpaFrame.MAX_LENGTH + WRITES * (LENGTH + 100));

  @Test
  void takesWhatItHasReadThoughTheSocketIsEmpty() {
    try (Caller caller = new Caller(ForeignPeer.ANY);
        CompletionQueue completions = caller.device.createCompletionQueue(4, null);
        IwarpQueuePair pair =
            (IwarpQueuePair)
                caller
                    .domain()
                    .createQueuePair(QueuePairOptions.reliable(completions, completions, 2, 2))) {
      IwarpFabric fabric = fabric(caller);
      TcpStream stream = connected(fabric, pair);
      RecordCipher peers = session(/* active= */ true);
      for (int i = 1; i <= WRITES; i++) {
        seal(peers, write(caller, i == WRITES));
      }

      fabric.enter();
      try {
        assertThat(stream.ready(SelectionKey.OP_READ)).isTrue();
        assertThat(stream.hasMore()).as("bytes that were read and not taken").isTrue();
        assertThat(caller.bytes.get(0)).isZero();
      } finally {
        fabric.leave();
      }

      await().atMost(Caller.LIMIT).until(() -> caller.bytes.get(0) != 0);
      fabric.entered(stream::close);
    }
  }

  @Test
  void sendsAllThatItHasSealedBeforeItEnds() throws IOException {
    try (Caller caller = new Caller(ForeignPeer.ANY);
        CompletionQueue completions = caller.device.createCompletionQueue(4, null)) {
      IwarpFabric fabric = fabric(caller);
      IwarpQueuePair pair =
          (IwarpQueuePair)
              caller
                  .domain()
                  .createQueuePair(QueuePairOptions.reliable(completions, completions, 2, 2));
      TcpStream stream = connected(fabric, pair);
      RecordCipher peers = session(/* active= */ true);
      seal(peers, write(caller, /* last= */ true));
      fabric.enter();
      try {
        assertThat(stream.ready(SelectionKey.OP_READ)).isTrue();
      } finally {
        fabric.leave();
      }
      pair.ready();
      caller.bytes.put(0, (byte) 77);
      fabric.enter();
      try {
        socket.room = 100;
        // Both are posted before the next turn; otherwise the first may complete before the second
        // is sealed.
        for (int length : new int[] {SHORT, Caller.SIZE}) {
          pair.postSend(
              new SendWorkRequest(1)
                  .id(length)
                  .send()
                  .signaled()
                  .buffer(caller.region.address(), length, caller.region.lkey()));
        }
      } finally {
        fabric.leave();
      }
      WorkCompletion[] done = WorkCompletion.array(1);
      await().atMost(Caller.LIMIT).until(() -> completions.poll(done) == 1);
      assertThat(done[0].workRequestId()).isEqualTo(SHORT);
      assertThat(done[0].status()).isEqualTo(CompletionStatus.SUCCESS);

      fabric.enter();
      try {
        pair.close();

        assertThat(socket.isShutDown).as("the end before the rest").isFalse();
        socket.room = Integer.MAX_VALUE;
        assertThat(stream.ready(SelectionKey.OP_WRITE)).isTrue();
        assertThat(socket.isShutDown).isTrue();
      } finally {
        fabric.leave();
      }
      coming.clear().put(socket.went.toByteArray());
      ByteBuffer first = ByteBuffer.allocate(FpduLayout.MAX_HEADER + SHORT);
      assertThat(new SealedInput(socket, peers, work).read(first)).isEqualTo(first.capacity());
      assertThat(first.get(FpduLayout.MAX_HEADER)).isEqualTo((byte) 77);
      fabric.entered(stream::close);
    }
  }

  private static IwarpFabric fabric(Caller caller) {
    return (IwarpFabric) ((EmulatedDevice) caller.device).fabric();
  }

  /** Returns the locked stream of a queue pair in RTR whose peer has sent no message yet. */
  private TcpStream connected(IwarpFabric fabric, IwarpQueuePair pair) {
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.INIT)
            .pkeyIndex(0)
            .port(1)
            .access(EnumSet.of(Access.REMOTE_WRITE)));
    TcpStream stream = TcpStream.passive(new Unread(fabric), socket, new NoProgram());
    coming.put(request().bytes());
    fabric.enter();
    try {
      stream.begin(0);
      assertThat(stream.ready(SelectionKey.OP_READ)).as("the request").isTrue();
      stream.sealWith(session(/* active= */ false));
    } finally {
      fabric.leave();
    }
    pair.connect(stream, terms(), QueuePairState.RTR, new QueuePairAttributes());
    return stream;
  }

  private static RecordCipher session(boolean active) {
    return SessionKeys.of(KEY, active, NOTHING, NOTHING).records();
  }

  private static MpaFrame request() {
    return new MpaFrame(
        MpaFrame.Kind.REQUEST,
        MpaFrame.ENHANCED_REVISION,
        /* markers= */ false,
        /* crc= */ false,
        /* rejects= */ false,
        MpaFrame.Depths.of(1, 1).readyByWrite(),
        ByteBuffer.allocate(0));
  }

  private static StreamTerms terms() {
    return new StreamTerms(/* crc= */ false, 1, 1, StreamTerms.Role.PASSIVE);
  }

  /** Returns a WRITE of zeros, or of ones for the last. */
  private static ByteBuffer write(Caller to, boolean last) {
    FpduHeader header =
        new FpduHeader()
            .tagged(
                RdmapOpcode.WRITE,
                /* isLast= */ true,
                to.region.rkey(),
                to.region.address(),
                LENGTH);
    ByteBuffer fpdu = ByteBuffer.allocate(FpduLayout.MAX_HEADER + LENGTH + FpduLayout.MAX_TRAILER);
    header.write(fpdu);
    for (int i = 0; i < LENGTH; i++) {
      fpdu.put((byte) (last ? 1 : 0));
    }
    return fpdu.put(new byte[header.pad() + FpduLayout.CRC_LENGTH]).flip();
  }

  private void seal(RecordCipher lock, ByteBuffer fpdu) {
    int length = fpdu.remaining();
    fpdu.get(work.in(), 0, length);
    lock.seal(work, length, coming);
  }

  /** A fabric that leaves it to the test to read the stream. */
  record Unread(IwarpFabric fabric) implements StreamFabric {
    @Override
    public Timeline time() {
      return fabric.sockets().time();
    }

    @Override
    public void wake() {
      fabric.wake();
    }

    @Override
    public ByteBuffer waste() {
      return fabric.sockets().waste();
    }

    @Override
    public CipherWorkspace workspace() {
      return fabric.sockets().workspace();
    }

    @Override
    public void runs(TcpStream stream) {}

    @Override
    public void stops(TcpStream stream) {}

    @Override
    public void notHalfOpen() {}

    @Override
    public void closed(TcpStream stream) {}
  }

  /** A socket whose input has already arrived, and whose output has limited room. */
  private final class MemorySocket
      implements StreamSocket, GatheringByteChannel, ScatteringByteChannel, ReadableByteChannel {
    final ByteArrayOutputStream went = new ByteArrayOutputStream();
    int room = Integer.MAX_VALUE;
    boolean isShutDown;

    @Override
    public ScatteringByteChannel input() {
      return this;
    }

    @Override
    public GatheringByteChannel output() {
      return this;
    }

    @Override
    public int read(ByteBuffer into) {
      coming.flip();
      int length = Math.min(coming.remaining(), into.remaining());
      into.put(coming.slice(coming.position(), length));
      coming.position(length);
      coming.compact();
      return length;
    }

    @Override
    public long read(ByteBuffer[] into, int offset, int count) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long read(ByteBuffer[] into) {
      throw new UnsupportedOperationException();
    }

    @Override
    public int write(ByteBuffer from) {
      byte[] taken = new byte[Math.min(from.remaining(), room)];
      from.get(taken);
      went.writeBytes(taken);
      room -= taken.length;
      return taken.length;
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int count) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long write(ByteBuffer[] from) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean finishConnect() {
      return true;
    }

    @Override
    public void interest(int operations) {}

    @Override
    public void shutdownOutput() {
      isShutDown = true;
    }

    @Override
    public InetSocketAddress local() {
      return new InetSocketAddress(0);
    }

    @Override
    public InetSocketAddress remote() {
      return new InetSocketAddress(0);
    }

    @Override
    public void resetAtClose() {}

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.end.CompletionWait;
import io.verbena.tools.end.End;
import io.verbena.tools.end.ToolFailure;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.io.EOFException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A channel over a separate queue pair, as in perftest's programs with {@code -R}: each message is
 * a SEND, addresses are binary, and one receive is posted at any time, as each end waits for the
 * other's message. Its end closes it.
 */
final class QueuePairChannel implements PerftestChannel {
  /** Tells whether the peer has disconnected. */
  @FunctionalInterface
  interface Peer {
    /** Returns whether it has disconnected. */
    boolean isGone() throws ToolFailure, InterruptedException;
  }

  private static final byte[] NOTHING = {};
  private static final int LONGEST = PerftestAddress.BINARY_LENGTH;

  private final End end;
  private final Peer peer;
  private final QueuePair pair;
  private final CompletionQueue sent;
  private final CompletionQueue received;

  /** What comes, and what is sent. */
  private final ByteBuffer memory = ByteBuffer.allocateDirect(2 * LONGEST);

  private final MemoryRegion region;
  private final WorkCompletion[] completion = WorkCompletion.array(1);
  private CompletionWait wait;
  private byte @Nullable [] arrived;

  /** Creates the queue pair of the identifier, with a receive; the caller connects it. */
  QueuePairChannel(End end, ConnectionIdentifier identifier, Peer peer, Duration limit) {
    this.end = end;
    this.peer = peer;
    region = end.keep(end.domain().register(memory, Set.of(Access.LOCAL_WRITE)));
    sent = end.keep(end.device().createCompletionQueue(1, null, true));
    received = end.keep(end.device().createCompletionQueue(1, null, true));
    pair =
        end.keep(
            identifier.createQueuePair(
                end.domain(), QueuePairOptions.reliable(sent, received, 1, 1)));
    wait = new CompletionWait(end, limit);
    postReceive();
  }

  private void postReceive() {
    pair.postReceive(new ReceiveWorkRequest().buffer(region.address(), LONGEST, region.lkey()));
  }

  @Override
  public void write(byte[] message) throws EOFException, ToolFailure, InterruptedException {
    memory.put(LONGEST, message);
    pair.postSend(
        new SendWorkRequest()
            .send()
            .buffer(region.address() + LONGEST, message.length, region.lkey())
            .signaled());
    // Do not check for a disconnect: the client may already request its next connection.
    await(sent, () -> false);
  }

  @Override
  public byte[] read(int length) throws EOFException, ToolFailure, InterruptedException {
    byte[] message = readAny();
    if (message.length != length) {
      throw new ToolFailure(
          "message of " + message.length + " bytes (expected: " + length + ")",
          "start the same test at both ends, this tool or perftest 4.5");
    }
    return message;
  }

  @Override
  public byte[] readAny() throws EOFException, ToolFailure, InterruptedException {
    byte[] message = arrived;
    arrived = null;
    if (message == null) {
      message = received(await(received, peer));
    }
    return message;
  }

  @Override
  public boolean isSpokenTo() throws ToolFailure {
    if (arrived == null && received.poll(completion) > 0) {
      End.check(completion[0]);
      arrived = received(completion[0]);
    }
    return arrived != null;
  }

  /** Takes a message, and posts the receive of the next one before the reply. */
  private byte[] received(WorkCompletion done) {
    byte[] message = new byte[done.byteLength()];
    memory.get(0, message);
    postReceive();
    return message;
  }

  private WorkCompletion await(CompletionQueue queue, Peer watched)
      throws EOFException, ToolFailure, InterruptedException {
    while (queue.poll(completion) == 0) {
      if (wait.pause() && watched.isGone()) {
        // Its last message arrived before its disconnect was reported.
        if (queue.poll(completion) == 0) {
          throw new EOFException("the other end has disconnected");
        }
        break;
      }
    }
    wait.restart();
    if (completion[0].status() == CompletionStatus.WR_FLUSH_ERR) {
      throw new EOFException("the other end has disconnected");
    }
    End.check(completion[0]);
    return completion[0];
  }

  @Override
  public void waitAtMost(Duration limit) {
    wait = new CompletionWait(end, limit);
  }

  @Override
  public byte[] encode(PerftestAddress address) {
    return address.toBytes();
  }

  @Override
  public PerftestAddress decode(byte[] message) {
    return PerftestAddress.ofBytes(message);
  }

  @Override
  public int addressLength() {
    return PerftestAddress.BINARY_LENGTH;
  }

  @Override
  public byte[] lastMessage() {
    return NOTHING;
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.datagrams;

import io.verbena.tools.end.CompletionWait;
import io.verbena.tools.end.End;
import io.verbena.tools.end.ToolFailure;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.DatagramPeer;
import io.verbena.verbs.GlobalRoute;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The queue pairs of one end of udaddy ({@code librdmacm/examples/udaddy.c} in rdma-core) and their
 * messages. Each queue pair has separate memory, into which it receives and from which it sends all
 * its messages: a message sent after a receive begins with the area in front of the datagram. A
 * message carries the number of its queue pair in the immediate. One thread.
 */
final class Datagrams implements AutoCloseable {
  private static final int POLL = 8;

  private final DatagramOptions options;
  private final End end;
  private final CompletionWait wait;
  private final int stride;
  private final List<SendWindow> windows = new ArrayList<>();
  private final WorkCompletion[] completions = WorkCompletion.array(POLL);

  /** A queue pair, and the destination of its messages. */
  private static final class SendWindow {
    final QueuePair pair;
    final int offset;
    @Nullable AddressHandle handle;
    int remote;
    int key;
    int received;

    SendWindow(QueuePair pair, int offset) {
      this.pair = pair;
      this.offset = offset;
    }
  }

  /** Opens the device of an address. */
  Datagrams(URI address, DatagramOptions options) throws ToolFailure {
    this.options = options;
    stride = GlobalRoute.LENGTH + options.size();
    int all = Math.max(1, options.connections() * options.messages());
    end =
        End.open(
            address,
            options.connections() * stride,
            EnumSet.of(Access.LOCAL_WRITE),
            all,
            all,
            false);
    wait = new CompletionWait(end, options.limit());
    int most = end.device().port().activeMtu().bytes();
    if (options.size() > most) {
      end.close();
      throw new ToolFailure(
          "message_size " + options.size() + " is larger than active mtu " + most,
          "give both ends -S " + most);
    }
  }

  End end() {
    return end;
  }

  /** Creates the queue pair of an identifier, with all receives. */
  void add(ConnectionIdentifier identifier) {
    int messages = Math.max(1, options.messages());
    QueuePair pair =
        end.keep(
            identifier.createQueuePair(
                end.domain(),
                QueuePairOptions.reliable(end.sent(), end.received(), messages, messages)
                    .withType(QueuePairType.UD)));
    SendWindow window = new SendWindow(pair, windows.size() * stride);
    windows.add(window);
    ReceiveWorkRequest receive =
        new ReceiveWorkRequest().buffer(end.address(window.offset), stride, end.region().lkey());
    for (int i = 0; i < options.messages(); i++) {
      pair.postReceive(receive);
    }
  }

  /** Address of the last queue pair's peer. */
  void answered(DatagramPeer peer) {
    to(windows.get(windows.size() - 1), peer.vector(), peer.queuePair(), peer.queueKey());
  }

  private void to(SendWindow window, AddressVector way, int remote, int key) {
    window.handle = end.keep(end.domain().createAddressHandle(way));
    window.remote = remote;
    window.key = key;
  }

  /** Fills the messages, with different bytes for each queue pair. */
  void fill() {
    for (SendWindow window : windows) {
      for (int i = 0; i < options.size(); i++) {
        end.memory().put(window.offset + i, expected(window, i));
      }
    }
  }

  private static byte expected(SendWindow window, int at) {
    return (byte) (window.pair.number() + at);
  }

  /** Sends all messages of all queue pairs. */
  void send() throws ToolFailure, InterruptedException {
    SendWorkRequest request = new SendWorkRequest();
    int sent = 0;
    for (SendWindow window : windows) {
      AddressHandle handle = window.handle;
      for (int i = 0; handle != null && i < options.messages(); i++) {
        window.pair.postSend(
            request
                .sendWithImmediate(window.pair.number())
                .to(handle, window.remote, window.key)
                .buffer(end.address(window.offset), options.size(), end.region().lkey())
                .signaled());
        sent++;
      }
    }
    while (sent > 0) {
      sent -= poll(end.sent());
    }
  }

  /**
   * Waits for all messages of all queue pairs; the first message of a queue pair names the peer
   * that it sends to.
   */
  void receive() throws ToolFailure, InterruptedException {
    int expected = windows.size() * options.messages();
    while (expected > 0) {
      int came = poll(end.received());
      for (int i = 0; i < came; i++) {
        take(completions[i]);
      }
      expected -= came;
    }
  }

  private int poll(CompletionQueue queue) throws ToolFailure, InterruptedException {
    int count = queue.poll(completions);
    for (int i = 0; i < count; i++) {
      End.check(completions[i]);
    }
    if (count == 0) {
      wait.pause();
    } else {
      wait.restart();
    }
    return count;
  }

  private void take(WorkCompletion completion) throws ToolFailure {
    int length = completion.byteLength() - GlobalRoute.LENGTH;
    if (length != options.size()) {
      throw new ToolFailure(
          "received " + length + " bytes (expected: " + options.size() + ")",
          "give both ends the same -S");
    }
    SendWindow window = window(completion.queuePairNumber());
    window.received++;
    if (window.handle == null) {
      ByteBuffer area = end.memory().slice(window.offset, GlobalRoute.LENGTH);
      to(
          window,
          GlobalRoute.back(area, end.device().port().gids()),
          completion.immediate(),
          DatagramPeer.QUEUE_KEY);
    }
  }

  private SendWindow window(int number) {
    int at = 0;
    while (windows.get(at).pair.number() != number) {
      at++;
    }
    return windows.get(at);
  }

  /**
   * Compares the received with the sent messages.
   *
   * @throws ToolFailure if they differ, or a queue pair got too many
   */
  void validate() throws ToolFailure {
    for (SendWindow window : windows) {
      if (window.received != options.messages()) {
        throw new ToolFailure(
            "queue pair "
                + window.pair.number()
                + " got "
                + window.received
                + " messages (expected: "
                + options.messages()
                + ")",
            "give both ends the same -C");
      }
      for (int i = 0; i < options.size() - GlobalRoute.LENGTH && options.messages() > 0; i++) {
        byte came = end.memory().get(window.offset + 2 * GlobalRoute.LENGTH + i);
        if (came != expected(window, i)) {
          throw new ToolFailure(
              "data mismatch! queue pair "
                  + window.pair.number()
                  + ", byte "
                  + i
                  + ": "
                  + (came & 0xff)
                  + " (expected: "
                  + (expected(window, i) & 0xff)
                  + ")",
              "check that the other end is udaddy, or `verbena datagrams`");
        }
      }
    }
  }

  @Override
  public void close() {
    end.close();
  }
}

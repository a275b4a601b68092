// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.doctor;

import io.verbena.tools.end.CompletionWait;
import io.verbena.tools.end.ConnectionEventWait;
import io.verbena.tools.end.End;
import io.verbena.tools.end.ToolFailure;
import io.verbena.verbs.Access;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.WorkCompletion;
import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.EnumSet;
import org.jspecify.annotations.Nullable;

/** Connects the device to itself, and sends, writes and reads once. */
final class LoopbackCheck {
  private static final String NAME = "loopback";
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final int BYTES = 64;

  /** The offsets in the memory of the message, and of the copy that each verb makes. */
  private static final int SOURCE = 0;

  private static final int SENT = BYTES;
  private static final int WRITTEN = 2 * BYTES;
  private static final int READ = 3 * BYTES;

  private final End end;
  private final WorkCompletion[] one = WorkCompletion.array(1);

  private LoopbackCheck(End end) {
    this.end = end;
  }

  static Finding of(ExaminedDevice patient, @Nullable GidChoice choice)
      throws InterruptedException {
    if (!patient.port().active()) {
      return Finding.skipped(NAME, "the link is down");
    }
    URI uri;
    if (choice == null) {
      uri = emulated(patient);
    } else if (choice.address() == null) {
      return Finding.skipped(NAME, "no address to connect to is known");
    } else {
      String options = choice.isAsked() ? "?gid=" + choice.index() : "";
      uri = uri(patient.uri().getScheme(), text(choice.address()), options);
    }
    try (End end =
        End.open(
            uri,
            4 * BYTES,
            EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_READ),
            4,
            4,
            false)) {
      new LoopbackCheck(end).run(uri);
      return Finding.ok(NAME, "SEND, WRITE and READ of " + BYTES + " bytes by " + uri);
    } catch (ToolFailure | VerbsException e) {
      return Finding.wrong(
          NAME,
          uri + ": " + e.getMessage(),
          patient.isKernels()
              ? "see whether it does without Verbena: rping -s, and rping -c -a " + uri.getHost()
              : "see what else uses this address: `verbena stat`");
    }
  }

  /**
   * Returns the address where an emulated HCA listens: its own, as its URI may name a peer's, and a
   * free port, as a server may use the URI's port.
   */
  private static URI emulated(ExaminedDevice patient) throws InterruptedException {
    URI uri = patient.uri();
    String options = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
    try {
      return switch (uri.getScheme()) {
        case "roce" -> uri("roce", text(GidChoice.resolved(patient)), options);
        case "iwarp" -> uri("iwarp", text(addressTowards(uri.getHost())), options);
        case "shm" -> uri("shm", uri.getHost(), options);
        default -> uri;
      };
    } catch (ToolFailure | VerbsException | IOException e) {
      // No address, or all addresses of the machine: listening shows whether it can be used.
      return uri;
    }
  }

  /** Returns this machine's source address on the kernel's route to a host. */
  private static InetAddress addressTowards(String host) throws IOException {
    try (DatagramSocket socket = new DatagramSocket()) {
      socket.connect(new InetSocketAddress(host, 1));
      return socket.getLocalAddress();
    }
  }

  private static URI uri(String scheme, String host, String options) {
    return URI.create(scheme + "://" + host + ":0" + options);
  }

  private static String text(InetAddress own) {
    String host = own.getHostAddress();
    return host.indexOf(':') < 0 ? host : "[" + host + "]";
  }

  private void run(URI uri) throws InterruptedException, ToolFailure {
    for (int i = 0; i < BYTES; i++) {
      end.memory().put(SOURCE + i, (byte) (i + 1));
    }
    ConnectionManager manager = end.keep(end.device().createConnectionManager());
    ConnectionEventWait events = new ConnectionEventWait(manager, LIMIT);
    ConnectionListener listener = end.keep(manager.listen(uri, 1));
    ConnectionIdentifier active = end.keep(manager.resolve(listener.address(), LIMIT.toNanos()));
    events.expect(ConnectionEvent.Type.ADDR_RESOLVED);
    QueuePairOptions options = QueuePairOptions.reliable(end.sent(), end.received(), 4, 4);
    QueuePair client = end.keep(active.createQueuePair(end.domain(), options));
    active.connect(ConnectionParameters.defaults(), LIMIT.toNanos());
    ConnectionIdentifier passive =
        end.keep(events.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier());
    QueuePair server = end.keep(passive.createQueuePair(end.domain(), options));
    server.postReceive(
        new ReceiveWorkRequest().buffer(end.address(SENT), BYTES, end.region().lkey()));
    passive.accept(ConnectionParameters.defaults());
    events.expect(ConnectionEvent.Type.ESTABLISHED);
    events.expect(ConnectionEvent.Type.ESTABLISHED);

    int key = end.region().rkey();
    post(client, "SEND", new SendWorkRequest().send(), SOURCE);
    await(end.received(), "SEND");
    check("SEND", SENT);
    post(client, "WRITE", new SendWorkRequest().write(end.address(WRITTEN), key), SOURCE);
    check("WRITE", WRITTEN);
    post(client, "READ", new SendWorkRequest().read(end.address(WRITTEN), key), READ);
    check("READ", READ);
  }

  private void post(QueuePair client, String verb, SendWorkRequest request, int at)
      throws InterruptedException, ToolFailure {
    client.postSend(request.buffer(end.address(at), BYTES, end.region().lkey()).signaled());
    await(end.sent(), verb);
  }

  private void await(CompletionQueue queue, String verb) throws InterruptedException, ToolFailure {
    CompletionWait wait = new CompletionWait(end, LIMIT);
    while (queue.poll(one) == 0) {
      wait.pause();
    }
    if (!one[0].isSuccess()) {
      throw new ToolFailure(verb + " failed with " + one[0].status(), "");
    }
  }

  private void check(String verb, int at) throws ToolFailure {
    ByteBuffer memory = end.memory();
    if (!memory.slice(at, BYTES).equals(memory.slice(SOURCE, BYTES))) {
      throw new ToolFailure(verb + " completed, and brought other bytes", "");
    }
  }
}

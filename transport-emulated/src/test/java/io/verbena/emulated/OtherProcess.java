// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * A JVM that listens, sends its memory's address and key, and echoes each message. Prints the
 * address that it listens at on its first line.
 */
final class OtherProcess implements AutoCloseable {
  private static final int RECEIVES = 16;
  private static final int SLOT = 16 << 10;

  private final Process process;
  final URI address;

  OtherProcess(String asked) throws IOException {
    process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    System.getProperty("java.class.path"),
                    OtherProcess.class.getName(),
                    asked))
            .redirectError(Redirect.INHERIT)
            .start();
    BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
    String line = out.readLine();
    if (line == null) {
      throw new IOException("the other process has ended; its error is above");
    }
    address = URI.create(line);
  }

  void kill() {
    process.destroyForcibly();
  }

  void awaitEnd() throws InterruptedException {
    process.waitFor();
  }

  /** Suspends the process until it is killed. */
  void stop() throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-STOP", Long.toString(process.pid())).inheritIO().start().waitFor();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }

  /** Runs in the other JVM. */
  public static void main(String[] arguments) throws Exception {
    URI asked = URI.create(arguments[0]);
    try (Caller callee = new Caller(asked);
        ConnectionListener listener = callee.manager.listen(asked, 4)) {
      System.out.println(listener.address());
      ConnectionEvent request = callee.expect(ConnectionEvent.Type.CONNECT_REQUEST);
      ConnectionIdentifier passive = request.identifier();
      QueuePair pair = callee.queuePair(passive);
      for (int slot = 0; slot < RECEIVES; slot++) {
        receive(callee, pair, slot);
      }
      ByteBuffer lent = ByteBuffer.allocate(12);
      lent.putLong(callee.region.address()).putInt(callee.region.rkey()).flip();
      passive.accept(new ConnectionParameters(lent, 4, 4, 7, 7));
      callee.expect(ConnectionEvent.Type.ESTABLISHED);
      echo(callee, pair);
    }
  }

  private static void echo(Caller callee, QueuePair pair) {
    while (true) {
      WorkCompletion done = callee.next();
      if (!done.isSuccess()) {
        return;
      }
      int slot = (int) done.workRequestId();
      switch (done.opcode()) {
        case RECV ->
            pair.postSend(
                new SendWorkRequest(1)
                    .id(slot)
                    .send()
                    .signaled()
                    .buffer(
                        callee.region.address() + (long) slot * SLOT,
                        done.byteLength(),
                        callee.region.lkey()));
        default -> receive(callee, pair, slot);
      }
    }
  }

  private static void receive(Caller callee, QueuePair pair, int slot) {
    pair.postReceive(
        new ReceiveWorkRequest(1)
            .id(slot)
            .buffer(callee.region.address() + (long) slot * SLOT, SLOT, callee.region.lkey()));
  }
}

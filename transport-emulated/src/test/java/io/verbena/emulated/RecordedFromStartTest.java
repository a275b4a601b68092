// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Flight Recorder records from the start of a JVM with {@code -XX:StartFlightRecording}. */
class RecordedFromStartTest {
  private static final String HOST = Loopbacks.address(55);

  @Test
  void recordsEventsOfQueuePairsAndBreaksNoClass(@TempDir Path folder) throws Exception {
    Path recording = folder.resolve("start.jfr");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:StartFlightRecording=settings=profile,filename=" + recording,
                "-cp",
                System.getProperty("java.class.path"),
                RecordedFromStartTest.class.getName(),
                HOST)
            .redirectErrorStream(true)
            .start();
    String output;
    try {
      output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor(Caller.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } finally {
      process.destroyForcibly();
    }

    assertThat(process.exitValue()).as("exit value; output: %s", output).isZero();
    assertThat(output).doesNotContain("[jfr,system").doesNotContain("LinkageError");
    assertThat(RecordingFile.readAllEvents(recording))
        .anyMatch(event -> event.getEventType().getName().equals("io.verbena.ReceiverNotReady"));
  }

  /** Runs in the other JVM: a peer that posts its receive only after it has refused a message. */
  public static void main(String[] arguments) throws Exception {
    URI address = URI.create("roce://" + arguments[0] + ":7000");
    try (Caller passive = new Caller(address);
        Caller active = new Caller(address);
        ConnectionListener listener = passive.manager.listen(address, 1)) {
      ConnectionIdentifier from =
          active.manager.resolve(listener.address(), Caller.LIMIT.toNanos());
      active.expect(ConnectionEvent.Type.ADDR_RESOLVED);
      QueuePair sending = active.queuePair(from);
      from.connect(ConnectionParameters.defaults(), Caller.LIMIT.toNanos());
      ConnectionIdentifier to = passive.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
      QueuePair receiving = passive.queuePair(to);
      to.accept(ConnectionParameters.defaults());
      active.expect(ConnectionEvent.Type.ESTABLISHED);
      passive.expect(ConnectionEvent.Type.ESTABLISHED);
      sending.postSend(new SendWorkRequest(0).send().signaled());
      while (active.device.counters().get(Counter.RNR_RECEIVED) == 0) {
        Thread.onSpinWait();
      }
      receiving.postReceive(new ReceiveWorkRequest(0));
      if (!active.next().isSuccess()) {
        throw new AssertionError("the message did not arrive");
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairReading.Figure;
import io.verbena.verbs.SendWorkRequest;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the figures that the HCA reports for a queue pair when packets are lost. */
class ReadingTest {
  private static final int WRITES = 40;
  private static final int LENGTH = 16 << 10;

  @TempDir private Path folder = Path.of("");

  @Test
  void countsARetransmissionForTheQueuePairThatItIsOf() throws Exception {
    URI to = URI.create("emulated://lossy?wire=simulated&loss=0.05&seed=7");
    try (Caller passive = new Caller(to);
        Caller active = new Caller(to);
        ConnectionListener listener = passive.manager.listen(to, 2)) {
      assertThat(listener.address()).isNotNull();
      QueuePair busy = connect(active, passive, to);
      QueuePair idle = connect(active, passive, to);
      for (int i = 0; i < WRITES; i++) {
        busy.postSend(
            new SendWorkRequest(1)
                .id(i)
                .write(passive.region.address(), passive.region.rkey())
                .buffer(active.region.address(), LENGTH, active.region.lkey())
                .signaled());
      }
      for (int i = 0; i < WRITES; i++) {
        assertThat(active.next().isSuccess()).isTrue();
      }

      Map<Figure, Long> figures = busy.reading().figures();
      assertThat(figures.get(Figure.RETRANSMISSIONS))
          .isPositive()
          .isEqualTo(active.device.counters().get(Counter.RETRANSMISSIONS));
      assertThat(figures)
          .containsEntry(Figure.SENDS_DONE, (long) WRITES)
          .containsEntry(Figure.SEND_COMPLETIONS_WAITING, 0L);
      assertThat(idle.reading().figures())
          .containsEntry(Figure.RETRANSMISSIONS, 0L)
          .containsEntry(Figure.SENDS_POSTED, 0L);
    }
  }

  @Test
  void showsRetransmissionsToFlightRecorder() throws Exception {
    URI to = URI.create("emulated://recorded?wire=simulated&loss=0.05&seed=7");
    try (Recording recording = new Recording();
        Caller passive = new Caller(to);
        Caller active = new Caller(to);
        ConnectionListener listener = passive.manager.listen(to, 1)) {
      assertThat(listener.address()).isNotNull();
      recording.enable("io.verbena.Retransmission");
      recording.start();
      QueuePair pair = connect(active, passive, to);
      for (int i = 0; i < WRITES; i++) {
        pair.postSend(
            new SendWorkRequest(1)
                .id(i)
                .write(passive.region.address(), passive.region.rkey())
                .buffer(active.region.address(), LENGTH, active.region.lkey())
                .signaled());
      }
      for (int i = 0; i < WRITES; i++) {
        assertThat(active.next().isSuccess()).isTrue();
      }

      Path file = folder.resolve("recorded.jfr");
      recording.dump(file);
      long sentAgain = pair.reading().figures().get(Figure.RETRANSMISSIONS);
      assertThat(sentAgain).isPositive();
      assertThat(RecordingFile.readAllEvents(file))
          .filteredOn(event -> event.getInt("queuePair") == pair.number())
          .filteredOn(event -> event.getInt("peerQueuePair") == pair.reading().peer())
          .hasSize((int) sentAgain);
    }
  }

  @Test
  void tellsOfCompletionsThatWaitToBePolled() throws Exception {
    URI to = URI.create("emulated://waiting");
    try (Caller passive = new Caller(to);
        Caller active = new Caller(to);
        ConnectionListener listener = passive.manager.listen(to, 1)) {
      assertThat(listener.address()).isNotNull();
      QueuePair pair = connect(active, passive, to);
      for (int i = 0; i < 3; i++) {
        pair.postSend(new SendWorkRequest(0).id(i).write(0, 0).signaled());
      }
      assertThat(active.next().isSuccess()).isTrue();

      assertThat(pair.reading().figures())
          .containsEntry(Figure.SENDS_POSTED, 3L)
          .containsEntry(Figure.SENDS_DONE, 1L)
          .containsEntry(Figure.SEND_COMPLETIONS_WAITING, 2L)
          .containsEntry(Figure.RECEIVE_COMPLETIONS_WAITING, 2L);
    }
  }

  /** Connects two callers and returns the active end's queue pair. */
  private static QueuePair connect(Caller active, Caller passive, URI to)
      throws InterruptedException {
    ConnectionIdentifier from = active.manager.resolve(to, Caller.LIMIT.toNanos());
    active.expect(ConnectionEvent.Type.ADDR_RESOLVED);
    QueuePair pair = active.queuePair(from);
    from.connect(ConnectionParameters.defaults(), Caller.LIMIT.toNanos());
    ConnectionIdentifier request =
        passive.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
    passive.queuePair(request);
    request.accept(ConnectionParameters.defaults());
    active.expect(ConnectionEvent.Type.ESTABLISHED);
    passive.expect(ConnectionEvent.Type.ESTABLISHED);
    return pair;
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.verbena.emulated.hca.FailureLog;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.PcapWriter;
import io.verbena.emulated.roce.RocePacket;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A capture stops when its file cannot be written; the captured traffic continues. */
class CaptureTest {
  @TempDir private Path folder;

  private final RocePacket frame = new RocePacket().start(PacketOpcode.RC_ACKNOWLEDGE).seal();

  private static final class Lines extends Handler {
    final List<LogRecord> records = new ArrayList<>();

    @Override
    public void publish(LogRecord line) {
      records.add(line);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  @Test
  void endsAtTheFirstPacketThatCannotBeWritten() throws IOException {
    PcapWriter writer = PcapWriter.create(folder.resolve("a.pcap"));
    Capture capture = new Capture(writer);
    // After this the writer throws, as it would on a full disk.
    writer.close();
    Lines lines = new Lines();
    Logger log = Logger.getLogger(FailureLog.NAME);
    log.addHandler(lines);
    try {
      assertThatCode(
              () -> {
                capture.packet(frame);
                capture.arrives(1, 0, 1, frame);
                capture.close();
              })
          .doesNotThrowAnyException();
    } finally {
      log.removeHandler(lines);
    }
    assertThat(lines.records).hasSize(1);
  }
}

package io.verbena.samples.blockstore;

import io.netty.buffer.PooledByteBufAllocator;
import java.nio.file.Path;
import java.time.Duration;

public final class TcpProbe {
  public static void main(String[] args) throws Exception {
    Path file = Path.of(System.getProperty("java.home"), "lib", "modules");
    Block block = Block.load(file, PooledByteBufAllocator.DEFAULT);
    Duration limit = Duration.ofSeconds(60);
    Progress progress = new Progress(System.out, false);
    try (TcpTwin tcp = TcpTwin.start(block.share(), 2, PooledByteBufAllocator.DEFAULT, limit);
        Destinations d =
            new Destinations(PooledByteBufAllocator.DEFAULT, 4, (int) block.info().length())) {
      for (int i = 0; i < 4; i++) {
        try (Progress.Step s = progress.begin("a", 10000)) {
          System.out.println(RoundTrips.run(tcp, block.info(), 10000, s, limit));
        }
        try (Progress.Step s = progress.begin("b", 10000)) {
          var r = ReadWhole.run(tcp, block.info(), d, s, limit);
          System.out.println(
              r.megabytesPerSecond()
                  + " "
                  + r.checkedPerSecond()
                  + " "
                  + r.digests().stream().allMatch(block.info().sha256()::equals));
        }
        try (Progress.Step s = progress.begin("d", StreamToTwo.total(block.info()))) {
          var r = StreamToTwo.run(tcp, block.info(), d, s, limit);
          System.out.println(
              r.alone()
                  + " "
                  + r.beside()
                  + " "
                  + r.lead()
                  + " "
                  + r.digests().stream().allMatch(block.info().sha256()::equals));
        }
      }
    }
    block.content().release();
    progress.close();
  }
}

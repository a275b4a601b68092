// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.leaks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test class whose buffers were not all released. JUnit finds it by itself and makes it
 * before any test, so Netty's first buffer finds its detector.
 */
public final class LeakExtension implements AfterAllCallback {
  private static final Duration COLLECTION_DEADLINE = Duration.ofSeconds(60);

  /** Another thread reports what one collection found: the extension looks this often. */
  private static final int LOOKS_PER_COLLECTION = 100;

  /**
   * The marker of the buffer that this thread drops on purpose. Netty reports two leaks that look
   * alike only once.
   */
  private static final ThreadLocal<String> MARKER = new ThreadLocal<>();

  private static final List<String> REPORTS = new CopyOnWriteArrayList<>();

  static {
    System.setProperty("io.netty.customResourceLeakDetector", Recorder.class.getName());
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
  }

  /**
   * Drops a marked buffer on purpose and collects until it is reported: then everything that was
   * dropped before is reported too.
   */
  @Override
  public void afterAll(ExtensionContext context) {
    String marker = "marker " + UUID.randomUUID();
    letGo(marker);
    var looks = new AtomicInteger();
    await("a collection that finds " + marker)
        .atMost(COLLECTION_DEADLINE)
        .pollInSameThread()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(2))
        .until(
            () -> {
              if (looks.getAndIncrement() % LOOKS_PER_COLLECTION == 0) {
                System.gc();
              }
              return find(marker);
            });
    List<String> leaks = new ArrayList<>(REPORTS);
    REPORTS.clear();
    leaks.removeIf(report -> report.contains("marker "));
    assertThat(leaks).isEmpty();
  }

  private static void letGo(String marker) {
    MARKER.set(marker);
    try {
      assertThat(PooledByteBufAllocator.DEFAULT.directBuffer(16).refCnt()).isOne();
    } finally {
      MARKER.remove();
    }
  }

  /** A detector looks for what was collected when the next buffer is made. */
  private static boolean find(String marker) {
    PooledByteBufAllocator.DEFAULT.directBuffer(16).release();
    return REPORTS.stream().anyMatch(report -> report.contains(marker));
  }

  /** Keeps what Netty's detector finds, instead of logging it. Netty makes one by reflection. */
  public static final class Recorder<T> extends ResourceLeakDetector<T> {

    public Recorder(Class<?> resource, int samplingInterval) {
      super(resource, samplingInterval);
    }

    /** Netty complains if this one is missing, and then does not use it. */
    public Recorder(Class<?> resource, int samplingInterval, long maxActive) {
      this(resource, samplingInterval);
    }

    @Override
    protected Object getInitialHint(String resource) {
      return MARKER.get();
    }

    @Override
    protected boolean needReport() {
      return true;
    }

    @Override
    protected void reportTracedLeak(String resource, String records) {
      REPORTS.add(resource + " was not released" + records);
    }

    @Override
    protected void reportUntracedLeak(String resource) {
      REPORTS.add(resource + " was not released");
    }
  }
}

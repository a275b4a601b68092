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
 * Fails a test class whose buffers were not all released. JUnit finds the extension as a service
 * and creates it before any test, so that Netty uses its leak detector from the first buffer on.
 */
public final class LeakExtension implements AfterAllCallback {
  private static final Duration COLLECTION_DEADLINE = Duration.ofSeconds(60);

  /** The number of checks after each garbage collection, as another thread reports its results. */
  private static final int LOOKS_PER_COLLECTION = 100;

  /**
   * The marker of the buffer that this thread leaks on purpose. It is unique, as Netty reports two
   * equal leaks only once.
   */
  private static final ThreadLocal<String> MARKER = new ThreadLocal<>();

  private static final List<String> REPORTS = new CopyOnWriteArrayList<>();

  static {
    System.setProperty("io.netty.customResourceLeakDetector", Recorder.class.getName());
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
  }

  /**
   * Leaks a marked buffer on purpose and collects garbage until its leak is reported: then all
   * earlier leaks are reported, too.
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

  /**
   * Returns whether the marker was reported. The allocation makes the detector look for collected
   * buffers.
   */
  private static boolean find(String marker) {
    PooledByteBufAllocator.DEFAULT.directBuffer(16).release();
    return REPORTS.stream().anyMatch(report -> report.contains(marker));
  }

  /**
   * Records the leaks that Netty's detector finds instead of logging them. Netty creates it by
   * reflection.
   */
  public static final class Recorder<T> extends ResourceLeakDetector<T> {

    public Recorder(Class<?> resource, int samplingInterval) {
      super(resource, samplingInterval);
    }

    /** Netty logs an error if this constructor is missing, and then does not use the class. */
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

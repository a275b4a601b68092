// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.leaks;

import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetectorFactory;
import io.netty.util.ResourceLeakTracker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Records the leaks found by Netty's detector instead of logging them; one per resource type. */
final class RecordingLeakDetector<T> extends ResourceLeakDetector<T> {
  private static final String MARKER = "leak detection's marker ";
  private static final Duration COLLECTION_DEADLINE = Duration.ofSeconds(60);

  /** Polls per garbage collection, because another thread reports the collected objects. */
  private static final int LOOKS_PER_COLLECTION = 100;

  private static final Map<Class<?>, RecordingLeakDetector<?>> DETECTORS =
      new ConcurrentHashMap<>();

  private final List<String> reports = new CopyOnWriteArrayList<>();

  /** Marks buffers that this thread leaks on purpose; buffers of other threads get no marker. */
  private final ThreadLocal<@Nullable String> hint = new ThreadLocal<>();

  private RecordingLeakDetector(Class<T> resourceType, int samplingInterval) {
    super(resourceType, samplingInterval);
  }

  /** Makes Netty create these detectors; classes that already have a detector keep it. */
  static void install() {
    ResourceLeakDetectorFactory.setResourceLeakDetectorFactory(new Factory());
  }

  /** Returns whether buffers are watched by a detector of this class. */
  static boolean watchesBuffers() {
    return DETECTORS.containsKey(ByteBuf.class);
  }

  /**
   * Returns the leaks that all detectors found among the objects that are unreachable now.
   *
   * <p>The JVM reports the objects of one collection in any order, but collections one after
   * another. So a buffer dropped before the first marker is in the queue once the second marker is
   * found.
   */
  static synchronized List<String> takeLeaks() {
    awaitMarkers();
    awaitMarkers();
    List<String> leaks = new ArrayList<>();
    for (RecordingLeakDetector<?> detector : DETECTORS.values()) {
      leaks.addAll(detector.take());
    }
    return leaks;
  }

  /**
   * Leaks an object of each detector on purpose and waits until each is reported. A detector that
   * finds nothing thus fails the test.
   */
  private static void awaitMarkers() {
    String marker = MARKER + UUID.randomUUID();
    List<RecordingLeakDetector<?>> detectors = List.copyOf(DETECTORS.values());
    detectors.forEach(each -> each.leak(marker));
    var looks = new AtomicInteger();
    await("a collection that finds the " + marker)
        .atMost(COLLECTION_DEADLINE)
        .pollInSameThread()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(2))
        .until(
            () -> {
              if (looks.getAndIncrement() % LOOKS_PER_COLLECTION == 0) {
                System.gc();
              }
              return find(marker, detectors);
            });
  }

  private static boolean find(String marker, List<RecordingLeakDetector<?>> detectors) {
    detectors.forEach(RecordingLeakDetector::drain);
    return detectors.stream().allMatch(each -> each.hasFound(marker));
  }

  private boolean hasFound(String marker) {
    return reports.stream().anyMatch(report -> report.contains(marker));
  }

  private List<String> take() {
    List<String> leaks = new ArrayList<>(reports);
    reports.removeAll(leaks);
    leaks.removeIf(report -> report.contains(MARKER));
    return leaks;
  }

  /** Makes the detector read its queue, which happens whenever it begins to track an object. */
  private void drain() {
    T tracked = object();
    ResourceLeakTracker<T> tracker = trackForcibly(tracked);
    tracker.close(tracked);
  }

  private void leak(String marker) {
    hint.set(marker);
    try {
      trackForcibly(object());
    } finally {
      hint.remove();
    }
  }

  @Override
  protected @Nullable Object getInitialHint(String resourceType) {
    return hint.get();
  }

  /** Returns an object for any type, because a tracker only compares and drops it. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private T object() {
    return (T) new Object();
  }

  @Override
  protected boolean needReport() {
    return true;
  }

  @Override
  protected void reportTracedLeak(String resourceType, String records) {
    reports.add(resourceType + " was not released before it was collected" + records);
  }

  @Override
  protected void reportUntracedLeak(String resourceType) {
    reports.add(resourceType + " was not released before it was collected");
  }

  private static final class Factory extends ResourceLeakDetectorFactory {
    @Override
    public <T> ResourceLeakDetector<T> newResourceLeakDetector(
        Class<T> resource, int samplingInterval) {
      RecordingLeakDetector<T> detector = new RecordingLeakDetector<>(resource, samplingInterval);
      DETECTORS.put(resource, detector);
      return detector;
    }

    @Deprecated
    @SuppressWarnings(
        "InlineMeSuggester") // Netty asks for this method; nobody is to migrate from it
    @Override
    public <T> ResourceLeakDetector<T> newResourceLeakDetector(
        Class<T> resource, int samplingInterval, long maxActive) {
      return newResourceLeakDetector(resource, samplingInterval);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.disni.core.Words.EventWords;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/**
 * A program that collects garbage while a native call holds addresses of memory blocks, and then
 * allocates memory of the same size. Prints how many of the new buffers the call has written to.
 */
final class CollectedBlocks {
  /**
   * Enough for the compiler to compile the method, after which dead locals keep no object alive.
   */
  private static final int CALLS = 1500;

  private static final int BUFFERS = 3000;
  private static final byte MARK = 0x77;

  private CollectedBlocks() {}

  public static void main(String[] arguments) throws Exception {
    try (DisniDevice device = FakeRdmaCore.open(FakeRdmaCore.uri("10.0.1.1:0"))) {
      // No device has this address, so the call asks for its route.
      InetAddress elsewhere = InetAddress.getByName("10.0.1.77");
      for (int i = 0; i < CALLS; i++) {
        assertThat(BoundAddress.find(device.core(), elsewhere)).isNotNull();
      }
      FakeRdmaCore.script("pause rdma_get_cm_event");
      FutureTask<@Nullable BoundAddress> finding =
          new FutureTask<>(() -> BoundAddress.find(device.core(), elsewhere));
      new Thread(finding).start();
      Awaitility.await().until(() -> FakeRdmaCore.tells("is-paused rdma_get_cm_event"));

      collect();
      List<ByteBuffer> buffers = buffers();
      FakeRdmaCore.script("resume rdma_get_cm_event");
      finding.get(10, SECONDS);

      System.out.println(
          "overwritten: " + buffers.stream().filter(CollectedBlocks::isOverwritten).count());
    }
  }

  /** Repeats the collection, because another thread frees the memory after each one. */
  private static void collect() {
    for (int round = 0; round < 4; round++) {
      WeakReference<Object> garbage = new WeakReference<>(new Object());
      Awaitility.await()
          .atMost(10, SECONDS)
          .until(
              () -> {
                System.gc();
                return garbage.refersTo(null);
              });
    }
  }

  private static List<ByteBuffer> buffers() {
    List<ByteBuffer> buffers = new ArrayList<>();
    for (int i = 0; i < BUFFERS; i++) {
      ByteBuffer buffer = ByteBuffer.allocateDirect(EventWords.values().length * Long.BYTES);
      for (int at = 0; at < buffer.capacity(); at++) {
        buffer.put(at, MARK);
      }
      buffers.add(buffer);
    }
    return buffers;
  }

  private static boolean isOverwritten(ByteBuffer buffer) {
    for (int at = 0; at < buffer.capacity(); at++) {
      if (buffer.get(at) != MARK) {
        return true;
      }
    }
    return false;
  }
}

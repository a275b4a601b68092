// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.verbena.emulated.Caller;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

/** A send queue allocates memory for outstanding requests, not for its full depth. */
class SendQueueGrowthTest {
  private static final URI ADDRESS =
      URI.create("emulated://growth?wire=simulated&loss=0.005&reorder=0.05&duplicate=0.05&seed=3");
  private static final int DEPTH = 50;
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @Test
  void aQueueThatIsNotUsedTakesLittleWhateverItsDepth() {
    try (Caller caller = new Caller(ADDRESS);
        CompletionQueue completions = caller.device.createCompletionQueue(4, null)) {
      long shallow = bytes(caller.domain(), completions, 4);
      long deep = bytes(caller.domain(), completions, 4096);
      assertThat(deep).isLessThan(2 * shallow);
    }
  }

  private static long bytes(ProtectionDomain domain, CompletionQueue completions, int depth) {
    QueuePairOptions options =
        QueuePairOptions.reliable(completions, completions, depth, 1).withInlineData(64);
    long least = Long.MAX_VALUE;
    for (int i = 0; i < 10; i++) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      domain.createQueuePair(options).close();
      least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
    }
    return least;
  }

  @Test
  void aQueueThatGrowsLosesAndMixesUpNothing() throws Exception {
    try (Caller passive = new Caller(ADDRESS);
        Caller active = new Caller(ADDRESS);
        ConnectionListener listener = passive.manager.listen(ADDRESS, 1);
        CompletionQueue completions = active.device.createCompletionQueue(2 * DEPTH, null)) {
      ConnectionIdentifier from =
          active.manager.resolve(listener.address(), Caller.LIMIT.toNanos());
      active.expect(ConnectionEvent.Type.ADDR_RESOLVED);
      try (from;
          QueuePair pair =
              from.createQueuePair(
                  active.domain(),
                  QueuePairOptions.reliable(completions, completions, DEPTH, 1)
                      .withInlineData(Long.BYTES))) {
        from.connect(ConnectionParameters.defaults(), Caller.LIMIT.toNanos());
        ConnectionIdentifier to = passive.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier();
        assertThat(passive.queuePair(to).number()).isPositive();
        to.accept(ConnectionParameters.defaults());
        active.expect(ConnectionEvent.Type.ESTABLISHED);

        long value = 0;
        // Posts three requests per poll up to the depth, so that the queue grows half empty.
        int outstanding = 0;
        long polled = 0;
        while (polled < 600) {
          for (int i = 0; i < 3 && outstanding < DEPTH; i++) {
            post(pair, passive, value++);
            outstanding++;
          }
          WorkCompletion done = next(completions);
          assertThat(done.status()).isEqualTo(CompletionStatus.SUCCESS);
          assertThat(done.workRequestId()).isEqualTo(polled);
          passive.bytes.order(ByteOrder.nativeOrder());
          assertThat(passive.bytes.getLong((int) (polled % DEPTH) * Long.BYTES)).isEqualTo(polled);
          polled++;
          outstanding--;
        }
      }
    }
  }

  private static void post(QueuePair pair, Caller to, long value) {
    ByteBuffer inline = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
    pair.postSend(
        new SendWorkRequest(1)
            .id(value)
            .write(to.region.address() + value % DEPTH * Long.BYTES, to.region.rkey())
            .inline(inline.putLong(0, value))
            .signaled());
  }

  @SuppressWarnings("ThreadPriorityCheck") // the driver may need this CPU
  private static WorkCompletion next(CompletionQueue completions) {
    WorkCompletion[] one = WorkCompletion.array(1);
    long end = System.nanoTime() + Caller.LIMIT.toNanos();
    while (completions.poll(one) == 0) {
      assertThat(System.nanoTime()).as("a completion in time").isLessThan(end);
      Thread.yield();
    }
    return one[0];
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.end;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Access;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class EndTest {
  private static final int SIZE = 64;

  private static End open() {
    URI hca = URI.create("emulated://events");
    return End.open(hca, SIZE, Set.of(Access.LOCAL_WRITE), 2, 2, true);
  }

  private static UnmanagedQueuePair pair(End end) {
    return UnmanagedQueuePair.create(end, QueuePairType.RC, 1, 1, 0, 0, Set.of());
  }

  @Test
  void sleepsUntilSomethingCompletesAndNoLonger() throws InterruptedException {
    try (End one = open();
        End other = open()) {
      UnmanagedQueuePair from = pair(one);
      UnmanagedQueuePair to = pair(other);
      from.connect(to.here(), Mtu.MTU_1024, 14, 1, 1);
      to.connect(from.here(), Mtu.MTU_1024, 14, 1, 1);
      to.postReceive(
          new ReceiveWorkRequest().buffer(other.address(0), SIZE, other.region().lkey()));
      other.arm();
      assertThat(other.sleep(0)).isFalse();

      from.pair()
          .postSend(
              new SendWorkRequest()
                  .send()
                  .signaled()
                  .buffer(one.address(0), SIZE, one.region().lkey()));

      assertThat(other.sleep(TimeUnit.MINUTES.toNanos(1))).isTrue();
      assertThat(other.received().poll(WorkCompletion.array(2))).isOne();
    }
  }
}

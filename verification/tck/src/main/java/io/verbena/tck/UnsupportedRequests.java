// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.tck.Failures.expectBadPost;
import static io.verbena.verbs.VerbsError.NOT_SUPPORTED;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Access;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** The work requests that a device without a capability must refuse. */
final class UnsupportedRequests {
  private UnsupportedRequests() {}

  /**
   * Asserts that a device refuses all requests that need a missing capability, and that the queue
   * pair stays usable.
   */
  static void assertRefused(Capability missing, EndpointPair pair) {
    for (SendWorkRequest request : requests(missing, pair)) {
      request.id(7).signaled();
      expectBadPost(NOT_SUPPORTED, 7, () -> pair.client().post(request));
    }
    assertThat(pair.client().queuePair().state()).isEqualTo(QueuePairState.RTS);
    pair.client().post(Requests.nothing(8).signaled());
    pair.client().sent().expectSuccess(8, CompletionOpcode.RDMA_WRITE);
    pair.server().received().expectNothing();
  }

  /** Creates requests that need a capability, with memory that permits them. */
  static List<SendWorkRequest> requests(Capability capability, EndpointPair pair) {
    TestMemory local = pair.client().memory(8, Access.LOCAL_WRITE);
    TestMemory remote = pair.server().open(8);
    List<SendWorkRequest> requests = new ArrayList<>();
    switch (capability) {
      case IMMEDIATE_DATA -> requests.add(Requests.writeWithImmediate(0, 1, remote, local));
      case SEND_WITH_IMMEDIATE -> requests.add(Requests.sendWithImmediate(0, 1, local));
      case ATOMICS -> {
        requests.add(Requests.compareAndSwap(0, remote, 0, 1, local));
        requests.add(Requests.fetchAndAdd(0, remote, 1, local));
      }
      case INLINE_DATA -> requests.add(new SendWorkRequest().send().inline(ByteBuffer.allocate(8)));
      case SEND_WITH_INVALIDATE -> requests.add(new SendWorkRequest().sendWithInvalidate(1));
      case LOCAL_INVALIDATE -> requests.add(new SendWorkRequest().localInvalidate(1));
      default -> throw new IllegalArgumentException("no work request needs " + capability);
    }
    return requests;
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import java.nio.ByteBuffer;

/** A way to RDMA from Java. */
enum Layer {
  VERBS("verbs SPI") {
    @Override
    ActiveEnd active(ConnectionAddress address, ByteBuffer block, RemoteBlock target)
        throws Exception {
      return new VerbsActive(address, block, target);
    }

    @Override
    PassiveEnd passive(ConnectionAddress address, Job job, ByteBuffer block) {
      return new VerbsPassive(address, block);
    }
  },
  REACTIVE("Mono / Flux") {
    @Override
    ActiveEnd active(ConnectionAddress address, ByteBuffer block, RemoteBlock target) {
      return new ReactiveActive(address, block, target);
    }

    @Override
    PassiveEnd passive(ConnectionAddress address, Job job, ByteBuffer block) {
      return new ReactivePassive(address, job, block);
    }
  },
  DISNI("stock DiSNI") {
    @Override
    ActiveEnd active(ConnectionAddress address, ByteBuffer block, RemoteBlock target)
        throws Exception {
      return new DisniActive(address, block, target);
    }

    @Override
    PassiveEnd passive(ConnectionAddress address, Job job, ByteBuffer block) throws Exception {
      return new DisniPassive(address, block);
    }
  };

  private final String title;

  Layer(String title) {
    this.title = title;
  }

  /** For people. */
  String title() {
    return title;
  }

  /** Connects; {@code block} is what is written. */
  abstract ActiveEnd active(ConnectionAddress address, ByteBuffer block, RemoteBlock target)
      throws Exception;

  /** Listens; {@code block} is what is written to. */
  abstract PassiveEnd passive(ConnectionAddress address, Job job, ByteBuffer block)
      throws Exception;
}

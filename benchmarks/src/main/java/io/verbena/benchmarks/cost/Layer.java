// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import java.nio.ByteBuffer;

/** A Java layer over RDMA: the verbs SPI, unless the constant overrides the two ends. */
enum Layer {
  VERBS("SPI on disni://", ConnectionAddress.RXE),
  /** On JDK 22 and later. */
  FOREIGN("SPI on verbs://", ConnectionAddress.FOREIGN),
  REACTIVE("Mono / Flux", ConnectionAddress.RXE) {
    @Override
    ActiveEnd active(ConnectionAddress address, ByteBuffer block, RemoteBlock target) {
      return new ReactiveActive(address, block, target);
    }

    @Override
    PassiveEnd passive(ConnectionAddress address, Job job, ByteBuffer block) {
      return new ReactivePassive(address, job, block);
    }
  },
  DISNI("stock DiSNI", ConnectionAddress.RXE) {
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
  private final String scheme;

  Layer(String title, String scheme) {
    this.title = title;
    this.scheme = scheme;
  }

  /** Returns the human-readable name. */
  String title() {
    return title;
  }

  /** Returns the scheme of the device that it opens. */
  String scheme() {
    return scheme;
  }

  /** Connects an end that writes {@code block} to {@code target}. */
  ActiveEnd active(ConnectionAddress address, ByteBuffer block, RemoteBlock target)
      throws Exception {
    return new VerbsActive(address, block, target);
  }

  /** Listens with an end whose {@code block} is written to. */
  PassiveEnd passive(ConnectionAddress address, Job job, ByteBuffer block) throws Exception {
    return new VerbsPassive(address, block);
  }
}

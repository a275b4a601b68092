package io.verbena.benchmarks.cost;

import java.nio.ByteBuffer;

/** A way to RDMA from Java. */
enum Layer {
  VERBS("verbs SPI") {
    @Override
    ActiveEnd active(Place place, ByteBuffer block, Target target) throws Exception {
      return new VerbsActive(place, block, target);
    }

    @Override
    PassiveEnd passive(Place place, Job job, ByteBuffer block) {
      return new VerbsPassive(place, block);
    }
  },
  REACTIVE("Mono / Flux") {
    @Override
    ActiveEnd active(Place place, ByteBuffer block, Target target) {
      return new ReactiveActive(place, block, target);
    }

    @Override
    PassiveEnd passive(Place place, Job job, ByteBuffer block) {
      return new ReactivePassive(place, job, block);
    }
  },
  DISNI("stock DiSNI") {
    @Override
    ActiveEnd active(Place place, ByteBuffer block, Target target) throws Exception {
      return new DisniActive(place, block, target);
    }

    @Override
    PassiveEnd passive(Place place, Job job, ByteBuffer block) throws Exception {
      return new DisniPassive(place, block);
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
  abstract ActiveEnd active(Place place, ByteBuffer block, Target target) throws Exception;

  /** Listens; {@code block} is what is written to. */
  abstract PassiveEnd passive(Place place, Job job, ByteBuffer block) throws Exception;
}

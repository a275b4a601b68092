package io.verbena.samples.blockstore;

import java.util.List;
import java.util.function.BiConsumer;

/** What a job's rounds brought, on one twin and on the other; the first round was to warm up. */
record Rounds<R>(Twin first, Twin second, List<R> rdma, List<R> tcp) {

  void forEach(BiConsumer<Twin, R> action) {
    rdma.forEach(result -> action.accept(first, result));
    tcp.forEach(result -> action.accept(second, result));
  }
}

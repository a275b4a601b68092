// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.core.RdmaCore;
import io.verbena.disni.core.Words.KeyWords;
import io.verbena.disni.core.Words.QueuePairWords;
import io.verbena.verbs.Access;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.VerbsException;
import java.io.IOException;

/**
 * Detects features of a device that no attribute reports, by trial. Each method destroys the
 * objects that it creates before it returns.
 */
final class Probe {
  private static final int[] INLINE_SIZES = {
    4096, 2048, 1024, 912, 512, 400, 256, 220, 188, 128, 96, 64, 32
  };

  private final RdmaCore core;
  private final long context;

  Probe(RdmaCore core, long context) {
    this.core = core;
    this.context = context;
  }

  /** A trial on a native object that is created for it. */
  private interface Trial {
    long on(long object) throws IOException;
  }

  private long withDomain(Trial trial) {
    try {
      long domain = core.allocPd(context);
      try {
        return trial.on(domain);
      } finally {
        Errno.check("deallocate probe's domain", core.deallocateDomain(domain));
      }
    } catch (IOException e) {
      throw Errno.failure("probe", e);
    }
  }

  private long withCompletionQueue(Trial trial) throws IOException {
    Block granted = new Block(Long.BYTES);
    long queue =
        Errno.check(
            "create probe's completion queue",
            core.createCompletionQueue(context, 4, 0, 0, false, granted.address()));
    granted.keep();
    try {
      return trial.on(queue);
    } finally {
      Errno.check("destroy probe's queue", core.destroyCompletionQueue(queue));
    }
  }

  /** Returns the most bytes of inline data that a queue pair can have. */
  int maxInlineData() {
    for (int size : INLINE_SIZES) {
      if (tryQueuePair(QueuePairType.RC, size) > 0) {
        // The size asked for: the granted size may be rounded up for this small queue pair only.
        return size;
      }
    }
    return 0;
  }

  /** Returns whether the device has queue pairs of this type. */
  boolean hasQueuePairs(QueuePairType type) {
    return can("create " + type + " queue pair", tryQueuePair(type, 0));
  }

  /**
   * Returns whether a trial succeeded.
   *
   * @throws VerbsException if it failed for lack of memory, as by a limit of locked memory, and so
   *     shows nothing
   */
  private static boolean can(String what, long result) {
    if (result == -Errno.ENOMEM || result == -Errno.EAGAIN) {
      throw Errno.failure("probe: " + what, result);
    }
    return result >= 0;
  }

  /** Creates and destroys a queue pair; returns a positive number or a negative errno. */
  private long tryQueuePair(QueuePairType type, int inline) {
    Block words = Block.of(QueuePairWords.values());
    return withDomain(
        domain ->
            withCompletionQueue(
                queue -> {
                  words
                      .set(QueuePairWords.TYPE, type.code())
                      .set(QueuePairWords.SEND_CQ, queue)
                      .set(QueuePairWords.RECV_CQ, queue)
                      .set(QueuePairWords.MAX_SEND_WR, 1)
                      .set(QueuePairWords.MAX_RECV_WR, 1)
                      .set(QueuePairWords.MAX_SEND_SGE, 1)
                      .set(QueuePairWords.MAX_RECV_SGE, 1)
                      .set(QueuePairWords.MAX_INLINE_DATA, inline);
                  long pair = core.createQueuePair(domain, words.address());
                  words.keep();
                  if (pair > 0) {
                    Errno.check("destroy probe's queue pair", core.destroyQueuePair(pair));
                  }
                  return pair;
                }));
  }

  boolean resizesCompletionQueues() {
    return can(
        "resize completion queue",
        withDomain(domain -> withCompletionQueue(queue -> core.resizeCompletionQueue(queue, 8))));
  }

  boolean reregisters() {
    Block memory = new Block(4096);
    Block keys = Block.of(KeyWords.values());
    return can("reregister memory", withDomain(domain -> reregister(domain, memory, keys)));
  }

  private int reregister(long domain, Block memory, Block keys) throws IOException {
    long region =
        core.regMr(
            domain,
            memory.address(),
            4096,
            0,
            keys.address(),
            keys.address() + 4,
            keys.address() + 8);
    int changeAccess = 4;
    int done =
        core.reregister(
            region,
            changeAccess,
            domain,
            memory.address(),
            4096,
            Access.LOCAL_WRITE.bit(),
            keys.address());
    core.deregMr(region);
    memory.keep();
    keys.keep();
    return done;
  }
}

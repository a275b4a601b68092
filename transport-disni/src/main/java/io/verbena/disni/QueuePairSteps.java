// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.address.DisniAddress;
import io.verbena.disni.core.RdmaCore;
import io.verbena.disni.core.Words.AttributeWords;
import io.verbena.verbs.Access;
import io.verbena.verbs.QueuePairState;

/**
 * Moves the queue pair of a connection, in the steps of librdmacm's {@code ucma_init_conn_qp},
 * {@code ucma_modify_qp_rtr} and {@code ucma_modify_qp_rts}, but with the rights, the GID and the
 * timers of the program: the kernel's rights include atomics, also where the device has none and
 * refuses them. So librdmacm must not know of the queue pair ({@code rdma_cm_id.qp}). With iWARP
 * the kernel moves it from INIT on.
 *
 * <p>Each step returns 0 or a negative errno.
 */
final class QueuePairSteps {
  /** {@code IBV_QP_STATE}. */
  private static final long STATE = 1;

  /**
   * The attributes that old kernels added for RoCE (IBV_QP bits 21 to 23), and that librdmacm
   * leaves out elsewhere.
   */
  private static final long ROCE_ATTRIBUTES = 0xe00000;

  /** A code of IBTA volume 1, table 45: 0.64 ms, as perftest has it. */
  private static final int RNR_TIMER = 12;

  private final DisniDevice device;
  private final RdmaCore core;
  private final long identifier;
  private final DisniAddress options;
  private final Block words = Block.of(AttributeWords.values());

  QueuePairSteps(DisniDevice device, long identifier, DisniAddress options) {
    this.device = device;
    core = device.core();
    this.identifier = identifier;
    this.options = options;
  }

  /** From RESET to INIT, where it may have receives. */
  int initialize(long pair) {
    int agreed = core.negotiate(identifier, pair);
    return agreed < 0 ? agreed : toInit(pair);
  }

  /** To INIT, from RESET or again. */
  private int toInit(long pair) {
    int known = attributesFor(QueuePairState.INIT);
    if (known < 0) {
      return known;
    }
    words.set(AttributeWords.ACCESS_FLAGS, Access.bits(device.context().remoteRights()));
    return modify(pair);
  }

  /** To RTS, with what the peer has accepted. */
  int toReady(long pair) {
    int agreed = core.negotiate(identifier, pair);
    return agreed < 0 ? agreed : toReady(pair, DisniAddress.UNSET, DisniAddress.UNSET);
  }

  /** To RTS, with what this end accepts. */
  int toReady(long pair, int responderResources, int initiatorDepth) {
    if (device.context().quirks().isIwarp()) {
      return 0;
    }
    int done = toInit(pair);
    done = done < 0 ? done : toReceive(pair, responderResources);
    return done < 0 ? done : toSend(pair, initiatorDepth);
  }

  int toError(long pair) {
    words.set(AttributeWords.MASK, STATE).set(AttributeWords.STATE, QueuePairState.ERR.code());
    return modify(pair);
  }

  private int toReceive(long pair, int responderResources) {
    int known = attributesFor(QueuePairState.RTR);
    if (known < 0) {
      return known;
    }
    DisniPort port = device.context().port(words.getInt(AttributeWords.AV_PORT));
    int isInfiniBand = port.askInfiniBand();
    if (isInfiniBand < 0) {
      return isInfiniBand;
    }
    if (isInfiniBand == 1) {
      words.set(AttributeWords.MASK, words.get(AttributeWords.MASK) & ~ROCE_ATTRIBUTES);
    } else {
      chooseGid(port);
      setIfGiven(AttributeWords.AV_TRAFFIC_CLASS, options.tos());
    }
    setIfGiven(AttributeWords.MAX_DEST_RD_ATOMIC, responderResources);
    // The kernel has 0, which is 0.655 s.
    if (!device.context().quirks().losesShortWaits()) {
      words.set(AttributeWords.MIN_RNR_TIMER, RNR_TIMER);
    }
    setIfGiven(AttributeWords.MIN_RNR_TIMER, options.rnrTimer());
    return modify(pair);
  }

  /** Chooses the program's GID, if it is the same address as the one that the kernel has chosen. */
  private void chooseGid(DisniPort port) {
    int wish = options.gid() == DisniAddress.UNSET ? device.gid() : options.gid();
    int chosen = words.getInt(AttributeWords.AV_SGID_INDEX);
    if (wish != DisniAddress.UNSET && port.isSameGid(chosen, wish)) {
      words.set(AttributeWords.AV_SGID_INDEX, wish);
    }
  }

  private int toSend(long pair, int initiatorDepth) {
    int known = attributesFor(QueuePairState.RTS);
    if (known < 0) {
      return known;
    }
    setIfGiven(AttributeWords.TIMEOUT, options.ackTimeout());
    setIfGiven(AttributeWords.MAX_QP_RD_ATOMIC, initiatorDepth);
    return modify(pair);
  }

  private int attributesFor(QueuePairState state) {
    return core.connectionAttributes(identifier, state.code(), words.address());
  }

  private void setIfGiven(AttributeWords word, int value) {
    if (value != DisniAddress.UNSET) {
      words.set(word, value);
    }
  }

  private int modify(long pair) {
    return core.modifyQueuePair(pair, words.address());
  }
}

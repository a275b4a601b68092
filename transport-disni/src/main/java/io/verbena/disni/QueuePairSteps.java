// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.address.DisniAddress;
import io.verbena.disni.core.RdmaCore;
import io.verbena.disni.core.Words.AttributeWords;
import io.verbena.verbs.Access;
import io.verbena.verbs.QueuePairState;

/**
 * Moves the queue pair of a connection from state to state, as librdmacm's {@code
 * ucma_init_conn_qp}, {@code ucma_modify_qp_rtr} and {@code ucma_modify_qp_rts} do, but with access
 * flags, GID and timers of its own. (The kernel's access flags include atomics even for a device
 * that refuses them.) So librdmacm must not know the queue pair: {@code rdma_cm_id.qp} stays NULL.
 * On iWARP the kernel moves the queue pair from INIT on.
 *
 * <p>Each step returns 0 or a negative errno.
 */
final class QueuePairSteps {
  /** {@code IBV_QP_STATE}. */
  private static final long STATE = 1;

  /**
   * The bits 21 to 23 of the attribute mask, which old kernels set for RoCE and which librdmacm
   * clears for InfiniBand.
   */
  private static final long ROCE_ATTRIBUTES = 0xe00000;

  /** A code of IBTA volume 1, table 45: 0.64 ms, the value of perftest. */
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

  /** Moves from RESET to INIT, where receives may be posted. */
  int initialize(long pair) {
    int agreed = core.negotiate(identifier, pair);
    return agreed < 0 ? agreed : toInit(pair);
  }

  /** Moves to INIT, from RESET or from INIT. */
  private int toInit(long pair) {
    int known = attributesFor(QueuePairState.INIT);
    if (known < 0) {
      return known;
    }
    words.set(AttributeWords.ACCESS_FLAGS, Access.bits(device.context().remoteRights()));
    return modify(pair);
  }

  /** Moves to RTS, with the parameters that the peer has accepted. */
  int toReady(long pair) {
    int agreed = core.negotiate(identifier, pair);
    return agreed < 0 ? agreed : toReady(pair, DisniAddress.UNSET, DisniAddress.UNSET);
  }

  /** Moves to RTS, with the parameters that this end accepts. */
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
    // The kernel sets 0, which means 655.36 ms.
    if (!device.context().quirks().losesShortWaits()) {
      words.set(AttributeWords.MIN_RNR_TIMER, RNR_TIMER);
    }
    setIfGiven(AttributeWords.MIN_RNR_TIMER, options.rnrTimer());
    return modify(pair);
  }

  /**
   * Sets the GID of the program's address options, if it is the same IP address as the kernel's
   * GID.
   */
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

// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.core.Words.AttributeWords;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairAttributes.Field;
import io.verbena.verbs.QueuePairState;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/** Converts queue pair attributes between the SPI and the words of {@code struct ibv_qp_attr}. */
final class AttributeBlock {

  /** {@code enum ibv_qp_attr_mask}. */
  private static final Map<Field, Integer> BITS = new EnumMap<>(Field.class);

  static {
    BITS.put(Field.STATE, 1);
    BITS.put(Field.CUR_STATE, 1 << 1);
    BITS.put(Field.EN_SQD_ASYNC_NOTIFY, 1 << 2);
    BITS.put(Field.ACCESS_FLAGS, 1 << 3);
    BITS.put(Field.PKEY_INDEX, 1 << 4);
    BITS.put(Field.PORT, 1 << 5);
    BITS.put(Field.QKEY, 1 << 6);
    BITS.put(Field.AV, 1 << 7);
    BITS.put(Field.PATH_MTU, 1 << 8);
    BITS.put(Field.TIMEOUT, 1 << 9);
    BITS.put(Field.RETRY_CNT, 1 << 10);
    BITS.put(Field.RNR_RETRY, 1 << 11);
    BITS.put(Field.RQ_PSN, 1 << 12);
    BITS.put(Field.MAX_QP_RD_ATOMIC, 1 << 13);
    BITS.put(Field.MIN_RNR_TIMER, 1 << 15);
    BITS.put(Field.SQ_PSN, 1 << 16);
    BITS.put(Field.MAX_DEST_RD_ATOMIC, 1 << 17);
    BITS.put(Field.DEST_QPN, 1 << 20);
  }

  private AttributeBlock() {}

  /**
   * Writes all attributes, with a mask of those that are set.
   *
   * @param port the port number of the queue pair, also used for the address vector
   */
  static Block write(QueuePairAttributes attributes, int port) {
    Block words = Block.of(AttributeWords.values());
    long mask = 0;
    for (Field field : attributes.fields()) {
      mask |= BITS.getOrDefault(field, 0);
    }
    words
        .set(AttributeWords.MASK, mask)
        .set(AttributeWords.STATE, attributes.state().code())
        .set(AttributeWords.CUR_STATE, attributes.currentState().code())
        .set(AttributeWords.EN_SQD_ASYNC_NOTIFY, attributes.drainedNotify() ? 1 : 0)
        .set(AttributeWords.ACCESS_FLAGS, Access.bits(attributes.access()))
        .set(AttributeWords.PKEY_INDEX, attributes.pkeyIndex())
        .set(AttributeWords.PORT, attributes.port())
        .set(AttributeWords.QKEY, attributes.queueKey() & 0xffff_ffffL)
        .set(AttributeWords.PATH_MTU, attributes.pathMtu().code())
        .set(AttributeWords.TIMEOUT, attributes.timeout())
        .set(AttributeWords.RETRY_CNT, attributes.retryCount())
        .set(AttributeWords.RNR_RETRY, attributes.rnrRetry())
        .set(AttributeWords.RQ_PSN, attributes.receivePsn())
        .set(AttributeWords.MAX_QP_RD_ATOMIC, attributes.maxReadAtomic())
        .set(AttributeWords.MIN_RNR_TIMER, attributes.minRnrTimer())
        .set(AttributeWords.SQ_PSN, attributes.sendPsn())
        .set(AttributeWords.MAX_DEST_RD_ATOMIC, attributes.maxDestinationReadAtomic())
        .set(AttributeWords.DEST_QPN, attributes.destinationQueuePair());
    AddressVector vector = attributes.addressVector();
    if (vector != null) {
      words
          .set(AttributeWords.AV_GID_HIGH, vector.destination().high())
          .set(AttributeWords.AV_GID_LOW, vector.destination().low())
          .set(AttributeWords.AV_SGID_INDEX, vector.sourceGidIndex())
          .set(AttributeWords.AV_HOP_LIMIT, vector.hopLimit())
          .set(AttributeWords.AV_TRAFFIC_CLASS, vector.trafficClass())
          .set(AttributeWords.AV_FLOW_LABEL, vector.flowLabel())
          .set(AttributeWords.AV_LID, vector.lid())
          .set(AttributeWords.AV_SL, vector.serviceLevel())
          .set(AttributeWords.AV_PORT, port);
    }
    return words;
  }

  /** Reads the result of {@code ibv_query_qp(3)}: those attributes that are valid in its state. */
  static QueuePairAttributes read(Block words) {
    QueuePairState state = state(words);
    QueuePairAttributes attributes = new QueuePairAttributes();
    attributes.state(state).currentState(state);
    if (state == QueuePairState.RESET) {
      return attributes;
    }
    attributes
        .access(access(words.getInt(AttributeWords.ACCESS_FLAGS)))
        .pkeyIndex(words.getInt(AttributeWords.PKEY_INDEX))
        .port(words.getInt(AttributeWords.PORT))
        .queueKey(words.getInt(AttributeWords.QKEY))
        .timeout(words.getInt(AttributeWords.TIMEOUT))
        .retryCount(words.getInt(AttributeWords.RETRY_CNT))
        .rnrRetry(words.getInt(AttributeWords.RNR_RETRY))
        .receivePsn(words.getInt(AttributeWords.RQ_PSN))
        .maxReadAtomic(words.getInt(AttributeWords.MAX_QP_RD_ATOMIC))
        .minRnrTimer(words.getInt(AttributeWords.MIN_RNR_TIMER))
        .sendPsn(words.getInt(AttributeWords.SQ_PSN))
        .maxDestinationReadAtomic(words.getInt(AttributeWords.MAX_DEST_RD_ATOMIC))
        .destinationQueuePair(words.getInt(AttributeWords.DEST_QPN));
    if (words.getInt(AttributeWords.PATH_MTU) != 0) {
      attributes
          .pathMtu(DisniPort.mtu(words.getInt(AttributeWords.PATH_MTU)))
          .addressVector(
              new AddressVector(
                  new Gid(
                      words.get(AttributeWords.AV_GID_HIGH), words.get(AttributeWords.AV_GID_LOW)),
                  words.getInt(AttributeWords.AV_SGID_INDEX),
                  words.getInt(AttributeWords.AV_HOP_LIMIT),
                  words.getInt(AttributeWords.AV_TRAFFIC_CLASS),
                  words.getInt(AttributeWords.AV_FLOW_LABEL),
                  words.getInt(AttributeWords.AV_LID),
                  // Without a LID this is an Ethernet priority, which some drivers return.
                  words.getInt(AttributeWords.AV_LID) == 0
                      ? 0
                      : words.getInt(AttributeWords.AV_SL)));
    }
    return attributes;
  }

  /** Returns the state in the result of {@code ibv_query_qp(3)}. */
  static QueuePairState state(Block words) {
    return QueuePairState.of(words.getInt(AttributeWords.STATE));
  }

  private static Set<Access> access(int bits) {
    EnumSet<Access> access = EnumSet.noneOf(Access.class);
    for (Access right : Access.values()) {
      if ((bits & right.bit()) != 0) {
        access.add(right);
      }
    }
    return access;
  }
}

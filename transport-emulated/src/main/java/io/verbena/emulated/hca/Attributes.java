// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.AddressVector;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairAttributes.Field;

/** Merges attributes of a queue pair. */
final class Attributes {
  private Attributes() {}

  /** Sets in {@code to} all attributes that are set in {@code from}. */
  static void merge(QueuePairAttributes from, QueuePairAttributes to) {
    for (Field field : from.fields()) {
      merge(field, from, to);
    }
  }

  private static void merge(Field field, QueuePairAttributes from, QueuePairAttributes to) {
    switch (field) {
      case STATE -> to.state(from.state());
      case CUR_STATE -> to.currentState(from.currentState());
      case EN_SQD_ASYNC_NOTIFY -> to.drainedNotify(from.drainedNotify());
      case ACCESS_FLAGS -> to.access(from.access());
      case PKEY_INDEX -> to.pkeyIndex(from.pkeyIndex());
      case PORT -> to.port(from.port());
      case QKEY -> to.queueKey(from.queueKey());
      case AV -> {
        AddressVector vector = from.addressVector();
        if (vector != null) {
          to.addressVector(vector);
        }
      }
      case PATH_MTU -> to.pathMtu(from.pathMtu());
      case TIMEOUT -> to.timeout(from.timeout());
      case RETRY_CNT -> to.retryCount(from.retryCount());
      case RNR_RETRY -> to.rnrRetry(from.rnrRetry());
      case RQ_PSN -> to.receivePsn(from.receivePsn());
      case MAX_QP_RD_ATOMIC -> to.maxReadAtomic(from.maxReadAtomic());
      case MIN_RNR_TIMER -> to.minRnrTimer(from.minRnrTimer());
      case SQ_PSN -> to.sendPsn(from.sendPsn());
      case MAX_DEST_RD_ATOMIC -> to.maxDestinationReadAtomic(from.maxDestinationReadAtomic());
      case DEST_QPN -> to.destinationQueuePair(from.destinationQueuePair());
    }
  }
}

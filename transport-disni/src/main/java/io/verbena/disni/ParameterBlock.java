// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.core.Words.ParameterWords;
import io.verbena.verbs.ConnectionParameters;

/**
 * The parameters of a connect or an accept ({@code struct rdma_conn_param}), with its private data.
 */
final class ParameterBlock {
  private final Block words = Block.of(ParameterWords.values());
  private final Block data;

  ParameterBlock(
      ConnectionParameters offered,
      DisniQueuePair pair,
      int responderResources,
      int initiatorDepth) {
    data = Block.copyOf(offered.privateData());
    words
        .set(ParameterWords.PRIVATE_DATA, data.address())
        .set(ParameterWords.PRIVATE_DATA_LENGTH, offered.privateData().remaining())
        .set(ParameterWords.RESPONDER_RESOURCES, responderResources)
        .set(ParameterWords.INITIATOR_DEPTH, initiatorDepth)
        .set(ParameterWords.RETRY_COUNT, offered.retryCount())
        .set(ParameterWords.RNR_RETRY_COUNT, offered.rnrRetryCount())
        .set(ParameterWords.QP_NUM, pair.number())
        .set(ParameterWords.SRQ, pair.sharedReceiveQueue() == null ? 0 : 1);
  }

  long address() {
    return words.address();
  }

  /**
   * Keeps both blocks from being freed; to be called after the native call that has the address.
   */
  void keep() {
    words.keep();
    data.keep();
  }
}

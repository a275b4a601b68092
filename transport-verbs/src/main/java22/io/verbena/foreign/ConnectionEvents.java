// SPDX-License-Identifier: Apache-2.0
package io.verbena.foreign;

import io.verbena.disni.core.Words.EventWords;
import io.verbena.disni.core.Words.ParameterWords;

/** Converts connection events and parameters between Java's words and librdmacm's structures. */
final class ConnectionEvents {
  private static final int QPT_UD = 4;
  private static final int MAX_BYTE = 255;

  private ConnectionEvents() {}

  /** Reads an event; the words of the other kind of parameters become 0. */
  static void read(long event, WordBlock words, long data) {
    for (EventWords word : EventWords.values()) {
      words.set(word, 0);
    }
    long id = Memory.getLong(event + Structures.EVENT_ID);
    long parameters = event + Structures.EVENT_PARAMETERS;
    long source = Memory.getLong(parameters + Structures.PARAMETERS_DATA);
    int length =
        source == 0 ? 0 : Memory.getUnsignedByte(parameters + Structures.PARAMETERS_DATA_LENGTH);
    words.set(EventWords.TYPE, Memory.getInt(event + Structures.EVENT_TYPE));
    words.set(EventWords.IDENTIFIER, id);
    words.set(EventWords.LISTENER, Memory.getLong(event + Structures.EVENT_LISTENER));
    words.set(EventWords.STATUS, Memory.getInt(event + Structures.EVENT_STATUS));
    words.set(EventWords.PRIVATE_DATA_LENGTH, length);
    // The identifier of a connect request has the type of its listener.
    if (id != 0 && Memory.getInt(id + Structures.ID_QP_TYPE) == QPT_UD) {
      readDatagram(parameters, words);
    } else {
      readConnection(parameters, words);
    }
    Memory.copy(source, data, length);
  }

  private static void readConnection(long from, WordBlock words) {
    words.set(
        EventWords.RESPONDER_RESOURCES,
        Memory.getUnsignedByte(from + Structures.PARAMETERS_RESPONDER_RESOURCES));
    words.set(
        EventWords.INITIATOR_DEPTH,
        Memory.getUnsignedByte(from + Structures.PARAMETERS_INITIATOR_DEPTH));
    words.set(
        EventWords.RETRY_COUNT, Memory.getUnsignedByte(from + Structures.PARAMETERS_RETRY_COUNT));
    words.set(
        EventWords.RNR_RETRY_COUNT,
        Memory.getUnsignedByte(from + Structures.PARAMETERS_RNR_RETRY_COUNT));
    words.set(EventWords.PEER_QP_NUM, Memory.getInt(from + Structures.PARAMETERS_QP_NUM));
  }

  private static void readDatagram(long from, WordBlock words) {
    long vector = from + Structures.UD_AV;
    words.set(EventWords.PEER_QP_NUM, Memory.getInt(from + Structures.UD_QP_NUM));
    words.set(EventWords.QUEUE_KEY, Memory.getInt(from + Structures.UD_QKEY));
    words.set(EventWords.GID_HIGH, Attributes.gidHigh(vector));
    words.set(EventWords.GID_LOW, Attributes.gidLow(vector));
    words.set(EventWords.SGID_INDEX, Memory.getUnsignedByte(vector + Structures.AH_SGID_INDEX));
    words.set(EventWords.HOP_LIMIT, Memory.getUnsignedByte(vector + Structures.AH_HOP_LIMIT));
    words.set(
        EventWords.TRAFFIC_CLASS, Memory.getUnsignedByte(vector + Structures.AH_TRAFFIC_CLASS));
    words.set(EventWords.FLOW_LABEL, Memory.getInt(vector + Structures.AH_FLOW_LABEL));
    words.set(EventWords.LID, Memory.getUnsignedShort(vector + Structures.AH_DLID));
    words.set(EventWords.SL, Memory.getUnsignedByte(vector + Structures.AH_SL));
  }

  /**
   * Returns whether parameters can be written: their fields have 8 bits, except the pointer and the
   * queue pair number.
   */
  static boolean fit(WordBlock words) {
    for (ParameterWords word : ParameterWords.values()) {
      boolean isByte = word != ParameterWords.PRIVATE_DATA && word != ParameterWords.QP_NUM;
      if (isByte && (words.get(word) & ~MAX_BYTE) != 0) {
        return false;
      }
    }
    return true;
  }

  static void write(WordBlock words, long to) {
    Memory.putLong(to + Structures.PARAMETERS_DATA, words.get(ParameterWords.PRIVATE_DATA));
    Memory.putByte(
        to + Structures.PARAMETERS_DATA_LENGTH, words.get(ParameterWords.PRIVATE_DATA_LENGTH));
    Memory.putByte(
        to + Structures.PARAMETERS_RESPONDER_RESOURCES,
        words.get(ParameterWords.RESPONDER_RESOURCES));
    Memory.putByte(
        to + Structures.PARAMETERS_INITIATOR_DEPTH, words.get(ParameterWords.INITIATOR_DEPTH));
    Memory.putByte(to + Structures.PARAMETERS_RETRY_COUNT, words.get(ParameterWords.RETRY_COUNT));
    Memory.putByte(
        to + Structures.PARAMETERS_RNR_RETRY_COUNT, words.get(ParameterWords.RNR_RETRY_COUNT));
    Memory.putByte(to + Structures.PARAMETERS_SRQ, words.get(ParameterWords.SRQ));
    Memory.putInt(to + Structures.PARAMETERS_QP_NUM, words.get(ParameterWords.QP_NUM));
  }
}

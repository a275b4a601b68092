// SPDX-License-Identifier: Apache-2.0
package io.verbena.foreign;

import static java.nio.ByteOrder.BIG_ENDIAN;

import io.verbena.disni.core.Words.AttributeWords;
import io.verbena.foreign.Function.Failure;
import java.lang.foreign.Arena;
import java.nio.ByteOrder;

/**
 * Converts attributes of queue pairs, and GIDs, between Java's words and libibverbs' structures.
 */
final class Attributes {
  /** All bits of {@code enum ibv_qp_attr_mask} that have a word. */
  private static final int ALL = 0x1ffff & ~(1 << 14) | 1 << 17 | 1 << 20;

  private final Function modify;
  private final Function query;
  private final Function ofConnection;

  Attributes(Libraries from) {
    ofConnection = from.function("rdma_init_qp_attr", Failure.MINUS_ONE, "PPP");
    modify = from.function("ibv_modify_qp", Failure.STATUS, "PPI");
    query = from.function("ibv_query_qp", Failure.STATUS, "PPIP");
  }

  int modify(long pair, WordBlock words) {
    try (Arena arena = Arena.ofConfined()) {
      long to = ForeignCore.allocate(arena, Structures.QP_SIZE);
      write(words, to);
      return modify.status(pair, to, words.get(AttributeWords.MASK));
    }
  }

  private static void write(WordBlock words, long to) {
    long vector = to + Structures.QP_AV;
    Memory.putInt(to + Structures.QP_STATE, words.get(AttributeWords.STATE));
    Memory.putInt(to + Structures.QP_CUR_STATE, words.get(AttributeWords.CUR_STATE));
    Memory.putByte(
        to + Structures.QP_EN_SQD_ASYNC_NOTIFY, words.get(AttributeWords.EN_SQD_ASYNC_NOTIFY));
    Memory.putInt(to + Structures.QP_ACCESS_FLAGS, words.get(AttributeWords.ACCESS_FLAGS));
    Memory.putShort(to + Structures.QP_PKEY_INDEX, words.get(AttributeWords.PKEY_INDEX));
    Memory.putByte(to + Structures.QP_PORT, words.get(AttributeWords.PORT));
    Memory.putInt(to + Structures.QP_QKEY, words.get(AttributeWords.QKEY));
    writeGid(vector, words.get(AttributeWords.AV_GID_HIGH), words.get(AttributeWords.AV_GID_LOW));
    Memory.putByte(vector + Structures.AH_SGID_INDEX, words.get(AttributeWords.AV_SGID_INDEX));
    Memory.putByte(vector + Structures.AH_HOP_LIMIT, words.get(AttributeWords.AV_HOP_LIMIT));
    Memory.putByte(
        vector + Structures.AH_TRAFFIC_CLASS, words.get(AttributeWords.AV_TRAFFIC_CLASS));
    Memory.putInt(vector + Structures.AH_FLOW_LABEL, words.get(AttributeWords.AV_FLOW_LABEL));
    Memory.putByte(vector + Structures.AH_IS_GLOBAL, words.get(AttributeWords.AV_IS_GLOBAL));
    Memory.putShort(vector + Structures.AH_DLID, words.get(AttributeWords.AV_LID));
    Memory.putByte(vector + Structures.AH_SL, words.get(AttributeWords.AV_SL));
    Memory.putByte(
        vector + Structures.AH_SRC_PATH_BITS, words.get(AttributeWords.AV_SRC_PATH_BITS));
    Memory.putByte(vector + Structures.AH_STATIC_RATE, words.get(AttributeWords.AV_STATIC_RATE));
    Memory.putByte(vector + Structures.AH_PORT, words.get(AttributeWords.AV_PORT));
    Memory.putInt(to + Structures.QP_PATH_MTU, words.get(AttributeWords.PATH_MTU));
    Memory.putByte(to + Structures.QP_TIMEOUT, words.get(AttributeWords.TIMEOUT));
    Memory.putByte(to + Structures.QP_RETRY_CNT, words.get(AttributeWords.RETRY_CNT));
    Memory.putByte(to + Structures.QP_RNR_RETRY, words.get(AttributeWords.RNR_RETRY));
    Memory.putInt(to + Structures.QP_RQ_PSN, words.get(AttributeWords.RQ_PSN));
    Memory.putByte(to + Structures.QP_MAX_RD_ATOMIC, words.get(AttributeWords.MAX_QP_RD_ATOMIC));
    Memory.putByte(to + Structures.QP_MIN_RNR_TIMER, words.get(AttributeWords.MIN_RNR_TIMER));
    Memory.putInt(to + Structures.QP_SQ_PSN, words.get(AttributeWords.SQ_PSN));
    Memory.putByte(
        to + Structures.QP_MAX_DEST_RD_ATOMIC, words.get(AttributeWords.MAX_DEST_RD_ATOMIC));
    Memory.putInt(to + Structures.QP_DEST_QPN, words.get(AttributeWords.DEST_QPN));
  }

  int query(long pair, WordBlock words) {
    try (Arena arena = Arena.ofConfined()) {
      long from = ForeignCore.allocate(arena, Structures.QP_SIZE);
      long unused = ForeignCore.allocate(arena, Structures.QP_WISH_SIZE);
      int result = query.status(pair, from, ALL, unused);
      if (result == 0) {
        read(from, ALL, words);
      }
      return result;
    }
  }

  int ofConnection(long identifier, int state, WordBlock words) {
    try (Arena arena = Arena.ofConfined()) {
      long from = ForeignCore.allocate(arena, Structures.QP_SIZE);
      long mask = ForeignCore.allocate(arena, Integer.BYTES);
      Memory.putInt(from + Structures.QP_STATE, state);
      int result = ofConnection.status(identifier, from, mask);
      if (result == 0) {
        read(from, Memory.getInt(mask), words);
      }
      return result;
    }
  }

  private static void read(long from, int mask, WordBlock words) {
    long vector = from + Structures.QP_AV;
    words.set(AttributeWords.MASK, mask);
    words.set(AttributeWords.STATE, Memory.getInt(from + Structures.QP_STATE));
    words.set(AttributeWords.CUR_STATE, Memory.getInt(from + Structures.QP_CUR_STATE));
    words.set(
        AttributeWords.EN_SQD_ASYNC_NOTIFY,
        Memory.getUnsignedByte(from + Structures.QP_EN_SQD_ASYNC_NOTIFY));
    words.set(AttributeWords.ACCESS_FLAGS, Memory.getInt(from + Structures.QP_ACCESS_FLAGS));
    words.set(AttributeWords.PKEY_INDEX, Memory.getUnsignedShort(from + Structures.QP_PKEY_INDEX));
    words.set(AttributeWords.PORT, Memory.getUnsignedByte(from + Structures.QP_PORT));
    words.set(AttributeWords.QKEY, Memory.getInt(from + Structures.QP_QKEY));
    words.set(AttributeWords.AV_GID_HIGH, gidHigh(vector));
    words.set(AttributeWords.AV_GID_LOW, gidLow(vector));
    words.set(
        AttributeWords.AV_SGID_INDEX, Memory.getUnsignedByte(vector + Structures.AH_SGID_INDEX));
    words.set(
        AttributeWords.AV_HOP_LIMIT, Memory.getUnsignedByte(vector + Structures.AH_HOP_LIMIT));
    words.set(
        AttributeWords.AV_TRAFFIC_CLASS,
        Memory.getUnsignedByte(vector + Structures.AH_TRAFFIC_CLASS));
    words.set(AttributeWords.AV_FLOW_LABEL, Memory.getInt(vector + Structures.AH_FLOW_LABEL));
    words.set(
        AttributeWords.AV_IS_GLOBAL, Memory.getUnsignedByte(vector + Structures.AH_IS_GLOBAL));
    words.set(AttributeWords.AV_LID, Memory.getUnsignedShort(vector + Structures.AH_DLID));
    words.set(AttributeWords.AV_SL, Memory.getUnsignedByte(vector + Structures.AH_SL));
    words.set(
        AttributeWords.AV_SRC_PATH_BITS,
        Memory.getUnsignedByte(vector + Structures.AH_SRC_PATH_BITS));
    words.set(
        AttributeWords.AV_STATIC_RATE, Memory.getUnsignedByte(vector + Structures.AH_STATIC_RATE));
    words.set(AttributeWords.AV_PORT, Memory.getUnsignedByte(vector + Structures.AH_PORT));
    words.set(AttributeWords.PATH_MTU, Memory.getInt(from + Structures.QP_PATH_MTU));
    words.set(AttributeWords.TIMEOUT, Memory.getUnsignedByte(from + Structures.QP_TIMEOUT));
    words.set(AttributeWords.RETRY_CNT, Memory.getUnsignedByte(from + Structures.QP_RETRY_CNT));
    words.set(AttributeWords.RNR_RETRY, Memory.getUnsignedByte(from + Structures.QP_RNR_RETRY));
    words.set(AttributeWords.RQ_PSN, Memory.getInt(from + Structures.QP_RQ_PSN));
    words.set(
        AttributeWords.MAX_QP_RD_ATOMIC,
        Memory.getUnsignedByte(from + Structures.QP_MAX_RD_ATOMIC));
    words.set(
        AttributeWords.MIN_RNR_TIMER, Memory.getUnsignedByte(from + Structures.QP_MIN_RNR_TIMER));
    words.set(AttributeWords.SQ_PSN, Memory.getInt(from + Structures.QP_SQ_PSN));
    words.set(
        AttributeWords.MAX_DEST_RD_ATOMIC,
        Memory.getUnsignedByte(from + Structures.QP_MAX_DEST_RD_ATOMIC));
    words.set(AttributeWords.DEST_QPN, Memory.getInt(from + Structures.QP_DEST_QPN));
  }

  static void writeGid(long vector, long high, long low) {
    Memory.putLong(vector, bigEndian(high));
    Memory.putLong(vector + Long.BYTES, bigEndian(low));
  }

  static long gidHigh(long vector) {
    return bigEndian(Memory.getLong(vector));
  }

  static long gidLow(long vector) {
    return bigEndian(Memory.getLong(vector + Long.BYTES));
  }

  /** Converts to or from network byte order. */
  static long bigEndian(long value) {
    return ByteOrder.nativeOrder() == BIG_ENDIAN ? value : Long.reverseBytes(value);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.foreign;

import static java.nio.ByteOrder.BIG_ENDIAN;

import io.verbena.disni.core.Words.AttributeWords;
import io.verbena.foreign.Function.Failure;
import java.lang.foreign.Arena;
import java.nio.ByteOrder;

/** Attributes of queue pairs, and routes, between Java's words and libibverbs' structures. */
final class Attributes {
  /** All bits of {@code enum ibv_qp_attr_mask} that have a word. */
  private static final int ALL = 0x1ffff & ~(1 << 14) | 1 << 17 | 1 << 20;

  private final Function modify;
  private final Function query;

  Attributes(Libraries from) {
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
    long port = words.get(AttributeWords.PORT);
    long vector = to + Structures.QP_AV;
    Memory.putInt(to + Structures.QP_STATE, words.get(AttributeWords.STATE));
    Memory.putInt(to + Structures.QP_CUR_STATE, words.get(AttributeWords.CUR_STATE));
    Memory.putByte(
        to + Structures.QP_EN_SQD_ASYNC_NOTIFY, words.get(AttributeWords.EN_SQD_ASYNC_NOTIFY));
    Memory.putInt(to + Structures.QP_ACCESS_FLAGS, words.get(AttributeWords.ACCESS_FLAGS));
    Memory.putShort(to + Structures.QP_PKEY_INDEX, words.get(AttributeWords.PKEY_INDEX));
    Memory.putByte(to + Structures.QP_PORT, port);
    Memory.putInt(to + Structures.QP_QKEY, words.get(AttributeWords.QKEY));
    writeVector(
        vector, words.get(AttributeWords.AV_GID_HIGH), words.get(AttributeWords.AV_GID_LOW));
    Memory.putByte(vector + Structures.AH_SGID_INDEX, words.get(AttributeWords.AV_SGID_INDEX));
    Memory.putByte(vector + Structures.AH_HOP_LIMIT, words.get(AttributeWords.AV_HOP_LIMIT));
    Memory.putByte(
        vector + Structures.AH_TRAFFIC_CLASS, words.get(AttributeWords.AV_TRAFFIC_CLASS));
    Memory.putInt(vector + Structures.AH_FLOW_LABEL, words.get(AttributeWords.AV_FLOW_LABEL));
    Memory.putByte(vector + Structures.AH_PORT, port == 0 ? 1 : port);
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
        read(from, words);
      }
      return result;
    }
  }

  private static void read(long from, WordBlock words) {
    long vector = from + Structures.QP_AV;
    words.set(AttributeWords.MASK, ALL);
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

  /** Writes the GID of a route, and that it has one. */
  static void writeVector(long vector, long high, long low) {
    Memory.putLong(vector, bigEndian(high));
    Memory.putLong(vector + Long.BYTES, bigEndian(low));
    Memory.putByte(vector + Structures.AH_IS_GLOBAL, 1);
  }

  static long gidHigh(long vector) {
    return bigEndian(Memory.getLong(vector));
  }

  static long gidLow(long vector) {
    return bigEndian(Memory.getLong(vector + Long.BYTES));
  }

  /** To or from the order of the network. */
  static long bigEndian(long value) {
    return ByteOrder.nativeOrder() == BIG_ENDIAN ? value : Long.reverseBytes(value);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Attributes of a queue pair, for {@link QueuePair#modify} and from {@link QueuePair#query}. Only
 * attributes that were set count, as with the mask of {@code ibv_modify_qp(3)}. Not thread-safe.
 */
public final class QueuePairAttributes {

  /** The attributes; names as in {@code enum ibv_qp_attr_mask}. */
  public enum Field {
    STATE,
    CUR_STATE,
    EN_SQD_ASYNC_NOTIFY,
    ACCESS_FLAGS,
    PKEY_INDEX,
    PORT,
    QKEY,
    AV,
    PATH_MTU,
    TIMEOUT,
    RETRY_CNT,
    RNR_RETRY,
    RQ_PSN,
    MAX_QP_RD_ATOMIC,
    MIN_RNR_TIMER,
    SQ_PSN,
    MAX_DEST_RD_ATOMIC,
    DEST_QPN
  }

  private final EnumSet<Field> fields = EnumSet.noneOf(Field.class);
  private QueuePairState state = QueuePairState.RESET;
  private QueuePairState currentState = QueuePairState.RESET;
  private boolean drainedNotify;
  private Set<Access> access = Set.of();
  private int pkeyIndex;
  private int port;
  private int queueKey;
  private @Nullable AddressVector addressVector;
  private Mtu pathMtu = Mtu.MTU_1024;
  private int timeout;
  private int retryCount;
  private int rnrRetry;
  private int receivePsn;
  private int maxReadAtomic;
  private int minRnrTimer;
  private int sendPsn;
  private int maxDestinationReadAtomic;
  private int destinationQueuePair;

  /** Returns the attributes that were set. */
  public Set<Field> fields() {
    return Collections.unmodifiableSet(fields);
  }

  /** Returns whether this attribute was set. */
  public boolean has(Field field) {
    return fields.contains(field);
  }

  /** Sets the state to go to. */
  public QueuePairAttributes state(QueuePairState value) {
    fields.add(Field.STATE);
    state = value;
    return this;
  }

  /** Sets the expected current state; the call fails in another state. */
  public QueuePairAttributes currentState(QueuePairState value) {
    fields.add(Field.CUR_STATE);
    currentState = value;
    return this;
  }

  /** Sets whether to raise {@link AsyncEvent.Type#SQ_DRAINED}. */
  public QueuePairAttributes drainedNotify(boolean value) {
    fields.add(Field.EN_SQD_ASYNC_NOTIFY);
    drainedNotify = value;
    return this;
  }

  /** Sets what peers may do through this queue pair: remote write, read, atomic. */
  public QueuePairAttributes access(Set<Access> value) {
    fields.add(Field.ACCESS_FLAGS);
    access = Set.copyOf(value);
    return this;
  }

  /** Sets the index of the partition key. */
  public QueuePairAttributes pkeyIndex(int value) {
    fields.add(Field.PKEY_INDEX);
    pkeyIndex = value;
    return this;
  }

  /** Sets the port: the {@link PortAttributes#number} of the device. */
  public QueuePairAttributes port(int value) {
    fields.add(Field.PORT);
    port = value;
    return this;
  }

  /** Sets the queue key that UD messages must carry. */
  public QueuePairAttributes queueKey(int value) {
    fields.add(Field.QKEY);
    queueKey = value;
    return this;
  }

  /** Sets the path to the peer. */
  public QueuePairAttributes addressVector(AddressVector value) {
    fields.add(Field.AV);
    addressVector = value;
    return this;
  }

  /** Sets the path MTU, the most payload of a packet. */
  public QueuePairAttributes pathMtu(Mtu value) {
    fields.add(Field.PATH_MTU);
    pathMtu = value;
    return this;
  }

  /** Sets the acknowledgement timeout, 0 to 31: 4.096 us * 2<sup>value</sup>; 0 waits for ever. */
  public QueuePairAttributes timeout(int value) {
    fields.add(Field.TIMEOUT);
    timeout = value;
    return this;
  }

  /** Sets the number of retries after a {@link #timeout(int) timeout}, 0 to 7. */
  public QueuePairAttributes retryCount(int value) {
    fields.add(Field.RETRY_CNT);
    retryCount = value;
    return this;
  }

  /** Sets the number of retries after an RNR NAK, 0 to 6; 7 retries for ever. */
  public QueuePairAttributes rnrRetry(int value) {
    fields.add(Field.RNR_RETRY);
    rnrRetry = value;
    return this;
  }

  /** Sets the first PSN that the peer will send, 24 bits. */
  public QueuePairAttributes receivePsn(int value) {
    fields.add(Field.RQ_PSN);
    receivePsn = value;
    return this;
  }

  /** Sets the most READs and atomics outstanding ({@code max_rd_atomic}). */
  public QueuePairAttributes maxReadAtomic(int value) {
    fields.add(Field.MAX_QP_RD_ATOMIC);
    maxReadAtomic = value;
    return this;
  }

  /** Sets the RNR timer that peers are to use, a code of 0 to 31 (IBTA volume 1, table 45). */
  public QueuePairAttributes minRnrTimer(int value) {
    fields.add(Field.MIN_RNR_TIMER);
    minRnrTimer = value;
    return this;
  }

  /** Sets the first PSN to send, 24 bits. */
  public QueuePairAttributes sendPsn(int value) {
    fields.add(Field.SQ_PSN);
    sendPsn = value;
    return this;
  }

  /** Sets the most READs and atomics served at once ({@code max_dest_rd_atomic}). */
  public QueuePairAttributes maxDestinationReadAtomic(int value) {
    fields.add(Field.MAX_DEST_RD_ATOMIC);
    maxDestinationReadAtomic = value;
    return this;
  }

  /** Sets the peer's queue pair number, 24 bits. */
  public QueuePairAttributes destinationQueuePair(int value) {
    fields.add(Field.DEST_QPN);
    destinationQueuePair = value;
    return this;
  }

  /** See {@link #state(QueuePairState)}. */
  public QueuePairState state() {
    return state;
  }

  /** See {@link #currentState(QueuePairState)}. */
  public QueuePairState currentState() {
    return currentState;
  }

  /** See {@link #drainedNotify(boolean)}. */
  public boolean drainedNotify() {
    return drainedNotify;
  }

  /** See {@link #access(Set)}. */
  public Set<Access> access() {
    return access;
  }

  /** See {@link #pkeyIndex(int)}. */
  public int pkeyIndex() {
    return pkeyIndex;
  }

  /** See {@link #port(int)}. */
  public int port() {
    return port;
  }

  /** See {@link #queueKey(int)}. */
  public int queueKey() {
    return queueKey;
  }

  /** See {@link #addressVector(AddressVector)}. */
  public @Nullable AddressVector addressVector() {
    return addressVector;
  }

  /** See {@link #pathMtu(Mtu)}. */
  public Mtu pathMtu() {
    return pathMtu;
  }

  /** See {@link #timeout(int)}. */
  public int timeout() {
    return timeout;
  }

  /** See {@link #retryCount(int)}. */
  public int retryCount() {
    return retryCount;
  }

  /** See {@link #rnrRetry(int)}. */
  public int rnrRetry() {
    return rnrRetry;
  }

  /** See {@link #receivePsn(int)}. */
  public int receivePsn() {
    return receivePsn;
  }

  /** See {@link #maxReadAtomic(int)}. */
  public int maxReadAtomic() {
    return maxReadAtomic;
  }

  /** See {@link #minRnrTimer(int)}. */
  public int minRnrTimer() {
    return minRnrTimer;
  }

  /** See {@link #sendPsn(int)}. */
  public int sendPsn() {
    return sendPsn;
  }

  /** See {@link #maxDestinationReadAtomic(int)}. */
  public int maxDestinationReadAtomic() {
    return maxDestinationReadAtomic;
  }

  /** See {@link #destinationQueuePair(int)}. */
  public int destinationQueuePair() {
    return destinationQueuePair;
  }
}

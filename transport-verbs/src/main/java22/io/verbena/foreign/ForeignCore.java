// SPDX-License-Identifier: Apache-2.0
package io.verbena.foreign;

import io.verbena.disni.core.RdmaCore;
import io.verbena.disni.core.Words.AddressWords;
import io.verbena.disni.core.Words.AsyncWords;
import io.verbena.disni.core.Words.KeyWords;
import io.verbena.disni.core.Words.QueuePairWords;
import io.verbena.disni.core.Words.SharedReceiveWords;
import io.verbena.foreign.Function.Failure;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The calls of rdma-core through the foreign function interface. */
final class ForeignCore implements RdmaCore {
  private static final int EAGAIN = 11;
  private static final int ENODEV = 19;
  private static final int EINVAL = 22;
  private static final int EPERM = 1;
  private static final int ECONNREFUSED = 111;
  private static final int EAFNOSUPPORT = 97;
  private static final int EOPNOTSUPP = 95;
  private static final int ENOSYS = 38;
  private static final int NAME_SIZE = 64;
  private static final int ROCE_V2 = 2;
  private static final int BIND_MW = 8;
  private static final int SRQ_LIMIT_MASK = 2;

  /** A value of {@code enum ibv_event_type}. */
  private static final int PORT_ACTIVE = 9;

  private static final int PORT_ERR = 10;

  /** {@code IBV_CQ_ATTR_MODERATE}. */
  private static final int CQ_MODERATE_MASK = 1;

  private static final int AF_INET = 2;
  private static final int AF_INET6 = 10;
  private static final int SOCKADDR_IN = 16;
  private static final int SOCKADDR_IN6 = 28;

  /** A level of {@code rdma_set_option(3)}. */
  private static final int OPTION_ID = 0;

  private static final int OPTION_ID_TOS = 0;

  /** {@code IBV_WC_STANDARD_FLAGS}. */
  private static final int STANDARD_COMPLETIONS = 0x7f;

  private final Waiting waiting;
  private final Contexts contexts;
  private final Attributes attributes;

  private final Function ackAsyncEvent;
  private final Function getAsyncEvent;
  private final Function allocDomain;
  private final Function deallocDomain;
  private final Function register;
  private final Function reregister;
  private final Function deregister;
  private final Function createChannel;
  private final Function destroyChannel;
  private final Function createQueue;
  private final Function resizeQueue;
  private final Function destroyQueue;
  private final Function getCompletionEvent;
  private final Function ackCompletionEvents;
  private final Function createShared;
  private final Function modifyShared;
  private final Function queryShared;
  private final Function destroyShared;
  private final Function createPair;
  private final Function destroyPair;
  private final Function createHandle;
  private final Function destroyHandle;

  private final Function createEventChannel;
  private final Function destroyEventChannel;
  private final Function createId;
  private final Function destroyId;
  private final Function bindAddress;
  private final Function listen;
  private final Function resolveAddress;
  private final Function resolveRoute;
  private final Function disconnect;
  private final Function connect;
  private final Function accept;
  private final Function reject;
  private final Function getEvent;
  private final Function ackEvent;
  private final Function createConnectionPair;
  private final Function establish;
  private final Function setOption;
  private final Function queryEce;
  private final Function setEce;
  private final Function setLocalEce;
  private final Function getRemoteEce;

  /** Memory for {@code struct ibv_mw_bind}, used under the monitor of {@code this}. */
  private final long bind = Arena.global().allocate(Structures.BIND_SIZE, Long.BYTES).address();

  ForeignCore(Libraries from) {
    waiting = new Waiting(from);
    contexts = new Contexts(from);
    attributes = new Attributes(from);
    getAsyncEvent = from.function("ibv_get_async_event", Failure.MINUS_ONE, "PP");
    ackAsyncEvent = from.function("ibv_ack_async_event", Failure.NONE, "P");
    allocDomain = from.function("ibv_alloc_pd", Failure.NULL, "P");
    deallocDomain = from.function("ibv_dealloc_pd", Failure.STATUS, "P");
    // The header's ibv_reg_mr calls this function if the access flags are no constant.
    register = from.function("ibv_reg_mr_iova2", Failure.NULL, "PPPPI");
    reregister = from.function("ibv_rereg_mr", Failure.NOT_ZERO, "PIPPPI");
    deregister = from.function("ibv_dereg_mr", Failure.STATUS, "P");
    createChannel = from.function("ibv_create_comp_channel", Failure.NULL, "P");
    destroyChannel = from.function("ibv_destroy_comp_channel", Failure.STATUS, "P");
    createQueue = from.function("ibv_create_cq", Failure.NULL, "PIPPI");
    resizeQueue = from.function("ibv_resize_cq", Failure.STATUS, "PI");
    destroyQueue = from.function("ibv_destroy_cq", Failure.STATUS, "P");
    getCompletionEvent = from.function("ibv_get_cq_event", Failure.MINUS_ONE, "PPP");
    ackCompletionEvents = from.function("ibv_ack_cq_events", Failure.NONE, "PI");
    createShared = from.function("ibv_create_srq", Failure.NULL, "PP");
    modifyShared = from.function("ibv_modify_srq", Failure.STATUS, "PPI");
    queryShared = from.function("ibv_query_srq", Failure.STATUS, "PP");
    destroyShared = from.function("ibv_destroy_srq", Failure.STATUS, "P");
    createPair = from.function("ibv_create_qp", Failure.NULL, "PP");
    destroyPair = from.function("ibv_destroy_qp", Failure.STATUS, "P");
    createHandle = from.function("ibv_create_ah", Failure.NULL, "PP");
    destroyHandle = from.function("ibv_destroy_ah", Failure.STATUS, "P");
    createEventChannel = from.function("rdma_create_event_channel", Failure.NULL, "");
    destroyEventChannel = from.function("rdma_destroy_event_channel", Failure.NONE, "P");
    createId = from.function("rdma_create_id", Failure.MINUS_ONE, "PPPI");
    destroyId = from.function("rdma_destroy_id", Failure.MINUS_ONE, "P");
    bindAddress = from.function("rdma_bind_addr", Failure.MINUS_ONE, "PP");
    listen = from.function("rdma_listen", Failure.MINUS_ONE, "PI");
    resolveAddress = from.function("rdma_resolve_addr", Failure.MINUS_ONE, "PPPI");
    resolveRoute = from.function("rdma_resolve_route", Failure.MINUS_ONE, "PI");
    disconnect = from.function("rdma_disconnect", Failure.MINUS_ONE, "P");
    connect = from.function("rdma_connect", Failure.MINUS_ONE, "PP");
    accept = from.function("rdma_accept", Failure.MINUS_ONE, "PP");
    reject = from.function("rdma_reject", Failure.MINUS_ONE, "PPB");
    getEvent = from.function("rdma_get_cm_event", Failure.MINUS_ONE, "PP");
    ackEvent = from.function("rdma_ack_cm_event", Failure.MINUS_ONE, "P");
    createConnectionPair = from.function("rdma_create_qp", Failure.MINUS_ONE, "PPP");
    establish = from.function("rdma_establish", Failure.MINUS_ONE, "P");
    setOption = from.function("rdma_set_option", Failure.MINUS_ONE, "PIIPP");
    queryEce = from.function("ibv_query_ece", Failure.STATUS, "PP");
    setEce = from.function("ibv_set_ece", Failure.STATUS, "PP");
    setLocalEce = from.function("rdma_set_local_ece", Failure.MINUS_ONE, "PP");
    getRemoteEce = from.function("rdma_get_remote_ece", Failure.MINUS_ONE, "PP");
  }

  @Override
  public String scheme() {
    return ForeignProvider.SCHEME;
  }

  @Override
  public long address(ByteBuffer buffer) {
    return buffer.isDirect() ? MemorySegment.ofBuffer(buffer).address() - buffer.position() : 0;
  }

  // ---- what DiSNI has

  private static long orThrow(String function, long result) throws IOException {
    if (result < 0) {
      throw new IOException(function + ": [errno " + -result + "]");
    }
    return result;
  }

  @Override
  public long createEventChannel() throws IOException {
    return orThrow("rdma_create_event_channel", createEventChannel.call());
  }

  @Override
  public long createId(long channel, short portSpace) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      long id = allocate(arena, Long.BYTES);
      orThrow("rdma_create_id", createId.call(channel, id, 0, portSpace));
      return Memory.getLong(id);
    }
  }

  @Override
  public void bindAddr(long id, long sockaddr) throws IOException {
    orThrow("rdma_bind_addr", bindAddress.call(id, sockaddr));
  }

  @Override
  public void listen(long id, int backlog) throws IOException {
    orThrow("rdma_listen", listen.call(id, backlog));
  }

  @Override
  public void resolveAddr(long id, long source, long destination, int timeoutMillis)
      throws IOException {
    orThrow("rdma_resolve_addr", resolveAddress.call(id, source, destination, timeoutMillis));
  }

  @Override
  public void resolveRoute(long id, int timeoutMillis) throws IOException {
    // From this call on, librdmacm dereferences the device without a check.
    boolean has = contextOf(id) != 0;
    orThrow("rdma_resolve_route", has ? resolveRoute.call(id, timeoutMillis) : -ENODEV);
  }

  @Override
  public int disconnect(long id) {
    return contextOf(id) == 0 ? -ENODEV : disconnect.status(id);
  }

  @Override
  public long allocPd(long context) throws IOException {
    return orThrow("ibv_alloc_pd", allocDomain.call(context));
  }

  @Override
  public long createCompChannel(long context) throws IOException {
    return orThrow("ibv_create_comp_channel", createChannel.call(context));
  }

  @Override
  public long regMr(
      long pd, long address, int length, int access, long lkey, long rkey, long handle)
      throws IOException {
    long region = orThrow("ibv_reg_mr", register.call(pd, address, length, address, access));
    Memory.putInt(lkey, Memory.getInt(region + Structures.MR_LKEY));
    Memory.putInt(rkey, Memory.getInt(region + Structures.MR_RKEY));
    Memory.putInt(handle, Memory.getInt(region + Structures.MR_HANDLE));
    return region;
  }

  @Override
  public void deregMr(long mr) throws IOException {
    orThrow("ibv_dereg_mr", deregister.call(mr));
  }

  // ---- waiting

  @Override
  public int openWakeup() {
    return waiting.open();
  }

  @Override
  public int wakeup(int wakeupFd) {
    return waiting.wake(wakeupFd);
  }

  @Override
  public int closeWakeup(int wakeupFd) {
    return waiting.close(wakeupFd);
  }

  // ---- devices

  @Override
  public int deviceNames(long names, int capacity) {
    return contexts.names(names, capacity);
  }

  @Override
  public long context(long name) {
    return contexts.named(Memory.text(name, NAME_SIZE));
  }

  @Override
  public int deviceName(long context, long name) {
    Memory.copyText(contexts.name(context), name, NAME_SIZE);
    return 0;
  }

  @Override
  public int queryDevice(long context, long words, long firmware) {
    return contexts.queryDevice(context, new WordBlock(words), firmware);
  }

  @Override
  public int queryModeration(long context, long words) {
    return contexts.queryModeration(context, new WordBlock(words));
  }

  @Override
  public int queryPort(long context, int port, long words) {
    return contexts.queryPort(context, port, new WordBlock(words));
  }

  @Override
  public int queryGid(long context, int port, int index, long gid) {
    try (Arena arena = Arena.ofConfined()) {
      long entry = allocate(arena, Structures.GID_SIZE);
      int result = contexts.queryGid(context, port, index, entry);
      if (result < 0) {
        return result;
      }
      Memory.copy(entry, gid, Contexts.GID_BYTES);
      return Memory.getInt(entry + Structures.GID_TYPE) == ROCE_V2 ? 1 : 0;
    }
  }

  @Override
  public int queryGids(long context, int port, long gids, int length) {
    return contexts.queryGids(context, port, gids, length);
  }

  @Override
  public int asyncEvent(long context, int wakeupFd, int timeoutMillis, long words) {
    int fd = Memory.getInt(context + Structures.CONTEXT_ASYNC_FD);
    int result = waiting.nonBlocking(fd);
    if (result < 0) {
      return result;
    }
    long deadline = Waiting.deadline(timeoutMillis);
    while (true) {
      int ready = waiting.await(fd, wakeupFd, deadline);
      if (ready <= 0) {
        return ready;
      }
      int taken = takeAsyncEvent(context, new WordBlock(words));
      if (taken == 0) {
        return 1;
      }
      if (taken != -EAGAIN || (ready & Waiting.BROKEN) != 0) {
        return taken == -EAGAIN ? -Function.EIO : taken;
      }
      if ((ready & Waiting.WOKEN) != 0) {
        return 0;
      }
    }
  }

  private int takeAsyncEvent(long context, WordBlock words) {
    try (Arena arena = Arena.ofConfined()) {
      long event = allocate(arena, Structures.ASYNC_SIZE);
      int taken = getAsyncEvent.status(context, event);
      if (taken == 0) {
        int type = Memory.getInt(event + Structures.ASYNC_TYPE);
        words.set(AsyncWords.TYPE, type);
        words.set(AsyncWords.ELEMENT, element(type, event + Structures.ASYNC_ELEMENT));
      }
      return taken;
    }
  }

  /** Returns the element of an event: a port number, an object's pointer, or 0. */
  private static long element(int type, long at) {
    if (type == PORT_ACTIVE || type == PORT_ERR) {
      return Memory.getInt(at);
    }
    boolean isObject = type <= 7 || type >= 14 && type <= 16;
    return isObject ? Memory.getLong(at) : 0;
  }

  @Override
  public int acknowledgeAsyncEvent(long words) {
    WordBlock event = new WordBlock(words);
    try (Arena arena = Arena.ofConfined()) {
      long copy = allocate(arena, Structures.ASYNC_SIZE);
      Memory.putLong(copy + Structures.ASYNC_ELEMENT, event.get(AsyncWords.ELEMENT));
      Memory.putInt(copy + Structures.ASYNC_TYPE, event.get(AsyncWords.TYPE));
      return ackAsyncEvent.status(copy);
    }
  }

  // ---- memory

  @Override
  public int deallocateDomain(long domain) {
    return deallocDomain.status(domain);
  }

  @Override
  public int reregister(
      long region, int flags, long domain, long address, long length, int access, long words) {
    int result = reregister.status(region, flags, domain, address, length, access);
    if (result == 0) {
      WordBlock keys = new WordBlock(words);
      keys.set(KeyWords.LKEY, Memory.getInt(region + Structures.MR_LKEY));
      keys.set(KeyWords.RKEY, Memory.getInt(region + Structures.MR_RKEY));
    }
    return result;
  }

  @Override
  public long allocateWindow(long domain, int type, long words) {
    long context = Memory.getLong(domain + Structures.PD_CONTEXT);
    Function alloc = operation(context + Structures.OPS_ALLOC_MW, Failure.NULL, "PI");
    long window = alloc == null ? -EOPNOTSUPP : alloc.call(domain, type);
    if (window > 0) {
      WordBlock keys = new WordBlock(words);
      keys.set(KeyWords.LKEY, 0);
      keys.set(KeyWords.RKEY, windowKey(window));
    }
    return window;
  }

  @Override
  public int windowKey(long window) {
    return Memory.getInt(window + Structures.MW_RKEY);
  }

  @Override
  public int deallocateWindow(long window) {
    long context = Memory.getLong(window + Structures.MW_CONTEXT);
    Function dealloc = operation(context + Structures.OPS_DEALLOC_MW, Failure.STATUS, "P");
    return dealloc == null ? -EOPNOTSUPP : dealloc.status(window);
  }

  /**
   * Returns an operation of a driver that is not on the data path, or null if the driver does not
   * have it.
   */
  private static @Nullable Function operation(long at, Failure failure, String types) {
    long operation = Memory.getLong(at);
    return operation == 0 ? null : Function.of(MemorySegment.ofAddress(operation), failure, types);
  }

  // ---- completion queues

  @Override
  public long createCompletionQueue(
      long context, int depth, long channel, int vector, boolean singleThreaded, long words) {
    long queue =
        singleThreaded ? createSingleThreaded(context, depth, channel, vector) : -EOPNOTSUPP;
    if (queue == -EOPNOTSUPP || queue == -ENOSYS || queue == -EINVAL) {
      queue = createQueue.call(context, depth, 0, channel, vector);
    }
    if (queue > 0) {
      Memory.putLong(words, Memory.getInt(queue + Structures.CQ_CQE));
    }
    return queue;
  }

  /** Creates a queue without locks, for one polling thread, if the device supports that. */
  private long createSingleThreaded(long context, int depth, long channel, int vector) {
    long at = contexts.extended(context, Structures.BEFORE_CREATE_CQ_EX);
    Function create = at == 0 ? null : operation(at, Failure.NULL, "PP");
    if (create == null) {
      return -EOPNOTSUPP;
    }
    try (Arena arena = Arena.ofConfined()) {
      long wish = allocate(arena, Structures.CQ_WISH_SIZE);
      Memory.putInt(wish + Structures.CQ_WISH_CQE, depth);
      Memory.putLong(wish + Structures.CQ_WISH_CHANNEL, channel);
      Memory.putInt(wish + Structures.CQ_WISH_VECTOR, vector);
      Memory.putLong(wish + Structures.CQ_WISH_WC_FLAGS, STANDARD_COMPLETIONS);
      Memory.putInt(wish + Structures.CQ_WISH_COMP_MASK, 1);
      Memory.putInt(wish + Structures.CQ_WISH_FLAGS, 1);
      return create.call(context, wish);
    }
  }

  @Override
  public int resizeCompletionQueue(long queue, int depth) {
    int result = resizeQueue.status(queue, depth);
    return result < 0 ? result : Memory.getInt(queue + Structures.CQ_CQE);
  }

  @Override
  public int moderate(long queue, int count, int period) {
    long context = Memory.getLong(queue + Structures.CQ_CONTEXT);
    long at = contexts.extended(context, Structures.BEFORE_MODIFY_CQ);
    Function modify = at == 0 ? null : operation(at, Failure.STATUS, "PP");
    if (modify == null) {
      return -EOPNOTSUPP;
    }
    try (Arena arena = Arena.ofConfined()) {
      long change = allocate(arena, Structures.CQ_CHANGE_SIZE);
      Memory.putInt(change + Structures.CQ_CHANGE_MASK, CQ_MODERATE_MASK);
      Memory.putShort(change + Structures.CQ_CHANGE_COUNT, count);
      Memory.putShort(change + Structures.CQ_CHANGE_PERIOD, period);
      return modify.status(queue, change);
    }
  }

  @Override
  public int destroyCompletionQueue(long queue) {
    return destroyQueue.status(queue);
  }

  @Override
  public int destroyCompletionChannel(long channel) {
    return destroyChannel.status(channel);
  }

  @Override
  public int poll(long queue, int count, long completions) {
    return Operations.poll(queue, count, completions);
  }

  @Override
  public int arm(long queue, boolean solicitedOnly) {
    return Operations.arm(queue, solicitedOnly ? 1 : 0);
  }

  @Override
  public int completionEventReady(long channel, int wakeupFd, int timeoutMillis) {
    return waiting.readable(
        Memory.getInt(channel + Structures.CHANNEL_FD), wakeupFd, timeoutMillis);
  }

  @Override
  public long completionEvent(long channel) {
    int result = waiting.nonBlocking(Memory.getInt(channel + Structures.CHANNEL_FD));
    if (result < 0) {
      return result;
    }
    try (Arena arena = Arena.ofConfined()) {
      long queue = allocate(arena, 2 * Long.BYTES);
      long taken = getCompletionEvent.call(channel, queue, queue + Long.BYTES);
      if (taken < 0) {
        return taken == -EAGAIN ? 0 : taken;
      }
      return Memory.getLong(queue);
    }
  }

  @Override
  public int acknowledge(long queue, int count) {
    return ackCompletionEvents.status(queue, count);
  }

  // ---- shared receive queues

  @Override
  public long createSharedReceiveQueue(long domain, long words) {
    WordBlock block = new WordBlock(words);
    try (Arena arena = Arena.ofConfined()) {
      long wish = allocate(arena, Structures.SRQ_WISH_SIZE);
      long at = wish + Structures.SRQ_WISH_ATTR;
      Memory.putInt(at + Structures.SRQ_MAX_WR, block.get(SharedReceiveWords.MAX_WR));
      Memory.putInt(at + Structures.SRQ_MAX_SGE, block.get(SharedReceiveWords.MAX_SGE));
      long queue = createShared.call(domain, wish);
      if (queue > 0) {
        readShared(at, block);
      }
      return queue;
    }
  }

  private static void readShared(long at, WordBlock words) {
    words.set(SharedReceiveWords.MAX_WR, Memory.getInt(at + Structures.SRQ_MAX_WR));
    words.set(SharedReceiveWords.MAX_SGE, Memory.getInt(at + Structures.SRQ_MAX_SGE));
    words.set(SharedReceiveWords.LIMIT, Memory.getInt(at + Structures.SRQ_LIMIT));
  }

  @Override
  public int limitSharedReceiveQueue(long queue, int limit) {
    try (Arena arena = Arena.ofConfined()) {
      long wish = allocate(arena, Structures.SRQ_SIZE);
      Memory.putInt(wish + Structures.SRQ_LIMIT, limit);
      return modifyShared.status(queue, wish, SRQ_LIMIT_MASK);
    }
  }

  @Override
  public int querySharedReceiveQueue(long queue, long words) {
    try (Arena arena = Arena.ofConfined()) {
      long at = allocate(arena, Structures.SRQ_SIZE);
      int result = queryShared.status(queue, at);
      if (result == 0) {
        readShared(at, new WordBlock(words));
      }
      return result;
    }
  }

  @Override
  public int destroySharedReceiveQueue(long queue) {
    return destroyShared.status(queue);
  }

  @Override
  public int postSharedReceive(long queue, long requests, long bad) {
    Memory.putLong(bad, requests);
    return Operations.postSharedReceive(queue, requests, bad);
  }

  // ---- queue pairs

  @Override
  public long createQueuePair(long domain, long words) {
    WordBlock block = new WordBlock(words);
    try (Arena arena = Arena.ofConfined()) {
      long wish = wish(arena, block);
      long pair = createPair.call(domain, wish);
      return pair > 0 ? created(pair, wish, block) : pair;
    }
  }

  @Override
  public long createConnectionQueuePair(long identifier, long domain, long words) {
    if (contextOf(identifier) == 0) {
      return -ENODEV;
    }
    WordBlock block = new WordBlock(words);
    try (Arena arena = Arena.ofConfined()) {
      long wish = wish(arena, block);
      long result = createConnectionPair.call(identifier, domain, wish);
      long pair = Memory.getLong(identifier + Structures.ID_QP);
      return result < 0 ? result : created(pair, wish, block);
    }
  }

  private static long wish(Arena arena, WordBlock words) {
    long wish = allocate(arena, Structures.QP_WISH_SIZE);
    Memory.putInt(wish + Structures.QP_WISH_TYPE, words.get(QueuePairWords.TYPE));
    Memory.putLong(wish + Structures.QP_WISH_SEND_CQ, words.get(QueuePairWords.SEND_CQ));
    Memory.putLong(wish + Structures.QP_WISH_RECV_CQ, words.get(QueuePairWords.RECV_CQ));
    Memory.putLong(wish + Structures.QP_WISH_SRQ, words.get(QueuePairWords.SRQ));
    Memory.putInt(wish + Structures.QP_WISH_SQ_SIG_ALL, words.get(QueuePairWords.SQ_SIG_ALL));
    Memory.putInt(wish + Structures.QP_WISH_MAX_SEND_WR, words.get(QueuePairWords.MAX_SEND_WR));
    Memory.putInt(wish + Structures.QP_WISH_MAX_RECV_WR, words.get(QueuePairWords.MAX_RECV_WR));
    Memory.putInt(wish + Structures.QP_WISH_MAX_SEND_SGE, words.get(QueuePairWords.MAX_SEND_SGE));
    Memory.putInt(wish + Structures.QP_WISH_MAX_RECV_SGE, words.get(QueuePairWords.MAX_RECV_SGE));
    Memory.putInt(
        wish + Structures.QP_WISH_MAX_INLINE_DATA, words.get(QueuePairWords.MAX_INLINE_DATA));
    return wish;
  }

  private static long created(long pair, long granted, WordBlock words) {
    words.set(QueuePairWords.MAX_SEND_WR, Memory.getInt(granted + Structures.QP_WISH_MAX_SEND_WR));
    words.set(QueuePairWords.MAX_RECV_WR, Memory.getInt(granted + Structures.QP_WISH_MAX_RECV_WR));
    words.set(
        QueuePairWords.MAX_SEND_SGE, Memory.getInt(granted + Structures.QP_WISH_MAX_SEND_SGE));
    words.set(
        QueuePairWords.MAX_RECV_SGE, Memory.getInt(granted + Structures.QP_WISH_MAX_RECV_SGE));
    words.set(
        QueuePairWords.MAX_INLINE_DATA,
        Memory.getInt(granted + Structures.QP_WISH_MAX_INLINE_DATA));
    words.set(QueuePairWords.QP_NUM, Memory.getInt(pair + Structures.QP_NUM));
    return pair;
  }

  @Override
  public int destroyQueuePair(long pair) {
    return destroyPair.status(pair);
  }

  @Override
  public int destroyConnectionQueuePair(long identifier) {
    // rdma_destroy_qp does not return whether it worked.
    long at = identifier + Structures.ID_QP;
    int result = Memory.getLong(at) == 0 ? -EINVAL : destroyPair.status(Memory.getLong(at));
    if (result == 0) {
      Memory.putLong(at, 0);
    }
    return result;
  }

  @Override
  public int modifyQueuePair(long pair, long words) {
    return attributes.modify(pair, new WordBlock(words));
  }

  @Override
  public int queryQueuePair(long pair, long words) {
    return attributes.query(pair, new WordBlock(words));
  }

  /**
   * {@inheritDoc}
   *
   * <p>A driver takes the window's current key for a bind from {@code ibv_mw.rkey}, which only the
   * program updates. So the requests after a bind are posted in a call of their own, after the new
   * key is stored.
   */
  @Override
  public int postSend(long pair, long requests, long bad) {
    long first = requests;
    int result = 0;
    while (first != 0 && result == 0) {
      long last = first;
      long rest = Memory.getLong(last + Structures.WR_NEXT);
      while (rest != 0 && Memory.getInt(last + Structures.WR_OPCODE) != BIND_MW) {
        last = rest;
        rest = Memory.getLong(last + Structures.WR_NEXT);
      }
      // A driver without the operation (libibverbs' dummies) fails without setting bad_wr.
      Memory.putLong(bad, first);
      if (rest == 0) {
        result = Operations.postSend(pair, first, bad);
      } else {
        Memory.putLong(last + Structures.WR_NEXT, 0);
        result = Operations.postSend(pair, first, bad);
        Memory.putLong(last + Structures.WR_NEXT, rest);
      }
      if (result == 0 && Memory.getInt(last + Structures.WR_OPCODE) == BIND_MW) {
        long window = Memory.getLong(last + Structures.WR_BIND_MW);
        Memory.putInt(window + Structures.MW_RKEY, Memory.getInt(last + Structures.WR_BIND_RKEY));
      }
      first = rest;
    }
    return result;
  }

  @Override
  public int postReceive(long pair, long requests, long bad) {
    Memory.putLong(bad, requests);
    return Operations.postReceive(pair, requests, bad);
  }

  /** {@inheritDoc} As the header's {@code ibv_bind_mw}. */
  @Override
  public synchronized int bindWindow(
      long pair,
      long window,
      long id,
      int flags,
      long region,
      long address,
      long length,
      int access) {
    if (Memory.getInt(window + Structures.MW_TYPE) != 1) {
      return -EINVAL;
    }
    if (Memory.getLong(window + Structures.MW_PD) != Memory.getLong(region + Structures.MR_PD)) {
      return -EPERM;
    }
    Memory.putLong(bind + Structures.BIND_WR_ID, id);
    Memory.putInt(bind + Structures.BIND_SEND_FLAGS, flags);
    Memory.putLong(bind + Structures.BIND_MR, region);
    Memory.putLong(bind + Structures.BIND_ADDR, address);
    Memory.putLong(bind + Structures.BIND_LENGTH, length);
    Memory.putInt(bind + Structures.BIND_ACCESS, access);
    return Operations.bind(pair, window, bind);
  }

  // ---- address handles

  @Override
  public long createAddressHandle(long domain, long words) {
    WordBlock block = new WordBlock(words);
    try (Arena arena = Arena.ofConfined()) {
      long vector = allocate(arena, Structures.AH_SIZE);
      Attributes.writeGid(
          vector, block.get(AddressWords.GID_HIGH), block.get(AddressWords.GID_LOW));
      Memory.putByte(vector + Structures.AH_SGID_INDEX, block.get(AddressWords.SGID_INDEX));
      Memory.putByte(vector + Structures.AH_HOP_LIMIT, block.get(AddressWords.HOP_LIMIT));
      Memory.putByte(vector + Structures.AH_TRAFFIC_CLASS, block.get(AddressWords.TRAFFIC_CLASS));
      Memory.putInt(vector + Structures.AH_FLOW_LABEL, block.get(AddressWords.FLOW_LABEL));
      Memory.putByte(vector + Structures.AH_IS_GLOBAL, block.get(AddressWords.IS_GLOBAL));
      Memory.putShort(vector + Structures.AH_DLID, block.get(AddressWords.LID));
      Memory.putByte(vector + Structures.AH_SL, block.get(AddressWords.SL));
      Memory.putByte(vector + Structures.AH_PORT, block.get(AddressWords.PORT));
      return createHandle.call(domain, vector);
    }
  }

  @Override
  public int destroyAddressHandle(long handle) {
    return destroyHandle.status(handle);
  }

  // ---- connections

  @Override
  public int connectionEventReady(long channel, int wakeupFd, int timeoutMillis) {
    return waiting.readable(
        Memory.getInt(channel + Structures.EVENT_CHANNEL_FD), wakeupFd, timeoutMillis);
  }

  @Override
  public int connectionEvent(long channel, long words, long privateData) {
    int result = waiting.nonBlocking(Memory.getInt(channel + Structures.EVENT_CHANNEL_FD));
    if (result < 0) {
      return result;
    }
    try (Arena arena = Arena.ofConfined()) {
      long pointer = allocate(arena, Long.BYTES);
      int taken = getEvent.status(channel, pointer);
      if (taken < 0) {
        return taken == -EAGAIN ? 0 : taken;
      }
      long event = Memory.getLong(pointer);
      ConnectionEvents.read(event, new WordBlock(words), privateData);
      return ackEvent.status(event) < 0 ? -Function.EIO : 1;
    }
  }

  @Override
  public int destroyEventChannel(long channel) {
    return destroyEventChannel.status(channel);
  }

  @Override
  public int destroyIdentifier(long identifier) {
    return identifier == 0 ? -EINVAL : destroyId.status(identifier);
  }

  @Override
  public int connect(long identifier, long words) {
    return withParameters(connect, identifier, words);
  }

  @Override
  public int accept(long identifier, long words) {
    return withParameters(accept, identifier, words);
  }

  /** Calls with parameters; returns -ENODEV without a device, which librdmacm would dereference. */
  private static int withParameters(Function call, long identifier, long words) {
    WordBlock block = new WordBlock(words);
    if (!ConnectionEvents.fit(block)) {
      return -EINVAL;
    }
    if (Memory.getLong(identifier + Structures.ID_VERBS) == 0) {
      return -ENODEV;
    }
    try (Arena arena = Arena.ofConfined()) {
      long parameters = allocate(arena, Structures.PARAMETERS_SIZE);
      ConnectionEvents.write(block, parameters);
      return call.status(identifier, parameters);
    }
  }

  @Override
  public int establish(long identifier) {
    return establish.status(identifier);
  }

  @Override
  public int connectionAttributes(long identifier, int state, long words) {
    return attributes.ofConnection(identifier, state, new WordBlock(words));
  }

  /**
   * {@inheritDoc}
   *
   * <p>As librdmacm's {@code init_ece} and {@code ucma_process_conn_resp_ece}. A driver without
   * ECE, or without the peer's options, is no error; a driver that refuses the peer is.
   */
  @Override
  public int negotiate(long identifier, long pair) {
    try (Arena arena = Arena.ofConfined()) {
      long own = allocate(arena, Structures.ECE_SIZE);
      long peer = allocate(arena, Structures.ECE_SIZE);
      if (queryEce.status(pair, own) < 0 || Memory.getInt(own + Structures.ECE_VENDOR) == 0) {
        return 0;
      }
      if (getRemoteEce.status(identifier, peer) == 0
          && Memory.getInt(peer + Structures.ECE_VENDOR) != 0) {
        int set = setEce.status(pair, peer);
        if (set == -ECONNREFUSED) {
          return set;
        }
        if (set == 0) {
          Memory.putInt(own + Structures.ECE_OPTIONS, Memory.getInt(peer + Structures.ECE_OPTIONS));
        }
      }
      return setLocalEce.status(identifier, own);
    }
  }

  @Override
  public int typeOfService(long identifier, int value) {
    try (Arena arena = Arena.ofConfined()) {
      long tos = allocate(arena, 1);
      Memory.putByte(tos, value);
      return value < 0 || value > 255
          ? -EINVAL
          : setOption.status(identifier, OPTION_ID, OPTION_ID_TOS, tos, 1);
    }
  }

  @Override
  public int reject(long identifier, long privateData, int length) {
    return length < 0 || length > 255 ? -EINVAL : reject.status(identifier, privateData, length);
  }

  @Override
  public int socketAddress(long identifier, boolean peer, long sockaddr) {
    long address = identifier + (peer ? Structures.ID_DESTINATION : Structures.ID_SOURCE);
    int family = Memory.getUnsignedShort(address);
    switch (family) {
      case 0 -> {
        return 0;
      }
      case AF_INET -> Memory.copy(address, sockaddr, SOCKADDR_IN);
      case AF_INET6 -> Memory.copy(address, sockaddr, SOCKADDR_IN6);
      default -> {
        return -EAFNOSUPPORT;
      }
    }
    return family;
  }

  @Override
  public long contextOf(long identifier) {
    return identifier == 0 ? 0 : Memory.getLong(identifier + Structures.ID_VERBS);
  }

  @Override
  public int portOf(long identifier) {
    return identifier == 0 ? 0 : Memory.getUnsignedByte(identifier + Structures.ID_PORT_NUM);
  }

  /** Allocates zeroed memory; returns its address. */
  static long allocate(Arena arena, int size) {
    return arena.allocate(size, Long.BYTES).address();
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.address.DisniAddress;
import io.verbena.disni.core.RdmaCore;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * {@link RdmaCore} by JNI: some calls go to DiSNI, all others to the library {@code verbena_disni},
 * which calls libibverbs and librdmacm. Both use the same raw pointers. {@code words.h} has the
 * names of {@link io.verbena.disni.core.Words} for C.
 *
 * <p>All objects are destroyed through this library, not through DiSNI. Verbena's {@code libdisni}
 * keeps a table of the objects that were created and destroyed through it, and delays destroying an
 * object that is still in use. It does not see the calls of this library, so it could mistake a new
 * object for a destroyed one at the same address.
 */
final class Extension implements RdmaCore {

  /** The version that {@link #version} must return. It changes with the native methods. */
  static final int VERSION = 9;

  private final Disni disni;

  Extension(Disni disni) {
    this.disni = disni;
  }

  static native int version();

  @Override
  public String scheme() {
    return DisniAddress.SCHEME;
  }

  @Override
  public native long address(ByteBuffer buffer);

  // ---- by DiSNI

  @Override
  public long createEventChannel() throws IOException {
    return disni.createEventChannel();
  }

  @Override
  public void bindAddr(long id, long sockaddr) throws IOException {
    disni.bindAddr(id, sockaddr);
  }

  @Override
  public void listen(long id, int backlog) throws IOException {
    disni.listen(id, backlog);
  }

  @Override
  public void resolveRoute(long id, int timeoutMillis) throws IOException {
    disni.resolveRoute(id, timeoutMillis);
  }

  @Override
  public int disconnect(long id) {
    return disni.disconnect(id);
  }

  @Override
  public long allocPd(long context) throws IOException {
    return disni.allocPd(context);
  }

  @Override
  public long createCompChannel(long context) throws IOException {
    return disni.createCompChannel(context);
  }

  @Override
  public long regMr(
      long pd, long address, int length, int access, long lkey, long rkey, long handle)
      throws IOException {
    return disni.regMr(pd, address, length, access, lkey, rkey, handle);
  }

  @Override
  public void deregMr(long mr) throws IOException {
    disni.deregMr(mr);
  }

  // ---- by our library

  @Override
  public native int openWakeup();

  @Override
  public native int wakeup(int wakeupFd);

  @Override
  public native int closeWakeup(int wakeupFd);

  @Override
  public native int deviceNames(long names, int capacity);

  @Override
  public native long context(long name);

  @Override
  public native int deviceName(long context, long name);

  @Override
  public native int queryDevice(long context, long words, long firmware);

  @Override
  public native int queryModeration(long context, long words);

  @Override
  public native int queryPort(long context, int port, long words);

  @Override
  public native int queryGid(long context, int port, int index, long gid);

  @Override
  public native int queryGids(long context, int port, long gids, int length);

  @Override
  public native int asyncEvent(long context, int wakeupFd, int timeoutMillis, long words);

  @Override
  public native int acknowledgeAsyncEvent(long words);

  @Override
  public native int deallocateDomain(long domain);

  @Override
  public native int reregister(
      long region, int flags, long domain, long address, long length, int access, long words);

  @Override
  public native long allocateWindow(long domain, int type, long words);

  @Override
  public native int windowKey(long window);

  @Override
  public native int deallocateWindow(long window);

  @Override
  public native long createCompletionQueue(
      long context, int depth, long channel, int vector, boolean singleThreaded, long words);

  @Override
  public native int resizeCompletionQueue(long queue, int depth);

  @Override
  public native int moderate(long queue, int count, int period);

  @Override
  public native int destroyCompletionQueue(long queue);

  @Override
  public native int destroyCompletionChannel(long channel);

  @Override
  public native int poll(long queue, int count, long completions);

  @Override
  public native int arm(long queue, boolean solicitedOnly);

  @Override
  public native int completionEventReady(long channel, int wakeupFd, int timeoutMillis);

  @Override
  public native long completionEvent(long channel);

  @Override
  public native int acknowledge(long queue, int count);

  @Override
  public native long createSharedReceiveQueue(long domain, long words);

  @Override
  public native int limitSharedReceiveQueue(long queue, int limit);

  @Override
  public native int querySharedReceiveQueue(long queue, long words);

  @Override
  public native int destroySharedReceiveQueue(long queue);

  @Override
  public native int postSharedReceive(long queue, long requests, long bad);

  @Override
  public native long createQueuePair(long domain, long words);

  @Override
  public native long createConnectionQueuePair(long identifier, long domain, long words);

  @Override
  public native int destroyQueuePair(long pair);

  @Override
  public native int destroyConnectionQueuePair(long identifier);

  @Override
  public native int modifyQueuePair(long pair, long words);

  @Override
  public native int queryQueuePair(long pair, long words);

  @Override
  public native int postSend(long pair, long requests, long bad);

  @Override
  public native int postReceive(long pair, long requests, long bad);

  /**
   * Calls {@code ibv_post_send(3)} with one SEND, RDMA_WRITE or RDMA_READ of one buffer. This is
   * the fastest way to post: Java writes nothing to native memory.
   */
  native int postOneSend(
      long pair,
      long id,
      int opcode,
      int flags,
      long remoteAddress,
      int remoteKey,
      long address,
      int length,
      int key);

  @Override
  public native int bindWindow(
      long pair,
      long window,
      long id,
      int flags,
      long region,
      long address,
      long length,
      int access);

  /** Calls {@code ibv_post_recv(3)} with one receive of one buffer. */
  native int postOneReceive(long pair, long id, long address, int length, int key);

  @Override
  public native long createAddressHandle(long domain, long words);

  @Override
  public native int destroyAddressHandle(long handle);

  @Override
  public native int connectionEventReady(long channel, int wakeupFd, int timeoutMillis);

  @Override
  public native int connectionEvent(long channel, long words, long privateData);

  /**
   * {@inheritDoc}
   *
   * <p>Not through DiSNI, because the native library published with DiSNI ignores the port space
   * and uses that of TCP.
   */
  @Override
  public long createId(long channel, short portSpace) throws IOException {
    return orThrow("rdma_create_id", createIdentifier(channel, portSpace));
  }

  private static native long createIdentifier(long channel, short portSpace);

  /**
   * {@inheritDoc}
   *
   * <p>Not through DiSNI, because the native library published with DiSNI ignores the source.
   */
  @Override
  public void resolveAddr(long id, long source, long destination, int timeoutMillis)
      throws IOException {
    orThrow("rdma_resolve_addr", resolveAddress(id, source, destination, timeoutMillis));
  }

  private static native int resolveAddress(
      long identifier, long source, long destination, int timeoutMillis);

  private static long orThrow(String function, long result) throws IOException {
    if (result < 0) {
      throw new IOException(function + ": [errno " + -result + "]");
    }
    return result;
  }

  @Override
  public native int destroyEventChannel(long channel);

  @Override
  public native int destroyIdentifier(long identifier);

  @Override
  public native int connect(long identifier, long words);

  @Override
  public native int accept(long identifier, long words);

  @Override
  public native int establish(long identifier);

  @Override
  public native int connectionAttributes(long identifier, int state, long words);

  @Override
  public native int negotiate(long identifier, long pair);

  @Override
  public native int reject(long identifier, long privateData, int length);

  @Override
  public native int socketAddress(long identifier, boolean peer, long sockaddr);

  @Override
  public native int typeOfService(long identifier, int value);

  @Override
  public native long contextOf(long identifier);

  @Override
  public native int portOf(long identifier);
}

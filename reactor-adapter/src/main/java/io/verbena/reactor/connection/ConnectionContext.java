// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.connection;

import io.verbena.RdmaOptions;
import io.verbena.core.cm.ConnectionEventDispatcher;
import io.verbena.core.device.AsyncEvents;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.receive.ReceivePool;
import io.verbena.core.receive.ReceiveQueues;
import io.verbena.reactor.queue.LoopResources;
import io.verbena.reactor.receive.ReceiveBuffers;
import io.verbena.reactor.send.SendFrames;
import io.verbena.reactor.wire.Handshake;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.ProtectionDomain;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The context of new connections: a loop, with the resources that its connections share. */
public final class ConnectionContext {
  /** Frame credits that a new peer gets, and that an idle one keeps. */
  private static final int FIRST_FRAMES = 8;

  private static final int MOST_READS = 16;
  private static final int RETRIES = 7;

  private final String medium;
  private final ConnectionEventDispatcher dispatcher;
  private final LoopResources resources;
  private final SendFrames sendFrames;
  private final ReceiveBuffers receiveBuffers;
  private final ProtectionDomain domain;
  private final AsyncEvents deviceEvents;
  private final RdmaOptions options;
  private final @Nullable ReceivePool receivePool;
  private final @Nullable ReceiveQueues receiveQueues;

  /**
   * @param medium the scheme of the device's addresses
   * @param dispatcher delivers connection events
   * @param deviceEvents delivers asynchronous events of the device
   * @param resources of the loop
   * @param domain the protection domain of the connections
   * @param options of the transport
   */
  public ConnectionContext(
      String medium,
      ConnectionEventDispatcher dispatcher,
      AsyncEvents deviceEvents,
      LoopResources resources,
      ProtectionDomain domain,
      RdmaOptions options) {
    this.medium = medium;
    this.dispatcher = dispatcher;
    this.deviceEvents = deviceEvents;
    this.resources = resources;
    this.domain = domain;
    this.options = options;
    sendFrames = new SendFrames(resources);
    receiveBuffers = new ReceiveBuffers(resources, options);
    receivePool = newReceivePool(resources, domain, options);
    receiveQueues = receivePool == null ? resources.newReceiveQueues() : null;
  }

  private static @Nullable ReceivePool newReceivePool(
      LoopResources resources, ProtectionDomain domain, RdmaOptions options) {
    DeviceAttributes device = resources.loop().device().attributes();
    int first = firstFrames(receiveDepth(options, device));
    int bound =
        ReceivePool.bound(device, options, options.loops(), resources.frameCapacity(), first);
    return bound == 0 ? null : resources.newReceivePool(domain, bound, first);
  }

  private static int receiveDepth(RdmaOptions options, DeviceAttributes device) {
    return Math.min(options.receiveDepth(), device.maxWorkRequests());
  }

  private static int firstFrames(int depth) {
    return Math.min(FIRST_FRAMES, depth);
  }

  /** Returns the handshake that a connection sends to its peer. */
  Handshake handshake() {
    int depth = receiveDepth(options, loop().device().attributes());
    return new Handshake(
        Handshake.VERSION,
        firstFrames(depth),
        options.eagerSize(),
        depth,
        receiveBuffers.firstWindow(options.window()),
        options.maxMessageSize());
  }

  /** Returns the dispatcher that connection events come from. */
  public ConnectionEventDispatcher dispatcher() {
    return dispatcher;
  }

  /** Returns the scheme of the device's addresses. */
  String medium() {
    return medium;
  }

  /** Returns the resources that the connections of the loop share. */
  public LoopResources resources() {
    return resources;
  }

  /** Returns the options of the transport. */
  public RdmaOptions options() {
    return options;
  }

  /** Returns the loop. */
  public CompletionLoop loop() {
    return resources.loop();
  }

  SendFrames sendFrames() {
    return sendFrames;
  }

  ReceiveBuffers receiveBuffers() {
    return receiveBuffers;
  }

  /** Returns whether its connections need the asynchronous events of the device. */
  public boolean needsEvents() {
    return receivePool != null;
  }

  AsyncEvents deviceEvents() {
    return deviceEvents;
  }

  /** Returns the pool of receives of the loop, or null where each connection has its own. */
  @Nullable ReceivePool receivePool() {
    return receivePool;
  }

  /** Returns the receive queues of the loop's connections, or null where they share a pool. */
  @Nullable ReceiveQueues receiveQueues() {
    return receiveQueues;
  }

  ProtectionDomain domain() {
    return domain;
  }

  /** Returns the parameters of a connect or an accept with this private data. */
  public ConnectionParameters parameters(ByteBuffer privateData) {
    DeviceAttributes device = loop().device().attributes();
    return new ConnectionParameters(
        privateData,
        Math.min(MOST_READS, device.maxReadAtomicAsResponder()),
        Math.min(MOST_READS, device.maxReadAtomicAsInitiator()),
        RETRIES,
        RETRIES);
  }
}

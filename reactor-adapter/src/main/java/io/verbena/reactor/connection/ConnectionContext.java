// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.connection;

import io.verbena.RdmaOptions;
import io.verbena.core.cm.ConnectionEventDispatcher;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.reactor.queue.LoopResources;
import io.verbena.reactor.receive.ReceiveBuffers;
import io.verbena.reactor.send.SendFrames;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.ProtectionDomain;
import java.nio.ByteBuffer;

/** What connections are made in: a loop with all that its connections share. */
public final class ConnectionContext {
  private static final int MOST_READS = 16;
  private static final int RETRIES = 7;

  private final String medium;
  private final ConnectionEventDispatcher dispatcher;
  private final LoopResources resources;
  private final SendFrames sendFrames;
  private final ReceiveBuffers receiveBuffers;
  private final ProtectionDomain domain;
  private final RdmaOptions options;

  /**
   * @param medium the scheme of the device's addresses
   * @param dispatcher where connection events come from
   * @param resources of the loop
   * @param domain the protection domain of the connections
   * @param options of the transport
   */
  public ConnectionContext(
      String medium,
      ConnectionEventDispatcher dispatcher,
      LoopResources resources,
      ProtectionDomain domain,
      RdmaOptions options) {
    this.medium = medium;
    this.dispatcher = dispatcher;
    this.resources = resources;
    this.domain = domain;
    this.options = options;
    sendFrames = new SendFrames(resources);
    receiveBuffers = new ReceiveBuffers(resources, options);
  }

  /** Where connection events come from. */
  public ConnectionEventDispatcher dispatcher() {
    return dispatcher;
  }

  /** The scheme of the device's addresses. */
  String medium() {
    return medium;
  }

  /** What the connections of the loop share. */
  public LoopResources resources() {
    return resources;
  }

  /** The options of the transport. */
  public RdmaOptions options() {
    return options;
  }

  /** The loop. */
  public CompletionLoop loop() {
    return resources.loop();
  }

  SendFrames sendFrames() {
    return sendFrames;
  }

  ReceiveBuffers receiveBuffers() {
    return receiveBuffers;
  }

  ProtectionDomain domain() {
    return domain;
  }

  /** Parameters of a connect or an accept with this private data. */
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

package io.verbena.reactor.cm;

import io.verbena.RdmaOptions;
import io.verbena.core.cm.ConnectionEventDispatcher;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.reactor.connection.Workbench;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.ProtectionDomain;
import java.nio.ByteBuffer;

/**
 * What a connection is made in.
 *
 * @param desk where its events come from
 * @param bench of its loop
 * @param domain its protection domain
 * @param options of the transport
 */
public record Place(
    ConnectionEventDispatcher desk, Workbench bench, ProtectionDomain domain, RdmaOptions options) {
  private static final int MOST_READS = 16;
  private static final int RETRIES = 7;

  /** The loop. */
  CompletionLoop loop() {
    return bench.loop();
  }

  /** Parameters of a connect or an accept with this private data. */
  ConnectionParameters parameters(ByteBuffer privateData) {
    DeviceAttributes device = loop().device().attributes();
    return new ConnectionParameters(
        privateData,
        Math.min(MOST_READS, device.maxReadAtomicAsResponder()),
        Math.min(MOST_READS, device.maxReadAtomicAsInitiator()),
        RETRIES,
        RETRIES);
  }
}

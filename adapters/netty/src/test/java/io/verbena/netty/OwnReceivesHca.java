// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.verbena.RdmaOptions;
import java.net.URI;

/** An emulated HCA whose shared receive queues are too short for a loop. */
final class OwnReceivesHca {
  private static final URI ADDRESS =
      URI.create("emulated://own-receives?max-shared-receive-requests=4");

  private OwnReceivesHca() {}

  static Ends ends(RdmaOptions.Builder options) {
    return new Ends(options, ADDRESS, ADDRESS);
  }
}

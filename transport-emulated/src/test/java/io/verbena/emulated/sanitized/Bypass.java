// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitized;

import static java.util.Objects.requireNonNull;

import io.verbena.verbs.Device;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.VerbsProviders;
import java.lang.reflect.Proxy;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * A way to a bare queue pair under the sanitizer: what completes there is what a mistaken provider
 * would tell.
 */
final class Bypass {
  private static final URI BARE = URI.create("emulated://bypass");

  private @Nullable QueuePair queuePair;

  /** A device, to be sanitized. */
  Device open() {
    return watched(Device.class, VerbsProviders.find(BARE).open(BARE));
  }

  /** The queue pair that was created last. */
  QueuePair queuePair() {
    return requireNonNull(queuePair, "queuePair");
  }

  private <T> T watched(Class<T> type, T bare) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> {
              Object answer = method.invoke(bare, arguments);
              if (answer instanceof QueuePair created) {
                queuePair = created;
              }
              return answer instanceof ProtectionDomain domain
                  ? watched(ProtectionDomain.class, domain)
                  : answer;
            }));
  }
}

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
 * Gives access to the bare queue pair below the sanitizer. Its completions look like those of a
 * faulty provider.
 */
final class Bypass {
  private static final URI BARE = URI.create("emulated://bypass");

  private @Nullable QueuePair queuePair;

  /** Opens a bare device to be sanitized. */
  Device open() {
    return watched(Device.class, VerbsProviders.find(BARE).open(BARE));
  }

  /** Returns the bare queue pair that was created last. */
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

// SPDX-License-Identifier: Apache-2.0
package io.verbena.foreign;

import io.verbena.disni.DisniProvider;
import io.verbena.disni.core.RdmaCore;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;

/**
 * RNICs and Soft-RoCE devices of this machine, as {@code verbs://host:port}, on JDK 22 and later.
 * The options are those of {@code disni://}.
 */
public final class ForeignProvider extends DisniProvider {
  static final String SCHEME = "verbs";

  /** Creates the provider, for {@link java.util.ServiceLoader}. */
  public ForeignProvider() {}

  @Override
  public String scheme() {
    return SCHEME;
  }

  @Override
  protected RdmaCore core() {
    String system = System.getProperty("os.name");
    if (!"Linux".equals(system)) {
      throw new VerbsException(
          VerbsError.NOT_SUPPORTED,
          "verbs:// needs Linux, where rdma-core is (this is "
              + system
              + "); use an HCA in software, as emulated://");
    }
    return Linkage.load();
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.foreign;

import io.verbena.disni.DisniProvider;
import io.verbena.disni.core.RdmaCore;

/**
 * RNICs and Soft-RoCE devices of this machine, as {@code verbs://host:port}, on JDK 22 and later;
 * with the options of {@code disni://}.
 */
public final class ForeignProvider extends DisniProvider {
  static final String SCHEME = "verbs";

  /** For {@link java.util.ServiceLoader}. */
  public ForeignProvider() {}

  @Override
  public String scheme() {
    return SCHEME;
  }

  @Override
  protected RdmaCore core() {
    return Linkage.load();
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest;

import org.junit.jupiter.engine.JupiterTestEngine;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Launchers that know the Jupiter engine alone: the one of this module must not find itself again.
 */
final class Jupiter {
  private static final String ENGINE = "[engine:junit-jupiter]";
  private static final String OURS = "[engine:" + SoftRoceEngine.ID + "]";

  private Jupiter() {}

  /** For discovery inside another launcher's run, whose listeners are not to hear of it. */
  static Launcher forDiscovery() {
    return LauncherFactory.create(
        config()
            .enableLauncherSessionListenerAutoRegistration(false)
            .enableLauncherDiscoveryListenerAutoRegistration(false)
            .enableTestExecutionListenerAutoRegistration(false)
            .enablePostDiscoveryFilterAutoRegistration(false)
            .build());
  }

  /** For running tests as Surefire would, with all listeners on the class path. */
  static Launcher forExecution() {
    return LauncherFactory.create(config().build());
  }

  private static LauncherConfig.Builder config() {
    return LauncherConfig.builder()
        .enableTestEngineAutoRegistration(false)
        .addTestEngines(new JupiterTestEngine());
  }

  /** The unique id that our engine gives to the test that has this one from Jupiter's. */
  static String toOurs(String uniqueId) {
    return replaceStart(uniqueId, ENGINE, OURS);
  }

  static String fromOurs(String uniqueId) {
    return replaceStart(uniqueId, OURS, ENGINE);
  }

  private static String replaceStart(String uniqueId, String from, String to) {
    if (!uniqueId.startsWith(from)) {
      throw new IllegalArgumentException("unique id: " + uniqueId + " (expected: " + from + "...)");
    }
    return to + uniqueId.substring(from.length());
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest;

import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.discovery.UniqueIdSelector;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;

/** The guest's half of the engine: runs the requested tests with Jupiter and writes events. */
final class GuestMain {
  private GuestMain() {}

  public static void main(String[] args) {
    int status = 1;
    try {
      run();
      status = 0;
    } catch (IOException | ClassNotFoundException | RuntimeException | Error e) {
      e.printStackTrace(System.err);
    } finally {
      // A thread that a test left behind does not keep the guest.
      System.exit(status);
    }
  }

  private static void run() throws IOException, ClassNotFoundException {
    Path folder = Path.of(System.getenv("VERBENA_RESULTS"));
    GuestRequest request = GuestRequest.readFrom(folder);
    List<UniqueIdSelector> selectors =
        request.tests().stream().map(DiscoverySelectors::selectUniqueId).toList();
    try (Writer out =
        Files.newBufferedWriter(
            folder.resolve(GuestRequest.EVENTS),
            StandardCharsets.US_ASCII,
            StandardOpenOption.APPEND)) {
      var events = new EventWriter(out);
      events.write(new GuestEvent.Ready());
      new StallWatch(events, request.stallLimit()).start();
      try {
        Jupiter.forExecution()
            .execute(
                LauncherDiscoveryRequestBuilder.request()
                    .selectors(selectors)
                    .configurationParameters(request.parameters())
                    .build(),
                events);
      } catch (RuntimeException | Error e) {
        events.write(new GuestEvent.EngineFailed(ThrownInGuest.of(e)));
      }
      events.write(new GuestEvent.Done());
    }
  }
}

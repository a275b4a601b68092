// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.device;

import io.verbena.tools.end.CommandContext;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsProvider;
import io.verbena.verbs.VerbsProviders;
import java.io.PrintWriter;
import java.net.URI;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code verbena devices}. */
@Command(
    name = "devices",
    header = "list the devices that are here, as ibv_devices",
    description = {
      "Without a URI, lists the devices that each provider has on this machine. A provider that"
          + " cannot look for devices says why, on standard error.",
      "With URIs, opens the device of each and shows whether its link is up."
    },
    footer = {"  verbena devices", "  verbena devices emulated://here disni://10.0.0.1"})
public final class DevicesCommand implements Callable<Integer> {
  private static final String ROW = "    %-16s\t%-10s\t%s%n";

  @Mixin private final CommandContext context = new CommandContext();

  @Parameters(paramLabel = "URI", arity = "0..*", description = "Addresses of devices.")
  private List<URI> uris = new ArrayList<>();

  @Override
  public Integer call() {
    PrintWriter out = context.out();
    boolean all = uris.isEmpty() ? list(out) : open(out);
    out.flush();
    return all ? 0 : 1;
  }

  private boolean list(PrintWriter out) {
    out.printf("    %-16s\t%s%n", "device", "provider");
    out.printf("    %-16s\t%s%n", "------", "----------------");
    List<VerbsProvider> providers = new ArrayList<>();
    ServiceLoader.load(VerbsProvider.class).forEach(providers::add);
    providers.sort(Comparator.comparing(VerbsProvider::scheme));
    boolean any = false;
    for (VerbsProvider provider : providers) {
      try {
        for (String name : provider.deviceNames()) {
          out.printf("    %-16s\t%s%n", name, provider.scheme() + "://");
          any = true;
        }
      } catch (RuntimeException | LinkageError e) {
        printFailure(provider.scheme() + "://", e);
      }
    }
    return any;
  }

  private boolean open(PrintWriter out) {
    out.printf(ROW, "device", "link", "URI");
    out.printf(ROW, "------", "------", "----------------");
    boolean all = true;
    for (URI uri : uris) {
      try (Device device = VerbsProviders.find(uri).open(uri)) {
        String link = device.port().active() ? "ACTIVE" : "DOWN";
        out.printf(ROW, device.attributes().name(), link, uri);
      } catch (RuntimeException e) {
        printFailure(uri.toString(), e);
        all = false;
      }
    }
    return all;
  }

  private void printFailure(String whose, Throwable failure) {
    PrintWriter err = context.err();
    err.println(whose + ": " + failure.getMessage());
    err.flush();
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.device;

import io.verbena.tools.end.CommandContext;
import io.verbena.tools.end.KernelFiles;
import io.verbena.verbs.Device;
import io.verbena.verbs.PortAttributes;
import io.verbena.verbs.VerbsProviders;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code verbena device URI}. */
@Command(
    name = "device",
    header = "tell what a device is and can do, as ibv_devinfo -v",
    description = {
      "Opens the device of a URI and prints its attributes, those of its port and of the HCA's other"
          + " ports, with the labels of ibv_devinfo -v. What a provider does not tell is left out."
    },
    footer = {
      "  verbena device emulated://here",
      "  verbena device disni://10.0.0.1",
      "  verbena device 'disni://0.0.0.0?device=mlx5_0&port=2'"
    })
public final class DeviceCommand implements Callable<Integer> {
  @Mixin private final CommandContext context = new CommandContext();

  @Parameters(paramLabel = "URI", description = "An address that the device has or reaches.")
  private URI uri = URI.create("");

  @Option(names = "--root", hidden = true, description = "Where sys is, for tests.")
  private Path root = Path.of("/");

  @Override
  public Integer call() {
    PrintWriter out = context.out();
    try (Device device = VerbsProviders.find(uri).open(uri)) {
      new DeviceReport(out, new KernelFiles(root)).print(device, ports(device));
    }
    out.flush();
    return 0;
  }

  /** Returns the device's own port, then the other ports of its HCA, which only RNICs have. */
  private List<PortAttributes> ports(Device device) {
    List<PortAttributes> ports = new ArrayList<>();
    ports.add(device.port());
    String any = uri.getScheme() + "://0.0.0.0?device=" + device.attributes().name() + "&port=";
    for (int number = 1; number <= device.portCount(); number++) {
      if (number != ports.get(0).number()) {
        URI another = URI.create(any + number);
        try (Device other = VerbsProviders.find(another).open(another)) {
          ports.add(other.port());
        }
      }
    }
    return ports;
  }
}

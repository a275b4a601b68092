package io.verbena.tools.device;

import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsProviders;
import java.io.PrintWriter;
import java.net.URI;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code verbena device URI}. */
@Command(
    name = "device",
    header = "tell what a device is and can do, as ibv_devinfo -v",
    description = {
      "Opens the device of a URI and prints its attributes and those of its port, with the labels"
          + " of ibv_devinfo -v. What a provider does not tell is left out."
    },
    footer = {
      "  verbena device emulated://here",
      "  verbena device disni://10.0.0.1",
      "  verbena device 'disni://0.0.0.0?device=mlx5_0'"
    })
public final class DeviceCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;

  @Parameters(paramLabel = "URI", description = "An address that the device has or reaches.")
  private URI uri = URI.create("");

  @Override
  public Integer call() {
    PrintWriter out = Objects.requireNonNull(spec, "spec").commandLine().getOut();
    try (Device device = VerbsProviders.find(uri).open(uri)) {
      new DeviceReport(out).print(device);
    }
    out.flush();
    return 0;
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.doctor;

import io.verbena.tools.end.CommandContext;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code verbena doctor URI}. */
@Command(
    name = "doctor",
    header = "tell what is wrong with a device, and what to do about it",
    description = {
      "Opens the device of a URI and looks at its link, the GID that connections take and why, its"
          + " MTU against that of the network interface, the limit of locked memory, the bus, the"
          + " IOMMU, the firmware, and signs of lost packets. Then it connects the device to"
          + " itself, and does a SEND, a WRITE and a READ. It needs no root, changes nothing, and"
          + " reads what the kernel shows in sysfs.",
      "",
      "  ok       as it should be",
      "  note     it works, and could do better, or only you can tell",
      "  WRONG    it fails, or will: the exit status is then 1",
      "  skipped  it means nothing on this device, or cannot be seen"
    },
    footer = {
      "  verbena doctor disni://10.0.0.1",
      "  verbena doctor 'disni://0.0.0.0?device=mlx5_0' --json",
      "  verbena doctor roce://10.0.0.1"
    })
public final class DoctorCommand implements Callable<Integer> {
  @Mixin private final CommandContext context = new CommandContext();

  @Parameters(paramLabel = "URI", description = "An address that the device has or reaches.")
  private URI uri = URI.create("");

  @Option(names = "--json", description = "Print an object for programs.")
  private boolean json;

  @Option(names = "--root", hidden = true, description = "Where sys and proc are, for tests.")
  private Path root = Path.of("/");

  @Override
  public Integer call() throws InterruptedException {
    if (uri.getScheme() == null) {
      throw context.wrong("URI: " + uri + " (expected: a URI, for example disni://10.0.0.1)");
    }
    Examination examination = Examination.of(uri, root);
    if (json) {
      DoctorJson.print(examination, context.out());
    } else {
      DoctorText.print(examination, context.out());
    }
    return examination.wrong().isEmpty() ? 0 : 1;
  }
}

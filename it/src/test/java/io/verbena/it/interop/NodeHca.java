// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.interop;

import io.verbena.it.node.Nodes;
import io.verbena.tools.Verbena;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;

/** A kernel device through one of its providers, for tools in this JVM. */
record NodeHca(String scheme) implements Hca {

  @Override
  public String server() {
    return Nodes.node2();
  }

  @Override
  public String client() {
    return Nodes.node1();
  }

  @Override
  public List<String> there(String... line) {
    return List.of(line);
  }

  @Override
  public Tool start(String line) {
    StringWriter output = new StringWriter();
    PrintWriter out = new PrintWriter(output, true);
    return Tool.start(line, output::toString, () -> Verbena.run(out, out, Tool.words(line)));
  }
}

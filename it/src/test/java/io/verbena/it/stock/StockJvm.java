// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.stock;

import com.ibm.disni.CmdLineCommon;
import com.ibm.disni.RdmaEndpoint;
import io.verbena.disni.DisniLibrary;
import io.verbena.it.Program;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.commons.cli.CommandLine;
import org.jspecify.annotations.NullMarked;
import org.slf4j.LoggerFactory;
import org.slf4j.nop.NOPServiceProvider;

/**
 * The command of a program with DiSNI's jar and without Verbena on its class path, and with our
 * library on its library path.
 *
 * @param environment settings for {@code env(1)}
 * @param libraryPath the folder of {@code libdisni.so}
 */
record StockJvm(List<String> environment, Path libraryPath) {
  /** Installs the library as a user does: {@code java io.verbena.disni.DisniLibrary}. */
  static StockJvm installed(Path cache) throws IOException, InterruptedException {
    var line = new ArrayList<String>(List.of("env", "XDG_CACHE_HOME=" + cache));
    line.addAll(Program.java(DisniLibrary.class));
    return new StockJvm(List.of(), Path.of(Program.run(line).strip()));
  }

  Program start(Class<?> main, String... arguments) throws IOException, URISyntaxException {
    var line = new ArrayList<String>(List.of("env"));
    line.addAll(environment);
    line.addAll(
        Program.java(
            List.of(
                "-Djava.library.path=" + libraryPath,
                "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED"),
            classPath(),
            main,
            arguments));
    return Program.start(line);
  }

  private static String classPath() throws URISyntaxException {
    var entries = new ArrayList<String>();
    // The last ones are for the logging, the annotations and the command lines of these programs.
    for (Class<?> type :
        List.of(
            StockJvm.class,
            RdmaEndpoint.class,
            CmdLineCommon.class,
            LoggerFactory.class,
            NOPServiceProvider.class,
            NullMarked.class,
            CommandLine.class)) {
      entries.add(
          Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString());
    }
    return String.join(File.pathSeparator, entries);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Unpacks Verbena's {@code libdisni.so} for programs written against DiSNI itself, which look for
 * it on {@code java.library.path} only. Verbena's own provider does not need this class.
 *
 * <pre>
 *   java -Djava.library.path=$(java -cp verbena-transport-disni.jar:... io.verbena.disni.DisniLibrary) \
 *        --add-exports java.base/sun.nio.ch=ALL-UNNAMED ...
 * </pre>
 */
public final class DisniLibrary {
  private static final String EXPORTED = "sun.nio.ch";

  private DisniLibrary() {}

  /** Prints the folder that {@link #install()} returns. */
  public static void main(String[] arguments) {
    System.out.println(install());
  }

  /**
   * Unpacks the library into the user's cache folder ({@code XDG_CACHE_HOME} or {@code ~/.cache});
   * each build of the library has its own subfolder.
   *
   * @return the folder to name in {@code java.library.path} when the program is started; a running
   *     JVM does not read that property again
   * @throws VerbsException NOT_SUPPORTED if the jar has no library for this machine; IO if the file
   *     cannot be written
   */
  public static Path install() {
    return install(cache());
  }

  static Path install(Path cache) {
    try (InputStream packed = NativeLibrary.resource(Platform.current(), NativeLibrary.DISNI)) {
      byte[] content = packed.readAllBytes();
      Path folder = Files.createDirectories(cache.resolve("verbena/disni-" + digest(content)));
      Path target = folder.resolve(NativeLibrary.DISNI);
      // Atomic, also when two programs unpack at the same time.
      Path whole = Files.write(Files.createTempFile(folder, NativeLibrary.DISNI, null), content);
      Files.move(whole, target, StandardCopyOption.ATOMIC_MOVE);
      return folder;
    } catch (IOException e) {
      throw new VerbsException(VerbsError.IO, "unpack " + NativeLibrary.DISNI + ": " + e, e);
    }
  }

  /**
   * Checks that this JVM exports {@code sun.nio.ch}, which DiSNI's buffers use; without it each use
   * of them throws an {@link IllegalAccessError}.
   *
   * @throws VerbsException NOT_PERMITTED if not; the message names the option to add
   */
  public static void requireExports() {
    Module unnamed = ClassLoader.getSystemClassLoader().getUnnamedModule();
    if (!Object.class.getModule().isExported(EXPORTED, unnamed)) {
      throw new VerbsException(
          VerbsError.NOT_PERMITTED,
          "DiSNI's MemoryUtils uses java.base/sun.nio.ch, which this JVM does not export; start it"
              + " with --add-exports java.base/sun.nio.ch=ALL-UNNAMED, or give the jar that"
              + " java -jar runs the manifest attribute Add-Exports: java.base/sun.nio.ch");
    }
  }

  private static Path cache() {
    String configured = System.getenv("XDG_CACHE_HOME");
    return configured == null || configured.isEmpty()
        ? Path.of(System.getProperty("user.home"), ".cache")
        : Path.of(configured);
  }

  private static String digest(byte[] content) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(content);
      return HexFormat.of().formatHex(digest, 0, 8);
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every JDK has SHA-256", e);
    }
  }
}

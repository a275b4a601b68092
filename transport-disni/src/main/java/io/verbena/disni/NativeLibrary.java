// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static java.util.Objects.requireNonNullElse;

import io.verbena.disni.core.RdmaCore;
import io.verbena.disni.elf.ElfSymbols;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Loads the two native libraries: {@code libdisni.so} from {@code java.library.path}, or else the
 * one that Verbena packs; and {@code libverbena_disni.so}, which is always Verbena's. Verbena's
 * libraries are unpacked from the class path. Each library is checked before it is loaded.
 */
final class NativeLibrary {
  static final String DISNI = "libdisni.so";
  private static final String EXTENSION = "libverbena_disni.so";

  /** The prefix of DiSNI's functions before 2.0, when its package had another name. */
  private static final String OLD_FUNCTIONS = "Java_com_ibm_disni_rdma_";

  private static @Nullable RdmaCore loaded;

  /**
   * Whether the extension is loaded: a second {@code System.load} of another copy would load it
   * again.
   */
  private static boolean hasExtension;

  private NativeLibrary() {}

  /**
   * Returns the native calls. The first call loads both libraries.
   *
   * @throws VerbsException NO_DEVICE if a library of rdma-core is missing; NOT_SUPPORTED if there
   *     is no library for this machine, or if the user's library does not fit DiSNI 2.1;
   *     NOT_PERMITTED if this JVM permits no native code; IO if the libraries cannot be unpacked
   */
  static synchronized RdmaCore load() {
    RdmaCore core = loaded;
    if (core == null) {
      core =
          new Extension(
              open(
                  Platform.current(),
                  requireNonNullElse(System.getProperty("java.library.path"), "")));
      loaded = core;
    }
    return core;
  }

  /** Loads both libraries with the given library path, on each call. */
  static Disni open(Platform platform, String libraryPath) {
    try (PrivateFolder folder = new PrivateFolder()) {
      Path extension = unpack(platform, EXTENSION, folder);
      Path users = find(libraryPath);
      Path disni = users == null ? unpack(platform, DISNI, folder) : copy(users, folder);
      String origin = users == null ? platform.resource(DISNI) : users.toString();
      platform.check(platform.resource(EXTENSION), ElfSymbols.read(extension));
      return load(platform, extension, disni, origin);
    } catch (IOException e) {
      throw new VerbsException(VerbsError.IO, "unpack native libraries: " + e, e);
    }
  }

  private static Path unpack(Platform platform, String file, PrivateFolder folder)
      throws IOException {
    try (InputStream packed = resource(platform, file)) {
      return folder.add(file, packed);
    }
  }

  /** Opens a library that Verbena packs for a platform. */
  static InputStream resource(Platform platform, String file) {
    String resource = platform.resource(file);
    InputStream packed = NativeLibrary.class.getClassLoader().getResourceAsStream(resource);
    if (packed == null) {
      throw new VerbsException(
          VerbsError.NOT_SUPPORTED,
          resource
              + ": not on the class path; build Verbena on a "
              + platform
              + " machine with a C compiler and the headers of rdma-core (on Debian: gcc,"
              + " libibverbs-dev, librdmacm-dev), or put libraries built elsewhere into a folder of"
              + " this name on the class path");
    }
    return packed;
  }

  private static @Nullable Path find(String libraryPath) {
    for (String entry : libraryPath.split(File.pathSeparator, -1)) {
      // As in the JVM, an empty entry means the working directory.
      Path file = Path.of(entry.isEmpty() ? "." : entry, DISNI);
      if (Files.isRegularFile(file)) {
        return file;
      }
    }
    return null;
  }

  private static Path copy(Path users, PrivateFolder folder) throws IOException {
    try (InputStream content = Files.newInputStream(users)) {
      return folder.add(DISNI, content);
    }
  }

  @SuppressWarnings("restricted") // System.load: the program decides about --enable-native-access.
  private static synchronized void loadExtension(Path file) {
    try {
      if (!hasExtension) {
        System.load(file.toString());
        hasExtension = true;
      }
    } catch (UnsatisfiedLinkError e) {
      throw refused(EXTENSION, e);
    } catch (IllegalCallerException e) {
      throw notPermitted(e);
    }
    if (Extension.version() != Extension.VERSION) {
      throw new VerbsException(
          VerbsError.NOT_SUPPORTED,
          "%s: version %d (expected: %d); it is of another build of Verbena"
              .formatted(EXTENSION, Extension.version(), Extension.VERSION));
    }
  }

  private static Disni load(Platform platform, Path extension, Path disni, String origin)
      throws IOException {
    DisniLoader loader = new DisniLoader(disni);
    try {
      ElfSymbols elf = ElfSymbols.read(disni);
      platform.check(origin, elf);
      checkFunctions(origin, loader.functions(), elf.names());
      loadExtension(extension);
      Constructor<?> constructor = loader.dispatcher().getDeclaredConstructor();
      constructor.setAccessible(true);
      return DisniCalls.of(constructor.newInstance(), origin);
    } catch (UnsatisfiedLinkError e) {
      throw refused(origin, e);
    } catch (InvocationTargetException e) {
      // The constructor compares versions and the sizes of structures.
      throw new VerbsException(
          VerbsError.NOT_SUPPORTED, origin + ": " + e.getCause().getMessage(), e.getCause());
    } catch (ExceptionInInitializerError e) {
      // The classes of DisniLoader are in its unnamed module, for which native access may be denied
      // even if it is enabled for this module.
      if (e.getCause() instanceof IllegalCallerException denied) {
        throw notPermitted(denied);
      }
      throw e;
    } catch (ClassNotFoundException | NoClassDefFoundError e) {
      throw new VerbsException(
          VerbsError.NOT_SUPPORTED,
          e.getMessage() + ": not on the class path; add com.ibm.disni:disni:2.1 and slf4j-api",
          e);
    } catch (ReflectiveOperationException e) {
      throw new VerbsException(
          VerbsError.NOT_SUPPORTED, e.getMessage() + ": not as in com.ibm.disni:disni:2.1", e);
    }
  }

  private static void checkFunctions(
      String origin, Collection<String> needed, Collection<String> present) {
    Collection<String> missing = new TreeSet<>(needed);
    missing.removeAll(present);
    if (missing.isEmpty()) {
      return;
    }
    boolean old = present.stream().anyMatch(name -> name.startsWith(OLD_FUNCTIONS));
    throw new VerbsException(
        VerbsError.NOT_SUPPORTED,
        "%s: lacks %d of the %d functions that DiSNI 2.1 calls%s: %s; remove it from java.library.path, and Verbena takes its own"
            .formatted(
                origin,
                missing.size(),
                needed.size(),
                old ? " (it is a library for DiSNI before 2.0)" : "",
                String.join(", ", missing)));
  }

  /** Explains a refusal by {@code --illegal-native-access=deny} of JDK 24 and later. */
  private static VerbsException notPermitted(IllegalCallerException cause) {
    return new VerbsException(
        VerbsError.NOT_PERMITTED,
        "disni:// needs native code: "
            + cause.getMessage()
            + "; start the JVM with --enable-native-access=ALL-UNNAMED, or on the module path with"
            + " --enable-native-access=io.verbena.disni,ALL-UNNAMED",
        cause);
  }

  /** Returns the dynamic linker's message with advice. */
  private static VerbsException refused(String library, UnsatisfiedLinkError error) {
    String message = String.valueOf(error.getMessage());
    VerbsError kind = VerbsError.NOT_SUPPORTED;
    String advice = "";
    if (message.contains("cannot open shared object file")) {
      // A host without rdma-core has no device either.
      kind = VerbsError.NO_DEVICE;
      advice =
          "; install the libraries of rdma-core (on Debian: libibverbs1, librdmacm1 and"
              + " ibverbs-providers)";
    } else if (message.contains("version `") || message.contains("undefined symbol")) {
      advice = "; the C library or rdma-core is older than the one it was built with";
    } else if (message.contains("failed to map segment")) {
      advice =
          "; no program can be loaded from this folder: name another with -Djava.io.tmpdir=...";
    }
    return new VerbsException(kind, library + ": " + message + advice, error);
  }
}

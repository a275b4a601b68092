// SPDX-License-Identifier: Apache-2.0
package io.verbena.foreign;

import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;
import java.util.Optional;

/**
 * The distribution's libibverbs, librdmacm and C library. A function resolves as for a program
 * linked with them: a symbol that the process has loaded already, as by {@code LD_PRELOAD}, comes
 * first.
 */
final class Libraries {
  private static final Linker LINKER = Linker.nativeLinker();
  private static final List<String> NAMES = List.of("libibverbs.so.1", "librdmacm.so.1");

  private final MethodHandle dlsym;
  private final List<SymbolLookup> libraries;

  /**
   * Opens the libraries.
   *
   * @throws VerbsException NO_DEVICE if one is missing, because a host without rdma-core has no
   *     device
   */
  @SuppressWarnings("restricted") // The program decides about --enable-native-access.
  Libraries() {
    dlsym =
        LINKER.downcallHandle(
            LINKER.defaultLookup().find("dlsym").orElseThrow(),
            FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.ADDRESS));
    libraries = NAMES.stream().map(Libraries::open).toList();
  }

  @SuppressWarnings("restricted") // The program decides about --enable-native-access.
  private static SymbolLookup open(String name) {
    try {
      return SymbolLookup.libraryLookup(name, Arena.global());
    } catch (IllegalArgumentException e) {
      throw new VerbsException(
          VerbsError.NO_DEVICE,
          name
              + ": cannot be loaded; install the libraries of rdma-core (on Debian: libibverbs1,"
              + " librdmacm1 and ibverbs-providers)",
          e);
    }
  }

  Function function(String name, Function.Failure failure, String types) {
    return Function.of(find(name), failure, types);
  }

  Function variadic(String name, Function.Failure failure, String types, int from) {
    return Function.variadic(find(name), failure, types, from);
  }

  private MemorySegment find(String name) {
    MemorySegment loaded = inProcess(name);
    if (loaded.address() != 0) {
      return loaded;
    }
    return libraries.stream()
        .map(library -> library.find(name))
        .flatMap(Optional::stream)
        .findFirst()
        .orElseThrow(
            () ->
                new VerbsException(
                    VerbsError.NOT_SUPPORTED,
                    name + ": not in " + NAMES + "; rdma-core is older than version 32"));
  }

  private MemorySegment inProcess(String name) {
    try (Arena arena = Arena.ofConfined()) {
      return (MemorySegment) dlsym.invokeExact(MemorySegment.NULL, arena.allocateFrom(name));
    } catch (Throwable e) {
      throw Function.thrown(e);
    }
  }
}

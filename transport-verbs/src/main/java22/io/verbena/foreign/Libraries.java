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
 * The distribution's libibverbs, librdmacm and C library. A function is the one that a program
 * linked with them would call: what the process has loaded already, as by {@code LD_PRELOAD}, comes
 * before them.
 */
final class Libraries {
  private static final Linker LINKER = Linker.nativeLinker();
  private static final List<String> NAMES = List.of("libibverbs.so.1", "librdmacm.so.1");

  private final MethodHandle dlsym;
  private final List<SymbolLookup> libraries;

  /**
   * Opens them.
   *
   * @throws VerbsException NO_DEVICE if one is not here: such a host has no device for it, either
   */
  @SuppressWarnings("restricted") // --enable-native-access is the program's to give.
  Libraries() {
    dlsym =
        LINKER.downcallHandle(
            LINKER.defaultLookup().find("dlsym").orElseThrow(),
            FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.ADDRESS));
    libraries = NAMES.stream().map(Libraries::open).toList();
  }

  @SuppressWarnings("restricted") // --enable-native-access is the program's to give.
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

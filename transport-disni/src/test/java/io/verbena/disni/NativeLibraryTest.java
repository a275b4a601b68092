// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.disni.core.RdmaCore;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the native libraries, without an RDMA device. */
final class NativeLibraryTest {
  private static final int NAME_SIZE = 64;
  private static final int EBADF = 9;

  @TempDir private Path folder;

  @BeforeEach
  void assumePacked() {
    Natives.assumePacked();
  }

  @Test
  void loadsOurOwnOnce() {
    RdmaCore core = NativeLibrary.load();

    assertThat(core).isSameAs(NativeLibrary.load());
    assertThat(Extension.version()).isEqualTo(Extension.VERSION);
  }

  @Test
  void saysWhereItsLibraryIsFrom() {
    assertThat(NativeLibrary.open(Platform.current(), ""))
        .hasToString("DiSNI on " + Platform.current().resource("libdisni.so"));
  }

  @Test
  void countsTheDevicesAlsoWhereThereAreNone() {
    RdmaCore core = NativeLibrary.load();
    Block.use(core);
    Block names = new Block(NAME_SIZE);

    assertThat(core.deviceNames(names.address(), 1)).isGreaterThanOrEqualTo(0);
    names.bytes().put(0, "no such device\0".getBytes(UTF_8));
    assertThat(core.context(names.address())).isEqualTo(-Errno.ENODEV);
  }

  @Test
  void refusesNoHandleInsteadOfCrashing() throws IOException {
    RdmaCore core = NativeLibrary.load();

    assertThat(core.destroyIdentifier(0)).isEqualTo(-Errno.EINVAL);
    assertThat(core.disconnect(0)).isEqualTo(-EBADF);
    assertThatThrownBy(() -> core.listen(0, 1))
        .isInstanceOf(IOException.class)
        .hasMessage("rdma_listen: Bad file descriptor [errno 9]");
    assertThatThrownBy(() -> core.allocPd(0))
        .isInstanceOf(IOException.class)
        .hasMessage("ibv_alloc_pd: No such device [errno 19]");
    assertThat(core.destroyCompletionQueue(0)).isEqualTo(-Errno.EINVAL);
    assertThat(core.postSend(0, 0, 0)).isEqualTo(-Errno.EINVAL);
    assertThat(core.bindWindow(0, 0, 0, 0, 0, 0, 0, 0)).isEqualTo(-Errno.EINVAL);
  }

  @Test
  void takesTheUsersLibraryBeforeItsOwn() throws IOException {
    Path users = Natives.unpack("libdisni.so", folder);

    Disni disni = NativeLibrary.open(Platform.current(), "/nowhere" + File.pathSeparator + folder);

    assertThat(disni).hasToString("DiSNI on " + users);
    assertThat(users).exists();
  }

  @Test
  void namesWhatTheUsersLibraryLacks() throws Exception {
    Natives.compile(
        functions("Java_com_ibm_disni_verbs_impl_NativeDispatcher__1postSend"), users());

    assertRefused()
        .hasMessageStartingWith(users() + ": lacks 1 of the 50 functions that DiSNI 2.1 calls: ")
        .hasMessageContaining("NativeDispatcher__1postSend; remove it from java.library.path");
  }

  @Test
  void recognisesALibraryForAnOlderDisni() throws Exception {
    Natives.compile(
        "void Java_com_ibm_disni_rdma_verbs_impl_NativeDispatcher__1postSend(void) {}\n", users());

    assertRefused()
        .hasMessageContaining("lacks 50 of the 50")
        .hasMessageContaining("(it is a library for DiSNI before 2.0)");
  }

  @Test
  void refusesALibraryOfAnotherVersion() throws Exception {
    Natives.compile(functions("none"), users());

    // All functions of this library return 0, including the version.
    assertRefused().hasMessageContaining("version found 0, version required 32");
  }

  @Test
  void mapsItsOwnLibraryOnceHoweverOftenTheUsersIsRefused() throws Exception {
    Natives.compile(functions("none"), users());
    assertRefused();
    long mapped = mappings();

    assertRefused();

    assertThat(mappings()).isPositive().isEqualTo(mapped);
  }

  private static long mappings() throws IOException {
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      return maps.filter(line -> line.contains("libverbena_disni.so")).count();
    }
  }

  @Test
  void refusesALibraryForAnotherMachine() throws IOException {
    int machine = Platform.current().architecture().equals("aarch64") ? 62 : 183;
    Files.move(ElfSymbolsTest.header(folder, (byte) 2, (byte) 1, machine), users());

    assertRefused().hasMessageStartingWith(users() + ": built for ");
  }

  @Test
  void saysWhatToInstallForALibraryThatIsMissing() throws Exception {
    Path gone = folder.resolve("libgone.so.1");
    Natives.compile("", gone, "-Wl,-soname,libgone.so.1");
    Natives.compile(functions("none"), users(), "-Wl,--no-as-needed", gone.toString());
    Files.delete(gone);

    assertRefused(VerbsError.NO_DEVICE)
        .hasMessageContaining("libgone.so.1: cannot open shared object file")
        .hasMessageContaining("install the libraries of rdma-core (on Debian: libibverbs1");
  }

  @Test
  void namesTheFolderForAMachineThatItHasNoneFor() {
    assertThatThrownBy(() -> NativeLibrary.open(Platform.of("Linux", "vax"), ""))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.NOT_SUPPORTED))
        .hasMessageContaining(
            "io/verbena/disni/native/linux-vax/libverbena_disni.so: not on the class path")
        .hasMessageContaining("libibverbs-dev");
  }

  private Path users() {
    return folder.resolve("libdisni.so");
  }

  private AbstractThrowableAssert<?, ?> assertRefused() {
    return assertRefused(VerbsError.NOT_SUPPORTED);
  }

  private AbstractThrowableAssert<?, ?> assertRefused(VerbsError error) {
    return assertThatThrownBy(() -> NativeLibrary.open(Platform.current(), folder.toString()))
        .isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e.error()).isEqualTo(error));
  }

  /** Returns C source of all DiSNI functions except one; each function returns 0. */
  private String functions(String without) throws Exception {
    Collection<String> all = new DisniLoader(users()).functions();
    return all.stream()
        .filter(name -> !name.equals(without))
        .map(name -> "long " + name + "(void) { return 0; }\n")
        .collect(Collectors.joining());
  }
}

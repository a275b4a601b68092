// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.medium;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsProvider;
import io.verbena.verbs.VerbsProviders;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which media reach an address, and in which order. */
@Tag("once")
class MediaTest {
  private static final URI HERE = URI.create("rdma://127.0.0.1:7");

  /** Reserved for documentation (RFC 5737), so no machine has it. */
  private static final String REMOTE = "192.0.2.1:7";

  @TempDir private static Path services;

  /** An RNIC of this host. */
  public static final class Rnic implements VerbsProvider {
    @Override
    public String scheme() {
      return "disni";
    }

    @Override
    public List<String> deviceNames() {
      return List.of("mlx5_0");
    }

    @Override
    public Device open(URI address) {
      throw new AssertionError("opened: " + address);
    }
  }

  @BeforeAll
  static void nameTheRnic() throws IOException {
    Path file = services.resolve("META-INF/services/" + VerbsProvider.class.getName());
    Files.createDirectories(file.getParent());
    Files.writeString(file, Rnic.class.getName());
  }

  private static Media withoutRnic() {
    return new Media(VerbsProviders.load());
  }

  /** Returns the media of a host with an RNIC. */
  private static Media withRnic() {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (URLClassLoader loader = new URLClassLoader(new URL[] {url(services)}, before)) {
      thread.setContextClassLoader(loader);
      return new Media(VerbsProviders.load());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  private static URL url(Path folder) throws MalformedURLException {
    return folder.toUri().toURL();
  }

  private static List<String> schemes(Media media, URI address) {
    return media.candidates(address).stream().map(URI::getScheme).toList();
  }

  @Test
  void takesIwarpBehindAnRnicAndRoceNotAtAll() {
    assertThat(schemes(withRnic(), HERE)).containsExactly("emulated", "shm", "disni", "iwarp");
    assertThat(schemes(withoutRnic(), HERE)).containsExactly("emulated", "shm", "iwarp");
  }

  @ParameterizedTest
  @CsvSource({
    "'roce,iwarp,disni,shm', 'shm,disni,iwarp,roce'",
    "'roce,iwarp', 'iwarp,roce'",
    "iwarp, iwarp"
  })
  void keepsTheOrderOfThoseThatAreAskedFor(String asked, String order) {
    assertThat(schemes(withRnic(), URI.create(HERE + "?medium=" + asked)))
        .containsExactly(order.split(",", -1));
  }

  @Test
  void reachesAnotherHostByItsRnicAndByIwarp() {
    URI remote = URI.create("rdma://" + REMOTE);

    assertThat(withRnic().candidates(remote))
        .containsExactly(URI.create("disni://" + REMOTE), URI.create("iwarp://" + REMOTE));
    assertThat(withoutRnic().candidates(remote)).containsExactly(URI.create("iwarp://" + REMOTE));
  }
}

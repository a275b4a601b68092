// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.core.testing.ClassPath;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Tests programs without Netty's native transports, which are optional dependencies. */
@Tag("once")
class NativeLibraryTest {
  private static final String LIBRARIES = "netty-transport-native-(epoll|io_uring)-.*";
  private static final String CLASSES = "netty-transport-(native|classes)-.*";
  private static final String NOTHING = "";

  /**
   * Runs {@link SocketsProgram} on the class path of the tests.
   *
   * @param without a pattern for the names of files to leave out
   * @param loaded receives the names of the loaded classes of Netty's native transports
   */
  private static List<String> run(SocketKind kind, String without, Queue<String> loaded)
      throws Exception {
    URL[] classPath = ClassPath.without(entry -> new File(entry).getName().matches(without));
    try (URLClassLoader loader = new Observing(classPath, loaded)) {
      Thread current = Thread.currentThread();
      ClassLoader before = current.getContextClassLoader();
      current.setContextClassLoader(loader);
      try {
        @SuppressWarnings("unchecked")
        Function<String, List<String>> program =
            (Function<String, List<String>>)
                loader.loadClass(SocketsProgram.class.getName()).getConstructor().newInstance();
        assertThat(program.getClass()).isNotEqualTo(SocketsProgram.class);
        return program.apply(kind.name());
      } finally {
        current.setContextClassLoader(before);
      }
    }
  }

  private static final class Observing extends URLClassLoader {
    private final Queue<String> loaded;

    Observing(URL[] classPath, Queue<String> loaded) {
      super(classPath, getPlatformClassLoader());
      this.loaded = loaded;
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
      if (name.matches("io\\.netty\\.channel\\.(epoll|uring|unix)\\..*")) {
        loaded.add(name);
      }
      return super.findClass(name);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "NIO")
  void aKindWithoutItsLibraryIsRefusedAtOnce(SocketKind kind) throws Exception {
    List<String> refusal = run(kind, LIBRARIES, new ConcurrentLinkedQueue<>());

    String artifact = "netty-transport-native-" + (kind == SocketKind.EPOLL ? "epoll" : "io_uring");
    assertThat(refusal)
        .hasSize(3)
        .startsWith(kind.name())
        .endsWith("java.lang.UnsatisfiedLinkError");
    assertThat(refusal.get(1))
        .startsWith("build: " + kind + " sockets are not available: java.lang.UnsatisfiedLinkError")
        .contains("(expected: io.netty:" + artifact + ", with the classifier linux-");
  }

  @ParameterizedTest
  @EnumSource(mode = Mode.EXCLUDE, names = "NIO")
  void aKindWithoutItsClassesIsRefusedAtOnce(SocketKind kind) throws Exception {
    List<String> refusal = run(kind, CLASSES, new ConcurrentLinkedQueue<>());

    assertThat(refusal)
        .hasSize(3)
        .startsWith(kind.name())
        .endsWith("java.lang.NoClassDefFoundError");
    assertThat(refusal.get(1)).contains("(expected: io.netty:netty-transport-native-");
  }

  @Test
  void nioNeedsNothingOfThem() throws Exception {
    assertThat(run(SocketKind.NIO, CLASSES, new ConcurrentLinkedQueue<>()))
        .containsExactly("io.netty.channel.socket.nio.NioSocketChannel");
  }

  @Test
  void nioLoadsNoClassOfThemThatIsThere() throws Exception {
    Queue<String> loaded = new ConcurrentLinkedQueue<>();

    assertThat(run(SocketKind.NIO, NOTHING, loaded))
        .containsExactly("io.netty.channel.socket.nio.NioSocketChannel");

    assertThat(loaded).isEmpty();
  }

  @Test
  void epollLoadsNoClassOfIoUring() throws Exception {
    SocketKinds.assumeAvailable(SocketKind.EPOLL);
    Queue<String> loaded = new ConcurrentLinkedQueue<>();

    assertThat(run(SocketKind.EPOLL, NOTHING, loaded))
        .containsExactly("io.netty.channel.epoll.EpollSocketChannel");

    assertThat(loaded).isNotEmpty().noneMatch(name -> name.contains(".uring."));
  }
}

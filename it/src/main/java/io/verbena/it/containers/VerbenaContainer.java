// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers;

import static java.util.Objects.requireNonNull;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.async.ResultCallback;
import com.github.dockerjava.api.command.WaitContainerResultCallback;
import com.github.dockerjava.api.model.Capability;
import com.github.dockerjava.api.model.ContainerNetwork;
import com.github.dockerjava.api.model.Frame;
import com.github.dockerjava.api.model.HostConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.testcontainers.containers.ContainerLaunchException;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.containers.startupcheck.StartupCheckStrategy;
import org.testcontainers.containers.wait.strategy.AbstractWaitStrategy;

/**
 * A Java program of this JVM's class path in a container, and the faults that can befall it. All of
 * Testcontainers' {@link GenericContainer} works on it.
 *
 * <pre>{@code
 * try (Network network = Network.newNetwork();
 *     VerbenaContainer server =
 *         new VerbenaContainer(MyServer.class)
 *             .withArguments("tcp://0.0.0.0:7470")
 *             .withPort(7470)
 *             .withReadiness("serving")
 *             .withNetwork(network)) {
 *   server.start();
 *   new VerbenaContainer(MyClient.class).withArguments("tcp://" + server.hostAndPort()) ...
 * }
 * }</pre>
 *
 * <p>RoCEv2 does not pass through address translation: peers are containers on one network, and
 * reach each other by {@link #host()}, never by mapped ports.
 *
 * <p>{@link #start} returns when the program is ready, or fails at the startup timeout, or as soon
 * as the program ends without having been; so it does without a readiness line at once. Waits throw
 * an {@link IllegalStateException} with the program's output at their limit. Closing kills the
 * program and removes the container. Threads: one at a time.
 */
public final class VerbenaContainer extends GenericContainer<VerbenaContainer> {
  /** System property: the base image of programs for which none is named. */
  public static final String BASE_IMAGE = "verbena.test.image";

  /** The arguments by which a JVM starts soonest. */
  private static final List<String> JVM_ARGUMENTS =
      List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto");

  private final List<String> jvmArguments = new ArrayList<>(JVM_ARGUMENTS);
  private final List<String> arguments = new ArrayList<>();
  private final Class<?> main;
  private @Nullable String readiness;
  private int port;
  private Duration readinessLimit = Duration.ofSeconds(60);

  /**
   * A program on the base image that the system property {@link #BASE_IMAGE} names, or, if there is
   * none, on an image of this JVM's own files.
   */
  public VerbenaContainer(Class<?> main) {
    this(main, System.getProperty(BASE_IMAGE));
  }

  /**
   * A program on a base image.
   *
   * @param base the name of an image with {@code java} on its path; null for this JVM's own files
   */
  public VerbenaContainer(Class<?> main, @Nullable String base) {
    super(VerbenaImage.on(base));
    this.main = main;
    setStartupCheckStrategy(new StartedIsEnough());
    setWaitStrategy(new ReadinessLine());
  }

  /**
   * Returns the entries of this JVM's class path, in its order, and where they are in a container.
   * That is a program's class path, unless an argument of its JVM sets another.
   */
  public static Map<Path, String> classPath() {
    return VerbenaImage.classPath();
  }

  /** Adds arguments of the program. */
  public VerbenaContainer withArguments(String... added) {
    arguments.addAll(List.of(added));
    return this;
  }

  /** Adds options of the JVM. */
  public VerbenaContainer withJvmArguments(String... added) {
    jvmArguments.addAll(List.of(added));
    return this;
  }

  /** The program is ready when its output contains this. */
  public VerbenaContainer withReadiness(String text) {
    readiness = text;
    return this;
  }

  /** The port at which the program serves, within its network. */
  public VerbenaContainer withPort(int served) {
    port = served;
    return this;
  }

  /** Gives it this address; its network has to have been made with a subnet for it. */
  public VerbenaContainer withAddress(String ipv4) {
    return withCreateContainerCmdModifier(command -> command.withIpv4Address(ipv4));
  }

  /** Makes {@link #lose} and {@link #narrow} work on it, by the capability that they take. */
  public VerbenaContainer withNetworkFaults() {
    return withCreateContainerCmdModifier(
        command -> {
          HostConfig host = requireNonNull(command.getHostConfig(), "hostConfig");
          command.withHostConfig(host.withCapAdd(Capability.NET_ADMIN));
        });
  }

  @Override
  protected void configure() {
    var line = new ArrayList<String>(jvmArguments);
    line.add(main.getName());
    line.addAll(arguments);
    setCommandParts(line.toArray(String[]::new));
  }

  /**
   * Its IPv4 address in its network, from where the containers of that network reach it.
   *
   * @throws IllegalStateException if it is not connected
   */
  public String host() {
    return getCurrentContainerInfo().getNetworkSettings().getNetworks().values().stream()
        .map(ContainerNetwork::getIpAddress)
        .filter(address -> address != null && !address.isEmpty())
        .findFirst()
        .orElseThrow(() -> new IllegalStateException(main.getName() + ": in no network"));
  }

  /** The port of {@link #withPort}. */
  public int port() {
    if (port == 0) {
      throw new IllegalStateException(main.getName() + ": port: not set (expected: withPort)");
    }
    return port;
  }

  /** Returns host and port as they stand in a URI. */
  public String hostAndPort() {
    return host() + ':' + port();
  }

  /** Waits until its output contains this so many times, counted from its first start. */
  public void awaitOutput(String text, int times, Duration limit) {
    var output = new Output(text, times);
    try (output) {
      getDockerClient()
          .logContainerCmd(getContainerId())
          .withFollowStream(true)
          .withStdOut(true)
          .withStdErr(true)
          .exec(output);
      if (!output.found.get(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new IllegalStateException(main.getName() + " ended: " + getLogs());
      }
    } catch (TimeoutException | ExecutionException e) {
      throw new IllegalStateException(
          "no \"" + text + "\" of " + main.getName() + " within " + limit + ": " + getLogs(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits for the program's end, and returns its exit code. */
  public int awaitExit(Duration limit) {
    try (var exit = new WaitContainerResultCallback()) {
      return getDockerClient()
          .waitContainerCmd(getContainerId())
          .exec(exit)
          .awaitStatusCode(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (RuntimeException e) {
      throw new IllegalStateException(
          main.getName() + " does not end within " + limit + ": " + getLogs(), e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ends the program by SIGKILL. The container stays, for its logs and for {@link #restart}. */
  public void kill() {
    signal("KILL");
  }

  /** Asks the program to end, by SIGTERM: its shutdown hooks run. */
  public void terminate() {
    signal("TERM");
  }

  /** Starts it again after its end, at its address if that was given; returns when it is ready. */
  public void restart() {
    int before = readiness == null ? 0 : Output.count(getLogs(), readiness);
    getDockerClient().startContainerCmd(getContainerId()).exec();
    if (readiness != null) {
      awaitOutput(readiness, before + 1, readinessLimit);
    }
  }

  /** Has it print the stacks of its threads to its output, unless it has ended; does not wait. */
  public void printThreads() {
    if (isRunning()) {
      signal("QUIT");
    }
  }

  /**
   * Stops its threads, all of them, between one instruction and the next: by SIGSTOP, as Docker's
   * own pause gives up on a busy machine where it has control groups of version 1.
   */
  public void pause() {
    signal("STOP");
  }

  /** Resumes its threads. */
  public void resume() {
    signal("CONT");
  }

  private void signal(String name) {
    getDockerClient().killContainerCmd(getContainerId()).withSignal(name).exec();
  }

  /** Takes it off the network: no packet reaches it or leaves it. */
  public void disconnect(Network network) {
    getDockerClient()
        .disconnectFromNetworkCmd()
        .withContainerId(getContainerId())
        .withNetworkId(network.getId())
        .exec();
  }

  /** Puts it on the network, at this address. */
  public void connect(Network network, String ipv4) {
    getDockerClient()
        .connectToNetworkCmd()
        .withContainerId(getContainerId())
        .withNetworkId(network.getId())
        .withContainerNetwork(
            new ContainerNetwork()
                .withIpamConfig(new ContainerNetwork.Ipam().withIpv4Address(ipv4)))
        .exec();
  }

  /**
   * Loses packets that it sends, each by this chance, until it ends or leaves its network; 0 ends
   * that too. Needs {@link #withNetworkFaults}.
   *
   * @param percent 0 to 100
   * @throws UnsupportedOperationException if its image has no {@code tc}, or the kernel not what
   *     that asks for; the message says what
   */
  public void lose(double percent) {
    outgoing().lose(percent);
  }

  /**
   * Lets its packets leave at this rate, until it ends or leaves its network. Packets that come
   * faster wait, and are lost where they would have to wait longer than that. Needs {@link
   * #withNetworkFaults}.
   *
   * @throws UnsupportedOperationException as {@link #lose}
   */
  public void narrow(long bytesPerSecond, Duration longestWait) {
    outgoing().narrow(bytesPerSecond, longestWait);
  }

  /** Returns how many of its packets {@link #lose} and {@link #narrow} have lost. */
  public long packetsLost() {
    return outgoing().lost();
  }

  private OutgoingPackets outgoing() {
    return new OutgoingPackets(getDockerClient(), getContainerId());
  }

  /** Testcontainers' own look at a container's state no more often than once a second. */
  private static final class StartedIsEnough extends StartupCheckStrategy {
    @Override
    public boolean waitUntilStartupSuccessful(DockerClient client, String id) {
      return true;
    }

    @Override
    public StartupStatus checkStartupState(DockerClient client, String id) {
      return StartupStatus.SUCCESSFUL;
    }
  }

  private final class ReadinessLine extends AbstractWaitStrategy {
    @Override
    protected void waitUntilReady() {
      readinessLimit = startupTimeout;
      if (readiness != null) {
        try {
          awaitOutput(readiness, 1, startupTimeout);
        } catch (IllegalStateException e) {
          throw new ContainerLaunchException(String.valueOf(e.getMessage()), e);
        }
      }
    }
  }

  /** Looks for a text in what the container writes; returns false if that ends before. */
  private static final class Output extends ResultCallback.Adapter<Frame> {
    /** What may still hold the text, or its beginning. */
    private final StringBuilder rest = new StringBuilder();

    private final String text;
    private int left;
    private final CompletableFuture<Boolean> found = new CompletableFuture<>();

    Output(String text, int times) {
      this.text = text;
      left = times;
    }

    static int count(String all, String text) {
      int count = 0;
      for (int at = all.indexOf(text); at >= 0; at = all.indexOf(text, at + text.length())) {
        count++;
      }
      return count;
    }

    @Override
    public void onNext(Frame frame) {
      rest.append(new String(frame.getPayload(), StandardCharsets.UTF_8));
      for (int at = rest.indexOf(text); at >= 0; at = rest.indexOf(text)) {
        left--;
        rest.delete(0, at + text.length());
      }
      rest.delete(0, Math.max(0, rest.length() - text.length() + 1));
      if (left <= 0) {
        found.complete(true);
      }
    }

    @Override
    public void onError(Throwable failure) {
      found.completeExceptionally(failure);
      super.onError(failure);
    }

    @Override
    public void onComplete() {
      found.complete(false);
      super.onComplete();
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers.hca;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.dockerjava.api.exception.DockerException;
import com.github.dockerjava.api.model.Network.Ipam;
import io.verbena.it.containers.VerbenaContainer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.testcontainers.containers.Network;
import org.testcontainers.images.builder.Transferable;

/**
 * A Docker network with programs, each at an address of its own. Closing the network ends all its
 * programs. Used by one thread.
 */
final class HcaNetwork implements AutoCloseable {
  static final Duration LIMIT = Duration.ofMinutes(2);
  static final int PORT = 7471;

  /**
   * The time for which programs on iWARP wait for a silent peer, where the HCA has no retries of
   * its own.
   */
  private static final int PATIENCE_MILLIS = 6000;

  private static final int TERMINATED = 128 + 15;

  /** The highest second number of a subnet. */
  private static final int LAST_SECOND = 99;

  /** The file that {@link #begin} creates. */
  private static final String BEGIN = "/begin";

  private final List<VerbenaContainer> started = new ArrayList<>();
  private final Wire wire;
  private final String subnet;
  private final Network network;

  /** Creates a network whose programs use RoCEv2. */
  HcaNetwork(String subnet) {
    this(Wire.ROCE, subnet);
  }

  /**
   * Creates a network.
   *
   * @param wire the wire that its programs use
   * @param subnet the first three numbers of its addresses, with the dots; the second number is
   *     higher if another network has these addresses, for instance one that a killed JVM left
   */
  HcaNetwork(Wire wire, String subnet) {
    this.wire = wire;
    String[] numbers = subnet.split("\\.", -1);
    int second = Integer.parseInt(numbers[1]);
    Network made = null;
    String free = subnet;
    while (made == null) {
      free = numbers[0] + '.' + second + '.' + numbers[2] + '.';
      try {
        made = create(free);
      } catch (DockerException e) {
        if (++second > LAST_SECOND || !String.valueOf(e.getMessage()).contains("overlaps")) {
          throw e;
        }
      }
    }
    this.network = made;
    this.subnet = free;
  }

  private static Network create(String subnet) {
    Network network =
        Network.builder()
            .createNetworkCmdModifier(
                command ->
                    command.withIpam(
                        new Ipam().withConfig(new Ipam.Config().withSubnet(subnet + "0/24"))))
            .build();
    // Docker creates the network at the first request for its identifier.
    network.getId();
    return network;
  }

  Network network() {
    return network;
  }

  String address(int host) {
    return subnet + host;
  }

  VerbenaContainer server(int host) {
    return start(
        new VerbenaContainer(EchoServer.class)
            .withArguments(wire.any() + ":" + PORT)
            .withPort(PORT)
            .withReadiness(EchoServer.READY),
        host);
  }

  /** Starts a client that sends as fast as possible. */
  VerbenaContainer client(VerbenaContainer of, int host, int connections, int length, int count) {
    return client(of, host, connections, length, Integer.toString(count), 0);
  }

  /**
   * Starts a client that sends {@code count} messages on each connection, with {@code pause}
   * milliseconds between them.
   */
  VerbenaContainer client(
      VerbenaContainer of, int host, int connections, int length, String count, int pause) {
    return start(
        new VerbenaContainer(EchoClient.class)
            .withArguments(wire.at(of.hostAndPort()))
            .withArguments(Integer.toString(connections), Integer.toString(length), count)
            .withArguments(Integer.toString(pause)),
        host);
  }

  /** Starts a client that begins after {@link #begin}. */
  VerbenaContainer waitingClient(
      VerbenaContainer of, int host, int connections, int length, int count) {
    return start(
        new VerbenaContainer(EchoClient.class)
            .withArguments(wire.at(of.hostAndPort()))
            .withArguments(Integer.toString(connections), Integer.toString(length))
            .withArguments(Integer.toString(count), "0", BEGIN)
            .withReadiness(EchoClient.WAITING),
        host);
  }

  static void begin(VerbenaContainer client) {
    client.copyFileToContainer(Transferable.of("now"), BEGIN);
  }

  VerbenaContainer reconnectingClient(int host, int losses, List<VerbenaContainer> servers) {
    return start(
        new VerbenaContainer(ReconnectingClient.class)
            .withArguments(Integer.toString(losses))
            .withArguments(
                servers.stream().map(each -> wire.at(each.hostAndPort())).toArray(String[]::new)),
        host);
  }

  VerbenaContainer start(VerbenaContainer container, int host) {
    started.add(container.withNetworkFaults().withNetwork(network).withAddress(address(host)));
    if (wire == Wire.IWARP) {
      container.withJvmArguments("-D" + Counts.PATIENCE_MILLIS + "=" + PATIENCE_MILLIS);
    }
    container.start();
    return container;
  }

  static void assertAllCameBack(VerbenaContainer client, int messages) {
    assertThat(client.awaitExit(LIMIT)).as(client.getLogs()).isZero();
    assertThat(client.getLogs()).contains(messages + " " + EchoClient.DONE);
  }

  /** Waits until the output has {@code times} further occurrences of {@code text}. */
  static void awaitMore(VerbenaContainer container, String text, int times) {
    int before = container.getLogs().split(Pattern.quote(text), -1).length - 1;
    container.awaitOutput(text, before + times, LIMIT);
  }

  /** Terminates a program so that it prints its counts. */
  static void terminate(VerbenaContainer container) {
    container.terminate();
    assertThat(container.awaitExit(LIMIT)).as(container.getLogs()).isEqualTo(TERMINATED);
  }

  @Override
  public void close() {
    RuntimeException failure = null;
    for (VerbenaContainer each : started) {
      try {
        each.close();
      } catch (RuntimeException e) {
        failure = e;
      }
    }
    // A network that is left would block its next creation.
    network.close();
    if (failure != null) {
      throw failure;
    }
  }
}

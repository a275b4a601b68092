// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers.hca;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.github.dockerjava.api.model.Bind;
import com.github.dockerjava.api.model.HostConfig;
import com.github.dockerjava.api.model.Volume;
import io.verbena.it.containers.InContainers;
import io.verbena.it.containers.VerbenaContainer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.testcontainers.DockerClientFactory;

/**
 * Tests echoes over {@code shm://} between containers that share only a folder: no network and no
 * process ids.
 */
@InContainers
@Tag("exhaustive")
@Tag("once")
class SharedMemoryTest {
  private static final String ADDRESS = "shm://echo?dir=/shared/hosts";
  private static final String ENDLESS = Long.toString(Long.MAX_VALUE);
  private static final int KILLED = 128 + 9;

  private final List<VerbenaContainer> clients = new ArrayList<>();

  /**
   * A Docker volume, as files of the containers' root user in a folder of this JVM could not be
   * deleted without root.
   */
  private final String volume = "verbena-" + UUID.randomUUID();

  private VerbenaContainer server;

  @BeforeEach
  void serve() {
    server =
        sharing(
            new VerbenaContainer(EchoServer.class)
                .withArguments(ADDRESS)
                .withReadiness(EchoServer.READY));
    server.start();
  }

  @AfterEach
  void end() {
    clients.forEach(VerbenaContainer::close);
    server.close();
    DockerClientFactory.instance().client().removeVolumeCmd(volume).exec();
  }

  private VerbenaContainer sharing(VerbenaContainer program) {
    return program
        .withNetworkMode("none")
        .withCreateContainerCmdModifier(
            command -> {
              HostConfig host = requireNonNull(command.getHostConfig(), "hostConfig");
              command.withHostConfig(host.withBinds(new Bind(volume, new Volume("/shared"))));
            });
  }

  private VerbenaContainer client(String count, String pause) {
    VerbenaContainer client =
        sharing(
            new VerbenaContainer(EchoClient.class)
                .withArguments(ADDRESS, "2", "4096", count, pause));
    clients.add(client);
    client.start();
    return client;
  }

  private VerbenaContainer endless() {
    VerbenaContainer client = client(ENDLESS, "1");
    client.awaitOutput(EchoClient.PROGRESS, 1, HcaNetwork.LIMIT);
    return client;
  }

  @Test
  void whoIsKilledIsGivenUpAndItsNameIsFree() {
    VerbenaContainer killed = endless();
    VerbenaContainer bystander = endless();

    killed.kill();

    assertThat(killed.awaitExit(HcaNetwork.LIMIT)).isEqualTo(KILLED);
    server.awaitOutput(EchoServer.ENDED, 2, HcaNetwork.LIMIT);
    HcaNetwork.awaitMore(bystander, EchoClient.PROGRESS, 2);

    server.kill();

    assertThat(server.awaitExit(HcaNetwork.LIMIT)).isEqualTo(KILLED);
    assertThat(bystander.awaitExit(HcaNetwork.LIMIT))
        .as(bystander.getLogs())
        .isEqualTo(EchoClient.FAILED);
    server.restart();
    HcaNetwork.assertAllCameBack(client("300", "0"), 2 * 300);
  }
}

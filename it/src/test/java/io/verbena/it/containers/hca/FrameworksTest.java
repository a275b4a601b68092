// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers.hca;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.containers.InContainers;
import io.verbena.it.containers.VerbenaContainer;
import io.verbena.samples.blockstore.BlockStoreClient;
import io.verbena.samples.blockstore.BlockStoreServer;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.testcontainers.containers.Network;
import org.testcontainers.images.builder.Transferable;

/**
 * Tests the block store, gRPC and RSocket, server and client each in a container. {@link
 * FrameworkFaultsTest} tests the latter two over iWARP.
 */
@InContainers
@Tag("exhaustive")
@Tag("once")
class FrameworksTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final int LENGTH = 9_000_001;

  private static final Network NETWORK = Network.newNetwork();
  private final List<VerbenaContainer> started = new ArrayList<>();

  @AfterAll
  static void endNetwork() {
    NETWORK.close();
  }

  @AfterEach
  void end() {
    started.forEach(VerbenaContainer::close);
  }

  private VerbenaContainer start(VerbenaContainer container) {
    started.add(container.withNetwork(NETWORK));
    container.start();
    return container;
  }

  private VerbenaContainer client(Class<?> main, String... arguments) {
    return start(new VerbenaContainer(main).withArguments(arguments));
  }

  private static void assertSaid(VerbenaContainer client, String text) {
    assertThat(client.awaitExit(LIMIT)).as(client.getLogs()).isZero();
    assertThat(client.getLogs()).contains(text);
  }

  @ParameterizedTest
  @EnumSource
  void severalClientsOfTheBlockStoreReadWriteAndDrawTicketsAtOnce(Wire wire) {
    byte[] content = new byte[LENGTH];
    new Random(LENGTH).nextBytes(content);
    VerbenaContainer server =
        start(
            new VerbenaContainer(BlockStoreServer.class)
                .withArguments(wire.any() + ":7470", "/block")
                .withPort(7470)
                .withReadiness("serving 1 files at " + wire.at(""))
                .withCopyToContainer(Transferable.of(content), "/block"));
    String store = wire.at(server.hostAndPort());
    VerbenaContainer reader = client(BlockStoreClient.class, store, "get", "block", "/tmp/copy");
    VerbenaContainer writer =
        start(
            new VerbenaContainer(BlockStoreClient.class)
                .withArguments(store, "put", "/added")
                .withCopyToContainer(Transferable.of(content), "/added"));
    VerbenaContainer drawer = client(BlockStoreClient.class, store, "ticket");
    VerbenaContainer other = client(BlockStoreClient.class, store, "ticket");
    assertSaid(reader, "sha256 checked");
    assertThat(reader.<byte[]>copyFileFromContainer("/tmp/copy", InputStream::readAllBytes))
        .isEqualTo(content);
    assertSaid(writer, LENGTH + " added");
    assertSaid(drawer, "");
    assertSaid(other, "");
    assertThat(List.of(lastLine(drawer), lastLine(other))).containsExactlyInAnyOrder("0", "1");
  }

  private static String lastLine(VerbenaContainer container) {
    List<String> lines = container.getLogs().strip().lines().toList();
    return lines.get(lines.size() - 1);
  }

  @Test
  void aClientOfGrpcCallsAcrossTheNetwork() {
    VerbenaContainer server =
        start(
            new VerbenaContainer(GrpcServer.class)
                .withArguments(Wire.ROCE.any(), "7000")
                .withPort(7000)
                .withReadiness(GrpcServer.READY));
    assertSaid(
        client(GrpcClient.class, Wire.ROCE.any(), server.host(), "7000", "200", "0"),
        "200" + GrpcClient.DONE);
  }

  @Test
  void aClientOfRSocketTakesAStreamAcrossTheNetwork() {
    VerbenaContainer server =
        start(
            new VerbenaContainer(RSocketServer.class)
                .withArguments(Wire.ROCE.any() + ":7001")
                .withPort(7001)
                .withReadiness(RSocketServer.READY));
    assertSaid(
        client(RSocketClient.class, Wire.ROCE.at(server.hostAndPort()), "5000", "0"),
        "5000" + RSocketClient.DONE);
  }
}

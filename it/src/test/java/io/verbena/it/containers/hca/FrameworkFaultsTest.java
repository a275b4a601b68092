// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers.hca;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.containers.InContainers;
import io.verbena.it.containers.VerbenaContainer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests streams of gRPC and RSocket when one end is killed in the middle. */
@InContainers
@Tag("exhaustive")
@Tag("once")
class FrameworkFaultsTest {
  private static final String ENDLESS = Integer.toString(Integer.MAX_VALUE);
  private static final String PORT = "7000";

  /** A framework's programs, and their output. */
  private record Programs(
      Supplier<VerbenaContainer> server,
      Function<VerbenaContainer, VerbenaContainer> client,
      String progress,
      String ended) {}

  @ParameterizedTest
  @EnumSource
  void aCallOfGrpcEndsAsUnavailableAndNobodyElseNotices(Wire wire) {
    assertOnlyPeersOfTheKilledNotice(
        wire,
        new Programs(
            () ->
                new VerbenaContainer(GrpcServer.class)
                    .withArguments(wire.any(), PORT)
                    .withReadiness(GrpcServer.READY),
            server ->
                new VerbenaContainer(GrpcClient.class)
                    .withArguments(wire.any(), server.host(), PORT, ENDLESS, "100"),
            GrpcClient.PROGRESS,
            GrpcServer.ENDED),
        "Status{code=UNAVAILABLE");
  }

  @ParameterizedTest
  @EnumSource
  void aStreamOfRSocketEndsWithAnErrorAndNobodyElseNotices(Wire wire) {
    assertOnlyPeersOfTheKilledNotice(
        wire,
        new Programs(
            () ->
                new VerbenaContainer(RSocketServer.class)
                    .withArguments(wire.any() + ':' + PORT)
                    .withReadiness(RSocketServer.READY),
            server ->
                new VerbenaContainer(RSocketClient.class)
                    .withArguments(wire.at(server.host()) + ':' + PORT, ENDLESS, "5"),
            RSocketClient.PROGRESS,
            RSocketServer.ENDED),
        "ClosedChannelException");
  }

  private static void assertOnlyPeersOfTheKilledNotice(Wire wire, Programs programs, String error) {
    try (var network = new HcaNetwork(wire, "10.77.83.")) {
      VerbenaContainer killed = network.start(programs.server().get(), 2);
      VerbenaContainer server = network.start(programs.server().get(), 3);
      VerbenaContainer bereft = network.start(programs.client().apply(killed), 4);
      VerbenaContainer leaver = network.start(programs.client().apply(server), 5);
      VerbenaContainer bystander = network.start(programs.client().apply(server), 6);
      HcaNetwork.awaitMore(bereft, programs.progress(), 1);
      HcaNetwork.awaitMore(leaver, programs.progress(), 1);
      HcaNetwork.awaitMore(bystander, programs.progress(), 1);
      killed.kill();
      leaver.kill();
      assertThat(bereft.awaitExit(HcaNetwork.LIMIT))
          .as(bereft.getLogs())
          .isEqualTo(EchoClient.FAILED);
      assertThat(bereft.getLogs()).contains(error);
      server.awaitOutput(programs.ended(), 1, HcaNetwork.LIMIT);
      HcaNetwork.awaitMore(bystander, programs.progress(), 1);
      assertThat(server.getLogs().split(programs.ended(), -1)).as(server.getLogs()).hasSize(2);
    }
  }
}

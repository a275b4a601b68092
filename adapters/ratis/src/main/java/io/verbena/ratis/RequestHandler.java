// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import static java.util.concurrent.CompletableFuture.completedFuture;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.client.impl.ClientProtoUtils;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.GroupInfoRequestProto;
import org.apache.ratis.proto.RaftProtos.GroupListRequestProto;
import org.apache.ratis.proto.RaftProtos.GroupManagementRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.LeaderElectionManagementRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.SetConfigurationRequestProto;
import org.apache.ratis.proto.RaftProtos.SnapshotManagementRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.proto.RaftProtos.TransferLeadershipRequestProto;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;

/**
 * Hands requests to Ratis's server, which may block: not to be called on a completion loop.
 * Thread-safe.
 */
final class RequestHandler {
  private final RaftServer server;

  RequestHandler(RaftServer server) {
    this.server = server;
  }

  /**
   * Returns the reply to a request.
   *
   * @throws IOException as the server does
   */
  CompletableFuture<? extends MessageLite> handle(Operation operation, MessageLite request)
      throws IOException {
    return switch (operation) {
      case REQUEST_VOTE -> completedFuture(server.requestVote((RequestVoteRequestProto) request));
      case START_LEADER_ELECTION ->
          completedFuture(server.startLeaderElection((StartLeaderElectionRequestProto) request));
      case APPEND_ENTRIES -> server.appendEntriesAsync((AppendEntriesRequestProto) request);
      case INSTALL_SNAPSHOT ->
          completedFuture(server.installSnapshot((InstallSnapshotRequestProto) request));
      case READ_INDEX -> server.readIndexAsync((ReadIndexRequestProto) request);
      case UNORDERED, ORDERED ->
          reply(
              server.submitClientRequestAsync(
                  ClientProtoUtils.toRaftClientRequest((RaftClientRequestProto) request)));
      case SET_CONFIGURATION ->
          reply(
              server.setConfigurationAsync(
                  ClientProtoUtils.toSetConfigurationRequest(
                      (SetConfigurationRequestProto) request)));
      case TRANSFER_LEADERSHIP ->
          reply(
              server.transferLeadershipAsync(
                  ClientProtoUtils.toTransferLeadershipRequest(
                      (TransferLeadershipRequestProto) request)));
      case GROUP_MANAGEMENT ->
          reply(
              server.groupManagementAsync(
                  ClientProtoUtils.toGroupManagementRequest(
                      (GroupManagementRequestProto) request)));
      case GROUP_LIST ->
          server
              .getGroupListAsync(
                  ClientProtoUtils.toGroupListRequest((GroupListRequestProto) request))
              .thenApply(ClientProtoUtils::toGroupListReplyProto);
      case GROUP_INFO ->
          server
              .getGroupInfoAsync(
                  ClientProtoUtils.toGroupInfoRequest((GroupInfoRequestProto) request))
              .thenApply(ClientProtoUtils::toGroupInfoReplyProto);
      case SNAPSHOT_MANAGEMENT ->
          reply(
              server.snapshotManagementAsync(
                  ClientProtoUtils.toSnapshotManagementRequest(
                      (SnapshotManagementRequestProto) request)));
      case LEADER_ELECTION_MANAGEMENT ->
          reply(
              server.leaderElectionManagementAsync(
                  ClientProtoUtils.toLeaderElectionManagementRequest(
                      (LeaderElectionManagementRequestProto) request)));
    };
  }

  private static CompletableFuture<MessageLite> reply(CompletableFuture<RaftClientReply> reply) {
    return reply.thenApply(ClientProtoUtils::toRaftClientReplyProto);
  }
}

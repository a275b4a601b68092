// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.GroupInfoReplyProto;
import org.apache.ratis.proto.RaftProtos.GroupInfoRequestProto;
import org.apache.ratis.proto.RaftProtos.GroupListReplyProto;
import org.apache.ratis.proto.RaftProtos.GroupListRequestProto;
import org.apache.ratis.proto.RaftProtos.GroupManagementRequestProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotReplyProto;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.proto.RaftProtos.LeaderElectionManagementRequestProto;
import org.apache.ratis.proto.RaftProtos.RaftClientReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexReplyProto;
import org.apache.ratis.proto.RaftProtos.ReadIndexRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.SetConfigurationRequestProto;
import org.apache.ratis.proto.RaftProtos.SnapshotManagementRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.proto.RaftProtos.TransferLeadershipRequestProto;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.thirdparty.com.google.protobuf.Parser;
import org.jspecify.annotations.Nullable;

/** The operation that a call requests. Codes go over the wire: new ones are added at the end. */
// Parsers of protobuf are immutable, but not annotated so.
@SuppressWarnings("ImmutableEnumChecker")
enum Operation {
  REQUEST_VOTE(1, RequestVoteRequestProto.parser(), RequestVoteReplyProto.parser()),
  START_LEADER_ELECTION(
      2, StartLeaderElectionRequestProto.parser(), StartLeaderElectionReplyProto.parser()),
  APPEND_ENTRIES(3, AppendEntriesRequestProto.parser(), AppendEntriesReplyProto.parser()),
  INSTALL_SNAPSHOT(4, InstallSnapshotRequestProto.parser(), InstallSnapshotReplyProto.parser()),
  READ_INDEX(5, ReadIndexRequestProto.parser(), ReadIndexReplyProto.parser()),
  /** A client's request that is independent of the client's other requests. */
  UNORDERED(6, RaftClientRequestProto.parser(), RaftClientReplyProto.parser()),
  /** A client's request that is submitted after those that the client sent before. */
  ORDERED(7, RaftClientRequestProto.parser(), RaftClientReplyProto.parser()),
  SET_CONFIGURATION(8, SetConfigurationRequestProto.parser(), RaftClientReplyProto.parser()),
  TRANSFER_LEADERSHIP(9, TransferLeadershipRequestProto.parser(), RaftClientReplyProto.parser()),
  GROUP_MANAGEMENT(10, GroupManagementRequestProto.parser(), RaftClientReplyProto.parser()),
  GROUP_LIST(11, GroupListRequestProto.parser(), GroupListReplyProto.parser()),
  GROUP_INFO(12, GroupInfoRequestProto.parser(), GroupInfoReplyProto.parser()),
  SNAPSHOT_MANAGEMENT(13, SnapshotManagementRequestProto.parser(), RaftClientReplyProto.parser()),
  LEADER_ELECTION_MANAGEMENT(
      14, LeaderElectionManagementRequestProto.parser(), RaftClientReplyProto.parser());

  private static final @Nullable Operation[] BY_CODE = new Operation[values().length + 1];

  static {
    for (Operation each : values()) {
      BY_CODE[each.code] = each;
    }
  }

  private final int code;
  private final Parser<? extends MessageLite> requests;
  private final Parser<? extends MessageLite> replies;

  Operation(
      int code, Parser<? extends MessageLite> requests, Parser<? extends MessageLite> replies) {
    this.code = code;
    this.requests = requests;
    this.replies = replies;
  }

  /** Returns the operation with this code, or null. */
  static @Nullable Operation of(int code) {
    return code > 0 && code < BY_CODE.length ? BY_CODE[code] : null;
  }

  int code() {
    return code;
  }

  Parser<? extends MessageLite> requests() {
    return requests;
  }

  Parser<? extends MessageLite> replies() {
    return replies;
  }
}

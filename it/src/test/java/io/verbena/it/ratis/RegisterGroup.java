// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.ratis;

import io.verbena.ratis.VerbenaConfigKeys;
import io.verbena.ratis.VerbenaRpcType;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;

/** The settings that servers and clients of the registers share. */
final class RegisterGroup {
  private static final RaftGroupId ID =
      RaftGroupId.valueOf(UUID.nameUUIDFromBytes("registers".getBytes(StandardCharsets.US_ASCII)));

  private RegisterGroup() {}

  /** Returns the group of servers, each as {@code id=host:port}. */
  static RaftGroup of(Stream<String> servers) {
    List<RaftPeer> peers =
        servers
            .map(each -> each.split("=", 2))
            .map(each -> RaftPeer.newBuilder().setId(each[0]).setAddress(each[1]).build())
            .toList();
    return RaftGroup.valueOf(ID, peers);
  }

  /** Returns the properties that servers and clients share: calls over this HCA. */
  static RaftProperties properties(String hca) {
    RaftProperties properties = new RaftProperties();
    RaftConfigKeys.Rpc.setType(properties, new VerbenaRpcType());
    VerbenaConfigKeys.setUri(properties, URI.create(hca));
    return properties;
  }
}

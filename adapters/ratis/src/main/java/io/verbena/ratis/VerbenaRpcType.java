// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import org.apache.ratis.conf.Parameters;
import org.apache.ratis.rpc.RpcFactory;
import org.apache.ratis.rpc.RpcType;

/**
 * Ratis's RPC over RDMA. To use it, set {@code raft.rpc.type} to the name of this class, or call
 * {@code RaftConfigKeys.Rpc.setType(properties, new VerbenaRpcType())}. {@link VerbenaConfigKeys}
 * has the other properties. Immutable.
 */
public final class VerbenaRpcType implements RpcType {

  /**
   * Creates an RPC type, as Ratis does for each server and client whose properties name this class.
   */
  public VerbenaRpcType() {}

  @Override
  public String name() {
    return VerbenaRpcType.class.getName();
  }

  @Override
  public RpcFactory newFactory(Parameters parameters) {
    return new VerbenaFactory(parameters);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof VerbenaRpcType;
  }

  @Override
  public int hashCode() {
    return VerbenaRpcType.class.hashCode();
  }

  @Override
  public String toString() {
    return name();
  }
}

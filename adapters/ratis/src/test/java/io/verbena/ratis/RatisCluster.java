// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import java.net.URI;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.RaftTestUtil;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.impl.DelayLocalExecutionInjection;
import org.apache.ratis.server.impl.MiniRaftCluster;
import org.jspecify.annotations.Nullable;

/**
 * The cluster that Ratis's own suites start, with this RPC type. The system property {@code
 * verbena.ratis.uri} sets the HCA.
 */
public final class RatisCluster extends MiniRaftCluster.RpcBase {
  /** Creates clusters. */
  public static final Factory<RatisCluster> FACTORY =
      new Factory<>() {
        @Override
        public RatisCluster newCluster(
            String[] ids, String[] listenerIds, RaftProperties properties) {
          RaftConfigKeys.Rpc.setType(properties, new VerbenaRpcType());
          VerbenaConfigKeys.setUri(
              properties,
              URI.create(System.getProperty("verbena.ratis.uri", VerbenaConfigKeys.URI_DEFAULT)));
          return new RatisCluster(ids, listenerIds, properties);
        }
      };

  /** The interface for a suite that runs on such clusters. */
  public interface FactoryGet extends Factory.Get<RatisCluster> {
    @Override
    default Factory<RatisCluster> getFactory() {
      return FACTORY;
    }
  }

  private static final DelayLocalExecutionInjection SENT_REQUESTS =
      new DelayLocalExecutionInjection(VerbenaServerRpc.SEND_SERVER_REQUEST);

  private RatisCluster(String[] ids, String[] listenerIds, RaftProperties properties) {
    super(ids, listenerIds, properties, null);
  }

  /** Ends all delays of requests that servers send. */
  public static void undelay() {
    SENT_REQUESTS.clear();
  }

  @Override
  protected @Nullable Parameters setPropertiesAndInitParameters(
      RaftPeerId id, RaftGroup group, RaftProperties properties) {
    VerbenaConfigKeys.Server.setPort(properties, getPort(id, group));
    return null;
  }

  @Override
  protected void blockQueueAndSetDelay(String leaderId, int delayMs) throws InterruptedException {
    RaftTestUtil.blockQueueAndSetDelay(
        getServers(), SENT_REQUESTS, leaderId, delayMs, getTimeoutMax());
  }
}

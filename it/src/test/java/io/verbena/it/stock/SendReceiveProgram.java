// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.stock;

import com.ibm.disni.RdmaActiveEndpointGroup;
import com.ibm.disni.RdmaServerEndpoint;
import java.net.InetSocketAddress;

/**
 * A program that sends messages back and forth through DiSNI's own endpoints, on several
 * connections one after the other: {@code server|client HOST PORT CONNECTIONS ROUNDS}.
 */
final class SendReceiveProgram {
  private static final int CONNECT_MILLIS = 10_000;

  /** The interval at which DiSNI's threads check whether they must end. */
  private static final int POLL_MILLIS = 200;

  private SendReceiveProgram() {}

  public static void main(String[] arguments) throws Exception {
    var address = new InetSocketAddress(arguments[1], Integer.parseInt(arguments[2]));
    int connections = Integer.parseInt(arguments[3]);
    int rounds = Integer.parseInt(arguments[4]);
    var group = new RdmaActiveEndpointGroup<ActiveEnd>(POLL_MILLIS, false, 16, 4, 64);
    group.init((id, serverSide) -> new ActiveEnd(group, id, serverSide));
    if (arguments[0].equals("server")) {
      serve(group, address, connections, rounds);
    } else {
      for (int i = 0; i < connections; i++) {
        call(group, address, rounds);
      }
    }
    group.close();
    System.out.println("done " + connections * rounds);
  }

  private static void serve(
      RdmaActiveEndpointGroup<ActiveEnd> group,
      InetSocketAddress address,
      int connections,
      int rounds)
      throws Exception {
    RdmaServerEndpoint<ActiveEnd> server = group.createServerEndpoint();
    server.bind(address, 4);
    System.out.println("listening");
    for (int i = 0; i < connections; i++) {
      ActiveEnd end = server.accept();
      StockBuffer buffer = end.buffer();
      for (int round = 0; round < rounds; round++) {
        if (round == 0) {
          end.await();
        } else {
          end.awaitBoth();
        }
        buffer.check(ActiveEnd.RECEIVED, ActiveEnd.LENGTH, round);
        buffer.receive(ActiveEnd.RECEIVED, ActiveEnd.RECEIVED, ActiveEnd.LENGTH);
        buffer.fill(ActiveEnd.SENT, ActiveEnd.LENGTH, ~round);
        buffer.send(ActiveEnd.SENT, ActiveEnd.SENT, ActiveEnd.LENGTH);
      }
      end.await();
      ActiveEnd.awaitDisconnect(end);
      buffer.release();
      end.close();
    }
    server.close();
  }

  private static void call(
      RdmaActiveEndpointGroup<ActiveEnd> group, InetSocketAddress address, int rounds)
      throws Exception {
    ActiveEnd end = group.createEndpoint();
    end.connect(address, CONNECT_MILLIS);
    StockBuffer buffer = end.buffer();
    for (int round = 0; round < rounds; round++) {
      buffer.fill(ActiveEnd.SENT, ActiveEnd.LENGTH, round);
      buffer.send(ActiveEnd.SENT, ActiveEnd.SENT, ActiveEnd.LENGTH);
      end.awaitBoth();
      buffer.check(ActiveEnd.RECEIVED, ActiveEnd.LENGTH, ~round);
      buffer.receive(ActiveEnd.RECEIVED, ActiveEnd.RECEIVED, ActiveEnd.LENGTH);
    }
    buffer.release();
    end.close();
  }
}

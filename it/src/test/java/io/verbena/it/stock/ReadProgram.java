// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.stock;

import com.ibm.disni.RdmaPassiveEndpointGroup;
import com.ibm.disni.RdmaServerEndpoint;
import java.net.InetSocketAddress;

/**
 * A program that makes one-sided reads through DiSNI's own endpoints, on several connections one
 * after the other: {@code server|client HOST PORT CONNECTIONS ROUNDS}. The server sends the
 * location of its memory. After the client has read everything, another message ends the
 * connection.
 */
final class ReadProgram {
  private static final int CONNECT_MILLIS = 10_000;

  /** The interval at which DiSNI's threads check whether they must end. */
  private static final int POLL_MILLIS = 200;

  private ReadProgram() {}

  public static void main(String[] arguments) throws Exception {
    var address = new InetSocketAddress(arguments[1], Integer.parseInt(arguments[2]));
    int connections = Integer.parseInt(arguments[3]);
    int rounds = Integer.parseInt(arguments[4]);
    var group = new RdmaPassiveEndpointGroup<PassiveEnd>(POLL_MILLIS, 16, 4, 64);
    group.init((id, serverSide) -> new PassiveEnd(group, id, serverSide));
    if (arguments[0].equals("server")) {
      serve(group, address, connections);
    } else {
      for (int i = 0; i < connections; i++) {
        read(group, address, rounds);
      }
    }
    group.close();
    System.out.println("done " + connections);
  }

  private static void serve(
      RdmaPassiveEndpointGroup<PassiveEnd> group, InetSocketAddress address, int connections)
      throws Exception {
    RdmaServerEndpoint<PassiveEnd> server = group.createServerEndpoint();
    server.bind(address, 4);
    System.out.println("listening");
    for (int i = 0; i < connections; i++) {
      PassiveEnd end = server.accept();
      StockBuffer buffer = end.buffer();
      buffer.fill(0, PassiveEnd.LENGTH, i);
      buffer
          .memory()
          .putLong(PassiveEnd.SENT, buffer.address())
          .putInt(PassiveEnd.SENT + 8, buffer.key())
          .putInt(PassiveEnd.SENT + 12, i);
      buffer.send(PassiveEnd.SENT, PassiveEnd.SENT, PassiveEnd.MESSAGE);
      end.await();
      end.await();
      end.release();
    }
    server.close();
  }

  private static void read(
      RdmaPassiveEndpointGroup<PassiveEnd> group, InetSocketAddress address, int rounds)
      throws Exception {
    PassiveEnd end = group.createEndpoint();
    end.connect(address, CONNECT_MILLIS);
    StockBuffer buffer = end.buffer();
    end.await();
    long there = buffer.memory().getLong(PassiveEnd.RECEIVED);
    int key = buffer.memory().getInt(PassiveEnd.RECEIVED + 8);
    int number = buffer.memory().getInt(PassiveEnd.RECEIVED + 12);
    for (int round = 0; round < rounds; round++) {
      buffer.fill(0, PassiveEnd.LENGTH, ~round);
      buffer.read(round, 0, PassiveEnd.LENGTH, there, key);
      if (end.await() != round) {
        throw new IllegalStateException("another completion than that of round " + round);
      }
      buffer.check(0, PassiveEnd.LENGTH, number);
    }
    buffer.send(PassiveEnd.SENT, PassiveEnd.SENT, PassiveEnd.MESSAGE);
    end.await();
    end.release();
  }
}

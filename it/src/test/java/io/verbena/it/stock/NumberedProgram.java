// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.stock;

import com.ibm.disni.RdmaActiveEndpointGroup;
import com.ibm.disni.RdmaServerEndpoint;
import java.net.InetSocketAddress;

/**
 * A program that sends numbers back and forth through DiSNI's own endpoints and checks each, on one
 * connection: {@code server|client HOST PORT MESSAGES}.
 */
final class NumberedProgram {
  private static final int CONNECT_MILLIS = 10_000;

  /** The interval at which DiSNI's threads check whether they must end. */
  private static final int POLL_MILLIS = 200;

  private NumberedProgram() {}

  public static void main(String[] arguments) throws Exception {
    var address = new InetSocketAddress(arguments[1], Integer.parseInt(arguments[2]));
    int messages = Integer.parseInt(arguments[3]);
    var group = new RdmaActiveEndpointGroup<NumberedEnd>(POLL_MILLIS, false, 16, 4, 64);
    group.init((id, serverSide) -> new NumberedEnd(group, id, serverSide));
    try {
      if (arguments[0].equals("server")) {
        serve(group, address, messages);
      } else {
        call(group, address, messages);
      }
    } catch (IllegalStateException e) {
      System.out.println(e.getMessage());
      // DiSNI's threads may keep a JVM alive that has not closed its endpoints.
      System.exit(1);
    }
    group.close();
    System.out.println("done " + messages);
  }

  private static void serve(
      RdmaActiveEndpointGroup<NumberedEnd> group, InetSocketAddress address, int messages)
      throws Exception {
    RdmaServerEndpoint<NumberedEnd> server = group.createServerEndpoint();
    server.bind(address, 4);
    System.out.println("listening");
    NumberedEnd end = server.accept();
    for (int number = 0; number < messages; number++) {
      end.receive(number);
      end.send(~number);
    }
    end.awaitSent();
    ActiveEnd.awaitDisconnect(end);
    end.release();
    end.close();
    server.close();
  }

  private static void call(
      RdmaActiveEndpointGroup<NumberedEnd> group, InetSocketAddress address, int messages)
      throws Exception {
    NumberedEnd end = group.createEndpoint();
    end.connect(address, CONNECT_MILLIS);
    for (int number = 0; number < messages; number++) {
      end.send(number);
      end.receive(~number);
    }
    end.awaitSent();
    end.release();
    end.close();
  }
}

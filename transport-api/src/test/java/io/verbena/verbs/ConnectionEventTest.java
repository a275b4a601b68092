// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConnectionEventTest {
  private static final ConnectionIdentifier NONE =
      (ConnectionIdentifier)
          Proxy.newProxyInstance(
              ConnectionEventTest.class.getClassLoader(),
              new Class<?>[] {ConnectionIdentifier.class},
              (proxy, method, arguments) -> {
                throw new AssertionError("asked for " + method.getName());
              });

  /** Reasons from IBTA volume 1, section 12.6.7.2, and error numbers from {@code errno.h}. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "REJECTED      |    8 | nobody listens there (reason 8)",
        "REJECTED      |   10 | the peer still has an old connection of this queue pair (reason 10)",
        "REJECTED      |   26 | the peer cannot take packets as large as this end's MTU (reason 26)",
        "REJECTED      |   28 | the peer's program does not want it (reason 28)",
        "REJECTED      |   99 | rejected (reason 99)",
        "REJECTED      | -111 | nobody listens there (error 111)",
        "UNREACHABLE   |    1 | nobody serves datagrams there (reason 1)",
        "UNREACHABLE   |    2 | the peer's program does not want it (reason 2)",
        "UNREACHABLE   |    7 | no answer (reason 7)",
        "UNREACHABLE   | -110 | no answer; is an HCA at that address, and does it listen? (error 110)",
        "UNREACHABLE   | -111 | no HCA is at that address, says its host; does the program there run?"
            + " (error 111)",
        "ADDR_ERROR    |  -19 | no RDMA device for this address (error 19)",
        "ADDR_ERROR    | -113 | no way to that address (error 113)",
        "ROUTE_ERROR   | -101 | no way to that address (error 101)",
        "CONNECT_ERROR |  -12 | no memory or resources left (error 12)",
        "CONNECT_ERROR |  -32 | the peer has ended it (error 32)",
        "CONNECT_ERROR |  -98 | the address is in use (error 98)",
        "CONNECT_ERROR |  -99 | no such address on this machine (error 99)",
        "CONNECT_ERROR | -999 | failed (error 999)",
      })
  void tellsTheStatusInWordsAndAsItsNumber(ConnectionEvent.Type type, int status, String text) {
    ConnectionEvent event =
        new ConnectionEvent(type, NONE, null, status, ByteBuffer.allocate(0), 0, 0);

    assertThat(event.statusText()).isEqualTo(text);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static io.verbena.verbs.Access.LOCAL_WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.GlobalRoute;
import io.verbena.verbs.SendWorkRequest;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The path for messages from the client to the server of a pair on an unreliable transport.
 *
 * @param pair the two endpoints
 * @param handle the address of the server for datagrams, or null for an unreliable connection
 */
record UnreliablePath(EndpointPair pair, @Nullable AddressHandle handle) {
  Endpoint client() {
    return pair.client();
  }

  Endpoint server() {
    return pair.server();
  }

  /** Returns the address handle of the server, for datagrams. */
  AddressHandle requiredHandle() {
    return Objects.requireNonNull(handle, "handle");
  }

  /** Returns the number of bytes that a receive holds in front of each message. */
  int headerLength() {
    return handle == null ? 0 : GlobalRoute.LENGTH;
  }

  /** Addresses a datagram to the server, with the queue key that it expects. */
  SendWorkRequest to(SendWorkRequest request) {
    return to(request, TransitionAttributes.QUEUE_KEY);
  }

  SendWorkRequest to(SendWorkRequest request, int queueKey) {
    return handle == null ? request : request.to(handle, server().queuePair().number(), queueKey);
  }

  /** Posts a SEND of the client and takes its completion, which must be a success. */
  void send(SendWorkRequest request) {
    client().post(request.signaled());
    client().sent().expectSuccess(request.id(), CompletionOpcode.SEND);
  }

  /** Posts a receive of the server for a message of up to {@code length} bytes. */
  TestMemory postReceive(long id, int length) {
    int total = headerLength() + length;
    TestMemory into = server().memory(Math.max(1, total), LOCAL_WRITE).part(0, total);
    server().post(total == 0 ? Requests.receive(id) : Requests.receive(id, into));
    return into;
  }

  /** Asserts that the server receives the next message, and nothing that was sent before it. */
  void assertTakesTheNextMessage() {
    TestMemory into = postReceive(50, 8);
    send(to(Requests.send(51, client().memory(8).putLong(0, 4711))));
    server().received().expectSuccess(50, CompletionOpcode.RECV);
    assertThat(into.getLong(headerLength())).isEqualTo(4711);
    server().received().expectNothing();
  }
}

// SPDX-License-Identifier: Apache-2.0
/**
 * RSocket over RDMA: a frame is a message, with no length before it. What differs from a program on
 * TCP is the line that makes the transport:
 *
 * <pre>{@code
 * RSocketServer.create(acceptor).bind(RdmaServerTransport.create(address)).block();
 * RSocketConnector.create().connect(RdmaClientTransport.create(address)).block();
 * }</pre>
 */
@NullMarked
package io.verbena.rsocket;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
/**
 * RSocket over RDMA. Each frame is a message, without a length prefix. A program differs from one
 * on TCP in the line that creates the transport:
 *
 * <pre>{@code
 * RSocketServer.create(acceptor).bind(RdmaServerTransport.create(address)).block();
 * RSocketConnector.create().connect(RdmaClientTransport.create(address)).block();
 * }</pre>
 */
@NullMarked
package io.verbena.rsocket;

import org.jspecify.annotations.NullMarked;

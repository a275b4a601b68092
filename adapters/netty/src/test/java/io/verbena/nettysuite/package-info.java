// SPDX-License-Identifier: Apache-2.0
/**
 * Netty's own test suite on RDMA channels: each class of {@code io.netty:netty-testsuite} that is
 * about a stream socket channel. Left out:
 *
 * <ul>
 *   <li>{@code ServerSocketSuspendTest}, {@code SocketShutdownOutputByPeerTest}, {@code
 *       SocketShutdownOutputBySelfTest}: the other end is a {@code java.net.Socket}; what they
 *       claim is tested in {@code ClosingTest} and {@code ConnectingTest}
 *   <li>{@code AbstractSocketReuseFdTest}: of file descriptors, which a queue pair is not
 *   <li>{@code SocketSslLargeCertificateTest}: takes no channel from outside, it is about
 *       certificates
 *   <li>{@code Datagram*}, SCTP and UDT: no stream sockets
 *   <li>{@code DefaultEventLoopTest}, {@code NioEventLoopTest}: of other event loops
 * </ul>
 */
@NullMarked
package io.verbena.nettysuite;

import org.jspecify.annotations.NullMarked;

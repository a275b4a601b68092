// SPDX-License-Identifier: Apache-2.0
/**
 * Netty's own test suite on RDMA channels: each class of {@code io.netty:netty-testsuite} that
 * tests a stream socket channel. Excluded:
 *
 * <ul>
 *   <li>{@code ServerSocketSuspendTest}, {@code SocketShutdownOutputByPeerTest}, {@code
 *       SocketShutdownOutputBySelfTest}: their other end is a {@code java.net.Socket}; {@code
 *       ClosingTest} and {@code ConnectingTest} test the same
 *   <li>{@code AbstractSocketReuseFdTest}: tests file descriptors, which a queue pair lacks
 *   <li>{@code SocketSslLargeCertificateTest}: tests certificates, on channels of its own
 *   <li>{@code Datagram*}, SCTP and UDT: test no stream sockets
 *   <li>{@code DefaultEventLoopTest}, {@code NioEventLoopTest}: test other event loops
 * </ul>
 */
@NullMarked
package io.verbena.nettysuite;

import org.jspecify.annotations.NullMarked;

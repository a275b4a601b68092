// SPDX-License-Identifier: Apache-2.0
/**
 * The emulated HCA: verbs without hardware, root or native code. Here are the types that users
 * name: the providers of {@code emulated://} and {@code roce://}, {@link
 * io.verbena.emulated.SimulatedFabric} for programs in virtual time, {@link
 * io.verbena.emulated.DeviceFault} for tests that break a device. It puts fabrics and connection
 * managers together; the packages below know nothing of it.
 *
 * <pre>
 *  address      addresses and their options
 *  hca          the objects of a program: device, domain, keys, queues
 *  direct       queue pairs that move bytes memory to memory, in one JVM
 *  packet       queue pairs that exchange packets, and their fabrics
 *    engine       their state machines
 *    roce         layouts of packets
 *    wire         carriers of packets: UDP sockets, or a simulation
 *  cm           connection managers
 *    cm.local     by name, within a JVM
 *    cm.roce      by RoCE's protocol, on UDP
 *    cm.protocol  that protocol: messages and states
 *  sanitizer    decorators over the verbs that report a program's mistakes
 * </pre>
 */
@NullMarked
package io.verbena.emulated;

import org.jspecify.annotations.NullMarked;

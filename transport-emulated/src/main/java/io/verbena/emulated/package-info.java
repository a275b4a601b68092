// SPDX-License-Identifier: Apache-2.0
/**
 * The emulated HCA: verbs without hardware, root or native code. This package has the types that
 * users name: the providers of {@code emulated://}, {@code roce://}, {@code iwarp://} and {@code
 * shm://}, {@link io.verbena.emulated.SimulatedFabric} for programs in virtual time, {@link
 * io.verbena.emulated.DeviceFault} for tests that break a device. It combines fabrics and
 * connection managers; the packages below do not depend on it.
 *
 * <pre>
 *  address      addresses and their options
 *  hca          the objects of a program: device, domain, keys, queues
 *  direct       queue pairs that move bytes memory to memory, in one JVM
 *  driven       queue pairs whose requests an engine executes, and its driver
 *  packet       driven queue pairs that exchange packets, and their fabrics
 *    engine       their state machines
 *    roce         layouts of packets
 *    wire         carriers of packets: UDP sockets, or a simulation
 *    shm          a carrier of packets: shared memory
 *  iwarp        driven queue pairs that exchange bytes over TCP sockets
 *  lock         keys and seals of locked connections
 *  cm           connection managers
 *    cm.local     by name, within a JVM
 *    cm.roce      by RoCE's protocol, on UDP
 *    cm.protocol  that protocol: messages and states
 *    cm.iwarp     by MPA frames, on TCP
 *  sanitizer    decorators over the verbs that report a program's mistakes
 * </pre>
 */
@NullMarked
package io.verbena.emulated;

import org.jspecify.annotations.NullMarked;

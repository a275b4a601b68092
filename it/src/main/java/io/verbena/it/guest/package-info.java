// SPDX-License-Identifier: Apache-2.0
/**
 * Tests on Linux's own RDMA stack, without an RNIC: a class marked with {@link
 * io.verbena.it.guest.InSoftRoceGuest} runs in the guest that {@code bin/soft-roce} boots, and its
 * results are reported one by one on the host, like those of any other test.
 *
 * <pre>
 *  host: Surefire's JVM                                guest
 *  SoftRoceEngine: discovers with Jupiter,
 *    mirrors the tree
 *  GuestRun: one per kind of guest
 *    request (file) ---------------------------------> GuestMain: runs the tests with Jupiter
 *    EventReplay <---------- events (file) ----------- EventWriter: one line per event
 * </pre>
 */
@NullMarked
package io.verbena.it.guest;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.reactive;

import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.guest.LeftOut;

/**
 * Runs the tests of the reactive layer, unchanged, with one end on {@code disni://}, which is node
 * 1's rxe, and the other on {@code roce://}, the emulated HCA of the outside host: see {@link
 * TwoHcas}. The module's pom sets which end listens, and how many packets are lost.
 */
@InSoftRoceGuest(
    nodes = 2,
    packages = "io.verbena.reactor",
    without = {
      @LeftOut(
          tests = "io.verbena.reactor.credit.CreditsTest",
          reason = "of data structures alone: there is no HCA in it"),
      @LeftOut(
          tests = "io.verbena.reactor.lifecycle.DeviceFailureTest",
          reason = "breaks emulated:// devices, and no others can be broken"),
      @LeftOut(
          tests = {
            "io.verbena.reactor.lifecycle.HalfOpenFloodTest",
            "io.verbena.reactor.lifecycle.KilledProcessTest",
            "io.verbena.reactor.lifecycle.LockedConnectTest"
          },
          reason = "of roce:// alone, whose UDP port rxe has here"),
      @LeftOut(
          tests = "io.verbena.reactor.lifecycle.ThrowingSubscriberTest",
          reason = "of what subscribers throw, at length: the HCA has no part in it"),
      @LeftOut(
          tests = {
            "io.verbena.reactor.NameResolverTest",
            "io.verbena.reactor.lifecycle.NameLookupTest",
            "io.verbena.reactor.meters.ThrowingMeterTest"
          },
          reason = "of host names and meters: the HCA has no part in it"),
      @LeftOut(
          tests = {
            "io.verbena.reactor.meters.LogTest",
            "io.verbena.reactor.meters.WithoutMicrometerTest"
          },
          reason = "of a class path, which is another one in the guest"),
      @LeftOut(
          tests = "io.verbena.reactor.streams.ReactiveStreamsTest",
          reason = "of signals alone, and its TCK is not in the guest's class path"),
    })
class TwoHcasTest {}

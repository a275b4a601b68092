// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.reactive;

import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.guest.LeftOut;
import org.junit.jupiter.api.Tag;

/**
 * Runs all tests of the reactive layer, unchanged, on {@code disni://}. Their HCA, time limits and
 * rounds come from system properties: see {@code io.verbena.core.testing.Addresses}.
 *
 * <p>The second JDK runs the tests that move data, between two HCAs ({@link TwoHcasTest}), and all
 * of them on the host.
 *
 * <p>To run only this class: {@code
 * -Dtest='ReactiveTest,io.verbena.core.**.*Test,io.verbena.reactor.**.*Test'}.
 */
@Tag("once")
@InSoftRoceGuest(
    packages = {"io.verbena.core", "io.verbena.reactor"},
    without = {
      @LeftOut(
          tests = {
            "io.verbena.core.memory.ByteBufTest",
            "io.verbena.core.memory.ExposureTest",
            "io.verbena.core.memory.LocateTest",
            "io.verbena.core.memory.RegionTest",
            "io.verbena.core.memory.RegisteredAllocatorTest",
            "io.verbena.core.memory.RegistrationCacheTest"
          },
          reason = "on a recording fake of a protection domain: no HCA is asked"),
      @LeftOut(
          tests = {
            "io.verbena.core.device.OpenedDeviceTest",
            "io.verbena.core.loop.CompletionLoopTest",
            "io.verbena.core.loop.IdleStrategyTest",
            "io.verbena.core.loop.KeepAliveRoundsTest",
            "io.verbena.core.loop.LinkedPostsTest",
            "io.verbena.core.memory.DirectMemoryTest",
            "io.verbena.core.memory.SizeClassesTest",
            "io.verbena.core.memory.StripedStackTest",
            "io.verbena.core.receive.ReceiveBudgetTest",
            "io.verbena.core.micrometer.DataPathTest",
            "io.verbena.core.micrometer.DeviceMetersTest",
            "io.verbena.reactor.credit.CreditsTest",
            "io.verbena.reactor.credit.ReceiveFrameCreditsTest",
            "io.verbena.core.leaks.LeakExtensionTest",
            "io.verbena.core.stat.JvmDirectMemoryTest",
            "io.verbena.reactor.guard.FailureLogTest"
          },
          reason = "of data structures alone: there is no HCA in it"),
      @LeftOut(
          tests = "io.verbena.core.memory.HugePagesTest",
          reason = "of glibc and the kernel's settings: no HCA is asked"),
      @LeftOut(
          tests = "io.verbena.reactor.QueuePairFailureTest",
          reason = "of an event that rxe of Linux 6.1 does not raise"),
      @LeftOut(
          tests = {
            "io.verbena.reactor.MediaTest",
            "io.verbena.reactor.lifecycle.HalfOpenFloodTest",
            "io.verbena.reactor.lifecycle.KilledProcessTest",
            "io.verbena.reactor.lifecycle.LockedConnectTest"
          },
          reason = "of roce:// alone, whose UDP port rxe has here"),
      @LeftOut(
          tests = {
            "io.verbena.reactor.lifecycle.HeldUpLoopTest",
            "io.verbena.reactor.lifecycle.ThrowingSubscriberTest",
            "io.verbena.reactor.misuse.HookMisuseTest"
          },
          reason = "of user code that throws or holds a loop up: the HCA has no part in it"),
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
          tests = "io.verbena.core.medium.MediaTest",
          reason = "of hosts with an RNIC of the test's own and without one: the guest has rxe"),
      @LeftOut(
          tests = "io.verbena.reactor.streams.ReactiveStreamsTest",
          reason = "of signals alone, and its TCK is not in the guest's class path"),
    })
class ReactiveTest {}

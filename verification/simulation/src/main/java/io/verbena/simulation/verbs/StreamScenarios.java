// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.FaultSchedule;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePairType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Generates scenarios over iWARP streams: with the operations of iWARP, and on three of four
 * connections also with those of RFC 7306.
 */
public final class StreamScenarios {
  /** A length in bytes that exceeds the payload of an iWARP segment. */
  private static final int HUGE_LENGTH = 70_000;

  private static final int HUGE_OPERATIONS = 4;

  private static final int LEAST_SPAN_LOG2 = 12;

  /** Weighted, as in {@link VerbsScenario}: frequent operations are listed several times. */
  private static final OperationKind[] KINDS = {
    OperationKind.SEND,
    OperationKind.SEND,
    OperationKind.SEND,
    OperationKind.WRITE,
    OperationKind.WRITE,
    OperationKind.WRITE,
    OperationKind.READ,
    OperationKind.READ
  };

  /** The operations of RFC 7306, and READ_CELL, which shows the order of atomics and READs. */
  private static final OperationKind[] EXTENSIONS = {
    OperationKind.WRITE_IMMEDIATE,
    OperationKind.WRITE_IMMEDIATE,
    OperationKind.FETCH_ADD,
    OperationKind.FETCH_ADD,
    OperationKind.COMPARE_SWAP,
    OperationKind.COMPARE_SWAP,
    OperationKind.READ_CELL
  };

  private static final OperationKind[] KEY_KINDS = {
    OperationKind.GRANT_KEY,
    OperationKind.GRANT_KEY,
    OperationKind.LOCAL_INVALIDATE,
    OperationKind.DEALLOCATE,
    OperationKind.SEND_WITH_INVALIDATE,
    OperationKind.SEND_WITH_INVALIDATE,
    OperationKind.REREGISTER,
    OperationKind.BIND_TYPE_1_WINDOW
  };

  private static final OperationKind[] KEY_FAILURES = {
    OperationKind.REVOKED_KEY,
    OperationKind.FOREIGN_WINDOW_KEY,
    OperationKind.READ_BEYOND_WINDOW,
    OperationKind.INVALIDATE_UNKNOWN_KEY
  };

  private static final OperationKind[] FAILURES = {
    OperationKind.WRONG_KEY,
    OperationKind.READ_BEYOND_REGION,
    OperationKind.TOO_LARGE,
    OperationKind.FAIL,
    OperationKind.CLOSE
  };

  private static final OperationKind[] EXTENSION_FAILURES = {
    OperationKind.MISALIGNED, OperationKind.REVOKED_TYPE_1_KEY
  };

  private StreamScenarios() {}

  /** Generates the scenario of a seed. */
  public static VerbsScenario generate(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int devices = 1 + random.nextInt(VerbsScenario.MAX_DEVICES);
    long latency = 500L + random.nextInt(3000);
    long span = 1L << (LEAST_SPAN_LOG2 + random.nextInt(8));
    boolean huge = random.nextInt(16) == 0;
    int maxLength = huge ? HUGE_LENGTH : VerbsScenario.MAX_LENGTH << random.nextInt(4);
    List<ConnectionConfig> links = new ArrayList<>();
    int count = huge ? 1 : 1 + random.nextInt(VerbsScenario.MAX_LINKS);
    for (int i = 0; i < count; i++) {
      links.add(link(random, devices));
    }
    boolean withGrants = random.nextInt(3) == 0;
    boolean late = random.nextInt(8) == 0;
    List<Operation> operations = new ArrayList<>();
    if (withGrants) {
      VerbsScenario.addFirstGrants(random, operations, links, maxLength);
    }
    int steps = 1 + random.nextInt(huge ? HUGE_OPERATIONS : VerbsScenario.MAX_OPERATIONS);
    for (int i = 0; i < steps; i++) {
      int link = random.nextInt(links.size());
      OperationKind kind = kind(random, links.get(link).extensions(), withGrants);
      operations.add(
          VerbsScenario.operation(
              random, operations.size(), link, kind, withGrants, span, maxLength, late));
    }
    operations.sort(Comparator.comparingLong(Operation::at));
    return new VerbsScenario(
        seed,
        Medium.STREAMS,
        maxLength,
        devices,
        random.nextBoolean(),
        random.nextInt(3) == 0,
        links,
        operations,
        faults(random, links, devices, span, latency));
  }

  /** Returns packet faults, and in every third run also resets of connections at any byte. */
  private static FaultSchedule faults(
      SplittableRandom random, List<ConnectionConfig> links, int devices, long span, long latency) {
    FaultSchedule schedule = FaultSchedule.random(random.nextLong(), devices, span, latency);
    List<Fault> faults = new ArrayList<>(schedule.faults());
    int resets = random.nextInt(3) == 0 ? 1 + random.nextInt(2) : 0;
    for (int i = 0; i < resets; i++) {
      ConnectionConfig link = links.get(random.nextInt(links.size()));
      int side = random.nextInt(2);
      faults.add(
          reset(
              link.device(side),
              link.device(1 - side),
              random.nextInt(1 << (4 + random.nextInt(10))),
              random.nextInt(2),
              random.nextLong()));
    }
    return new FaultSchedule(latency, faults);
  }

  /**
   * Returns a fault that ends a connection before a byte: with an error, or with an end of stream
   * if {@code how} is 1.
   */
  static Fault reset(int source, int destination, int at, int how, long salt) {
    return new Fault(
        Fault.Kind.RESET, source, destination, 0, Long.MAX_VALUE, at, Fault.ALWAYS, how, salt);
  }

  private static ConnectionConfig link(SplittableRandom random, int devices) {
    int first = random.nextInt(devices);
    int second = random.nextInt(8) == 0 ? first : random.nextInt(devices);
    return new ConnectionConfig(
        QueuePairType.RC,
        first,
        second,
        Mtu.MTU_4096,
        0,
        0,
        0,
        0,
        0,
        0,
        1 + random.nextInt(4),
        2 + random.nextInt(15),
        random.nextInt(4) == 0,
        random.nextBoolean(),
        random.nextInt(4) != 0,
        random.nextInt(4) == 0);
  }

  private static OperationKind kind(
      SplittableRandom random, boolean withExtensions, boolean withGrants) {
    if (withGrants && random.nextInt(5) < 2) {
      return VerbsScenario.choose(random, random.nextInt(8) == 0 ? KEY_FAILURES : KEY_KINDS);
    }
    boolean fails = random.nextInt(100) == 0;
    if (withExtensions && random.nextInt(3) == 0) {
      return VerbsScenario.choose(random, fails ? EXTENSION_FAILURES : EXTENSIONS);
    }
    return VerbsScenario.choose(random, fails ? FAILURES : KINDS);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.QueuePairType;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;

/**
 * The TCK of verbs providers. A provider's module extends this class in its tests and returns
 * addresses of its devices. JUnit then runs all tests against the provider, one area per nested
 * class.
 */
public abstract class VerbsTck {

  /** Called by the provider's test class. */
  protected VerbsTck() {}

  /**
   * Returns an address of the provider under test, to listen on and to connect to.
   *
   * @param name letters, digits and dashes. Equal names must give equal addresses, and different
   *     names different ones. Each name is used by one test only.
   */
  protected abstract URI address(String name);

  /** Returns the time after which a test fails if a completion or an event has not arrived. */
  protected Duration timeout() {
    return Duration.ofSeconds(10);
  }

  /**
   * Returns the code of the ACK timeout of queue pairs that are connected by hand: 4.096 us x
   * 2^code. Override it for devices so slow that their ACKs take as long.
   */
  protected int ackTimeout() {
    return TransitionAttributes.TIMEOUT;
  }

  /**
   * Returns the number of iterations of tests that look for races and leaks. Override it for
   * devices so slow that these tests would take minutes.
   *
   * @param full the number of iterations on a fast device
   */
  protected int iterations(int full) {
    return full;
  }

  /**
   * Returns the completion status that a test expects. Override it only for known deviations of the
   * device, and explain each of them.
   *
   * @param test area and method, for example {@code Atomics.rejectsAWrongKey}
   * @param specified the status that the specification requires
   */
  protected CompletionStatus expectedStatus(String test, CompletionStatus specified) {
    return specified;
  }

  /**
   * Returns the known deviation of the device in a test, or null.
   *
   * @param test area and method, for example {@code Atomics.rejectsAWrongKey}
   */
  protected @Nullable Deviation deviation(String test) {
    return null;
  }

  /**
   * Called with each expected error completion and at the end of each test, to compare devices.
   *
   * @param test area and method, for example {@code Atomics.rejectsAWrongKey}
   * @param outcome the source and the status, for example {@code client's send: LOC_LEN_ERR}; at
   *     the end {@code as claimed}, or {@code fails: } and the message of a known deviation
   */
  protected void observed(String test, String outcome) {}

  @Nested
  class Devices extends DeviceTests {
    Devices() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class MissingCapabilities extends CapabilityTests {
    MissingCapabilities() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class Limits extends LimitTests {
    Limits() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class ProtectionDomains extends ProtectionDomainTests {
    ProtectionDomains() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class MemoryRegions extends MemoryRegionTests {
    MemoryRegions() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class MemoryWindows extends Type2WindowTests {
    MemoryWindows() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class MemoryWindowsOfType1 extends Type1WindowTests {
    MemoryWindowsOfType1() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class Invalidation extends InvalidationTests {
    Invalidation() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class Reregistration extends ReregistrationTests {
    Reregistration() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class ResizedCompletionQueues extends CompletionQueueResizeTests {
    ResizedCompletionQueues() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class CompletionQueues extends CompletionQueueTests {
    CompletionQueues() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class SharedCompletionQueues extends SharedCompletionQueueTests {
    SharedCompletionQueues() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class CompletionChannels extends CompletionChannelTests {
    CompletionChannels() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class QueuePairs extends QueuePairTests {
    QueuePairs() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class QueuePairTransitions extends QueuePairTransitionTests {
    QueuePairTransitions() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class UnreliableConnectionTransitions extends TransitionTests {
    UnreliableConnectionTransitions() {
      super(VerbsTck.this, QueuePairType.UC);
    }
  }

  @Nested
  class DatagramTransitions extends TransitionTests {
    DatagramTransitions() {
      super(VerbsTck.this, QueuePairType.UD);
    }
  }

  @Nested
  class Posting extends PostingTests {
    Posting() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class SendAndReceive extends SendReceiveTests {
    SendAndReceive() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class ReceiverNotReady extends ReceiverNotReadyTests {
    ReceiverNotReady() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class ReadAndWrite extends ReadWriteTests {
    ReadAndWrite() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class RemoteProtection extends RemoteProtectionTests {
    RemoteProtection() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class LocalProtection extends LocalProtectionTests {
    LocalProtection() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class Atomics extends AtomicTests {
    Atomics() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class ErrorState extends ErrorStateTests {
    ErrorState() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class UnreliableConnections extends UnreliableConnectionTests {
    UnreliableConnections() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class Datagrams extends DatagramTests {
    Datagrams() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class SharedReceiveQueues extends SharedReceiveQueueTests {
    SharedReceiveQueues() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class Draining extends DrainTests {
    Draining() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class AsyncEvents extends AsyncEventTests {
    AsyncEvents() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class LostPeers extends LostPeerTests {
    LostPeers() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class Connecting extends ConnectionTests {
    Connecting() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class Disconnecting extends DisconnectionTests {
    Disconnecting() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class ConnectionManagers extends ConnectionManagerTests {
    ConnectionManagers() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class DatagramServices extends DatagramServiceTests {
    DatagramServices() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class Threads extends ThreadTests {
    Threads() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class RandomPrograms extends RandomProgramTests {
    RandomPrograms() {
      super(VerbsTck.this);
    }
  }

  @Nested
  class Allocation extends AllocationTests {
    Allocation() {
      super(VerbsTck.this);
    }
  }
}

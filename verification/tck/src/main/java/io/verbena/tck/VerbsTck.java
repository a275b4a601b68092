package io.verbena.tck;

import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.QueuePairType;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;

/**
 * The entry: a provider's module extends this class in its tests and says where it can be reached.
 * All rules then run against it, an area in each nested class.
 */
public abstract class VerbsTck {

  /** For the provider's test class. */
  protected VerbsTck() {}

  /**
   * An address of the provider under test, on which it can listen and which it can reach.
   *
   * @param name letters, digits and dashes; the same name is the same address, another name another
   *     one, and no name is used by two tests
   */
  protected abstract URI address(String name);

  /** How long a completion or an event may take at the most before a test fails. */
  protected Duration patience() {
    return Duration.ofSeconds(10);
  }

  /**
   * How often a test repeats what it does to find races, and to see that nothing is lost in the
   * long run. To be overridden where a device is so slow that it would take minutes.
   *
   * @param full how often on a fast device
   */
  protected int rounds(int full) {
    return full;
  }

  /**
   * The status with which the device answers where the specification asks for another one. To be
   * overridden only where the device is known to differ; each difference is to be explained.
   *
   * @param test area and method, for example {@code Atomics.rejectsAWrongKey}
   * @param specified the status that the specification asks for
   */
  protected CompletionStatus answer(String test, CompletionStatus specified) {
    return specified;
  }

  /**
   * How the device is known not to do what a test claims, or null.
   *
   * @param test area and method, for example {@code Atomics.rejectsAWrongKey}
   */
  protected @Nullable Deviation deviation(String test) {
    return null;
  }

  /**
   * Called with each failed completion that a test expects and at the end of a test, for those who
   * compare devices.
   *
   * @param test area and method, for example {@code Atomics.rejectsAWrongKey}
   * @param answer where it was seen and its status, for example {@code client's send: LOC_LEN_ERR};
   *     at the end {@code as claimed}, or {@code fails: } and how for a known deviation
   */
  protected void observed(String test, String answer) {}

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

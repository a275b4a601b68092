// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;

import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.Device;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairReading.Figure;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.VerbsProvider;
import io.verbena.verbs.VerbsProviders;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A provider for {@code observed://name}, which is the HCA {@code emulated://name}. A test sees the
 * lists that its queue pairs post to their own receive queues, and may refuse them. The HCA at
 * {@link #WITHOUT_INLINE} reports that it supports no inline data.
 */
public final class ObservedProvider implements VerbsProvider {
  static final String MESSAGE = "refused by a test";

  static final URI WITHOUT_INLINE = URI.create("observed://without-inline");

  private static final String SCHEME = "observed";
  private static final Queue<Integer> RECEIVES = new ConcurrentLinkedQueue<>();
  private static final AtomicBoolean REFUSING = new AtomicBoolean();
  private static final Set<String> REFUSED = ConcurrentHashMap.newKeySet();

  /** The queue pair that was created last. */
  private static volatile @Nullable QueuePair newest;

  /** Returns the length of each posted list of receives; the test clears the queue. */
  static Queue<Integer> receives() {
    return RECEIVES;
  }

  /** Returns how many completions the newest queue pair has for its loop. */
  static long completionsWaiting() {
    return requireNonNull(newest).reading().figures().get(Figure.RECEIVE_COMPLETIONS_WAITING);
  }

  /** Refuses the next list of receives. */
  static void refuseReceives() {
    REFUSING.set(true);
  }

  /**
   * Refuses the next call of a method.
   *
   * @param method a method of a device, a connection manager or an object that these create, as in
   *     {@code Device.close}
   */
  static void refuse(String method) {
    REFUSED.add(method);
  }

  @Override
  public String scheme() {
    return SCHEME;
  }

  @Override
  public List<String> deviceNames() {
    return List.of();
  }

  @Override
  public Device open(URI address) {
    URI plain = plain(address);
    Device device = VerbsProviders.find(plain).open(plain);
    return proxy(
        Device.class,
        device,
        (method, arguments) -> {
          Object made = invoke(device, method, arguments);
          if (made instanceof DeviceAttributes attributes && address.equals(WITHOUT_INLINE)) {
            return withoutInline(attributes);
          }
          return made instanceof ConnectionManager manager ? new Manager(manager).shown : made;
        });
  }

  private static DeviceAttributes withoutInline(DeviceAttributes all) {
    return new DeviceAttributes(
        all.name(),
        all.firmware(),
        all.capabilities(),
        all.maxQueuePairs(),
        all.maxWorkRequests(),
        all.maxScatterGather(),
        0,
        all.maxCompletionQueues(),
        all.maxCompletions(),
        all.maxMemoryRegions(),
        all.maxMemoryRegionSize(),
        all.maxProtectionDomains(),
        all.maxMemoryWindows(),
        all.maxAddressHandles(),
        all.maxSharedReceiveQueues(),
        all.maxSharedReceiveRequests(),
        all.maxReadAtomicAsResponder(),
        all.maxReadAtomicAsInitiator(),
        all.maxMessageSize());
  }

  private static URI plain(URI address) {
    return URI.create(address.toString().replaceFirst(SCHEME, "emulated"));
  }

  /** Wraps a connection manager so that its identifiers create observed queue pairs. */
  private static final class Manager {
    private final ConcurrentHashMap<ConnectionIdentifier, ConnectionIdentifier> identifiers =
        new ConcurrentHashMap<>();
    private final ConcurrentHashMap<ConnectionListener, ConnectionListener> listeners =
        new ConcurrentHashMap<>();

    final ConnectionManager shown;

    Manager(ConnectionManager manager) {
      shown =
          proxy(
              ConnectionManager.class,
              manager,
              (method, arguments) -> {
                for (int i = 0; arguments != null && i < arguments.length; i++) {
                  arguments[i] = arguments[i] instanceof URI uri ? plain(uri) : arguments[i];
                }
                return observed(invoke(manager, method, arguments));
              });
    }

    private @Nullable Object observed(@Nullable Object answer) {
      if (answer instanceof ConnectionIdentifier identifier) {
        return observed(identifier);
      }
      if (answer instanceof ConnectionListener listener) {
        return observed(listener);
      }
      return answer instanceof ConnectionEvent event
          ? event.of(observed(event.identifier()), observed(event.listener()))
          : answer;
    }

    private @Nullable ConnectionListener observed(@Nullable ConnectionListener listener) {
      return listener == null
          ? null
          : listeners.computeIfAbsent(
              listener,
              real ->
                  proxy(
                      ConnectionListener.class,
                      real,
                      (method, arguments) -> invoke(real, method, arguments)));
    }

    private ConnectionIdentifier observed(ConnectionIdentifier identifier) {
      return identifiers.computeIfAbsent(
          identifier,
          real ->
              proxy(
                  ConnectionIdentifier.class,
                  real,
                  (method, arguments) -> {
                    Object made = invoke(real, method, arguments);
                    return made instanceof QueuePair pair ? ObservedProvider.observed(pair) : made;
                  }));
    }
  }

  private static QueuePair observed(QueuePair pair) {
    newest = pair;
    return proxy(
        QueuePair.class,
        pair,
        (method, arguments) -> {
          if (arguments != null && arguments[0] instanceof ReceiveWorkRequest first) {
            note(first);
          }
          return invoke(pair, method, arguments);
        });
  }

  private static void note(ReceiveWorkRequest first) {
    if (REFUSING.compareAndSet(true, false)) {
      throw new VerbsException(VerbsError.NO_MEMORY, MESSAGE);
    }
    int length = 0;
    for (ReceiveWorkRequest each = first; each != null; each = each.next()) {
      length++;
    }
    RECEIVES.add(length);
  }

  private interface Call {
    @Nullable Object of(Method method, Object @Nullable [] arguments) throws Throwable;
  }

  private static <T> T proxy(Class<T> type, T real, Call call) {
    return type.cast(
        Proxy.newProxyInstance(
            ObservedProvider.class.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) ->
                switch (method.getName()) {
                  case "equals" -> self == arguments[0];
                  case "hashCode" -> System.identityHashCode(self);
                  case "toString" -> "observed " + real;
                  default -> {
                    if (REFUSED.remove(type.getSimpleName() + '.' + method.getName())) {
                      throw new VerbsException(VerbsError.NO_MEMORY, MESSAGE);
                    }
                    yield call.of(method, arguments);
                  }
                }));
  }

  private static @Nullable Object invoke(Object real, Method method, Object @Nullable [] arguments)
      throws Throwable {
    try {
      return method.invoke(real, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}

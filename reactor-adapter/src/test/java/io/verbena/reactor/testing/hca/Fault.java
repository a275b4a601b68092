// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.testing.hca;

import io.verbena.verbs.Device;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.PostException;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;

/** A place in an HCA that throws once something which no provider should throw. */
public final class Fault {
  /** The call that throws. */
  public enum Place {
    NOWHERE,
    RESOLVE,
    CREATE_COMPLETION_QUEUE,
    CREATE_QUEUE_PAIR,
    /** After the queue pair has been created. */
    PEER,
    /** When some receives are posted. */
    POST_RECEIVE,
    /** When a request is posted; always a {@link VerbsException}. */
    POST_SEND,
    /** When a second request is posted; always a {@link VerbsException}. */
    POST_SECOND_SEND,
    /**
     * When any request is posted while {@link #refuseSends} is on; always a {@link VerbsException}.
     */
    POST_ANY_SEND,
    /** When a list is posted: from its second request on. */
    POST_LIST,
    /**
     * When receives of a shared queue are posted after {@link #refuseReceives}; always a {@link
     * VerbsException}.
     */
    POST_SHARED_RECEIVE,
    /** As {@link #POST_SHARED_RECEIVE}, on a device on which receives are not linked. */
    POST_SINGLE_RECEIVE,
    /**
     * As {@link #POST_SHARED_RECEIVE}, for a queue pair's own receive queue, on a device on which
     * receives are linked; {@link #receiveLists} records the lists.
     */
    POST_OWN_RECEIVE,
    /** When a memory region is closed; an exception is a {@link VerbsException}. */
    DEREGISTER,
    CONNECT,
    ACCEPT
  }

  /** The kind of throwable. */
  public enum Kind {
    EXCEPTION,
    LINKAGE_ERROR,
    OUT_OF_MEMORY;

    /** Throws a throwable of this kind. */
    public void raise() {
      switch (this) {
        case EXCEPTION -> throw new IllegalStateException(MESSAGE);
        case LINKAGE_ERROR -> throw new NoSuchMethodError(MESSAGE);
        case OUT_OF_MEMORY -> throw new OutOfMemoryError(MESSAGE);
      }
    }
  }

  /** The message of the throwable. */
  public static final String MESSAGE = "thrown by a test";

  private static final int RECEIVES_BEFORE = 3;
  private static final AtomicBoolean REFUSING = new AtomicBoolean();
  private static final AtomicBoolean REFUSING_SENDS = new AtomicBoolean();
  private static final Queue<Integer> LISTS = new ConcurrentLinkedQueue<>();

  private final Place place;
  private final Kind kind;
  private final AtomicBoolean thrown = new AtomicBoolean();
  private final Map<Object, Object> plain = new ConcurrentHashMap<>();
  private int receives;
  private int sends;

  Fault(Place place, Kind kind) {
    this.place = place;
    this.kind = kind;
  }

  /** Throws if this is the place, the first time. */
  void at(Place here) {
    if (isFirst(here)) {
      kind.raise();
    }
  }

  private boolean isFirst(Place here) {
    return here == place && thrown.compareAndSet(false, true);
  }

  /** Refuses the next receives of a shared queue, or of a queue pair's own queue. */
  public static void refuseReceives() {
    REFUSING.set(true);
  }

  /** Sets whether requests are refused at {@link Place#POST_ANY_SEND}; the test switches it off. */
  public static void refuseSends(boolean on) {
    REFUSING_SENDS.set(on);
  }

  /**
   * Returns the length of each list of receives that a queue pair took into its own queue at {@link
   * Place#POST_OWN_RECEIVE}, with 0 for each list of sends. The test clears the queue.
   */
  public static Queue<Integer> receiveLists() {
    return LISTS;
  }

  /** Returns whether anything is thrown; such a device has no atomics. */
  boolean isAnywhere() {
    return place != Place.NOWHERE;
  }

  /** Returns whether this fault needs a device on which requests are linked. */
  boolean needsLists() {
    return place == Place.POST_LIST
        || place == Place.POST_OWN_RECEIVE
        || place == Place.POST_SHARED_RECEIVE;
  }

  /** Returns whether this fault needs a device with shared receive queues. */
  boolean needsSharedReceives() {
    return place == Place.POST_SHARED_RECEIVE || place == Place.POST_SINGLE_RECEIVE;
  }

  /**
   * Wraps a protection domain, if this is the place, so that its shared receive queues refuse
   * receives or its regions refuse to be closed. Its device then has no more capabilities than
   * {@code limited}.
   */
  ProtectionDomain in(ProtectionDomain domain, Device limited) {
    return needsSharedReceives() || place == Place.DEREGISTER
        ? proxy(
            ProtectionDomain.class,
            domain,
            (method, arguments) -> {
              if ("device".equals(method.getName()) && place == Place.DEREGISTER) {
                return limited;
              }
              Object made = invoke(domain, method, arguments);
              if (made instanceof MemoryRegion region && place == Place.DEREGISTER) {
                return in(region);
              }
              return made instanceof SharedReceiveQueue queue ? in(queue) : made;
            })
        : domain;
  }

  private MemoryRegion in(MemoryRegion region) {
    return proxy(
        MemoryRegion.class,
        region,
        (method, arguments) -> {
          if ("close".equals(method.getName()) && isFirst(Place.DEREGISTER)) {
            if (kind == Kind.EXCEPTION) {
              throw new VerbsException(VerbsError.BUSY, MESSAGE);
            }
            kind.raise();
          }
          return invoke(region, method, arguments);
        });
  }

  private SharedReceiveQueue in(SharedReceiveQueue queue) {
    return proxy(
        SharedReceiveQueue.class,
        queue,
        (method, arguments) -> {
          if ("postReceive".equals(method.getName()) && REFUSING.compareAndSet(true, false)) {
            throw new VerbsException(VerbsError.NO_MEMORY, MESSAGE);
          }
          return invoke(queue, method, arguments);
        });
  }

  /** Returns the provider's own object behind a wrapper, or the object itself. */
  @SuppressWarnings("unchecked")
  <T> T plain(T object) {
    return (T) plain.getOrDefault(object, object);
  }

  private <T> T proxy(Class<T> type, T real, Call call) {
    T proxy =
        type.cast(
            Proxy.newProxyInstance(
                Fault.class.getClassLoader(),
                new Class<?>[] {type},
                (self, method, arguments) ->
                    switch (method.getName()) {
                      case "equals" -> self == arguments[0];
                      case "hashCode" -> System.identityHashCode(self);
                      default -> call.of(method, arguments);
                    }));
    plain.put(proxy, real);
    return proxy;
  }

  private static Object invoke(Object real, Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(real, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private interface Call {
    Object of(Method method, Object[] arguments) throws Throwable;
  }

  /**
   * Wraps a queue pair, if this is the place, so that it throws when receives or requests are
   * posted.
   */
  QueuePair in(QueuePair pair) {
    switch (place) {
      case POST_RECEIVE,
          POST_SEND,
          POST_SECOND_SEND,
          POST_ANY_SEND,
          POST_LIST,
          POST_OWN_RECEIVE -> {}
      default -> {
        return pair;
      }
    }
    return (QueuePair)
        Proxy.newProxyInstance(
            Fault.class.getClassLoader(),
            new Class<?>[] {QueuePair.class},
            (proxy, method, arguments) -> {
              if ("postReceive".equals(method.getName())) {
                receive((ReceiveWorkRequest) arguments[0]);
              }
              if ("postSend".equals(method.getName())) {
                sends++;
                if (isFirst(Place.POST_SEND)
                    || (sends > 1 && isFirst(Place.POST_SECOND_SEND))
                    || (place == Place.POST_ANY_SEND && REFUSING_SENDS.get())) {
                  throw new VerbsException(VerbsError.NO_MEMORY, MESSAGE);
                }
                if (place == Place.POST_OWN_RECEIVE) {
                  LISTS.add(0);
                }
                refuseSecond(pair, (SendWorkRequest) arguments[0]);
              }
              return invoke(pair, method, arguments);
            });
  }

  private void receive(ReceiveWorkRequest first) {
    int length = 0;
    for (ReceiveWorkRequest each = first; each != null; each = each.next()) {
      length++;
    }
    receives += length;
    if (receives > RECEIVES_BEFORE) {
      at(Place.POST_RECEIVE);
    }
    if (place == Place.POST_OWN_RECEIVE) {
      if (REFUSING.compareAndSet(true, false)) {
        throw new VerbsException(VerbsError.NO_MEMORY, MESSAGE);
      }
      LISTS.add(length);
    }
  }

  private void refuseSecond(QueuePair pair, SendWorkRequest first) {
    SendWorkRequest second = first.next();
    if (second != null && isFirst(Place.POST_LIST)) {
      pair.postSend(first.next(null));
      throw new PostException(VerbsError.NO_MEMORY, second.id(), MESSAGE);
    }
  }
}

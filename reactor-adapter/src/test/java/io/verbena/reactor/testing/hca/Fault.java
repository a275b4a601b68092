// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.testing.hca;

import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicBoolean;

/** A place in an HCA where something is thrown, once, that a provider should not throw. */
public final class Fault {
  /** Where it is thrown. */
  public enum Place {
    NOWHERE,
    RESOLVE,
    CREATE_COMPLETION_QUEUE,
    CREATE_QUEUE_PAIR,
    /** Once the queue pair is there. */
    PEER,
    /** When some receives are posted. */
    POST_RECEIVE,
    /** When a request is posted; a {@link VerbsException} whatever the kind. */
    POST_SEND,
    /** When a list is posted: from its second request on. */
    POST_LIST,
    CONNECT,
    ACCEPT
  }

  /** What is thrown. */
  public enum Kind {
    EXCEPTION,
    LINKAGE_ERROR,
    OUT_OF_MEMORY;

    /** Throws it. */
    public void raise() {
      switch (this) {
        case EXCEPTION -> throw new IllegalStateException(MESSAGE);
        case LINKAGE_ERROR -> throw new NoSuchMethodError(MESSAGE);
        case OUT_OF_MEMORY -> throw new OutOfMemoryError(MESSAGE);
      }
    }
  }

  /** The message of what is thrown. */
  public static final String MESSAGE = "thrown by a test";

  private static final int RECEIVES_BEFORE = 3;

  private final Place place;
  private final Kind kind;
  private final AtomicBoolean thrown = new AtomicBoolean();
  private int receives;

  Fault(Place place, Kind kind) {
    this.place = place;
    this.kind = kind;
  }

  /** Throws if this is the place, for the first time. */
  void at(Place here) {
    if (isFirst(here)) {
      kind.raise();
    }
  }

  private boolean isFirst(Place here) {
    return here == place && thrown.compareAndSet(false, true);
  }

  /** Whether the device is one on which requests are linked. */
  boolean needsLists() {
    return place == Place.POST_LIST;
  }

  /** A queue pair that throws as receives or requests are posted, if that is the place. */
  QueuePair in(QueuePair pair) {
    if (place != Place.POST_RECEIVE && place != Place.POST_SEND && place != Place.POST_LIST) {
      return pair;
    }
    return (QueuePair)
        Proxy.newProxyInstance(
            Fault.class.getClassLoader(),
            new Class<?>[] {QueuePair.class},
            (proxy, method, arguments) -> {
              if ("postReceive".equals(method.getName()) && ++receives > RECEIVES_BEFORE) {
                at(Place.POST_RECEIVE);
              }
              if ("postSend".equals(method.getName()) && isFirst(Place.POST_SEND)) {
                throw new VerbsException(VerbsError.NO_MEMORY, MESSAGE);
              }
              if ("postSend".equals(method.getName())) {
                refuseSecond(pair, (SendWorkRequest) arguments[0]);
              }
              try {
                return method.invoke(pair, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private void refuseSecond(QueuePair pair, SendWorkRequest first) {
    SendWorkRequest second = first.next();
    if (second != null && isFirst(Place.POST_LIST)) {
      pair.postSend(first.next(null));
      throw new PostException(VerbsError.NO_MEMORY, second.id(), MESSAGE);
    }
  }
}

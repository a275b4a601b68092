// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A proxy for {@link Disni} that calls the methods of a {@code NativeDispatcher} by name, because
 * that class belongs to another class loader.
 */
final class DisniCalls implements InvocationHandler {
  private final Map<String, MethodHandle> calls = new HashMap<>();
  private final String origin;

  private DisniCalls(Object dispatcher, String origin) throws ReflectiveOperationException {
    this.origin = origin;
    MethodHandles.Lookup lookup = MethodHandles.lookup();
    for (Method method : Disni.class.getDeclaredMethods()) {
      String name = method.getName();
      MethodType type = MethodType.methodType(method.getReturnType(), method.getParameterTypes());
      calls.put(
          name, lookup.findVirtual(dispatcher.getClass(), "_" + name, type).bindTo(dispatcher));
    }
  }

  /**
   * Returns the proxy.
   *
   * @param dispatcher a {@code NativeDispatcher}
   * @param origin the file of its library, for messages
   */
  static Disni of(Object dispatcher, String origin) throws ReflectiveOperationException {
    return (Disni)
        Proxy.newProxyInstance(
            Disni.class.getClassLoader(),
            new Class<?>[] {Disni.class},
            new DisniCalls(dispatcher, origin));
  }

  @Override
  public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments)
      throws Throwable {
    MethodHandle call = calls.get(method.getName());
    if (call != null) {
      return arguments == null ? call.invoke() : call.invokeWithArguments(arguments);
    }
    return switch (method.getName()) {
      case "toString" -> "DiSNI on " + origin;
      case "hashCode" -> System.identityHashCode(proxy);
      case "equals" -> arguments != null && proxy == arguments[0];
      default -> throw new AssertionError(method);
    };
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.event;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;

/** Memory was refused because the limit on registered memory is reached. */
@Name("io.verbena.MemoryRefused")
@Label("Memory Refused")
@Category("Verbena")
public final class MemoryRefusedEvent extends Event {
  @Label("Operation")
  @Description("The operation that needed the memory")
  String operation = "";

  @Label("Wanted")
  @DataAmount
  long wanted;

  @Label("Registered")
  @DataAmount
  long registered;

  @Label("Limit")
  @DataAmount
  long limit;

  /**
   * Emits the event, if it is being recorded.
   *
   * @param operation the operation that needed the memory
   * @param wanted the bytes that were refused
   * @param registered the bytes that are registered
   * @param limit the most bytes that may be registered
   */
  public static void emit(String operation, long wanted, long registered, long limit) {
    MemoryRefusedEvent event = new MemoryRefusedEvent();
    if (event.shouldCommit()) {
      event.operation = operation;
      event.wanted = wanted;
      event.registered = registered;
      event.limit = limit;
      event.commit();
    }
  }
}

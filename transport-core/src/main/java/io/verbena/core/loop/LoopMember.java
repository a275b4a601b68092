package io.verbena.core.loop;

/** Who belongs to a loop. All methods are called on the loop's thread and must not throw. */
public interface LoopMember extends CompletionTarget {

  /** Called at the end of a duty cycle in which {@link CompletionLoop#endDutyCycleWith} was. */
  void endDutyCycle();

  /** The loop's coarse clock went on. */
  void tick();

  /**
   * The loop stops: leave it.
   *
   * @param now whether this is the last call, as the loop broke down and polls no more
   */
  void expel(Throwable cause, boolean now);
}

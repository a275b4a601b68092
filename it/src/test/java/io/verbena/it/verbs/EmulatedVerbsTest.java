package io.verbena.it.verbs;

import io.verbena.tck.VerbsTck;
import java.net.URI;
import org.junit.jupiter.api.BeforeAll;

/** The same on the emulated HCA, once more, to have its answers beside those of rxe. */
class EmulatedVerbsTest extends VerbsTck {
  private static final int FEWER = 50;

  @BeforeAll
  static void forgetEarlierAnswers() {
    Answers.ofTheEmulatedHca().clear();
  }

  @Override
  protected URI address(String name) {
    return URI.create("emulated://" + name);
  }

  /** The whole number is run in the module of the emulated HCA. */
  @Override
  protected int rounds(int full) {
    return Math.max(1, full / FEWER);
  }

  @Override
  protected void observed(String test, String answer) {
    Answers.ofTheEmulatedHca().add(test, answer);
  }
}

package io.verbena.reactor.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.ResourceLeakDetector;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The runs find mistakes: each of these, made on purpose. */
class MutationTest {
  private static final int MOST_SEEDS = Integer.getInteger("verbena.test.mutation.seeds", 300);

  private final ResourceLeakDetector.Level level = ResourceLeakDetector.getLevel();

  static List<Mutation> mutations() {
    return List.of(
        new Mutation(
            "a credit counted twice",
            "connection/Inbound.java",
            "    delivering = true;\n    messages.free();\n",
            "    delivering = true;\n    messages.free();\n    messages.free();\n"),
        new Mutation(
            "a credit given when the message comes, not when it is delivered",
            "connection/Inbound.java",
            "      queue.add(message);\n      return;",
            "      queue.add(message);\n      messages.free();\n      return;"),
        new Mutation(
            "a credit lost when a send is over",
            "connection/CreditShares.java",
            "  void giveBack(int count) {\n    reserved -= count;",
            "  void giveBack(int count) {\n    reserved -= 0 * count;"),
        new Mutation(
            "a frame's credit lost",
            "connection/Inbound.java",
            "    unposted = null;\n    frames.free();\n    if (!connection.isPosting())",
            "    unposted = null;\n    if (!connection.isPosting())"),
        new Mutation(
            "a long message given back before the pull has ended",
            "connection/Inbound.java",
            "while (first != null && first.isOver()) {",
            "while (first != null && (first.isOver() || first.isReading())) {"),
        new Mutation(
            "a long message never given back",
            "connection/Inbound.java",
            "      donePending = true;",
            "      donePending = false;"),
        new Mutation(
            "a message that overtakes those that wait",
            "connection/Inbound.java",
            "if (to == null || delivering || !queue.isEmpty() || to.demand() <= 0) {",
            "if (to == null || delivering || to.demand() <= 0) {"),
        new Mutation(
            "a message that nobody asked for",
            "connection/Inbound.java",
            "delivering || !queue.isEmpty() || to.demand() <= 0) {",
            "delivering || !queue.isEmpty()) {"),
        new Mutation(
            "the end mark sent while messages wait",
            "connection/Closing.java",
            "return out.isIdle()\n        && connection.operations()",
            "return connection.operations()"),
        new Mutation(
            "a gap behind a long message that is lost",
            "connection/Inbound.java",
            "      lost |= next instanceof Pull pull && !pull.isOver();",
            "      lost = next instanceof Pull pull && !pull.isOver();"));
  }

  @BeforeEach
  void leaveLeaksToTheRuns() {
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
  }

  @AfterEach
  void watchLeaksAgain() {
    ResourceLeakDetector.setLevel(level);
  }

  @ParameterizedTest
  @MethodSource("mutations")
  void isCaught(Mutation mutation) throws Exception {
    OptionalInt seeds = mutation.seedsUntilCaught(MOST_SEEDS);

    assertThat(seeds).as("seeds until it was caught").isPresent();
  }

  @Test
  void theRightLayerIsNotCaught() throws Exception {
    String text = "package io.verbena.reactor.connection;";
    Mutation none = new Mutation("no mistake", "connection/Inbound.java", text, text);

    assertThat(none.seedsUntilCaught(10)).isEmpty();
  }
}

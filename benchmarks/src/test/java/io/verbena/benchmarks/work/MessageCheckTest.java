// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

import java.nio.ByteBuffer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class MessageCheckTest {
  @ParameterizedTest
  @ValueSource(ints = {64, 65_536})
  void acceptsEveryWordOfMessagesAsTheyWereSent(int size) {
    Line line = new Line(size);
    assertThatNoException()
        .isThrownBy(
            () -> {
              for (int i = 0; i < 3000; i++) {
                line.send();
                line.check.accept(line.view, size);
                line.check.whole(line.view);
              }
            });
  }

  @ParameterizedTest
  @ValueSource(ints = {64, 65_536})
  void rejectsALostMessage(int size) {
    Line line = new Line(size);
    line.send();
    line.send();
    rejects(line, size);
  }

  @ParameterizedTest
  @ValueSource(ints = {64, 65_536})
  void rejectsAMessageDeliveredTwice(int size) {
    Line line = new Line(size);
    line.send();
    line.check.accept(line.view, size);
    rejects(line, size);
  }

  @ParameterizedTest
  @ValueSource(ints = {64, 65_536})
  void rejectsAMessageThatIsTooShort(int size) {
    Line line = new Line(size);
    line.send();
    rejects(line, size - 1);
  }

  @ParameterizedTest
  @ValueSource(ints = {64, 65_536})
  void rejectsAMessageWithTheEndOfTheOneBefore(int size) {
    Line line = new Line(size);
    line.send();
    line.check.accept(line.view, size);
    long end = line.view.getLong(size - 8);
    line.send();
    line.view.putLong(size - 8, end);
    rejects(line, size);
  }

  @ParameterizedTest
  @ValueSource(ints = {64, 65_536})
  void rejectsAMessageWithTheMiddleOfTheOneBefore(int size) {
    Line line = new Line(size);
    line.send();
    line.check.accept(line.view, size);
    line.send();
    int middle = MessageContent.middleIndex(2, size);
    line.view.putLong(middle, MessageContent.pattern(middle));
    rejects(line, size);
  }

  @ParameterizedTest
  @ValueSource(ints = {64, 65_536})
  void findsAnyWrongWordWhenItLooksAtTheWhole(int size) {
    for (int index = 0; index < size; index += 8) {
      Line line = new Line(size);
      line.send();
      line.check.accept(line.view, size);
      line.view.putLong(index, line.view.getLong(index) ^ 1);
      assertThatExceptionOfType(DataCheckFailed.class)
          .isThrownBy(() -> line.check.whole(line.view))
          .withMessageContaining("at " + index + ":");
    }
  }

  private static void rejects(Line line, int length) {
    assertThatExceptionOfType(DataCheckFailed.class)
        .isThrownBy(() -> line.check.accept(line.view, length));
  }

  /** A source and a check that share one buffer. */
  private static final class Line {
    final MessageSource source;
    final MessageCheck check;
    final ByteBufferView view;

    Line(int size) {
      source = new MessageSource(size);
      check = new MessageCheck(size);
      view = new ByteBufferView(ByteBuffer.allocate(size), 0);
      source.prepare(view);
    }

    void send() {
      source.next(view);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.stat;

import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairReading;
import io.verbena.verbs.stat.QueuePairsMXBean;
import java.util.HashMap;
import java.util.Map;

/** A reading in types that a management client without Verbena's classes can read. */
record QueuePairView(
    String device, QueuePairReading reading, String user, Map<String, Integer> credits)
    implements QueuePairsMXBean.View {

  static QueuePairView of(QueuePair pair, QueuePairUser user) {
    return new QueuePairView(
        pair.protectionDomain().device().attributes().name(),
        pair.reading(),
        user.name(),
        user.credits());
  }

  @Override
  public String getDevice() {
    return device;
  }

  @Override
  public int getNumber() {
    return reading.number();
  }

  @Override
  public int getPeer() {
    return reading.peer();
  }

  @Override
  public String getType() {
    return reading.type().name();
  }

  @Override
  public String getState() {
    return reading.state().name();
  }

  @Override
  public String getUser() {
    return user;
  }

  @Override
  public Map<String, Integer> getCredits() {
    return credits;
  }

  @Override
  public Map<String, Long> getFigures() {
    Map<String, Long> figures = new HashMap<>();
    reading.figures().forEach((figure, value) -> figures.put(figure.name(), value));
    return figures;
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.testcontainers.DockerClientFactory;

/** Looks for Docker before a class that is marked with {@link InContainers}. */
final class DockerCondition implements ExecutionCondition {
  static final String NO_DOCKER = "VERBENA_NO_DOCKER";

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    if (context.getTestMethod().isPresent()) {
      return ConditionEvaluationResult.enabled("its class is");
    }
    String reason = whyNot();
    if (reason == null) {
      return ConditionEvaluationResult.enabled("Docker answers");
    }
    System.out.printf(
        "%n*** SKIPPED, NOT TESTED HERE: %s, in containers. %s%n%n",
        context.getDisplayName(), reason);
    return ConditionEvaluationResult.disabled(reason);
  }

  private static @Nullable String whyNot() {
    if (System.getenv(NO_DOCKER) != null) {
      return NO_DOCKER + " is set";
    }
    if (DockerClientFactory.instance().isDockerAvailable()) {
      return null;
    }
    String reason = OwnDocker.whyNot();
    return reason == null ? "no Docker daemon answers" : reason;
  }
}

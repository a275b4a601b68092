// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers;

import java.io.IOException;
import java.net.URI;
import org.testcontainers.dockerclient.DockerClientProviderStrategy;
import org.testcontainers.dockerclient.InvalidConfigurationException;
import org.testcontainers.dockerclient.TransportConfig;

/**
 * Gives Testcontainers a daemon of our own, after every other place where one could be. Found by
 * the service loader.
 */
public final class OwnDockerStrategy extends DockerClientProviderStrategy {
  /** Called by the service loader. */
  public OwnDockerStrategy() {}

  @Override
  public String getDescription() {
    return "a daemon of this JVM's own";
  }

  @Override
  public TransportConfig getTransportConfig() {
    try {
      return TransportConfig.builder()
          .dockerHost(URI.create("unix://" + OwnDocker.socket()))
          .build();
    } catch (IOException e) {
      throw new InvalidConfigurationException(e.getMessage(), e);
    }
  }

  /**
   * Published ports are not reached anyway; what Testcontainers does to know better takes an image.
   */
  @Override
  public synchronized String getDockerHostIpAddress() {
    return "localhost";
  }

  /** The next JVM has another one. */
  @Override
  protected boolean isPersistable() {
    return false;
  }

  @Override
  protected int getPriority() {
    return Integer.MIN_VALUE;
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test class that needs Docker. The test uses the daemon that Testcontainers finds; where none
 * answers, one is started for this JVM, which takes root and Debian's packages {@code docker.io}
 * and {@code iptables}. Where that cannot be, the class is skipped, and the reason is printed to
 * standard output.
 *
 * <p>The environment variable {@code VERBENA_NO_DOCKER}, set to anything, makes this a machine
 * without Docker.
 */
@Documented
@Inherited
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(DockerCondition.class)
public @interface InContainers {}

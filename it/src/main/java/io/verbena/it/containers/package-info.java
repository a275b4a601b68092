// SPDX-License-Identifier: Apache-2.0
/**
 * Programs in Docker containers, by Testcontainers, also where nothing but Debian's packages is at
 * hand: no daemon that runs, no registry.
 *
 * <pre>
 *  InContainers        a test class that needs Docker; skipped, and loudly, where there is none
 *    OwnDocker         starts a daemon where none answers, and takes it away with this JVM
 *  VerbenaContainer    a Java program of this class path in a container; the faults that befall it
 *    VerbenaImage      a base image, or this JVM's own files, and the class path
 * </pre>
 */
@NullMarked
package io.verbena.it.containers;

import org.jspecify.annotations.NullMarked;

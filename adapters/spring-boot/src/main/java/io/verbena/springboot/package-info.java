// SPDX-License-Identifier: Apache-2.0
/**
 * Spring Boot over RDMA: with this module on the class path, the property {@code verbena.hca} puts
 * WebFlux, {@code WebClient} and RSocket on that HCA.
 */
@NullMarked
package io.verbena.springboot;

import org.jspecify.annotations.NullMarked;

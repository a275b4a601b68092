// SPDX-License-Identifier: Apache-2.0
/**
 * A sample of Ratis's own suites, which each build runs; {@code bin/suite ratis} runs all suites.
 */
@NullMarked
package io.verbena.ratis.sample;

import org.jspecify.annotations.NullMarked;

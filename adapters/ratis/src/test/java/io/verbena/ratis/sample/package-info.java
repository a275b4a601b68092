// SPDX-License-Identifier: Apache-2.0
/** A sample of Ratis's own suites, for each build; {@code bin/suite ratis} runs all. */
@NullMarked
package io.verbena.ratis.sample;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
/** Tests of what registered memory promises, on a recording double of the verbs SPI. */
@NullMarked
package io.verbena.core.memory;

import org.jspecify.annotations.NullMarked;

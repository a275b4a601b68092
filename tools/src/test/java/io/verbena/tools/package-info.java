// SPDX-License-Identifier: Apache-2.0
/** Tests of the commands by their output. */
@NullMarked
package io.verbena.tools;

import org.jspecify.annotations.NullMarked;

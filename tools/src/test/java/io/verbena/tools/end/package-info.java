// SPDX-License-Identifier: Apache-2.0
/** Tests of what the commands stand on. */
@NullMarked
package io.verbena.tools.end;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
/** Tests of the classes that the commands share. */
@NullMarked
package io.verbena.tools.end;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
/** Code that connection managers share. Internal: not exported. */
@NullMarked
package io.verbena.emulated.cm;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
/** Reads what a shared library contains before it is loaded. Internal: not exported. */
@NullMarked
package io.verbena.disni.elf;

import org.jspecify.annotations.NullMarked;

// SPDX-License-Identifier: Apache-2.0
/** Reads the symbols of a shared library before it is loaded. Internal: not exported. */
@NullMarked
package io.verbena.disni.elf;

import org.jspecify.annotations.NullMarked;

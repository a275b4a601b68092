// SPDX-License-Identifier: Apache-2.0
/** What a shared library says of itself, before it is loaded. Internal: not exported. */
@NullMarked
package io.verbena.disni.elf;

import org.jspecify.annotations.NullMarked;

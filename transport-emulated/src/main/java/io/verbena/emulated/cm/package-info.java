// SPDX-License-Identifier: Apache-2.0
/** Base classes of the connection managers of all fabrics. Internal: not exported. */
@NullMarked
package io.verbena.emulated.cm;

import org.jspecify.annotations.NullMarked;

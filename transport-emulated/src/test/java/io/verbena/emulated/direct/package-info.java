/** The direct fabric, in both its modes. */
@NullMarked
package io.verbena.emulated.direct;

import org.jspecify.annotations.NullMarked;

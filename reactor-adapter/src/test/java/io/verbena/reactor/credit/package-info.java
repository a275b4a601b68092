/** Claims about credits, as arithmetic. */
@NullMarked
package io.verbena.reactor.credit;

import org.jspecify.annotations.NullMarked;

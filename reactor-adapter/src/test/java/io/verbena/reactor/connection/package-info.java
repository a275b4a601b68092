/** Claims about credits, as arithmetic. */
@NullMarked
package io.verbena.reactor.connection;

import org.jspecify.annotations.NullMarked;

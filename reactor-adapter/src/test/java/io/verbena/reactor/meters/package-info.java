/** What is metered of connections. */
@NullMarked
package io.verbena.reactor.meters;

import org.jspecify.annotations.NullMarked;

/** Tells what devices count, and what the queue pairs of a running program do. */
@NullMarked
package io.verbena.tools.stat;

import org.jspecify.annotations.NullMarked;

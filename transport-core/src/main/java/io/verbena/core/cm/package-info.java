/** The connection manager of a device, and the thread that takes its events. Knows no Reactor. */
@NullMarked
package io.verbena.core.cm;

import org.jspecify.annotations.NullMarked;

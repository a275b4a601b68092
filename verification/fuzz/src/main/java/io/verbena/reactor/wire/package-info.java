/** Fuzzing of this package's parsers, which only this package sees. */
@NullMarked
package io.verbena.reactor.wire;

import org.jspecify.annotations.NullMarked;

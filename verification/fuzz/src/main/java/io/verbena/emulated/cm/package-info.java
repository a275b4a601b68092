/** Fuzzing of this package's parsers, which only this package sees. */
@NullMarked
package io.verbena.emulated.cm;

import org.jspecify.annotations.NullMarked;

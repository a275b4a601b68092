/** Fuzzing of this package's parsers. */
@NullMarked
package io.verbena.verbs.provider;

import org.jspecify.annotations.NullMarked;

/** What the documentation claims, as tests. */
@NullMarked
package io.verbena.samples;

import org.jspecify.annotations.NullMarked;

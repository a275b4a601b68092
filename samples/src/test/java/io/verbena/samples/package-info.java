/** What the project's front page shows, as tests. */
@NullMarked
package io.verbena.samples;

import org.jspecify.annotations.NullMarked;

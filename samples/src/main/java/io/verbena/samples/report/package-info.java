/** What the samples show of themselves: how far they are, what they found, and what that took. */
@NullMarked
package io.verbena.samples.report;

import org.jspecify.annotations.NullMarked;

/** What messages over TCP promise. */
@NullMarked
package io.verbena.samples.tcp;

import org.jspecify.annotations.NullMarked;

/** What the meters in a Micrometer registry promise. */
@NullMarked
package io.verbena.core.micrometer;

import org.jspecify.annotations.NullMarked;

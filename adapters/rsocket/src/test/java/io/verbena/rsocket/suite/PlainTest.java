package io.verbena.rsocket.suite;

final class PlainTest extends RdmaTransportTest {
  PlainTest() {
    super(false, false);
  }
}

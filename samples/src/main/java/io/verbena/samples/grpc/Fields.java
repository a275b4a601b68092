// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.grpc;

import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInput;
import java.io.DataInputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/**
 * Messages that consist of the fields of a record, one after the other.
 *
 * @param writer writes the fields
 * @param reader reads the fields
 */
record Fields<T>(Writer<T> writer, Reader<T> reader) implements Marshaller<T> {

  interface Writer<T> {
    void write(T message, DataOutput out) throws IOException;
  }

  interface Reader<T> {
    T read(DataInput in) throws IOException;
  }

  @Override
  public InputStream stream(T message) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      writer.write(message, new DataOutputStream(bytes));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new ByteArrayInputStream(bytes.toByteArray());
  }

  @Override
  public T parse(InputStream stream) {
    try {
      return reader.read(new DataInputStream(stream));
    } catch (IOException e) {
      throw Status.INTERNAL
          .withDescription("message ends too soon")
          .withCause(e)
          .asRuntimeException();
    }
  }
}

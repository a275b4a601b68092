// SPDX-License-Identifier: Apache-2.0
package com.example;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;

/** Greets a caller, or forwards to another such service. It contains no code for RDMA. */
@SpringBootApplication
@RestController
public class GreetingService {
  private final WebClient client;
  private final String other;

  GreetingService(WebClient.Builder builder, @Value("${other:}") String other) {
    client = builder.build();
    this.other = other;
  }

  @GetMapping("/hello/{name}")
  Mono<String> hello(@PathVariable("name") String name) {
    return Mono.just("hello, " + name);
  }

  @GetMapping("/ask/{name}")
  Mono<String> ask(@PathVariable("name") String name) {
    return client.get().uri(other + "/hello/{name}", name).retrieve().bodyToMono(String.class);
  }

  public static void main(String[] arguments) {
    SpringApplication.run(GreetingService.class, arguments);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.EngineDiscoveryRequest;
import org.junit.platform.engine.EngineExecutionListener;
import org.junit.platform.engine.ExecutionRequest;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestEngine;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.engine.discovery.ClassNameFilter;
import org.junit.platform.engine.discovery.ClassSelector;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.discovery.PackageNameFilter;
import org.junit.platform.engine.discovery.UniqueIdSelector;
import org.junit.platform.engine.support.descriptor.EngineDescriptor;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;

/**
 * Runs the classes that are marked with {@link InSoftRoceGuest} in a guest, one per kind of guest.
 * Those that stand for packages are found by class alone. Where the guest cannot run at all they
 * are skipped with the reason; where it dies, what had not finished fails with the reason; where
 * Jupiter itself fails in it, this engine fails, once, with the cause.
 */
public final class SoftRoceEngine implements TestEngine {
  static final String ID = InSoftRoceGuest.TAG;

  private final GuestCommand command;

  /** Called by the service loader. */
  public SoftRoceEngine() {
    this(GuestCommand.ofThisJvm());
  }

  SoftRoceEngine(GuestCommand command) {
    this.command = command;
  }

  @Override
  public String getId() {
    return ID;
  }

  @Override
  public TestDescriptor discover(EngineDiscoveryRequest request, UniqueId uniqueId) {
    var engine = new EngineDescriptor(uniqueId, "Soft-RoCE guest");
    var selectors = new ArrayList<DiscoverySelector>();
    for (DiscoverySelector each : request.getSelectorsByType(DiscoverySelector.class)) {
      if (each instanceof ClassSelector byClass
          && GuestClass.standsForPackages(byClass.getJavaClass())) {
        engine.addChild(packages(request, uniqueId, byClass.getJavaClass()));
      } else if (!(each instanceof UniqueIdSelector byId)) {
        selectors.add(each);
      } else if (byId.getUniqueId().hasPrefix(uniqueId)) {
        selectors.add(
            DiscoverySelectors.selectUniqueId(Jupiter.fromOurs(byId.getUniqueId().toString())));
      }
    }
    if (selectors.isEmpty()) {
      return engine;
    }
    TestPlan plan = discover(request, selectors);
    for (TestIdentifier each : topLevels(plan)) {
      GuestClass.annotation(each.getSource())
          .ifPresent(
              annotation -> {
                var topLevel = new MirroredTest(each, GuestClass.tags(annotation), null);
                engine.addChild(topLevel);
                mirrorChildren(plan, each, topLevel);
              });
    }
    return engine;
  }

  private static TestDescriptor packages(
      EngineDiscoveryRequest request, UniqueId engine, Class<?> holder) {
    InSoftRoceGuest annotation = GuestClass.annotation(holder).orElseThrow();
    var packages = new PackagesClass(engine, holder, annotation);
    Map<String, String> leftOut = GuestClass.leftOut(annotation);
    List<ClassNameFilter> asked = request.getFiltersByType(ClassNameFilter.class);
    leftOut.keySet().removeIf(test -> asked.stream().anyMatch(each -> each.apply(test).excluded()));
    TestPlan plan =
        discover(
            request,
            Stream.of(annotation.packages()).map(DiscoverySelectors::selectPackage).toList());
    for (TestIdentifier each : topLevels(plan)) {
      var topLevel =
          new MirroredTest(each, packages.getTags(), leftOut.remove(each.getLegacyReportingName()));
      packages.addChild(topLevel);
      mirrorChildren(plan, each, topLevel);
    }
    if (!leftOut.isEmpty()) {
      throw new IllegalArgumentException(
          holder.getName() + ": left out: " + leftOut.keySet() + " (expected: its tests)");
    }
    return packages;
  }

  private static TestPlan discover(
      EngineDiscoveryRequest request, List<? extends DiscoverySelector> selectors) {
    return Jupiter.forDiscovery()
        .discover(
            LauncherDiscoveryRequestBuilder.request()
                .selectors(selectors)
                .filters(
                    request.getFiltersByType(ClassNameFilter.class).toArray(ClassNameFilter[]::new))
                .filters(
                    request
                        .getFiltersByType(PackageNameFilter.class)
                        .toArray(PackageNameFilter[]::new))
                .parentConfigurationParameters(request.getConfigurationParameters())
                .build());
  }

  private static List<TestIdentifier> topLevels(TestPlan plan) {
    return plan.getRoots().stream().flatMap(root -> plan.getChildren(root).stream()).toList();
  }

  private static void mirrorChildren(TestPlan plan, TestIdentifier original, MirroredTest mirror) {
    for (TestIdentifier each : plan.getChildren(original)) {
      var child = new MirroredTest(each, mirror.tagsFromOutside(), null);
      mirror.addChild(child);
      mirrorChildren(plan, each, child);
    }
  }

  @Override
  public void execute(ExecutionRequest request) {
    TestDescriptor engine = request.getRootTestDescriptor();
    EngineExecutionListener listener = request.getEngineExecutionListener();
    listener.executionStarted(engine);
    SortedMap<GuestKind, List<TestDescriptor>> byKind = new TreeMap<>();
    for (TestDescriptor each : engine.getChildren()) {
      byKind.computeIfAbsent(GuestClass.kind(each), kind -> new ArrayList<>()).add(each);
    }
    Throwable failure = null;
    for (Map.Entry<GuestKind, List<TestDescriptor>> each : byKind.entrySet()) {
      var run =
          new GuestRun(
              command,
              each.getKey(),
              each.getValue(),
              request.getConfigurationParameters(),
              listener);
      if (failure == null) {
        failure = run.execute();
      } else {
        run.skip("the engine in the guest before failed, and the run with it");
      }
    }
    listener.executionFinished(
        engine,
        failure == null ? TestExecutionResult.successful() : TestExecutionResult.failed(failure));
  }
}

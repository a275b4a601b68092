// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.chart;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Draws horizontal bars. The background is white, so that a chart is readable on light and on dark
 * pages.
 */
final class Svg {
  private static final int WIDTH = 760;
  private static final int LEFT = 210;
  private static final int RIGHT = 110;
  private static final int TOP = 44;
  private static final int BAR = 18;
  private static final int PITCH = 26;
  private static final int HEADING = 26;
  private static final int BOTTOM = 92;
  private static final int MARGIN = 16;

  private static final String INK = "#24292f";
  private static final String PALE_INK = "#57606a";
  private static final String GRID = "#d8dee4";
  private static final String VERBENA = "#1f6feb";
  private static final String PEER = "#8c959f";
  private static final String LIMIT = "#bf8700";

  /** The meaning of each color of a bar. */
  private static final Map<String, String> KEYS = new LinkedHashMap<>();

  static {
    KEYS.put(VERBENA, "Verbena");
    KEYS.put(PEER, "peers");
    KEYS.put(LIMIT, "limits of the machine");
  }

  private final StringBuilder text = new StringBuilder();
  private final Axis axis;
  private int y = TOP;

  private Svg(Axis axis) {
    this.axis = axis;
  }

  /**
   * Draws a chart.
   *
   * @param groups its bars, at least one
   * @param caption the text beneath
   */
  static String of(Chart chart, List<Chart.Bars> groups, String caption) {
    double most =
        groups.stream()
            .flatMap(group -> group.results().stream())
            .mapToDouble(Result::most)
            .max()
            .orElseThrow();
    Svg svg = new Svg(Axis.holding(most));
    svg.open(chart.title(), height(groups));
    svg.drawGrid(height(groups) - BOTTOM);
    groups.forEach(svg::draw);
    svg.close(chart.axis(), caption);
    return svg.text.toString();
  }

  private static int height(List<Chart.Bars> groups) {
    int height = TOP + BOTTOM;
    for (Chart.Bars group : groups) {
      height += (group.heading().isEmpty() ? 0 : HEADING) + PITCH * group.results().size();
    }
    return height;
  }

  private void open(String title, int height) {
    add(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\""
            + " role=\"img\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\">",
        WIDTH, height, WIDTH, height);
    add("<title>%s</title>", escaped(title));
    add("<rect width=\"%d\" height=\"%d\" rx=\"6\" fill=\"#ffffff\"/>", WIDTH, height);
    add(
        "<text x=\"%d\" y=\"26\" font-size=\"15\" font-weight=\"bold\" fill=\"%s\">%s</text>",
        MARGIN, INK, escaped(title));
  }

  private void drawGrid(int bottom) {
    for (double tick : axis.ticks()) {
      double x = x(tick);
      add(
          "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"%s\"/>",
          x, TOP - 6, x, bottom, GRID);
      add(
          "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"%s\">%s</text>",
          x, bottom + 18, PALE_INK, number(tick));
    }
  }

  private void draw(Chart.Bars group) {
    if (!group.heading().isEmpty()) {
      add(
          "<text x=\"%d\" y=\"%d\" font-weight=\"bold\" fill=\"%s\">%s</text>",
          MARGIN, y + 16, INK, escaped(group.heading()));
      y += HEADING;
    }
    group.results().forEach(this::draw);
  }

  /**
   * Draws a bar to the median, or to the minimum if there is no median, and a lighter bar from
   * there to the maximum.
   */
  private void draw(Result result) {
    String color = result.isVerbena() ? VERBENA : result.isLimit() ? LIMIT : PEER;
    boolean hasMedian = !Double.isNaN(result.median());
    double solid = hasMedian ? result.median() : result.least();
    add(
        "<text x=\"%d\" y=\"%d\" text-anchor=\"end\" fill=\"%s\"%s>%s</text>",
        LEFT - 8,
        y + 14,
        INK,
        result.isVerbena() ? " font-weight=\"bold\"" : "",
        escaped(ChartCatalog.label(result.participant())));
    addBar(0, solid, color, 1);
    if (result.most() > solid) {
      addBar(solid, result.most(), color, 0.35);
    }
    String value =
        hasMedian ? number(solid) : number(result.least()) + " to " + number(result.most());
    add(
        "<text x=\"%.1f\" y=\"%d\" fill=\"%s\">%s</text>",
        x(Math.max(solid, result.most())) + 6, y + 14, INK, value);
    y += PITCH;
  }

  private void addBar(double from, double to, String color, double opacity) {
    add(
        "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\" opacity=\"%.2f\"/>",
        x(from), y, x(to) - x(from), BAR, color, opacity);
  }

  private void close(String unit, String caption) {
    add(
        "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"%s\">%s</text>",
        (LEFT + WIDTH - RIGHT) / 2.0, y + 38, INK, escaped(unit));
    int x = MARGIN;
    for (Map.Entry<String, String> color : KEYS.entrySet()) {
      if (text.indexOf(color.getKey()) >= 0) {
        x = addKey(x, color.getKey(), color.getValue());
      }
    }
    add(
        "<text x=\"%d\" y=\"%d\" font-size=\"11\" fill=\"%s\">%s</text>",
        MARGIN, y + 82, PALE_INK, escaped(caption));
    add("</svg>");
  }

  private int addKey(int x, String color, String name) {
    add("<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" fill=\"%s\"/>", x, y + 53, color);
    add("<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>", x + 15, y + 62, PALE_INK, name);
    return x + 40 + 7 * name.length();
  }

  private double x(double value) {
    return LEFT + (WIDTH - LEFT - RIGHT) * value / axis.end();
  }

  /** Returns a number with up to three digits, without trailing zeros. */
  private static String number(double value) {
    String digits =
        String.format(Locale.ROOT, value >= 100 ? "%.0f" : value >= 10 ? "%.1f" : "%.2f", value);
    return digits.indexOf('.') < 0 ? digits : digits.replaceAll("\\.?0+$", "");
  }

  private static String escaped(String plain) {
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }

  @SuppressWarnings("AnnotateFormatMethod")
  private void add(String pattern, Object... values) {
    text.append(String.format(Locale.ROOT, pattern, values)).append('\n');
  }
}

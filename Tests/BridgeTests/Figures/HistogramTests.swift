// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Bridge

struct HistogramTests {
  @Test("A value counts in the first bucket that it is not above")
  func buckets() {
    let histogram = Histogram([1, 2])
    for value in [0, 1, 1.5, 2, 2.5, 1_000] { histogram.add(value) }
    #expect(histogram.snapshot == .init(bounds: [1, 2], counts: [2, 2, 2], sum: 1_007))
    histogram.add(.milliseconds(1_500))
    #expect(histogram.snapshot.counts == [2, 3, 2] && histogram.snapshot.sum == 1_008.5)
  }

  @Test("Many threads lose nothing")
  func threads() async {
    let histogram = Histogram([1])
    await withDiscardingTaskGroup { group in
      for _ in 0..<8 { group.addTask { for _ in 0..<1_000 { histogram.add(0.5) } } }
    }
    #expect(histogram.snapshot == .init(bounds: [1], counts: [8_000, 0], sum: 4_000))
  }
}

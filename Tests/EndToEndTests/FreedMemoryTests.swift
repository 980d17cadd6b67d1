// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The process of the tests is linked with the program, so with its `free` as well.
@Suite("Memory that is released", .timeLimit(.minutes(30)))
struct FreedMemoryTests {
  @Test("A program that releases a block twice ends", arguments: [24, 100, 1_000, 5_000])
  func twice(size: Int) async {
    await #expect(processExitsWith: .failure) { [size = size as Int] in
      let block = malloc(size)
      free(block)
      free(block)
      exit(0)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Yams

/// Line and column in a text, from 1; columns are Unicode scalars.
struct TextPosition: Hashable {
  var line: Int
  var column: Int

  init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  init(_ mark: Mark) {
    self.init(line: mark.line, column: mark.column)
  }
}

// SPDX-License-Identifier: Apache-2.0

extension SettingsProblem: Comparable {
  /// In the order in which a person fixes them: down the file, then the variables.
  package static func < (left: SettingsProblem, right: SettingsProblem) -> Bool {
    left.rank < right.rank
  }

  private var rank: (Int, String, Int, Int, String) {
    switch place {
    case .file(let file): (0, file, 0, 0, message)
    case .position(let file, let line, let column): (1, file, line, column, message)
    case .variable(let name): (2, name, 0, 0, message)
    case .defaults: (3, "", 0, 0, message)
    }
  }
}

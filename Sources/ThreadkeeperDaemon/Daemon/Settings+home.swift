// SPDX-License-Identifier: Apache-2.0

import Settings

extension Settings {
  /// The home that a command is about.
  ///
  /// - Parameter name: may be left out where there is one home only.
  package func home(named name: String?) throws(CommandFailure) -> String {
    if let name {
      guard homes.contains(where: { $0.name == name }) else {
        throw CommandFailure(
          .usage, "there is no home \(name)",
          remedy: "homes: \(homes.map(\.name).joined(separator: ", "))")
      }
      return name
    }
    guard homes.count == 1, let only = homes.first else {
      throw CommandFailure(.usage, "there is more than one home", remedy: "say which with --home")
    }
    return only.name
  }
}

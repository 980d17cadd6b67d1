// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit

/// The public vectors that the dataset's own tests hold.
enum DatasetVectors {
  struct Vector: Sendable {
    let id: String
    let hex: String
    /// The code by which it is refused.
    let code: String
  }

  /// Those that are no complete active dataset.
  static var unsound: [Vector] {
    get throws {
      let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("ThreadDatasetTests/Vectors/datasets.json")
      guard let json = JSON(try String(contentsOf: file, encoding: .utf8)) else { return [] }
      return (json["vectors"]?.list ?? []).compactMap { vector in
        guard let id = vector["id"]?.text, let hex = vector["hex"]?.text,
          let expected = vector["expect"]?.text, expected != "complete"
        else { return nil }
        return Vector(
          id: id, hex: hex, code: expected == "pending" ? "incomplete_dataset" : expected)
      }
    }
  }
}

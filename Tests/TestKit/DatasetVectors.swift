// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The public dataset vectors, read from the tests of `ThreadDataset`, where they are kept.
package enum DatasetVectors {
  package struct Vector: Decodable, Sendable {
    package let id: String
    package let hex: String
    /// `complete`, `pending`, or the code of the rejection.
    package let expect: String
  }

  private struct VectorFile: Decodable {
    let vectors: [Vector]
  }

  /// - Throws: when the file is not where it should be.
  package static func all() throws -> [Vector] {
    let file = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("ThreadDatasetTests/Vectors/datasets.json")
    return try JSONDecoder().decode(VectorFile.self, from: Data(contentsOf: file)).vectors
  }
}

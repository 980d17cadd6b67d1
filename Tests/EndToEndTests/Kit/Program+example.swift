// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit

extension Program {
  /// Runs one of the examples while the test does something else.
  ///
  /// - Parameters:
  ///   - file: below `examples`.
  ///   - program: what runs it.
  ///   - variables: with `HOME`; there is a `PATH`.
  static func example(
    _ file: String, by program: String = "/bin/sh", _ arguments: [String], input: String = "",
    _ variables: [String: String]
  ) async throws -> Result {
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../examples/\(file)").standardized.path
    let tools = ThreadkeeperBinary.executable.deletingLastPathComponent().path
    let environment = ["PATH": "\(tools):/usr/local/bin:/usr/bin:/bin"].merging(variables) { $1 }
    return try await withCheckedThrowingContinuation { continuation in
      Thread {
        continuation.resume(
          with: Swift.Result {
            try run(
              program, [script] + arguments, input: Array(input.utf8), environment: environment)
          })
      }.start()
    }
  }
}

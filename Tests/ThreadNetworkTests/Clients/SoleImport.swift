// SPDX-License-Identifier: Apache-2.0

import ThreadNetwork

/// A file of a program that imports nothing but ThreadNetwork, as on Apple's systems: Foundation comes with it.
enum SoleImport {
  static func names(of credentials: Set<THCredentials>, since date: Date) -> [String] {
    credentials.filter { $0.creationDate.map { $0 >= date } ?? false }.compactMap(\.networkName)
  }

  static func code(of error: any Error) -> Int { (error as NSError).code }

  static func bytes(_ text: String) -> Data { Data(text.utf8) }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation

@_implementationOnly import CredentialService

/// What a person is asked, in one sentence.
struct ConsentWords {
  let text: String

  init(_ question: ConsentQuestion, program: String = ProcessInfo.processInfo.processName) {
    let networks = question.networks.map { "\($0.name) (\($0.network))" }
      .joined(separator: ", ")
    text = "\(program) asks for credentials, the keys included, of the Thread network \(networks)"
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation

@_implementationOnly import CredentialService

/// What a person is asked, in one sentence.
struct ConsentWords {
  let text: String

  init(_ question: ConsentQuestion, program: String = ProcessInfo.processInfo.processName) {
    let networks = question.networks.map {
      "\(ShownName.quoted($0.name) ?? "a network without a name") (\($0.id))"
    }.joined(separator: ", ")
    let claim = ShownName.quoted(program).map { "program that calls itself \($0)" } ?? "program"
    text = "A \(claim) asks for credentials, the keys included, of the Thread network \(networks)"
  }
}

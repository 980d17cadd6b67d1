// SPDX-License-Identifier: Apache-2.0

import Synchronization

@testable import ThreadkeeperCLI

/// Somebody who answers from a script. Ctrl-D when it is at its end.
final class ScriptedPrompt: Prompt {
  struct Question: Equatable {
    let text: String
    let isHidden: Bool
  }

  private let answers: Mutex<[String]>
  private let log = Mutex<(questions: [Question], shown: String)>(([], ""))

  init(_ answers: String...) { self.answers = Mutex(answers) }

  var isPossible: Bool { true }
  var questions: [Question] { log.withLock { $0.questions } }
  var shown: String { log.withLock { $0.shown } }
  var left: Int { answers.withLock { $0.count } }

  func ask(_ question: String, isHidden: Bool) async throws -> String? {
    log.withLock { $0.questions.append(Question(text: question, isHidden: isHidden)) }
    return answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
  }

  func say(_ text: String) { log.withLock { $0.shown += text } }
}

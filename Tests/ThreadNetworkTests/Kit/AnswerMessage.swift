// SPDX-License-Identifier: Apache-2.0

import ThreadRequests

@testable import LocalAPI

/// The message of an answer.
enum AnswerMessage {
  /// - Parameter answer: as over MQTT. What is none is sent as it is.
  static func bytes(_ answer: [UInt8]) -> [UInt8] {
    guard let read = ThreadAnswer(json: answer) else { return answer }
    if let data = read.data, read.status == .ok {
      return (try? VarlinkReply<AnswerData>(parameters: data, continues: false).encoded()) ?? answer
    }
    return read.error.map { VarlinkError($0).encoded() } ?? answer
  }
}

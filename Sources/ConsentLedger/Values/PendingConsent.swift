// SPDX-License-Identifier: Apache-2.0

/// A request that waits for a person.
package struct PendingConsent: Sendable, Codable, Hashable {
  /// Milliseconds for which it waits.
  package static let timeout: Int64 = 120_000
  /// Answers that one pending request may owe: the same requester may ask the same several times.
  package static let mostReplies = 8

  package let id: ConsentID
  package let requester: ConsentRequester
  package let subject: ConsentSubject
  /// Milliseconds since 1970.
  package let created: Int64
  package internal(set) var expires: Int64
  package internal(set) var replies: [ConsentReply]
  /// It was refused. It is kept until it would have expired, or a while longer: the same request is refused at once
  /// then, and no person is asked the same again and again.
  var isDenied = false
  /// True: "always" was approved for the same with another network key, which no longer counts. Nil otherwise.
  package let keyHasChanged: Bool?

  /// One sentence for the person who decides.
  ///
  /// - Parameter namingHome: where there are several.
  package func reason(namingHome: Bool) -> String {
    ConsentReason.sentence(
      requester: requester, subject: subject, namingHome: namingHome,
      keyHasChanged: keyHasChanged == true)
  }

  init(_ request: ConsentRequest, id: ConsentID, now: Int64, keyHasChanged: Bool = false) {
    self.id = id
    requester = request.requester
    subject = request.subject
    created = now
    expires = now + Self.timeout
    replies = [request.reply]
    self.keyHasChanged = keyHasChanged ? true : nil
  }

  func asksTheSame(as request: ConsentRequest) -> Bool {
    requester.isSame(as: request.requester) && subject.isSame(as: request.subject)
  }
}

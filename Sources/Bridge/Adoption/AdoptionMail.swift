// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import SealedEnvelope
import Synchronization

/// Which messages were handed to which connection. In memory only: another process, or another
/// connection, hands them out again, because nobody knows whether they have arrived.
final class AdoptionMail: Sendable {
  private let handed = Mutex<[String: (connection: Int64, until: WireTime)]>([:])

  /// Whether a message was not handed to this connection yet, or is over there.
  func isDue(_ id: String, connection: Int64, now: WireTime) -> Bool {
    handed.withLock { handed in
      guard let (last, until) = handed[id] else { return true }
      // One that lives longer than any is from before the clock was set back.
      return last != connection || until <= now
        || until > now.adding(seconds: Int(Envelope.longestLifetime))
    }
  }

  /// One that is dropped, because too many answers wait, is as due as before.
  func post(_ letters: [AdoptionLetter], to answers: AnswerQueue, now: WireTime) {
    for letter in letters {
      let answer = Answer.publication(letter.publication, expires: letter.expires)
      guard answers.add([answer], now: now) == 0 else { continue }
      hand(letter.id, to: letter.connection, until: letter.expires, now: now)
    }
  }

  func hand(_ id: String, to connection: Int64, until: WireTime, now: WireTime) {
    handed.withLock { handed in
      handed = handed.filter { $0.value.until > now }
      handed[id] = (connection, until)
    }
  }
}

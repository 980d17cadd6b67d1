// SPDX-License-Identifier: Apache-2.0

import Broker
import Home
import SodiumCrypto
import ThreadDataset

import struct Home.WireTime

/// What is published when a button of Home Assistant is pressed holds a token for what the button decides about. So who
/// knows the id of a request, as its requester does, cannot make a button for it. It is no protection against who may
/// write below Home Assistant's discovery prefix: an entity with a template can read the token in `bridge/consent`.
///
/// A token is a keyed hash (BLAKE2b) of the subject. The key is random and of this process: buttons are announced again
/// with new tokens when the daemon starts. A request is decided about once, and its token is of no use then.
package struct ButtonTokens: Sendable {
  private let key = RandomBytes.make(32)

  package init() {}

  /// Of a decision about a question.
  package func token(for question: ConsentID) -> String { token(question.questionText) }

  /// Of the choice of a preferred network.
  package func token(forPreferring network: ExtendedPANID) -> String { token("prefer/\(network)") }

  private func token(_ subject: String) -> String {
    var hash = [UInt8](repeating: 0, count: 16)
    Array(subject.utf8).withUnsafeBytes { input in
      key.withUnsafeBytes { key in
        // The lengths are constants that the function allows.
        hash.withUnsafeMutableBytes { try? BLAKE2b.hash(input, key: key, into: $0) }
      }
    }
    return Hexadecimal.encode(hash)
  }

  func isValid(_ token: String?, for question: ConsentID) -> Bool {
    isSame(token, self.token(for: question))
  }

  func isValid(_ token: String?, forPreferring network: ExtendedPANID) -> Bool {
    isSame(token, self.token(forPreferring: network))
  }

  /// Both are hashed: how long the comparison takes tells nothing of the token.
  private func isSame(_ given: String?, _ token: String) -> Bool {
    given.map { self.token("=" + $0) == self.token("=" + token) } ?? false
  }
}

// MARK: - What Home Assistant is asked

extension RequestRules {
  /// The oldest questions that Home Assistant's login may decide, as many as can have buttons.
  ///
  /// - Parameter team: of the login.
  package func asked(in home: Home, team: (ExactName) -> ExactName, at now: WireTime)
    -> [ConsentQuestion]
  {
    guard let login = decidingLogin(in: home) else { return [] }
    let approver = ConsentApprover.login(login, team: team(login))
    let asked = home.questions.lazy.filter {
      !$0.isDenied && !$0.isOver(at: now)
        && (homeAssistant == .all || $0.subject.command == .adopt)
        && home.mayApprove($0, approver)
    }
    return Array(asked.prefix(HomeAssistantButton.mostRequests))
  }

  /// The networks that Home Assistant's login may prefer: those that routers are on, while none is preferred.
  package func choices(in home: Home) -> [NetworkView] {
    guard home.preferred == nil, decidingLogin(in: home) != nil else { return [] }
    return Array(
      home.networks.lazy.filter { $0.routers > 0 }.prefix(HomeAssistantButton.mostChoices))
  }

  /// Nil where nothing is decided through Home Assistant, also because what its login says in plaintext counts for
  /// nothing.
  private func decidingLogin(in home: Home) -> ExactName? {
    guard homeAssistant != nil, let homeAssistantLogin,
      home.clients[homeAssistantLogin]?.trust != .signed
    else { return nil }
    return homeAssistantLogin
  }
}

// SPDX-License-Identifier: Apache-2.0

import ThreadRequests

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Tells who waits at a terminal what for, and what approves it.
struct ConsentNotice: Sendable {
  /// An answer that needs nobody comes within it.
  private static let patience = Duration.seconds(1)
  private static let limit = Duration.seconds(10)

  let exchange: ClientExchange
  let command: String

  /// Returns when it is told, or cancelled because the answer has come. What goes wrong here is no
  /// matter: the request itself is under way.
  func run() async {
    guard StandardStream.error.isTerminal, RequestCommand(rawValue: command)?.needsConsent == true
    else { return }
    do {
      try await Task.sleep(for: Self.patience)
      let answer = try await exchange.ask(
        RequestCommand.pendingConsents.rawValue, Array("{}".utf8), within: Self.limit, secret: false
      )
      let data = try JSONDecoder().decode(AnswerData.self, from: Data(answer.data))
      guard !Task.isCancelled, let own = data.pending?.last(where: { $0.command == command })
      else { return }
      let seconds = (try? Date(own.expiresAt, strategy: .iso8601))
        .map { max(0, Int($0.timeIntervalSinceNow.rounded(.up))) }
      let limit = seconds.map { ", up to \($0) s" } ?? ""
      try StandardStream.error.write(
        "Waiting for consent\(limit): `threadkeeper consent approve \(own.id.printable)`, "
          + "on the keeper's machine.\n")
    } catch {}
  }
}

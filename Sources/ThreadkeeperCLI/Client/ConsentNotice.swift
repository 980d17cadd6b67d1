// SPDX-License-Identifier: Apache-2.0

import ThreadRequests
import ThreadkeeperDaemon

/// Tells who waits at a terminal what for, and what approves it.
struct ConsentNotice: Sendable {
  /// Before the first look, and between two more and more: each is a connection of its own.
  private static let shortest = Duration.milliseconds(300)
  private static let longest = Duration.seconds(5)
  private static let limit = Duration.seconds(10)

  let exchange: ClientExchange
  /// Of the request that waits.
  let transaction: String

  /// Whether a person may have to be told.
  static func isWanted(for command: String, atTerminal: Bool) -> Bool {
    atTerminal && RequestCommand(rawValue: command)?.needsConsent == true
  }

  /// Returns when it is told, or cancelled because the answer has come. What goes wrong here is no
  /// matter: the request itself is under way.
  func run() async {
    var pause = Self.shortest
    while (try? await Task.sleep(for: pause)) != nil {
      let waiting = (try? await exchange.waiting(within: Self.limit)) ?? []
      guard !Task.isCancelled else { return }
      if let own = waiting.first(where: { $0.isAwaited(by: transaction) }) {
        try? StandardStream.error.write(own.words().printable + "\n")
        return
      }
      pause = min(pause * 2, Self.longest)
    }
  }
}

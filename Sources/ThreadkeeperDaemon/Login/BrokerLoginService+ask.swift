// SPDX-License-Identifier: Apache-2.0

import Bridge
import KeychainCore
import ServiceLifecycle
import SodiumCrypto
import ThreadkeeperSupport

extension BrokerLoginService {
  private static let tries = 3
  private static let interval = Duration.milliseconds(250)

  /// Asks the person at the terminal whenever the broker refuses the login; once, until it has
  /// accepted one. Returns when the daemon ends.
  func askWhenRefused() async {
    var isDeclined = false
    while !Task.isShuttingDownGracefully, !Task.isCancelled {
      switch bridge.monitor.snapshot.login {
      case .refused(let words):
        // In the background a question would stop the daemon.
        guard !isDeclined, prompt.isPossible else { break }
        setAsking(true)
        let answered = try? await cancelWhenGracefulShutdown { try await self.ask(words) }
        // Left as it is when the daemon ends with the question open.
        guard answered == true || !Task.isShuttingDownGracefully else { return }
        setAsking(false)
        isDeclined = answered != true
      case .accepted: isDeclined = false
      case .unknown: break
      }
      try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.interval) }
    }
  }

  /// - Returns: false when the person will not be asked again: no answer, or none that was right.
  private func ask(_ words: String) async throws -> Bool {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask { try await self.askAtTerminal(words) }
      // Somebody else may bring the right one: then the question goes.
      group.addTask {
        while self.bridge.monitor.snapshot.login != .accepted {
          try await Task.sleep(for: Self.interval)
        }
        return true
      }
      defer { group.cancelAll() }
      return try await group.next() ?? false
    }
  }

  private func askAtTerminal(_ words: String) async throws -> Bool {
    let address = try BrokerAddress(ofOwnBroker: settings.mqtt)
    prompt.say("\n\(words.printable).\n")
    var wrong = 0
    while wrong < Self.tries {
      do {
        guard let login = try await loginFromTerminal(address) else { break }
        try await LoginTrial(settings: settings, address: address).check(login)
        _ = try await SystemThread.result { try self.save(login, at: address) }
        prompt.say("\(address) accepts it.\n")
        return true
      } catch is CancellationError {
        throw CancellationError()
      } catch let failure as CommandFailure {
        prompt.say("\(failure.message.printable)\n")
        switch failure.status {
        case .notPermitted: wrong += 1
        // The password may be right: it was not judged.
        case .unavailable, .badInput: continue
        default: wrong = Self.tries
        }
      } catch {
        prompt.say("\((error as? KeychainError)?.message.printable ?? "\(error)")\n")
        break
      }
    }
    prompt.say("The daemon goes on trying; `threadkeeper login` gives it another.\n")
    return false
  }

  /// Nil when nothing was answered.
  private func loginFromTerminal(_ address: BrokerAddress) async throws -> BrokerLogin? {
    var name = login.username
    if name == nil {
      name = try await prompt.ask("User name at \(address) (Enter: none): ", isHidden: false)
    }
    guard let name, !name.isEmpty else { return nil }
    let answer = try await prompt.ask(
      "Password of \(name.printable) at \(address) (Enter: leave it): ", isHidden: true)
    guard let answer, !answer.isEmpty else { return nil }
    return BrokerLogin(
      username: name, password: try Password.checked(Array(answer.utf8)[...]))
  }
}

/// Questions to the person at the daemon's terminal, where there is one. Whoever starts the daemon has it.
package protocol LoginPrompt: Sendable {
  /// Whether there is a person to ask now.
  var isPossible: Bool { get }

  /// Asks for one line. Cancellation ends the question.
  ///
  /// - Parameter isHidden: what is typed is not shown.
  /// - Returns: nil at the end of the input.
  func ask(_ question: String, isHidden: Bool) async throws -> String?

  func say(_ text: String)
}

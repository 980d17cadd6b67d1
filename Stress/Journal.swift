import SodiumCrypto

/// What was done, and what should not have happened.
final class Journal: Sendable {
  private struct State {
    var operations: [String: Int] = [:]
    var complaints: [String: Int] = [:]
  }

  private let state = Locked(State())

  func did(_ operation: String) { state.withLock { $0.operations[operation, default: 0] += 1 } }

  func complain(_ text: String) { state.withLock { $0.complaints[text, default: 0] += 1 } }

  var isClean: Bool { state.withLock { $0.complaints.isEmpty && !$0.operations.isEmpty } }

  func summary(threads: Int, seconds: Int) -> String {
    let (operations, complaints) = state.withLock { ($0.operations, $0.complaints) }
    var lines = ["\(threads) threads, \(seconds) seconds:"]
    lines += operations.sorted { $0.key < $1.key }.map { "  \($0.key) \($0.value)" }
    lines += complaints.sorted { $0.key < $1.key }.map { "  WRONG: \($0.key) (\($0.value) times)" }
    return lines.joined(separator: "\n")
  }
}

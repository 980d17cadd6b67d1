#if Fleet
import Glibc
import SodiumCrypto
import Threadkeeper
import ThreadkeeperSupport

/// A program that seals or unseals what opens a shard: from its standard input to its standard output.
struct KeyCommand {
  /// More bytes, in either direction, are no key. Less than a pipe holds.
  private static let most = 16_384

  /// The name of its setting, for messages.
  private let setting: String
  private let command: [String]
  private let limit: Duration

  /// - Parameter command: the program, looked up in PATH, and its arguments.
  init(_ setting: String, _ command: [String], within limit: Duration = .seconds(30)) {
    (self.setting, self.command, self.limit) = (setting, command, limit)
  }

  /// Runs it to its end, on the caller's thread. Its standard error is that of this process.
  ///
  /// - Throws: `CommandFailure`: 78 where there is none, 75 where it does not do it.
  func run(_ input: SecretBytes, shard: Int) throws(CommandFailure) -> SecretBytes {
    guard let program = command.first else {
      throw CommandFailure(
        .configuration, "`\(setting)` is not set, so no key of a shard can be used",
        remedy: "set it to the program of your key service: see docs/guides/fleet.md")
    }
    func failure(_ reason: String) -> CommandFailure {
      CommandFailure(
        .temporary, "`\(setting)` does not work for shard \(shard): \(program) \(reason)",
        remedy: "run it with THREADKEEPER_SHARD=\(shard), and see that the key service answers")
    }
    guard input.count <= Self.most else { throw failure("would get too much") }
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw failure("cannot get its input") }
    defer { close(ends[0]) }
    // All of it fits into the pipe, so nobody waits, and a program that does not read it is no trouble.
    let written = input.withUnsafeBytes { write(ends[1], $0.baseAddress, $0.count) }
    close(ends[1])
    guard written == input.count else { throw failure("cannot get its input") }
    do {
      var output = try ToolProcess(
        command, variables: ["THREADKEEPER_SHARD": "\(shard)"], input: .descriptor(ends[0]), mostOutput: Self.most,
        timeout: limit, showsErrors: true
      ).output(until: nil)
      defer { wipe(&output) }
      guard !output.isEmpty else { throw failure("prints nothing") }
      return SecretBytes(copying: output)
    } catch let error as CommandFailure { throw error } catch { throw failure("\(error)") }
  }
}
#endif

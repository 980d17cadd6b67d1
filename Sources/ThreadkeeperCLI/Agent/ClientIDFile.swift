// SPDX-License-Identifier: Apache-2.0

import BorderRouterAgent
import Glibc
import SodiumCrypto
import StatePlaces
import ThreadDataset
import ThreadkeeperDaemon

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Keeps the secret from which an agent's client ids follow, so that it finds its session again after a restart.
///
/// In `$STATE_DIRECTORY`, which systemd sets for the unit; without it in `$XDG_STATE_HOME/threadkeeper`, or
/// `~/.local/state/threadkeeper`. A line of 32 hex digits.
struct ClientIDFile {
  private static let name = "agent-client-id"

  private let path: String

  /// - Returns: those of this run alone where none can be kept, with the reason.
  static func clientIDs() -> (ids: ClientIDs, warning: String?) {
    do throws(CommandFailure) {
      return (ClientIDs(secret: try Self(ProcessInfo.processInfo.environment).secret()), nil)
    } catch {
      let remedy = error.remedy.map { "; \($0)" } ?? ""
      return (
        ClientIDs(),
        "the client id can't be kept, so this run has one of its own: \(error.message)\(remedy)"
      )
    }
  }

  private init(_ environment: [String: String]) throws(CommandFailure) {
    func directory(_ variable: String) -> String? {
      guard let path = environment[variable]?.split(separator: ":").first, path.hasPrefix("/")
      else { return nil }
      return String(path)
    }
    let state = directory("XDG_STATE_HOME") ?? directory("HOME").map { $0 + "/.local/state" }
    guard let place = directory("STATE_DIRECTORY") ?? state.map({ $0 + "/threadkeeper" }) else {
      throw CommandFailure(.cannotCreate, "there is no home directory")
    }
    path = "\(place)/\(Self.name)"
  }

  /// What is in the file, which is made when it is not there. Two agents that start together get the same.
  ///
  /// - Throws: `CommandFailure` when it cannot be kept, or other users know it.
  private func secret() throws(CommandFailure) -> [UInt8] {
    try? FileManager.default.createDirectory(
      atPath: FilePath.directory(of: path), withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else { throw Self.failure(path) }
    defer { close(descriptor) }
    var status = stat()
    guard flock(descriptor, LOCK_EX) == 0, fstat(descriptor, &status) == 0,
      status.st_mode & S_IFMT == S_IFREG
    else { throw Self.failure(path) }
    guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
      throw CommandFailure(
        .notPermitted, "\(path) is not this user's alone", remedy: "rm \(path)")
    }
    var bytes = [UInt8](repeating: 0, count: 2 * ClientIDs.size)
    let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
    if let secret = Hexadecimal.decode(
      String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)),
      secret.count == ClientIDs.size
    {
      return secret
    }
    let secret = RandomBytes.make(ClientIDs.size)
    guard ftruncate(descriptor, 0) == 0 else { throw Self.failure(path) }
    try StandardStream.write(Hexadecimal.encode(secret) + "\n", to: descriptor)
    guard fsync(descriptor) == 0 else { throw Self.failure(path) }
    return secret
  }

  private static func failure(_ path: String) -> CommandFailure {
    CommandFailure(.cannotCreate, "\(path): \(String(cString: strerror(errno)))")
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit

/// A small file system in memory, in a mount namespace of its own: only who is started through
/// `launcher` sees it, and it goes with this object. Works without root where the kernel lets users
/// have namespaces.
final class PrivateMount: Sendable {
  /// Where the file system is.
  let path: String
  private let holder: ChildProcess
  private let input: PrivatePipe
  private let enter: [String]

  /// Whether this machine can do it.
  static let isPossible = (try? PrivateMount(at: "/mnt", megabytes: 1)) != nil

  struct Impossible: Error {}

  convenience init(in directory: TemporaryDirectory, megabytes: Int) throws {
    let path = directory.file("disk")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try self.init(at: path, megabytes: megabytes)
  }

  private init(at path: String, megabytes: Int) throws {
    self.path = path
    for user in [["--user", "--map-root-user"], []] {
      let input = try PrivatePipe()
      let output = try PrivatePipe()
      let script =
        "mount -t tmpfs -o size=\(megabytes)m,mode=700 tmpfs '\(path)' && echo ready && exec cat"
      let holder = try ChildProcess(
        "/usr/bin/env", ["unshare"] + user + ["--mount", "sh", "-c", script],
        streams: (.descriptor(input.reading), .descriptor(output.writing), .nothing))
      output.closeWriting()
      var answer = [UInt8](repeating: 0, count: 16)
      let count = read(output.reading, &answer, answer.count)
      if answer.prefix(max(0, count)) == Array("ready\n".utf8)[...] {
        self.holder = holder
        self.input = input
        enter =
          ["/usr/bin/nsenter", "--target", "\(holder.identifier)", "--mount"]
          + (user.isEmpty ? [] : ["--user", "--preserve-credentials"])
        return
      }
      holder.signal(SIGKILL)
      holder.wait()
    }
    throw Impossible()
  }

  deinit {
    holder.signal(SIGTERM)
    holder.wait()
  }

  /// What must be put before a command to run it where the file system is.
  var launcher: [String] { enter }

  /// Runs a shell script there; throws when it fails.
  @discardableResult
  func run(_ script: String) throws -> String {
    try Program.check(enter[0], Array(enter.dropFirst()) + ["sh", "-c", script])
  }

  /// Takes all of its free space.
  func fill() throws {
    _ = try run("dd if=/dev/zero of='\(path)/filling' bs=64k 2>/dev/null; true")
    _ = try run("dd if=/dev/zero of='\(path)/filling.rest' bs=512 2>/dev/null; true")
  }

  func empty() throws { _ = try run("rm -f '\(path)'/filling*") }
}

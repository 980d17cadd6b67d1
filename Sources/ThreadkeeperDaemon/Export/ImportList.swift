// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What an import names one by one, a line of JSON each, on its way from the daemon to the command: there may be
/// more of it than an answer takes. It lies in memory without a name (`shm_open`), as the names of items are
/// sealed in the store.
package final class ImportList {
  /// What is named.
  package enum Line: Equatable {
    case conflict(ImportConflict)
    /// It stays out.
    case stayedOut(Access)
    /// It comes in, and decides who may have credentials.
    case takenOver(Access)
  }

  package struct Access: Codable, Equatable {
    package let what: ImportedAccess
    /// What a person knows it by.
    package let name: String
  }

  private let descriptor: Int32
  private var waiting: [UInt8] = []

  /// An empty one.
  package init() throws(CommandFailure) {
    let name = "/threadkeeper-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    descriptor = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw CommandFailure(
        .system, "there is no shared memory: \(String(cString: strerror(errno)))")
    }
    shm_unlink(name)
  }

  /// That of a command, which keeps it.
  ///
  /// - Throws: `param` for what is no ordinary file, or cannot be written. A pipe or a socket that nobody empties
  ///   would hold up the daemon.
  package init(openAs descriptor: Int32) throws(KeychainError) {
    var status = stat()
    let flags = fcntl(descriptor, F_GETFL)
    guard flags >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      [O_WRONLY, O_RDWR].contains(flags & O_ACCMODE)
    else {
      throw KeychainError(
        .param, "the list for the command is no ordinary file that can be written")
    }
    let own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    guard own >= 0 else { throw Self.failure() }
    self.descriptor = own
  }

  deinit { close(descriptor) }

  /// For the daemon.
  package var passed: Int32 { descriptor }

  package func add(_ line: Line) throws {
    waiting += try JSONEncoder().encode(line)
    waiting.append(0x0A)
    if waiting.count > 1 << 16 { try flush() }
  }

  /// - Throws: `diskFull`, where shared memory is full, or `io`.
  func flush() throws(KeychainError) {
    var rest = waiting[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        throw Self.failure()
      }
      rest = rest.dropFirst(count)
    }
    waiting.removeAll()
  }

  private static func failure() -> KeychainError {
    let code = errno
    return KeychainError(
      code == ENOSPC || code == EDQUOT ? .diskFull : .io,
      "the list for the command cannot be passed: \(String(cString: strerror(code)))")
  }

  /// What comes out of it.
  package struct Content {
    package var lines: [Line] = []
    /// Lines that were not understood: a daemon of another version may name other things.
    package var unread = 0
  }

  /// All of them, from the first. It throws nothing: what the import has done is done.
  package func read() -> Content {
    var content = Content()
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = piece.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress, $0.count, off_t(bytes.count))
      }
      if count < 0, errno == EINTR { continue }
      // Nobody knows how much is missing.
      if count < 0 { content.unread += 1 }
      guard count > 0 else { break }
      bytes += piece[..<count]
    }
    for line in bytes.split(separator: 0x0A) {
      if let line = try? JSONDecoder().decode(Line.self, from: Data(line)) {
        content.lines.append(line)
      } else {
        content.unread += 1
      }
    }
    return content
  }
}

/// An object with the one member that says what it is. Daemons of earlier versions named conflicts only, as they are.
extension ImportList.Line: Codable {
  private enum CodingKeys: String, CodingKey {
    case conflict
    case stayedOut = "leftOut"
    case takenOver
  }

  /// - Throws: for what is none of them.
  package init(from decoder: any Decoder) throws {
    let line = try decoder.container(keyedBy: CodingKeys.self)
    if let conflict = try line.decodeIfPresent(ImportConflict.self, forKey: .conflict) {
      self = .conflict(conflict)
    } else if let item = try line.decodeIfPresent(ImportList.Access.self, forKey: .stayedOut) {
      self = .stayedOut(item)
    } else if let item = try line.decodeIfPresent(ImportList.Access.self, forKey: .takenOver) {
      self = .takenOver(item)
    } else {
      self = .conflict(try ImportConflict(from: decoder))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var line = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .conflict(let conflict): try line.encode(conflict, forKey: .conflict)
    case .stayedOut(let item): try line.encode(item, forKey: .stayedOut)
    case .takenOver(let item): try line.encode(item, forKey: .takenOver)
    }
  }
}

extension ImportList.Line {
  package var conflict: ImportConflict? {
    if case .conflict(let conflict) = self { conflict } else { nil }
  }
  package var stayedOut: ImportList.Access? {
    if case .stayedOut(let item) = self { item } else { nil }
  }
  package var takenOver: ImportList.Access? {
    if case .takenOver(let item) = self { item } else { nil }
  }
}

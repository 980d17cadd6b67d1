// SPDX-License-Identifier: Apache-2.0

#if Fleet
import Foundation
import KeychainCore
import SodiumCrypto
import Synchronization
import TestKit
import Testing

@testable import Fleet

extension LeaseTerm {
  convenience init(lasting time: Duration) { self.init(.now + time) }

  /// From now on.
  func last(_ time: Duration) { end = .now + time }
}

/// A database with a fleet, and the stores of its shards.
struct FleetFixture {
  let server: PostgresServer
  let name: String
  private let keys: [ShardKeys]

  init(_ server: PostgresServer? = nil, shards: Int = 1) throws {
    self.server = try server ?? .shared()
    name = try self.server.makeDatabase()
    keys = try (1...shards).map { try ShardKeys.make(shard: $0).keys }
    try PostgresPool(url: url, size: 1).withConnection {
      try FleetSchema.create(name: "test", shards: shards, on: $0)
    }
  }

  var url: String { server.url(database: name) }

  @discardableResult
  func run(_ sql: String) throws -> [String] { try server.run(sql, database: name) }

  /// Claims a shard: whoever had it has it no more.
  func claim(
    _ shard: Int = 1, url: String? = nil, keysOf other: Int? = nil,
    lease: LeaseTerm = LeaseTerm(lasting: .seconds(600))
  ) throws -> ShardStore {
    let epoch = try run(
      "UPDATE threadkeeper.shard SET epoch = epoch + 1 WHERE id = \(shard) RETURNING epoch")
    return store(shard, epoch: Int64(epoch[0]) ?? 0, url: url, keysOf: other, lease: lease)
  }

  func store(
    _ shard: Int, epoch: Int64, url: String? = nil, keysOf other: Int? = nil,
    lease: LeaseTerm = LeaseTerm(lasting: .seconds(600))
  ) -> ShardStore {
    ShardStore(
      shard: shard, epoch: epoch, pool: PostgresPool(url: url ?? self.url, size: 4),
      keys: keys[(other ?? shard) - 1], term: lease)
  }

  /// Rows of each table, and the generation.
  func counts() throws -> [String] {
    try run(
      """
      SELECT (SELECT count(*) FROM threadkeeper.record), (SELECT count(*) FROM threadkeeper.outbox),
        (SELECT count(*) FROM threadkeeper.audit), (SELECT sum(generation) FROM threadkeeper.shard)
      """)
  }

  func alter(_ sql: String) throws {
    try run(sql.replacingOccurrences(of: "record", with: "threadkeeper.record"))
  }
}

extension RecordChanges {
  /// First announcements, each with a secret, a message and every tenth with a line of the audit.
  static func announcements(_ ids: ClosedRange<Int64>, _ word: String = "router") -> RecordChanges {
    var changes = RecordChanges.of(ids.map { .sample($0, "\(word) \($0)", .text("dataset \($0)")) })
    changes.messages = ids.map { StoredMessage(id: $0, bytes: Array("event \($0)".utf8)) }
    changes.audit = ids.filter { $0 % 10 == 0 }.map {
      .init(actor: nil, .credentialsGiven, "router \($0)")
    }
    return changes
  }
}

/// Stands between a client and the server, on a Unix socket. It counts answers, and may let only part of a commit pass.
final class PostgresProxy: Sendable {
  private struct State {
    var turns = 0
    var isOfServer = true
    var left = Int.max
    var bytes = 0
  }
  private let directory: TemporaryDirectory
  private let state = Mutex(State())
  private let target: String

  init(_ server: PostgresServer) throws {
    directory = try TemporaryDirectory()
    target = "\(server.directory)/.s.PGSQL.\(server.port)"
    let listener = try #require(Self.socket(directory.file(".s.PGSQL.5432")) { bind($0, $1, $2) })
    listen(listener, 16)
    Thread.detachNewThread { [weak self] in
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0, let self, let server = Self.socket(self.target, { connect($0, $1, $2) })
        else { return }
        Thread.detachNewThread { self.forward(client, server, isOfServer: false) }
        Thread.detachNewThread { self.forward(server, client, isOfServer: true) }
      }
    }
  }

  func url(_ database: String) -> String {
    "host=\(directory.path) port=5432 dbname=\(database) user=postgres"
  }

  /// How often the client has sent something after an answer, and how much.
  func count(_ body: () throws -> Void) rethrows -> (turns: Int, bytes: Int) {
    state.withLock { $0 = State() }
    try body()
    return state.withLock { ($0.turns, $0.bytes) }
  }

  /// From now on only so many bytes reach the server; the connection stays.
  func stop(after bytes: Int) { state.withLock { $0.left = bytes } }

  private func forward(_ source: Int32, _ sink: Int32, isOfServer: Bool) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(source, &buffer, buffer.count)
      guard count > 0 else { break }
      let allowed = state.withLock { state in
        if !isOfServer, state.isOfServer { state.turns += 1 }
        state.isOfServer = isOfServer
        guard !isOfServer else { return count }
        state.bytes += count
        let allowed = min(count, state.left)
        state.left -= allowed
        return allowed
      }
      var sent = 0
      while sent < allowed {
        let written = buffer[sent..<allowed].withUnsafeBytes {
          send(sink, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard written > 0 else { break }
        sent += written
      }
    }
    // The server keeps what was stopped: as if a client had lost power.
    if state.withLock({ $0.left == .max }) { shutdown(sink, Int32(SHUT_RDWR)) }
  }

  private static func socket(
    _ path: String, _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32? {
    let descriptor = Foundation.socket(
      AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        use(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    return result == 0 ? descriptor : nil
  }
}
#endif

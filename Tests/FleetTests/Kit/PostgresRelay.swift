// SPDX-License-Identifier: Apache-2.0

#if Fleet

import Foundation
import Synchronization

/// Stands between nodes and PostgreSQL, and cuts a connection at a commit.
///
/// What a client sends is read by messages: `type 1 | length 4 | …`, but for the first ones, which have no type. A commit
/// is one pipeline: several messages `Bind` before the `Sync` that ends it.
final class PostgresRelay: Sendable {
  enum Cut: CaseIterable, Sendable {
    /// The pipeline is sent whole; then both sides are cut, and nobody knows whether it was committed.
    case afterSending
    /// The server has answered, so it is committed; its answer is lost.
    case afterAnswer
    /// The end of the pipeline is lost: it is not committed.
    case beforeEnd
  }

  let port: UInt16
  private let socketPath: String
  private let listener: Int32
  private let state = Mutex(State())

  private struct State {
    var cut: Cut?
    var cuts = 0
    var descriptors: Set<Int32> = []
  }

  /// - Parameter socketPath: where the server listens: `…/.s.PGSQL.5432`.
  init(to socketPath: String) throws {
    self.socketPath = socketPath
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = listener
    let isOpen = withUnsafeMutableBytes(of: &address) { bytes -> Bool in
      let address = bytes.bindMemory(to: sockaddr.self).baseAddress
      return bind(descriptor, address, length) == 0 && listen(descriptor, 64) == 0
        && getsockname(descriptor, address, &length) == 0
    }
    guard isOpen else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread { [weak self, listener] in
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0, let self else { break }
        self.serve(client)
      }
      close(listener)
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    for descriptor in state.withLock({ $0.descriptors }) { shutdown(descriptor, Int32(SHUT_RDWR)) }
  }

  /// Cuts the connection of the next commit.
  func cutNextCommit(_ cut: Cut) { state.withLock { $0.cut = cut } }

  /// Connections that were cut so far.
  var cuts: Int { state.withLock { $0.cuts } }

  private func serve(_ client: Int32) {
    let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    _ = fcntl(client, F_SETFD, FD_CLOEXEC)
    guard Self.connect(server, to: socketPath) else {
      close(client)
      close(server)
      return
    }
    state.withLock { $0.descriptors.formUnion([client, server]) }
    let pair = Pair(client: client, server: server)
    Thread.detachNewThread { [self] in
      fromServer(pair)
      finish(pair)
    }
    Thread.detachNewThread { [self] in
      fromClient(pair)
      finish(pair)
    }
  }

  private final class Pair: Sendable {
    let client: Int32
    let server: Int32
    /// Threads that are done; whether the next answer is lost.
    let state = Mutex((done: 0, losesAnswer: false))

    init(client: Int32, server: Int32) { (self.client, self.server) = (client, server) }
  }

  private func finish(_ pair: Pair) {
    for descriptor in [pair.client, pair.server] { shutdown(descriptor, Int32(SHUT_RDWR)) }
    let isLast = pair.state.withLock { state in
      state.done += 1
      return state.done == 2
    }
    guard isLast else { return }
    state.withLock { $0.descriptors.subtract([pair.client, pair.server]) }
    close(pair.client)
    close(pair.server)
  }

  private func fromServer(_ pair: Pair) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(pair.server, &buffer, buffer.count)
      guard count > 0 else { return }
      // Its answer to a whole pipeline comes when all of it is done.
      if pair.state.withLock({ $0.losesAnswer }) { return }
      guard Self.send(buffer[..<count], to: pair.client) else { return }
    }
  }

  private func fromClient(_ pair: Pair) {
    var reader = Reader()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(pair.client, &buffer, buffer.count)
      guard count > 0 else { return }
      reader.take(buffer[..<count])
      guard reader.endsCommit, let cut = takeCut() else {
        guard Self.send(buffer[..<count], to: pair.server) else { return }
        continue
      }
      switch cut {
      case .afterSending:
        _ = Self.send(buffer[..<count], to: pair.server)
        return
      case .afterAnswer:
        pair.state.withLock { $0.losesAnswer = true }
        _ = Self.send(buffer[..<count], to: pair.server)
        // The other thread ends it when the answer comes.
        _ = read(pair.client, &buffer, buffer.count)
        return
      case .beforeEnd:
        // A Sync has five bytes; what is before it, COMMIT too, is lost with it.
        _ = Self.send(buffer[..<(count / 2)], to: pair.server)
        return
      }
    }
  }

  private func takeCut() -> Cut? {
    state.withLock { state in
      guard let cut = state.cut else { return nil }
      state.cut = nil
      state.cuts += 1
      return cut
    }
  }

  /// Counts the messages of a client.
  private struct Reader {
    private var bytes: [UInt8] = []
    private var hasStarted = false
    private var binds = 0
    /// Whether what was taken last ends a commit.
    private(set) var endsCommit = false

    mutating func take(_ new: ArraySlice<UInt8>) {
      endsCommit = false
      bytes += new
      var start = 0
      while true {
        let head = hasStarted ? 1 : 0
        guard bytes.count - start >= head + 4 else { break }
        let length = bytes[(start + head)..<(start + head + 4)].reduce(0) { $0 << 8 | Int($1) }
        guard length >= 4, bytes.count - start >= head + length else { break }
        if hasStarted {
          note(bytes[start])
        } else {
          // A request for encryption (80877103, 80877104) is followed by another first message.
          let code = bytes[(start + 4)..<min(start + 8, bytes.count)].reduce(0) {
            $0 << 8 | Int($1)
          }
          hasStarted = code != 80_877_103 && code != 80_877_104
        }
        start += head + length
      }
      bytes.removeFirst(start)
    }

    private mutating func note(_ type: UInt8) {
      switch type {
      case UInt8(ascii: "B"): binds += 1
      case UInt8(ascii: "S"):
        if binds >= 3 { endsCommit = true }
        binds = 0
      default: break
      }
    }
  }

  private static func connect(_ descriptor: Int32, to path: String) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    let fits = withUnsafeMutableBytes(of: &address.sun_path) { place in
      guard bytes.count < place.count else { return false }
      place.copyBytes(from: bytes)
      return true
    }
    return fits
      && withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      } == 0
  }

  private static func send(_ bytes: ArraySlice<UInt8>, to sink: Int32) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes {
        Foundation.send(sink, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard written > 0 else { return false }
      rest = rest.dropFirst(written)
    }
    return true
  }
}

#endif

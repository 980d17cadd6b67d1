import CSocketBuffer
import Glibc
import TestKit
import Testing

@testable import Broker

@Suite("Reads and writes of libmosquitto, taken together", .timeLimit(.minutes(30))) struct SocketBufferTests {
  private let pair: TestSocketPair
  private var buffer: OpaquePointer { pair.buffer }

  init() throws { pair = try TestSocketPair() }

  // MARK: What the library would do

  private enum Taken: Equatable {
    case bytes([UInt8])
    case end
    case error(Int32)
  }

  private func read(_ count: Int) -> Taken {
    var bytes = [UInt8](repeating: 0, count: count)
    let came = socket_buffer_read(buffer, &bytes, count)
    return came > 0 ? .bytes(Array(bytes.prefix(came))) : came == 0 ? .end : .error(errno)
  }

  /// - Returns: how many were taken, or a negative `errno`.
  private func write(_ bytes: ArraySlice<UInt8>) -> Int {
    let taken = socket_buffer_write(buffer, Array(bytes), bytes.count)
    return taken < 0 ? -Int(errno) : taken
  }

  /// Another turn: the socket is asked again.
  private func beginTurn() {
    socket_buffer_enter(buffer)
    socket_buffer_leave()
  }

  private static let sizes = [1, 1, 2, 500, 1, 3, 70_000, 4, 16_384, 65_536]

  /// No two places that are easily mistaken have the same bytes.
  private static func sample(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) }
  }

  // MARK: Reading

  @Test("What came is read byte for byte, in whatever pieces it came and is asked for") func reads() {
    let sent = Self.sample(300_000)
    var (left, got, turn) = (sent[...], [UInt8](), 0)
    while got.count < sent.count {
      left = left.dropFirst(pair.send(left.prefix(Self.sizes[turn % Self.sizes.count])))
      beginTurn()
      var piece = turn % 7
      while case .bytes(let bytes) = read(Self.sizes[piece % Self.sizes.count]) {
        got += bytes
        piece += 1
      }
      turn += 1
      #expect(!socket_buffer_has_input(buffer), "all that came is read")
      guard turn < 100_000 else { break }
    }
    #expect(got == sent)
  }

  @Test("Bytes that poll does not know of are there until they are read") func hasInput() {
    #expect(!socket_buffer_has_input(buffer))
    pair.send([1, 2, 3])
    beginTurn()
    #expect(read(1) == .bytes([1]))
    #expect(socket_buffer_has_input(buffer))
    #expect(pair.nearEvents & Int16(POLLIN) == 0)
    #expect(read(9) == .bytes([2, 3]))
    #expect(!socket_buffer_has_input(buffer))
  }

  @Test("A socket that gave all it had is asked again in the next turn") func drained() {
    beginTurn()
    #expect(read(1) == .error(EAGAIN))
    pair.send([1])
    #expect(read(1) == .bytes([1]))
    pair.send([2])
    #expect(read(1) == .error(EAGAIN))
    #expect(pair.nearEvents & Int16(POLLIN) != 0)
    beginTurn()
    #expect(read(1) == .bytes([2]))
  }

  @Test("The end comes behind all bytes, and half a connection still sends") func halfClosed() {
    pair.send([1, 2])
    shutdown(pair.far, Int32(SHUT_WR))
    beginTurn()
    #expect(read(1) == .bytes([1]))
    #expect(read(8) == .bytes([2]))
    beginTurn()
    #expect(read(1) == .end)
    #expect(write([7, 8]) == 2)
    #expect(socket_buffer_flush(buffer) == 0)
    #expect(pair.receive() == [7, 8])
  }

  @Test("An error is reported as the socket has it") func errors() {
    pair.closeFar()
    beginTurn()
    #expect(read(1) == .end)
    #expect(write([1]) == 1, "nobody has asked the socket")
    #expect(socket_buffer_flush(buffer) == EPIPE, "and no signal ends the process")
    socket_buffer_write_through(buffer)
    #expect(write([2]) == -Int(EPIPE))
  }

  // MARK: Writing

  @Test("What is written leaves with the flush, byte for byte, however little the socket takes") func writes() {
    pair.shrink()
    let sent = Self.sample(300_000)
    var (left, got, turn, wasFull) = (sent[...], [UInt8](), 0, false)
    while got.count < sent.count {
      var piece = turn % 7
      while !left.isEmpty {
        let taken = write(left.prefix(Self.sizes[piece % Self.sizes.count]))
        guard taken > 0 else {
          #expect(taken == -Int(EAGAIN))
          wasFull = true
          break
        }
        left = left.dropFirst(taken)
        piece += 1
      }
      #expect(socket_buffer_flush(buffer) == 0)
      #expect(left.isEmpty || socket_buffer_has_output(buffer), "it takes nothing only where the socket does not")
      got += pair.receive(atMost: Self.sizes[turn % Self.sizes.count])
      turn += 1
      guard turn < 100_000 else { break }
    }
    #expect(got == sent && wasFull)
    #expect(!socket_buffer_has_output(buffer))
  }

  @Test("Nothing leaves before the flush") func held() {
    #expect(write([1, 2]) == 2)
    #expect(write([3]) == 1)
    #expect(socket_buffer_has_output(buffer))
    #expect(pair.receive().isEmpty)
    #expect(socket_buffer_flush(buffer) == 0)
    #expect(pair.receive() == [1, 2, 3])
    #expect(!socket_buffer_has_output(buffer))
  }

  @Test("Before the socket is closed, all leaves at once, behind what waits") func writeThrough() {
    pair.shrink()
    let sent = Self.sample(60_000)
    #expect(write(sent[...]) == sent.count)
    socket_buffer_write_through(buffer)
    #expect(write([0xE0, 0]) == -Int(EAGAIN), "the socket does not take all that waits")
    var got: [UInt8] = []
    var taken = -1
    while taken < 0, got.count <= sent.count {
      got += pair.receive()
      taken = write([0xE0, 0])
    }
    #expect(taken == 2 && !socket_buffer_has_output(buffer))
    got += pair.receive()
    #expect(got == sent + [0xE0, 0])
  }

  // MARK: In place of the C library's functions

  @Test(
    "Only what a thread does within the library's calls, and with this descriptor, is the buffer's",
    .enabled(if: socket_buffer_works())) func replaced() throws
  {
    let other = try TestSocketPair()
    pair.send([1, 2, 3])
    other.send([9])
    var bytes: [UInt8] = [0, 0, 0]
    func put(_ descriptor: Int32, _ bytes: UInt8...) -> Int { Glibc.write(descriptor, bytes, bytes.count) }
    func put(sending bytes: UInt8...) -> Int { send(pair.near, bytes, bytes.count, 0) }

    socket_buffer_enter(buffer)
    #expect(Glibc.read(pair.near, &bytes, 1) == 1 && bytes[0] == 1)
    #expect(put(pair.near, 5, 6) == 2)
    #expect(put(other.near, 0) == 1, "the library wakes itself up")
    #expect(put(other.near, 4, 0) == 2)
    #expect(Glibc.read(other.near, &bytes, 3) == 1 && bytes[0] == 9)
    socket_buffer_leave()

    #expect(pair.receive().isEmpty)
    #expect(other.receive() == [4, 0])
    #expect(put(other.near, 0) == 1)
    #expect(other.receive() == [0])
    #expect(recv(pair.near, &bytes, 3, 0) == -1 && errno == EAGAIN, "the buffer has it")
    #expect(put(sending: 8) == 1)
    #expect(pair.receive() == [8])

    socket_buffer_enter(buffer)
    #expect(recv(pair.near, &bytes, 3, 0) == 2 && bytes.prefix(2) == [2, 3])
    #expect(put(sending: 7) == 1)
    socket_buffer_leave()
    #expect(socket_buffer_flush(buffer) == 0)
    #expect(pair.receive() == [5, 6, 7])
  }

  @Test(
    "So are reads that check the size of the memory, as in a library that is built so",
    .enabled(if: socket_buffer_works())) func checkedReads() throws
  {
    typealias Read = @convention(c) (Int32, UnsafeMutableRawPointer, Int, Int) -> Int
    typealias Receive = @convention(c) (Int32, UnsafeMutableRawPointer, Int, Int, Int32) -> Int
    let checkedRead = try unsafeBitCast(#require(dlsym(nil, "__read_chk")), to: Read.self)
    let checkedReceive = try unsafeBitCast(#require(dlsym(nil, "__recv_chk")), to: Receive.self)
    pair.send([1, 2, 3])
    var bytes: [UInt8] = [0, 0]

    socket_buffer_enter(buffer)
    #expect(checkedRead(pair.near, &bytes, 1, 2) == 1 && bytes[0] == 1)
    #expect(socket_buffer_has_input(buffer))
    #expect(checkedReceive(pair.near, &bytes, 2, 2, 0) == 2 && bytes == [2, 3])
    socket_buffer_leave()

    pair.send([4, 5])
    #expect(checkedRead(pair.near, &bytes, 1, 2) == 1 && bytes[0] == 4)
    #expect(checkedReceive(pair.near, &bytes, 1, 2, 0) == 1 && bytes[0] == 5)
  }

  @Test("A descriptor that is used again has nothing of the connection before", .enabled(if: socket_buffer_works()))
  func usedAgain() throws {
    pair.send([1, 2])
    beginTurn()
    #expect(read(1) == .bytes([1]))
    #expect(write([3]) == 1)
    // What a lost connection leaves in its buffer goes with that.
    let next = try TestSocketPair()
    dup2(next.near, pair.near)
    let second = try #require(socket_buffer_make(pair.near))
    defer { socket_buffer_free(second) }
    next.send([4])
    var bytes: [UInt8] = [0, 0]
    socket_buffer_enter(second)
    #expect(Glibc.read(pair.near, &bytes, 2) == 1 && bytes[0] == 4)
    socket_buffer_leave()
    #expect(socket_buffer_flush(second) == 0)
    #expect(next.receive().isEmpty)
  }

  // MARK: In a connection

  @Test("What comes in one piece with a packet that nobody notes is read at once") func behindUnnoted() async throws {
    let (fake, client) = try FakeBroker.withClient()
    try await client.ready()
    // PINGRESP, after which one look of the loop is over.
    let answer: [UInt8] = [0xD0, 0]
    fake.send(answer + FakeBroker.message(0x30) + answer + answer + FakeBroker.message(0x30))
    try await eventually { client.handler.messageCount == 2 }
    #expect(client.record.disconnections.isEmpty)
  }

  @Test("More publications than the buffer holds reach a broker, and their acknowledgements the client") func large()
    async throws
  {
    let broker = try TestBroker()
    let subscriber = try await TestSubscriber.start(broker, "#")
    let publisher = try await TestPublisher.start(broker)
    let payloads = (0..<40).map { Self.sample(10_000 + $0 * 137) }
    try await publisher.publish(payloads.map { Publication(topic: "large", payload: $0) })
    #expect(try await subscriber.wait { $0.count == 40 }.map(\.payload) == payloads)
  }
}

/// Two connected sockets that do not block, one of them with a buffer.
private final class TestSocketPair {
  let buffer: OpaquePointer
  let near: Int32
  private(set) var far: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0)
    (near, far) = (ends[0], ends[1])
    buffer = try #require(socket_buffer_make(near))
  }

  deinit {
    socket_buffer_free(buffer)
    close(near)
    closeFar()
  }

  func closeFar() {
    if far >= 0 { close(far) }
    far = -1
  }

  /// Lets the near end take little at once.
  func shrink() {
    var size: Int32 = 4_096
    setsockopt(near, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
  }

  /// - Returns: how many the socket took.
  @discardableResult func send(_ bytes: some Collection<UInt8>) -> Int {
    let bytes = Array(bytes)
    return max(0, Glibc.send(far, bytes, bytes.count, Int32(MSG_NOSIGNAL)))
  }

  func receive(atMost most: Int = 1 << 20) -> [UInt8] {
    var (all, bytes) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
    while all.count < most {
      let came = recv(far, &bytes, min(bytes.count, most - all.count), 0)
      guard came > 0 else { break }
      all += bytes.prefix(came)
    }
    return all
  }

  /// What poll(2) says of the near end.
  var nearEvents: Int16 {
    var descriptor = pollfd(fd: near, events: Int16(POLLIN), revents: 0)
    poll(&descriptor, 1, 0)
    return descriptor.revents
  }
}

// SPDX-License-Identifier: Apache-2.0

import CLibMosquitto
import Glibc

/// The library's handle for one connection, from `mosquitto_new` to `mosquitto_destroy`.
///
/// It belongs to the thread that made it. In the threaded mode that `init` sets, the library queues
/// what it wants to send, acknowledgements included, until `write` is called.
final class MosquittoHandle {
  let pointer: OpaquePointer
  let record: HandleRecord
  let configuration: MosquittoConfiguration
  /// `errno` after the last call that failed.
  private(set) var lastErrno: Int32 = 0
  private var isDestroyed = false
  private var lingering: LingeringSocket?

  private static let library = mosquitto_lib_init()

  init(_ configuration: MosquittoConfiguration) throws(MosquittoError) {
    _ = Self.library
    self.configuration = configuration
    record = HandleRecord(
      batch: IntakeBatch(
        maximumMessages: configuration.batchMessages, maximumBytes: configuration.batchBytes))
    let cleanStart =
      configuration.cleanStart
      || (configuration.protocolVersion == .v311 && configuration.sessionExpiry == 0)
    guard
      let pointer = mosquitto_new(
        configuration.clientID, cleanStart, Unmanaged.passUnretained(record).toOpaque())
    else { throw .system("mosquitto_new", errno) }
    self.pointer = pointer
    setCallbacks()
    try applyConfiguration()
  }

  deinit {
    if !isDestroyed { mosquitto_destroy(pointer) }
  }

  /// Ends the connection without sending anything more; what has been sent still arrives. The
  /// handle is of no use after this.
  func close() {
    guard !isDestroyed else { return }
    isDestroyed = true
    if isOpen { lingering = LingeringSocket(of: socket) }
    // Never `mosquitto_disconnect` here: it would send the acknowledgements that are held back.
    mosquitto_destroy(pointer)
    lingering.take()?.finish(within: .seconds(2))
  }

  var socket: Int32 { mosquitto_socket(pointer) }
  var isOpen: Bool { socket >= 0 }
  var wantsWrite: Bool { mosquitto_want_write(pointer) }

  /// Reads until a call brings nothing new or the batch is full, and no further than the answer to CONNECT: what
  /// follows it is read with the limit that the handler sets then. One call of the library handles
  /// about one packet, whatever it is asked for.
  func read() -> Int32 {
    var before: UInt
    let isAnswered = record.answer != nil
    repeat {
      before = record.packets
      let result = mosquitto_loop_read(pointer, 1)
      lastErrno = errno
      if result != MOSQ_ERR_SUCCESS.rawValue { return result }
    } while record.packets != before && !record.batch.isFull && isOpen
      && isAnswered == (record.answer != nil)
    return MOSQ_ERR_SUCCESS.rawValue
  }

  /// Sends what is queued, as far as the socket takes it. Acknowledgements leave only here.
  ///
  /// - Parameter packets: about how many there are. Each is a `write` of its own in the library;
  ///   the cork makes full segments of them.
  func write(packets: Int) -> Int32 {
    let socket = socket
    if packets > 1 { setCork(socket, 1) }
    record.isWriting = true
    let result = mosquitto_loop_write(pointer, 1)
    lastErrno = errno
    record.isWriting = false
    if packets > 1, isOpen { setCork(socket, 0) }
    return result
  }

  /// Keep-alive.
  func tick() -> Int32 {
    let result = mosquitto_loop_misc(pointer)
    lastErrno = errno
    return result
  }

  /// Queues DISCONNECT behind what is already queued; the library closes its socket as soon as it
  /// has written it.
  func disconnect() {
    lingering = LingeringSocket(of: socket)
    mosquitto_disconnect_v5(pointer, 0, nil)
  }

  func error(_ result: Int32, answered: Bool) -> MosquittoError {
    MosquittoError(
      result: result, errno: lastErrno, answered: answered, log: record.errorLog, configuration)
  }

  /// Looks the name up and makes the TCP connection; blocks, possibly for minutes. TLS and MQTT
  /// follow with `read` and `write`.
  func connect() throws(MosquittoError) {
    var properties = PropertyList()
    if configuration.protocolVersion == .v5 {
      if configuration.sessionExpiry > 0 {
        properties.add(MQTT_PROP_SESSION_EXPIRY_INTERVAL, configuration.sessionExpiry)
      }
      if let size = configuration.maximumPacketSize {
        properties.add(MQTT_PROP_MAXIMUM_PACKET_SIZE, size)
      }
    }
    defer { properties.free() }
    let result = mosquitto_connect_bind_v5(
      pointer, configuration.socket ?? configuration.host,
      // The library takes port 0 for a Unix socket.
      configuration.socket == nil ? Int32(configuration.port) : 0, Int32(configuration.keepAlive),
      nil, properties.head)
    lastErrno = errno
    guard result == MOSQ_ERR_SUCCESS.rawValue else { throw error(result, answered: false) }
    // The library leaves it open for children, which would then hold the connection after us.
    _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
  }

  private func setCork(_ socket: Int32, _ value: Int32) {
    var value = value
    // Only for speed: a socket that can't be corked works as well.
    _ = setsockopt(
      socket, Int32(IPPROTO_TCP), TCP_CORK, &value, socklen_t(MemoryLayout<Int32>.size))
  }
}

import CLibMosquitto
import CSocketBuffer
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
  /// Without TLS, and where it works: the library reads a message in four calls, and writes each packet in one.
  private var buffer: SocketBuffer?
  private var lingering: LingeringSocket?

  private static let library = mosquitto_lib_init()

  init(_ configuration: MosquittoConfiguration) throws(MosquittoError) {
    _ = Self.library
    self.configuration = configuration
    record = HandleRecord(
      batch: IntakeBatch(maximumMessages: configuration.batchMessages, maximumBytes: configuration.batchBytes))
    let cleanStart =
      configuration.cleanStart || (configuration.protocolVersion == .v311 && configuration.sessionExpiry == 0)
    guard let pointer = mosquitto_new(configuration.clientID, cleanStart, Unmanaged.passUnretained(record).toOpaque())
    else { throw .system("mosquitto_new", errno) }
    self.pointer = pointer
    setCallbacks()
    try applyConfiguration()
  }

  deinit { if !isDestroyed { mosquitto_destroy(pointer) } }

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
  var wantsWrite: Bool { mosquitto_want_write(pointer) || buffer?.hasOutput == true }
  /// Something has come that the socket does not show any more.
  var hasInput: Bool { buffer?.hasInput == true }

  /// Runs a function of the library that reads or queues packets.
  func buffered<R>(_ body: () -> R) -> R { buffer?.use(body) ?? body() }

  /// Reads until a call brings nothing new or the batch is full, and no further than the answer to CONNECT: what
  /// follows it is read with the limit that the handler sets then. One call of the library handles
  /// about one packet, whatever it is asked for.
  func read() -> Int32 {
    let isAnswered = record.answer != nil
    return buffered {
      var before: UInt
      repeat {
        before = record.packets
        let result = mosquitto_loop_read(pointer, 1)
        lastErrno = errno
        if result != MOSQ_ERR_SUCCESS.rawValue { return result }
      } while record.packets != before && !record.batch.isFull && isOpen && isAnswered == (record.answer != nil)
      return MOSQ_ERR_SUCCESS.rawValue
    }
  }

  /// Sends what is queued, as far as the socket takes it. Acknowledgements leave only here.
  ///
  /// - Parameter packets: about how many there are. Each is a `write` of its own in the library;
  ///   the buffer, or the cork, makes full segments of them.
  func write(packets: Int) -> Int32 {
    let socket = socket
    let isCorked = packets > 1 && buffer == nil
    if isCorked { setCork(socket, 1) }
    record.isWriting = true
    var (result, code) = buffered { (mosquitto_loop_write(pointer, 1), errno) }
    record.isWriting = false
    if isCorked, isOpen { setCork(socket, 0) }
    if let buffer, isOpen, result == MOSQ_ERR_SUCCESS.rawValue {
      code = buffer.flush()
      // As the library has it of its own writes.
      if code != 0 { result = (code == ECONNRESET ? MOSQ_ERR_CONN_LOST : MOSQ_ERR_ERRNO).rawValue }
    }
    lastErrno = code
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
    // What the buffer took would be lost.
    buffer?.writeThrough()
    mosquitto_disconnect_v5(pointer, 0, nil)
  }

  func error(_ result: Int32, answered: Bool) -> MosquittoError {
    MosquittoError(
      result: result, errno: lastErrno, answered: answered, log: record.errorLog, certificate: record.certificate,
      configuration)
  }

  /// Looks the name up, makes the TCP connection, and looks who has its other end. Blocks, for seconds for each
  /// address. Nothing of MQTT has been sent when this returns; TLS and MQTT follow with `read` and `write`.
  func connect() throws(MosquittoError) {
    var properties = PropertyList()
    if configuration.protocolVersion == .v5 {
      if configuration.sessionExpiry > 0 {
        properties.add(MQTT_PROP_SESSION_EXPIRY_INTERVAL, configuration.sessionExpiry)
      }
      if let size = configuration.maximumPacketSize { properties.add(MQTT_PROP_MAXIMUM_PACKET_SIZE, size) }
    }
    defer { properties.free() }
    if let path = configuration.socket {
      // The library takes port 0 for a Unix socket.
      try check(mosquitto_connect_bind_v5(pointer, path, 0, Int32(configuration.keepAlive), nil, properties.head))
    } else {
      try connect(properties)
    }
    // The library leaves it open for children, which would then hold the connection after us.
    _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
    guard configuration.tls != nil else {
      try checkPeer()
      buffer = SocketBuffer(socket)
      return
    }
    // A handshake that began before the connection was there goes on only with a read.
    try check(mosquitto_loop_read(pointer, 1))
  }

  private func connect(_ properties: PropertyList) throws(MosquittoError) {
    let (host, port) = (configuration.host, Int32(configuration.port))
    let addresses: [SocketAddress]
    do throws(SocketAddress.LookupFailure) {
      addresses = try SocketAddress.all(of: host, port: configuration.port)
    } catch {
      lastErrno = error.code
      throw self.error(MOSQ_ERR_EAI.rawValue, answered: false)
    }
    // The call that does not wait has no form with properties. This one keeps them, and refuses that there is no host.
    if properties.head != nil {
      let result = mosquitto_connect_bind_v5(pointer, nil, port, Int32(configuration.keepAlive), nil, properties.head)
      guard result == MOSQ_ERR_INVAL.rawValue else {
        throw error(result == 0 ? MOSQ_ERR_UNKNOWN.rawValue : result, answered: false)
      }
    }
    errno = 0
    let result = mosquitto_connect_bind_async(pointer, host, port, Int32(configuration.keepAlive), nil)
    lastErrno = errno
    guard result == MOSQ_ERR_SUCCESS.rawValue else { throw error(result, answered: false) }
    var race = AddressRace(addresses, library: socket, libraryErrno: lastErrno)
    switch race.run() {
    case .library: break
    case .other(let winner):
      defer { Glibc.close(winner) }
      // The library knows its socket, and the name for TLS; where the socket leads is not its business.
      guard dup2(winner, socket) >= 0 else { throw .system("dup2", errno) }
    case .failed(let failures):
      lastErrno = failures.first?.code ?? ETIMEDOUT
      var error = error(MOSQ_ERR_ERRNO.rawValue, answered: false)
      if failures.count > 1 { error.add(failures) }
      throw error
    }
  }

  /// Without TLS, what is sent is for whoever listens.
  private func checkPeer() throws(MosquittoError) {
    guard configuration.socket == nil else { return }
    switch LocalPeer.find(socket, until: .now + configuration.answerLimit) {
    case .elsewhere: return
    case .user(let user):
      guard LocalPeer.isBroker(user, configuration) else { throw .untrustedListener(user, configuration) }
    case .notTaken: throw .noAnswer(configuration)
    case .unknown: throw .unknownListener(configuration)
    }
  }

  private func setCork(_ socket: Int32, _ value: Int32) {
    var value = value
    // Only for speed: a socket that can't be corked works as well.
    _ = setsockopt(socket, Int32(IPPROTO_TCP), TCP_CORK, &value, socklen_t(MemoryLayout<Int32>.size))
  }
}

/// A second hold on a connection, so that it can be closed in order after the library has let go.
///
/// Closing a socket with unread data resets the connection, and a broker that meets the reset may
/// drop what it has not read yet: acknowledgements, or the DISCONNECT, whereupon it would send the
/// last will. So: no more from us, take what still comes, wait for the broker's end.
struct LingeringSocket: ~Copyable {
  private let descriptor: Int32

  init(of socket: Int32) { descriptor = socket < 0 ? -1 : fcntl(socket, F_DUPFD_CLOEXEC, 0) }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Waits for the other side to have read all of it; not longer than `limit`.
  consuming func finish(within limit: Duration) {
    guard descriptor >= 0, shutdown(descriptor, Int32(SHUT_WR)) == 0 else { return }
    let deadline = ContinuousClock.now + limit
    var waste = [UInt8](repeating: 0, count: 16_384)
    while true {
      let left = ContinuousClock.now.duration(to: deadline)
      var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard left > .zero, poll(&poller, 1, left.milliseconds) > 0 else { return }
      let count = recv(descriptor, &waste, waste.count, Int32(MSG_DONTWAIT))
      guard count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR)) else { return }
    }
  }
}

/// What `CSocketBuffer` has for one connection.
private final class SocketBuffer {
  private static let works = socket_buffer_works()

  private let pointer: OpaquePointer

  /// Nil where the library does not call it, or there is no memory: then it calls the system.
  init?(_ socket: Int32) {
    guard Self.works, let pointer = socket_buffer_make(socket) else { return nil }
    self.pointer = pointer
  }

  deinit { socket_buffer_free(pointer) }

  var hasInput: Bool { socket_buffer_has_input(pointer) }
  var hasOutput: Bool { socket_buffer_has_output(pointer) }

  func use<R>(_ body: () -> R) -> R {
    socket_buffer_enter(pointer)
    defer { socket_buffer_leave() }
    return body()
  }

  /// - Returns: 0, or `errno`.
  func flush() -> Int32 { socket_buffer_flush(pointer) }

  func writeThrough() { socket_buffer_write_through(pointer) }
}

extension MosquittoHandle {
  /// Everything that must be said before connecting.
  func applyConfiguration() throws(MosquittoError) {
    let version = configuration.protocolVersion == .v5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311
    mosquitto_int_option(pointer, MOSQ_OPT_PROTOCOL_VERSION, version)
    // Held back until `write`: without this, an acknowledgement leaves before the callback.
    mosquitto_threaded_set(pointer, true)
    mosquitto_int_option(pointer, MOSQ_OPT_RECEIVE_MAXIMUM, Int32(configuration.receiveMaximum))
    // Our own window is never larger, so the library never holds a publication back.
    mosquitto_int_option(pointer, MOSQ_OPT_SEND_MAXIMUM, Int32(configuration.sendMaximum))
    mosquitto_int_option(pointer, MOSQ_OPT_TCP_NODELAY, 1)
    if let username = configuration.username {
      try check(mosquitto_username_pw_set(pointer, username, configuration.password))
    }
    if let lastWill = configuration.lastWill { try setLastWill(lastWill) }
    if let tls = configuration.tls { try setTLS(tls) }
  }

  private func setLastWill(_ will: Publication) throws(MosquittoError) {
    var properties = PropertyList()
    if configuration.protocolVersion == .v5 { properties.add(will) }
    let result = mosquitto_will_set_v5(
      pointer, will.topic, Int32(will.payload.count), will.payload, Int32(will.qos.rawValue), will.retain,
      properties.head)
    if result == MOSQ_ERR_SUCCESS.rawValue { properties.release() } else { properties.free() }
    try check(result)
  }

  private func setTLS(_ tls: MosquittoConfiguration.TLS) throws(MosquittoError) {
    try Self.checkReadable(tls.caFile, of: "mqtt.tls.ca_file")
    try Self.checkReadable(tls.certificateFile, of: "mqtt.tls.cert_file")
    try Self.checkReadable(tls.keyFile, of: "mqtt.tls.key_file")
    try check(
      mosquitto_tls_set(
        pointer, tls.caFile, nil, tls.certificateFile, tls.keyFile,
        // A locked key file: no passphrase, instead of a question on the terminal.
        { _, _, _, _ in 0 }))
  }

  private static func checkReadable(_ path: String?, of setting: String) throws(MosquittoError) {
    guard let path, access(path, R_OK) != 0 else { return }
    throw .unreadable(setting, path, errno)
  }

  /// For calls that fail with nothing but their result, and with `errno`.
  private func check(_ result: Int32) throws(MosquittoError) {
    guard result != MOSQ_ERR_SUCCESS.rawValue else { return }
    lastErrno = errno
    throw error(result, answered: false)
  }
}
